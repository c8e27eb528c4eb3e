"""The preview of the session browser: a conversation around a hit, with the hits marked."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui.engine.types.sessions import Snippet, StoredMessage

from .line_text import Line
from .line_view import LineView
from .preview_text import find_words, preview_lines, searched_words


class Preview(LineView):
    """Shows stored messages and walks the hits in them."""

    DEFAULT_CSS = "Preview { height: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._places: list[tuple[int, int]] = []
        self._at = -1
        self._message_at: dict[int, int] = {}
        self._by_line: dict[int, list[tuple[int, int]]] = {}

    @property
    def hit_message_id(self) -> int | None:
        """The message that holds the current hit."""
        if self._at < 0:
            return None
        number = self._places[self._at][0]
        before = [(first, message_id) for message_id, first in self._message_at.items() if first <= number]
        return max(before)[1] if before else None

    def show_messages(
        self,
        heading: Sequence[Line],
        messages: Sequence[StoredMessage],
        snippets: Sequence[Snippet] = (),
        around_id: int | None = None,
    ) -> None:
        """Show a conversation: at the hit, else at its end.

        Args:
            heading: Lines above it.
            messages: Oldest first.
            snippets: What a search found in this session.
            around_id: The message to stand at.
        """
        words = searched_words(snippets)
        lines, first_of = preview_lines(messages, words)
        shift = len(heading)
        self.set_lines([*heading, *lines])
        self._message_at = {message_id: first + shift for message_id, first in first_of.items()}
        self._by_line = {number + shift: found for number, found in find_words(lines, words).items()}
        self._places = [(number, start) for number, found in self._by_line.items() for start, _ in found]
        target = self._message_at.get(around_id, -1) if around_id is not None else -1
        self._at = next((i for i, place in enumerate(self._places) if place[0] >= max(target, 0)), -1)
        if self._at >= 0:
            self._stand()
        elif target >= 0:
            self.call_after_refresh(self.show_line, target)
        else:
            self.call_after_refresh(self.scroll_end, animate=False)

    def step_hit(self, step: int) -> bool:
        """Go to another hit; False at the end of what is loaded."""
        if not 0 <= self._at + step < len(self._places):
            return False
        self._at += step
        self._stand()
        return True

    def _stand(self) -> None:
        number, start = self._places[self._at]
        self.set_marks(self._by_line, (number, start))
        self.call_after_refresh(self.show_line, number, start)
