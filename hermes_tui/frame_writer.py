"""Write only what changed on the terminal, and let the terminal scroll what merely moved.

Textual repaints every cell of a dirty region. A streaming answer scrolls a whole transcript for each new line, so this
module keeps a shadow of what was last written, compares, and writes the cells that differ, with the shortest colour
changes. Rows that moved up together are moved by the terminal itself: a scroll region and one *delete lines*. It owns
no policy and knows no widget; the app resets it whenever the terminal's content may differ from the shadow (resize,
resume, redraw).

It leans on Textual's private ``CompositorUpdate`` and its two subclasses; its test notices when those change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate

from .sgr import Brush, Span, cells

if TYPE_CHECKING:
    from rich.console import Console
    from textual.strip import Strip

MIN_MOVED_ROWS = 4
"""Fewer rows than this are cheaper to write than to move."""


class Piece(NamedTuple):
    """A run of cells of one row."""

    end: int
    """One past its last column."""
    spans: tuple[Span, ...]


Row: TypeAlias = dict[int, Piece]
"""Pieces of one row by first column, left to right."""


class FrameWriter:
    """Turns compositor updates into short terminal output.

    Args:
        can_scroll: False never uses scroll regions (for terminals that draw them wrongly).
        can_erase: True where erasing keeps the background colour, so that blanks at the end of a row need no cells.
        letters: What is written in the place of some letters, of the same width.
    """

    def __init__(
        self, *, can_scroll: bool = True, can_erase: bool = True, letters: Mapping[int, str] | None = None
    ) -> None:
        self.can_scroll = can_scroll
        self.can_erase = can_erase
        self._letters = letters or {}
        self._brush = Brush()
        self._shadow: dict[int, Row] = {}
        self._pieces: dict[int, tuple[Strip, Piece]] = {}  # by strip, so that what did not change is not read again

    def reset(self) -> None:
        """Forget what is on the terminal; the next full update is written whole."""
        self._shadow.clear()
        self._brush.forget()

    def wrap(self, update: CompositorUpdate) -> CompositorUpdate:
        """Return an update that writes only differences; updates of other kinds are returned as they are."""
        return _DiffedUpdate(self, update) if isinstance(update, LayoutUpdate | ChopsUpdate) else update

    def render(self, update: LayoutUpdate | ChopsUpdate, console: Console) -> str:
        """Render an update against the shadow, and bring the shadow up to date."""
        strips = _layout_strips(update) if isinstance(update, LayoutUpdate) else _chop_strips(update)
        rows: dict[int, Row] = {}
        for y, x, strip in strips:
            rows.setdefault(y, {})[x] = self._piece(x, strip)
        rows = {y: dict(sorted(row.items())) for y, row in rows.items()}
        brush = self._brush
        brush.start(console)
        if self.can_scroll and (move := self._find_move(rows)):
            self._move_rows(brush, *move)
        width = max((piece.end for row in rows.values() for piece in row.values()), default=0)
        for y, row in rows.items():
            self._write_row(brush, y, row, width)
        return brush.finish()

    def _piece(self, x: int, strip: Strip) -> Piece:
        kept = self._pieces.get(id(strip))
        if kept is not None and kept[0] is strip and kept[1].end == x + strip.cell_length:
            return kept[1]
        if len(self._pieces) > 2_000:
            self._pieces.clear()
        spans = ((text, style) for text, style, control in strip if not control)
        if self._letters:
            spans = ((text.translate(self._letters), style) for text, style in spans)
        piece = Piece(x + strip.cell_length, _merged(spans))
        self._pieces[id(strip)] = strip, piece
        return piece

    def _write_row(self, brush: Brush, y: int, row: Row, width: int) -> None:
        """Write the cells of a row that differ from the shadow."""
        shadow = self._shadow.setdefault(y, {})
        for x, piece in row.items():
            old = shadow.get(x)
            if old is piece or old == piece:
                continue
            skipped, spans = 0, piece.spans
            if old is not None and old.end == piece.end:
                skipped, spans = _changed_middle(old.spans, spans)
            if spans:
                brush.move(y, x + skipped)
                reaches_end = piece.end == width and spans[-1] is piece.spans[-1]
                brush.write(spans, width if reaches_end and self.can_erase else 0)
            for old_x in [k for k, other in shadow.items() if k < piece.end and other.end > x]:
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
        stays = [before[y] == now[y] for y in block]
        for lines in range(1, len(block) - MIN_MOVED_ROWS + 1):
            kept = sum(1 for y in range(first, last - lines + 1) if before[y + lines] == now[y])
            if kept * 2 > len(block) - lines and kept > sum(stays[: len(block) - lines]) + 1:
                return first, last, lines
        return None

    def _changed_block(self, rows: dict[int, Row]) -> range:
        """The longest stretch from one changed row to another that the update covers without a gap, in whole rows."""
        shadow = self._shadow
        whole = [y for y in sorted(rows) if rows[y] and shadow.get(y, {}).keys() == rows[y].keys()]
        best = range(0)
        for _, stretch in groupby(enumerate(whole), lambda place: place[1] - place[0]):
            changed = [y for _, y in stretch if shadow[y] != rows[y]]
            if changed:
                best = max(best, range(changed[0], changed[-1] + 1), key=len)
        return best

    def _move_rows(self, brush: Brush, first: int, last: int, lines: int) -> None:
        shadow = self._shadow
        for y in range(first, last + 1):
            shadow[y] = shadow[y + lines] if y + lines <= last else {}
        # Delete-lines at the top of a scroll region moves it up everywhere; SU is less widely supported.
        brush.control(f"\x1b[{first + 1};{last + 1}r\x1b[{first + 1};1H\x1b[{lines}M\x1b[r")


class _DiffedUpdate(CompositorUpdate):
    """Stands in for an update and renders it against the writer's shadow."""

    def __init__(self, writer: FrameWriter, update: LayoutUpdate | ChopsUpdate) -> None:
        self._writer = writer
        self._update = update

    def render_segments(self, console: Console) -> str:
        return self._writer.render(self._update, console)


