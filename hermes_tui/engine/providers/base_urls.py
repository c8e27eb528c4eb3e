"""Base URLs as people write them -> as the SDK clients want them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

from ..types.errors import ConfigError
from .base import ApiMode
from .proxies import is_loopback

_ENDPOINT = re.compile(r"/(?:chat/completions|completions|responses|messages|models)$")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.I)


def normalise(text: str, source: str) -> str:
    """Return a base URL without blanks, double or trailing slashes and endpoint names, with scheme and path.

    A URL without any path gets ``/v1``: that is where every OpenAI-compatible server listens.

    Args:
        text: As written.
        source: Where it was written, for the message.

    Raises:
        ConfigError: It is no http URL.
    """
    url = text.strip().strip("\"'").strip()
    if not _SCHEME.match(url):
        local = is_loopback(f"http://{url}") or re.match(r"[\w.-]+:\d+", url)
        url = f"{'http' if local else 'https'}://{url}"
    try:
        parts = urlsplit(url)
        port_is_sane = parts.port is None or parts.port > 0
    except ValueError as error:
        raise _bad(text, source) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", url) or not port_is_sane:
        raise _bad(text, source)
    path = _ENDPOINT.sub("", re.sub(r"/{2,}", "/", parts.path).rstrip("/")).rstrip("/")
    # 0.0.0.0 is where a server listens; a client cannot connect there on every system.
    netloc = re.sub(r"^0\.0\.0\.0(?=:|$)", "127.0.0.1", parts.netloc)
    return urlunsplit((parts.scheme.lower(), netloc, path or "/v1", parts.query, ""))


def for_mode(url: str, api_mode: ApiMode) -> str:
    """Return the URL as the mode's SDK client wants it: the Anthropic one adds ``/v1`` itself."""
    return url.removesuffix("/v1") if api_mode == "anthropic_messages" else url


def _bad(text: str, source: str) -> ConfigError:
    return ConfigError(f"{source} is not a URL: {text.strip()!r}.", hint="Write it like http://127.0.0.1:8080/v1.")
