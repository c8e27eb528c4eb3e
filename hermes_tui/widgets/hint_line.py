"""The line of keys at the bottom of a dialog: only what works now, as many as fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

Hint: TypeAlias = tuple[str, str]
"""A key and what it does, the most important first."""

_GAP = 3


class HintLine(Widget):
    """Draws hints in one row and drops the last ones where there is no room."""

    DEFAULT_CSS = "HintLine { height: 1; width: 1fr; }"

    def __init__(self, hints: Sequence[Hint] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints = tuple(hints)

    @property
    def hints(self) -> tuple[Hint, ...]:
        """What is shown."""
        return self._hints

    def set_hints(self, hints: Sequence[Hint]) -> None:
        """Show other hints."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def render(self) -> Content:
        """Return the hints that fit."""
        parts: list[Content] = []
        used = 0
        for key, word in self._hints:
            cells = cell_len(key) + 1 + cell_len(word) + (_GAP if parts else 0)
            if used + cells > self.size.width:
                break
            used += cells
            gap = " " * _GAP if parts else ""
            parts.append(Content.assemble(gap, (key, "$primary"), " ", (word, "$muted")))
        return Content("").join(parts)
