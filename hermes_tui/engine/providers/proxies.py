"""Proxies from the environment, for explaining them. The HTTP library uses them by itself."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit


class Proxy(NamedTuple):
    """A proxy in use."""

    variable: str
    url: str
    """Without user and password."""


def is_loopback(url: str) -> bool:
    """Tell whether a URL stays on this machine."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_for(url: str, env: Mapping[str, str]) -> Proxy | None:
    """Return the proxy that requests to a URL go through, None when they go straight."""
    if is_loopback(url):
        return None
    import urllib.request

    parts = urlsplit(url)
    without = env.get("no_proxy") or env.get("NO_PROXY") or ""
    if urllib.request.proxy_bypass_environment(parts.hostname or "", {"no": without}):  # type: ignore[attr-defined]
        return None
    for name in (f"{parts.scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if value := env.get(variable, "").strip():
                return Proxy(variable, _shown(value))
    return None


def _shown(value: str) -> str:
    scheme, mark, rest = value.rpartition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"
