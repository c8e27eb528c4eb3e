"""Write only what changed on the terminal, and let the terminal scroll what merely moved.

Textual repaints every cell of a dirty region. A streaming answer scrolls a whole transcript for each new line, so this
module keeps a shadow of what was last written, compares, and writes the pieces that differ. Rows that moved up together
are moved by the terminal itself: a scroll region and one *delete lines*. It owns no policy and knows no widget; the app
resets it whenever the terminal's content may differ from the shadow (resize, resume, redraw).

It leans on Textual's private ``CompositorUpdate`` and its two subclasses; its test notices when
those change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate

if TYPE_CHECKING:
    from rich.console import Console

MIN_MOVED_ROWS = 4
"""Fewer rows than this are cheaper to write than to move."""


class Piece(NamedTuple):
    """A run of cells with its terminal text."""

    end: int
    """One past its last column."""
    text: str


Row: TypeAlias = dict[int, Piece]
"""Pieces of one row by first column, left to right."""


class FrameWriter:
    """Turns compositor updates into short terminal output.

    Args:
        can_scroll: False never uses scroll regions (for terminals that draw them wrongly).
    """

    def __init__(self, *, can_scroll: bool = True) -> None:
        self.can_scroll = can_scroll
        self._shadow: dict[int, Row] = {}

    def reset(self) -> None:
        """Forget what is on the terminal; the next full update is written whole."""
        self._shadow.clear()

    def wrap(self, update: CompositorUpdate) -> CompositorUpdate:
        """Return an update that writes only differences; updates of other kinds are returned as they are."""
        return _DiffedUpdate(self, update) if isinstance(update, LayoutUpdate | ChopsUpdate) else update

    def render(self, update: LayoutUpdate | ChopsUpdate, console: Console) -> str:
        """Render an update against the shadow, and bring the shadow up to date."""
        rows = _layout_rows(update, console) if isinstance(update, LayoutUpdate) else _chop_rows(update, console)
        out: list[str] = []
        if self.can_scroll and (move := self._find_move(rows)):
            out.append(self._move_rows(*move))
        for y, row in rows.items():
            out.extend(self._row_changes(y, row))
        return "".join(out)

    def _row_changes(self, y: int, row: Row) -> Iterator[str]:
        """Write the pieces of a row that differ from the shadow."""
        shadow = self._shadow.setdefault(y, {})
        cursor = -1
        for x, piece in row.items():
            if shadow.get(x) == piece:
                continue
            if cursor != x:
                yield f"\x1b[{y + 1};{x + 1}H"
            yield piece.text
            cursor = piece.end
            for old_x in [k for k, old in shadow.items() if k < piece.end and old.end > x]:
                del shadow[old_x]
            shadow[x] = piece

    def _find_move(self, rows: dict[int, Row]) -> tuple[int, int, int] | None:
        """Find ``(first row, last row, lines up)`` of a block whose text moved up, or None."""
        block = self._changed_block(rows)
        if len(block) < MIN_MOVED_ROWS:
            return None
        first, last = block[0], block[-1]
        now = {y: next(iter(rows[y].values())) for y in block}
        before = {y: next(iter(self._shadow[y].values())) for y in block}
        for lines in range(1, len(block) - MIN_MOVED_ROWS + 1):
            kept = sum(1 for y in range(first, last - lines + 1) if before[y + lines] == now[y])
            stays = sum(1 for y in range(first, last - lines + 1) if before[y] == now[y])
            if kept * 2 > len(block) - lines and kept > stays + 1:
                return first, last, lines
        return None

    def _changed_block(self, rows: dict[int, Row]) -> range:
        """Rows from the first to the last changed one; empty unless the update covers all of them, whole."""
        shadow = self._shadow
        changed = [y for y, row in rows.items() if shadow.get(y) != row]
        if not changed:
            return range(0)
        block = range(min(changed), max(changed) + 1)
        whole = all(y in rows and y in shadow and rows[y] and rows[y].keys() == shadow[y].keys() for y in block)
        return block if whole else range(0)

    def _move_rows(self, first: int, last: int, lines: int) -> str:
        shadow = self._shadow
        for y in range(first, last + 1):
            shadow[y] = shadow[y + lines] if y + lines <= last else {}
        # Delete-lines at the top of a scroll region moves it up everywhere; SU is less widely supported.
        return f"\x1b[0m\x1b[{first + 1};{last + 1}r\x1b[{first + 1};1H\x1b[{lines}M\x1b[r"


class _DiffedUpdate(CompositorUpdate):
    """Stands in for an update and renders it against the writer's shadow."""

    def __init__(self, writer: FrameWriter, update: LayoutUpdate | ChopsUpdate) -> None:
        self._writer = writer
        self._update = update

    def render_segments(self, console: Console) -> str:
        return self._writer.render(self._update, console)


def _layout_rows(update: LayoutUpdate, console: Console) -> dict[int, Row]:
    rows: dict[int, Row] = {}
    for y, strips in enumerate(update.strips, update.region.y):
        x = update.region.x
        row = rows[y] = {}
        for strip in strips:
            end = x + strip.cell_length
            row[x] = Piece(end, strip.render(console))
            x = end
    return rows


def _chop_rows(update: ChopsUpdate, console: Console) -> dict[int, Row]:
    """The pieces that the update's spans touch, merged by row."""
    rows: dict[int, Row] = {}
    for y, x1, x2 in update.spans:
        row = rows.setdefault(y, {})
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x <= x2 and end > x1:
                row[x] = Piece(end, strip.render(console))
    return {y: dict(sorted(row.items())) for y, row in rows.items()}
