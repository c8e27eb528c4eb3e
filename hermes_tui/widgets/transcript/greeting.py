"""What stands in an empty transcript: a name and the first keys to know, in the middle."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.strip import Strip

from ..rendering.rows import Frame, Piece


class Greeting:
    """Rows for a transcript without entries; the same objects until the size or the colours change.

    Args:
        title: The first line.
        keys: Keys and what they do, the most useful first.
    """

    def __init__(self, title: str, keys: Sequence[tuple[str, str]]) -> None:
        self._title = title
        self._keys = keys
        self._made_for: tuple[object, int] | None = None
        self._rows: list[Strip] = []

    def rows(self, frame: Frame, height: int) -> list[Strip]:
        """Return exactly ``height`` rows; where they are few, the last keys are left out."""
        if self._made_for != (frame.key, height):
            self._made_for = frame.key, height
            self._rows = self._draw(frame, height)
        return self._rows

    def _draw(self, frame: Frame, height: int) -> list[Strip]:
        keys = self._keys[: max(0, height - 4)]
        column = max((cell_len(key) for key, _ in keys), default=0) + 2
        widest = max((column + cell_len(words) for _, words in keys), default=cell_len(self._title))
        indent = frame.palette.blank(max(0, (frame.inner - widest) // 2), "base")
        block: list[Strip] = [frame.row(Piece([indent, frame.seg(self._title, "active", "strong")])), frame.blank()]
        for key, words in keys:
            cells = [indent, frame.seg(key.ljust(column), "active"), frame.seg(words, "muted")]
            block.append(frame.row(Piece(cells)))
        above = max(0, (height - len(block)) // 2)
        return ([frame.blank()] * above + block + [frame.blank()] * height)[:height]