def _layout_strips(update: LayoutUpdate) -> Iterator[tuple[int, int, Strip]]:
    for y, strips in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in strips:
            yield y, x, strip
            x += strip.cell_length


def _chop_strips(update: ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """The pieces that the update's spans touch."""
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x <= x2 and end > x1:
                yield y, x, strip


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Join neighbours of one style; empty texts vanish."""
    joined: list[Span] = []
    for text, style in spans:
        if not text:
            continue
        if joined and (joined[-1][1] is style or joined[-1][1] == style):
            joined[-1] = joined[-1][0] + text, style
        else:
            joined.append((text, style))
    return tuple(joined)


def _changed_middle(old: tuple[Span, ...], new: tuple[Span, ...]) -> tuple[int, tuple[Span, ...]]:
    """Cut what both rows begin and end with; return the cells skipped and the spans left.

    Both rows are equally wide. Single letters are cut in plain ASCII only: elsewhere a letter may belong to the one
    before it.
    """
    start = _common(old, new)
    before, now = list(old[start:]), list(new[start:])
    stop = _common(before[::-1], now[::-1])
    before, now = before[: len(before) - stop], now[: len(now) - stop]
    skipped = sum(cells(text) for text, _ in new[:start])
    if before and now and before[0][1] == now[0][1]:
        same = _common_letters(before[0][0], now[0][0])
        before[0], now[0] = (before[0][0][same:], before[0][1]), (now[0][0][same:], now[0][1])
        skipped += same
    if before and now and before[-1][1] == now[-1][1]:
        same = _common_letters(before[-1][0][::-1], now[-1][0][::-1])
        now[-1] = now[-1][0][: len(now[-1][0]) - same], now[-1][1]
    return skipped, tuple(span for span in now if span[0])


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items both begin with."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _common_letters(one: str, other: str) -> int:
    """How many letters both begin with; none outside ASCII."""
    return _common(one, other) if one.isascii() and other.isascii() else 0
