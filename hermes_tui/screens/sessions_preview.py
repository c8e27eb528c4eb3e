"""What the session browser shows beside its list: the conversation under the cursor, from hit to hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from hermes_tui.widgets.preview import Preview
from hermes_tui.widgets.preview_text import heading_lines

if TYPE_CHECKING:
    from .sessions import SessionsScreen

WAIT_S = 0.06
"""The cursor rests this long before a conversation is read. Source: over the pace of a held key."""


class SessionPreview:
    """Fills the preview. UI thread only.

    Args:
        screen: The browser.
        current_id: The session that is open here.
    """

    def __init__(self, screen: SessionsScreen, current_id: str) -> None:
        self._screen = screen
        self._current_id = current_id
        self._timer: Timer | None = None
        self._snippet = 0

    @property
    def view(self) -> Preview:
        """The widget."""
        return self._screen.query_one(Preview)

    @property
    def hit_id(self) -> int | None:
        """The message of the hit that is shown; None without a search."""
        item = self._screen.rows.current
        if item is None or not item.snippets:
            return None
        return self.view.hit_message_id or item.snippets[self._snippet].message_id

    def follow(self) -> None:
        """The cursor is on another session."""
        self._snippet = 0
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._screen.set_timer(WAIT_S, self._load)

    def step(self, step: int) -> None:
        """Walk the hits: inside the loaded messages first, then to the next snippet's."""
        item = self._screen.rows.current
        if item is None or not item.snippets or self.view.step_hit(step):
            return
        if 0 <= self._snippet + step < len(item.snippets):
            self._snippet += step
            self._load()

    def _load(self) -> None:
        screen = self._screen
        item = screen.rows.current
        if item is None:
            screen.forget("preview")
            self.view.set_lines([])
            return
        around = item.snippets[self._snippet].message_id if item.snippets else None
        heading = heading_lines(item.row, item.row.id == self._current_id)
        screen.ask(
            "preview",
            lambda: screen.engine.preview(item.row.id, around),
            lambda messages: self.view.show_messages(heading, messages, item.snippets, around),
        )
