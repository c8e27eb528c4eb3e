"""A row of view names, one of them chosen. Clicks choose; the owner says what that shows."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

_GAP = 2


class TabLine(Widget):
    """Draws the names; where there is no room for all, the ones around the chosen.

    Args:
        names: What can be chosen.
    """

    DEFAULT_CSS = "TabLine { height: 1; width: 1fr; }"

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, names: Sequence[str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names = tuple(names)
        self._chosen = 0

    def choose(self, index: int) -> None:
        """Show another name as the chosen one."""
        self._chosen = index
        self.refresh()

    def _shown(self) -> list[int]:
        """Return the indexes that fit, the chosen one always among them."""
        cells = [len(name) + 2 + _GAP for name in self._names]
        first = 0
        while first < self._chosen and sum(cells[first : self._chosen + 1]) > self.size.width:
            first += 1
        fits: list[int] = []
        for index in range(first, len(cells)):
            if fits and sum(cells[place] for place in [*fits, index]) - _GAP > self.size.width:
                break
            fits.append(index)
        return fits

    def render(self) -> Content:
        """Return the names."""
        parts: list[Content] = []
        for index in self._shown():
            style = "bold $background on $primary" if index == self._chosen else "$muted"
            parts.append(Content.styled(f" {self._names[index]} ", style))
        return Content(" " * _GAP).join(parts)

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked."""
        at = 0
        for index in self._shown():
            end = at + len(self._names[index]) + 2
            if at <= event.x < end:
                self.post_message(self.Chosen(index))
                return
            at = end + _GAP
