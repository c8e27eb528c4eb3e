"""Identifiers. All are opaque strings; only session ids carry meaning (their creation time)."""

from __future__ import annotations

import os
import time


def new_session_id(now_s: float | None = None) -> str:
    """Return a session id ``YYYYmmdd_HHMMSS_`` plus six hex digits, in local time.

    Args:
        now_s: Unix seconds; the present when omitted.
    """
    stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(now_s))
    return f"{stamp}_{_random(3)}"


def new_turn_id() -> str:
    """Return a turn id, unique in practice."""
    return f"turn_{_random(6)}"


def new_call_id() -> str:
    """Return a tool-call id in the form that every provider accepts (``[a-zA-Z0-9_-]+``)."""
    return f"call_{_random(8)}"


def new_request_id() -> str:
    """Return an id for an approval or clarify request."""
    return f"req_{_random(6)}"


def _random(size_bytes: int) -> str:
    return os.urandom(size_bytes).hex()
