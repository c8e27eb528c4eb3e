"""Small JSON requests with the standard library, for questions asked before any SDK is loaded."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

_BODY_LIMIT = 4_000_000


def fetch_json(url: str, timeout_s: float, headers: Mapping[str, str] | None = None, body: object = None) -> Any | None:
    """Return a URL's JSON, None when there is none in time. Goes straight, without a proxy. Blocks.

    Args:
        url: With scheme http or https.
        timeout_s: For the connection and for each read.
        headers: Extra request headers.
        body: Sent as JSON with POST when given.
    """
    parts = urlsplit(url)
    connection_class = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = connection_class(parts.hostname or "", parts.port, timeout=timeout_s)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(
            "GET" if body is None else "POST",
            target,
            None if body is None else json.dumps(body),
            {"Accept": "application/json", "Content-Type": "application/json", **(headers or {})},
        )
        answer = connection.getresponse()
        return json.loads(answer.read(_BODY_LIMIT)) if answer.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
