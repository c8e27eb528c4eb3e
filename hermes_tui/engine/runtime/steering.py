"""Text that the user adds to a running turn: it joins after the next tool result, and is never lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..types.events import Event, SteerChanged

OPENING = "\n\n[The user added this while you were working]\n"
CLOSING = "\n[End of the user's addition]"


class Steering:
    """Holds what was said until the loop can deliver it. Any thread.

    Args:
        emit: Takes the ``SteerChanged`` events.
    """

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._lock = threading.Lock()
        self._texts: list[str] = []

    def add(self, text: str) -> None:
        """Accept text for the running turn."""
        if not text.strip():
            return
        with self._lock:
            self._texts.append(text)
        self._emit(SteerChanged(text=text, state="accepted"))

    def deliver(self) -> str:
        """Take all waiting text, joined by blank lines, and report it as delivered; empty when there is none."""
        return self._take("delivered")

    def hand_back(self) -> str:
        """Take all waiting text and report it as returned to the user; empty when there is none."""
        return self._take("returned")

    def _take(self, state: str) -> str:
        with self._lock:
            texts, self._texts = self._texts, []
        joined = "\n\n".join(texts)
        if joined:
            self._emit(SteerChanged(text=joined, state="delivered" if state == "delivered" else "returned"))
        return joined


def attach(result: str, text: str) -> str:
    """Return a tool result as sent, with the user's addition in its marked block."""
    return f"{result}{OPENING}{text}{CLOSING}"


def detach(result: str, sent: str) -> str:
    """Return the addition that :func:`attach` put last behind ``result``, or empty."""
    start = sent.rfind(OPENING)
    if start < len(result) or not sent.startswith(result) or not sent.endswith(CLOSING):
        return ""
    return sent[start + len(OPENING) : -len(CLOSING)]
