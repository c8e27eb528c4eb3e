"""Rows: what entries are drawn with, and the frame that says how."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.strip import Strip

from .palette import Palette
from .wrapping import Run, cells_of, chop_ranges, cut_runs, wrap_ranges

if TYPE_CHECKING:
    from .code import CodeStyler

Detail: TypeAlias = Literal["compact", "normal", "full"]
ReasoningLevel: TypeAlias = Literal["hidden", "line", "full"]

GUTTER = 2
"""Cells left of every entry; the first is the cursor's."""
MARGIN = 2
"""Cells right of every entry; the last is the scroll thumb's."""
BAR: Final = "\u2502 "
"""Stands before every row below the header of a card."""

_CACHES: Final = frozenset(name for name in Strip.__slots__ if name.endswith("_cache")) - {"_render_cache"}


class Row(Strip):
    """A strip that also knows what a reader would copy from it.

    A strip makes seven caches when it is made; most rows are never cut or restyled, so here each cache is made when it
    is first asked for. That is a third of the time and a fifth of the memory, and less for the garbage collector to
    walk. A test compares a row with a strip, and notices when Textual's class changes.
    """

    __slots__ = ("joint", "skip")

    def __init__(self, segments: Iterable[Segment], cells: int, skip: int = 0, joint: str | None = None) -> None:
        self._segments = list(segments)
        self._cell_length = cells
        self._render_cache = None
        self._link_ids = None
        self._cell_count = None
        self.skip = skip
        """Leading characters that are decoration."""
        self.joint = joint
        """What stands between this row and the one above in a copy; None is a line end."""

    def __getattr__(self, name: str) -> Any:
        if name not in _CACHES:
            raise AttributeError(name)
        cache: FIFOCache[Any, Any] = FIFOCache(4)
        setattr(self, name, cache)
        return cache


@dataclass(slots=True)
class Piece:
    """One row of content before it gets its place on the screen."""

    segments: list[Segment]
    skip: int = 0
    """Leading characters that are decoration."""
    joint: str | None = None
    """What stood between this row and the one above before the text was wrapped; None for a line end."""
    ground: str = "base"

    def indented(self, prefix: Sequence[Segment], *, decorated: bool = True) -> Piece:
        """Return the piece behind a prefix."""
        extra = sum(len(segment.text) for segment in prefix) if decorated else 0
        return Piece([*prefix, *self.segments], self.skip + extra, self.joint, self.ground)


@dataclass(slots=True)
class Frame:
    """How to draw now: everything that entries may depend on besides their own text."""

    width: int
    """Cells of the whole view."""
    palette: Palette
    code: CodeStyler
    detail: Detail = "normal"
    reasoning: ReasoningLevel = "line"
    animate: bool = True
    now: float = 0.0
    """Monotonic seconds; moves only what is alive."""
    key: tuple[object, ...] = field(init=False)
    """What finished rows depend on."""
    _blank: dict[str, Row] = field(init=False)

    def __post_init__(self) -> None:
        self.key = self.width, self.palette, self.detail, self.reasoning, self.code.version
        self._blank = {}

    @property
    def inner(self) -> int:
        """Cells for content."""
        return max(4, self.width - GUTTER - MARGIN)

    def style(self, *roles: str, ground: str = "base") -> Style:
        """Return a style of the palette."""
        return self.palette.style(ground, *roles)

    def seg(self, text: str, *roles: str, ground: str = "base") -> Segment:
        """Return a segment in a style of the palette."""
        return Segment(text, self.palette.style(ground, *roles))

    def row(self, piece: Piece, mark: Segment | None = None) -> Row:
        """Place content in the full width.

        Args:
            piece: Content of at most ``inner`` cells.
            mark: One cell at the left edge, or nothing.
        """
        ground = piece.ground
        blank = self.palette.blank
        head = [mark, blank(GUTTER - 1, ground)] if mark is not None else [blank(GUTTER, ground)]
        rest = self.width - GUTTER - cells_of(piece.segments)
        tail = [blank(rest, ground)] if rest > 0 else []
        segments = [*head, *piece.segments, *tail]
        if rest < 0:
            segments = list(Strip(segments).crop(0, self.width))
        return Row(segments, self.width, GUTTER + piece.skip, piece.joint)

    def blank(self, ground: str = "base") -> Row:
        """Return the empty row; always the same one, so that it is never drawn again."""
        row = self._blank.get(ground)
        if row is None:
            row = self._blank[ground] = Row([self.palette.blank(self.width, ground)], self.width, self.width)
        return row


def wrapped(runs: Sequence[Run], width: int, *, chop: bool = False, ground: str = "base") -> list[Piece]:
    """Return one line as rows that know how they belong together.

    Args:
        runs: The line.
        width: Cells of a row.
        chop: Fill rows to the last cell (code, output) instead of breaking at words.
        ground: What it lies on.
    """
    text = runs[0][0] if len(runs) == 1 else "".join([text for text, _ in runs])
    ranges = chop_ranges(text, width) if chop else wrap_ranges(text, width)
    if len(ranges) == 1 and len(runs) == 1:
        return [Piece([Segment(*runs[0])], 0, None, ground)]
    pieces: list[Piece] = []
    end = -1
    for row, (start, stop) in zip(cut_runs(runs, ranges), ranges, strict=True):
        pieces.append(Piece(row, 0, None if end < 0 else "" if start == end else " ", ground))
        end = stop
    return pieces
