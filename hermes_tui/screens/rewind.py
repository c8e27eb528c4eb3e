"""Rewind: the messages you wrote in this session; pick one to change it and go on from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.engine.api import Engine
from hermes_tui.engine.types.messages import typed_text
from hermes_tui.engine.types.sessions import StoredMessage
from hermes_tui.widgets.fuzzy_list import FuzzyList, FuzzyRow
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.inert import one_line

from .modal import Modal


class RewindScreen(Modal[StoredMessage]):
    """Lists the user's messages, the newest first. Result: the chosen one, or None.

    Args:
        engine: Where they are kept.
        session_id: The session.
        clock: Unix time.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "rewind.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "back", "Back", show=False)]

    def __init__(self, engine: Engine, session_id: str, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._engine = engine
        self._session_id = session_id
        self._clock = clock
        self._messages: dict[str, StoredMessage] = {}

    def compose(self) -> ComposeResult:
        """Lay out the list; the messages follow from a thread."""
        with Vertical(classes="dialog", id="rewind") as dialog:
            dialog.border_title = "Go back to one of your messages"
            yield FuzzyList(placeholder="Type to filter", empty="No message fits.")
            yield Static("The session stays as it is; you go on in a fork.", classes="note", markup=False)
            yield HintLine((("enter", "edit and send again"), ("\u2191\u2193", "move"), ("esc", "back")))

    def on_mount(self) -> None:
        """Ask for the messages."""
        self.ask("messages", lambda: self._engine.user_messages(self._session_id), self._show)

    def _show(self, messages: Sequence[StoredMessage]) -> None:
        newest_first = list(reversed(messages))
        self._messages = {str(stored.id): stored for stored in newest_first}
        self.query_one(FuzzyList).set_rows([self._row(stored) for stored in newest_first])

    def _row(self, stored: StoredMessage) -> FuzzyRow:
        text = one_line(typed_text(stored.message)) or "(no text)"
        when = time.strftime("%m-%d %H:%M", time.localtime(stored.message.get("created_at", self._clock())))
        return FuzzyRow(str(stored.id), text, "", when)

    def action_back(self) -> None:
        """Stay where you are."""
        self.finish(None)

    @on(FuzzyList.Picked)
    def _picked(self, event: FuzzyList.Picked) -> None:
        if event.row is not None:
            self.finish(self._messages[event.row.id])
