"""A scrolling view of blocks that open and close: a tree of headings, each with lines or further headings below it.

Takes plain data. What a block shows may depend on the width, and is made when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from .line_text import Line
from .line_view import LineView

OPEN, CLOSED = "\u25be ", "\u25b8 "
"""Marks before a heading."""


@dataclass(slots=True)
class Fold:
    """One block."""

    head: Callable[[int], Sequence[Line]]
    """Cells -> the lines that stand always; the first gets the mark."""
    body: Callable[[int], Sequence[Line]] | None = None
    """Cells -> the lines that stand while it is open."""
    children: Callable[[], Sequence[Fold]] | None = None
    """Blocks that stand while it is open; asked once."""
    is_open: bool = False
    depth: int = 0
    made: list[Fold] | None = field(default=None, repr=False)
    """The children, once they were asked for."""

    @property
    def can_open(self) -> bool:
        """Whether there is anything to show."""
        return self.body is not None or self.children is not None

    def inside(self) -> list[Fold]:
        """Return the children."""
        if self.made is None:
            self.made = list(self.children()) if self.children is not None else []
        return self.made


class FoldView(LineView):
    """Shows folds; the cursor walks their headings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "walk(-1)", "Up", show=False),
        Binding("down,j", "walk(1)", "Down", show=False),
        Binding("enter,space", "fold", "Open or close", show=False),
        Binding("a", "fold_all", "Open or close all", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._folds: list[Fold] = []
        self._heads: list[tuple[int, Fold]] = []  # line number, what begins there
        self._at = 0
        self._drawn_for = -1

    @property
    def current(self) -> Fold | None:
        """The block under the cursor."""
        return self._heads[self._at][1] if self._heads else None

    def set_folds(self, folds: Sequence[Fold]) -> None:
        """Show other blocks, from the top."""
        self._folds = list(folds)
        self._at = 0
        self._fill(keep_scroll=False)

    def _fill(self, *, keep_scroll: bool) -> None:
        width = self.scrollable_content_region.width
        self._drawn_for = width
        if width <= 0:
            return
        lines: list[Line] = []
        self._heads = []
        for fold in self._folds:
            for line, head in _lines_of(fold, width):
                if head is not None:
                    self._heads.append((len(lines), head))
                lines.append(line)
        self._at = min(self._at, max(0, len(self._heads) - 1))
        self.set_lines(lines, keep_scroll=keep_scroll)

    def on_resize(self, event: events.Resize) -> None:
        """Make the lines for the new width."""
        if self.scrollable_content_region.width != self._drawn_for:
            self._fill(keep_scroll=True)
        super().on_resize(event)

    def ground_of(self, number: int) -> str:
        """The line under the cursor stands out."""
        return "cursor" if self._heads and number == self._heads[self._at][0] else ""

    def action_walk(self, step: int) -> None:
        """Go to the next heading; where that is out of sight, scroll towards it."""
        at = self._at + step
        if not 0 <= at < len(self._heads):
            self.scroll_relative(y=step, animate=False)
            return
        row, top = self.row_of(self._heads[at][0]), self.hidden_above
        height = self.scrollable_content_region.height
        if step > 0 and row >= top + height:
            self.scroll_relative(y=1, animate=False)
            if row > top + height:
                return
        if step < 0 and row < top:
            self.scroll_relative(y=-1, animate=False)
            if row < top - 1:
                return
        self._at = at
        self.refresh()

    def action_fold(self) -> None:
        """Open or close the block under the cursor."""
        if (fold := self.current) is not None and fold.can_open:
            fold.is_open = not fold.is_open
            self._fill(keep_scroll=True)
            self._keep_in_sight(whole=True)

    def action_fold_all(self) -> None:
        """Open all blocks of the first level, or close them when any is open."""
        current = self.current
        is_open = not any(fold.is_open for fold in self._folds)
        for fold in self._folds:
            fold.is_open = is_open and fold.can_open
        self._fill(keep_scroll=True)
        places = [place for place, (_, fold) in enumerate(self._heads) if fold is current]
        self._at = places[0] if places else 0
        self._keep_in_sight()

    def on_click(self, event: events.Click) -> None:
        """A click on a heading opens or closes it."""
        number = self.line_at(event.y + self.hidden_above)
        for place, (line, _) in enumerate(self._heads):
            if line == number:
                event.stop()
                self._at = place
                self.action_fold()
                return

    def _keep_in_sight(self, *, whole: bool = False) -> None:
        """Scroll as little as needed to see the heading under the cursor, or as much as fits of what is below it."""
        if not self._heads:
            return
        height, top = self.scrollable_content_region.height, self.hidden_above
        row = self.row_of(self._heads[self._at][0])
        after = self._at + 1
        end = self.row_of(self._heads[after][0]) if whole and after < len(self._heads) else row + 1
        if whole and after == len(self._heads):
            end = self.row_count
        bottom = min(end, row + height)
        if row < top or bottom > top + height:
            self.scroll_to(y=row if row < top else bottom - height, animate=False)
        self.refresh()


def _lines_of(fold: Fold, width: int) -> Iterator[tuple[Line, Fold | None]]:
    """Yield the lines of a block, the first one with the block itself."""
    indent = " " * (2 * fold.depth)
    mark = (OPEN if fold.is_open else CLOSED) if fold.can_open else "  "
    for number, line in enumerate(fold.head(width - 2 - len(indent))):
        yield _shifted(line, indent + (mark if number == 0 else "  ")), fold if number == 0 else None
    if not fold.is_open:
        return
    for line in fold.body(width - 2 - len(indent)) if fold.body is not None else ():
        yield _shifted(line, indent + "  "), None
    for child in fold.inside():
        yield from _lines_of(child, width)


def _shifted(line: Line, lead: str) -> Line:
    return Line(((lead, "muted"), *line.spans), hang=line.hang + len(lead), prose=line.prose)
