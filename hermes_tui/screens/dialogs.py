"""The queue of questions the engine asks: one dialog at a time, in order, closed by the engine's own word.

Requests are bound to their ids; an answer that comes late is dropped by the engine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hermes_tui.engine.types.requests import ApprovalDecision, ApprovalRequest, ClarifyAnswer, ClarifyRequest

if TYPE_CHECKING:
    from textual.app import App

    from .approval import ApprovalScreen
    from .clarify import ClarifyScreen


class Dialogs:
    """Shows the first waiting request and moves on when it is resolved. UI thread only.

    Args:
        app: Where dialogs are pushed.
        attention: Called when a new request waits, to ring when nobody looks.
    """

    def __init__(self, app: App[Any], attention: Callable[[], None]) -> None:
        self._app = app
        self._attention = attention
        self._waiting: list[tuple[ApprovalRequest | ClarifyRequest, float]] = []
        self._shown: ApprovalScreen | ClarifyScreen | None = None
        self._shown_id = ""

    @property
    def is_open(self) -> bool:
        """True while a dialog is shown."""
        return self._shown is not None

    def ask(self, request: ApprovalRequest | ClarifyRequest) -> None:
        """Queue a request and show it when it is first."""
        self._waiting.append((request, time.monotonic()))
        self._attention()
        self._show_first()

    def close(self, request_id: str, answer: ApprovalDecision | ClarifyAnswer) -> None:
        """The engine resolved a request: close its dialog or take it from the queue."""
        self._waiting = [(request, at) for request, at in self._waiting if request.request_id != request_id]
        if request_id == self._shown_id and self._shown is not None:
            self._shown.close(answer)  # type: ignore[arg-type]
            self._shown, self._shown_id = None, ""
        self._show_first()

    def clear(self) -> None:
        """Forget everything, for another session."""
        self._waiting.clear()
        if self._shown is not None:
            self._shown.close(None)
            self._shown, self._shown_id = None, ""

    def _show_first(self) -> None:
        count = len(self._waiting)
        if self._shown is not None:
            from .approval import ApprovalScreen

            if isinstance(self._shown, ApprovalScreen):
                self._shown.set_queue(1, count)
            return
        if not count:
            return
        request, asked_at = self._waiting[0]
        if isinstance(request, ApprovalRequest):
            from .approval import ApprovalScreen

            self._shown = ApprovalScreen(request, position=1, count=count, asked_at=asked_at)
        else:
            from .clarify import ClarifyScreen

            self._shown = ClarifyScreen(request)
        self._shown_id = request.request_id
        self._app.push_screen(self._shown)
