"""What the program itself has to say: retries, fallbacks, interruptions, errors; and dividers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from typing_extensions import override

from ..inert import clean, one_line
from ..line_text import clip
from ..rendering.rows import Frame, Piece, wrapped
from ..rendering.units import DrawnUnit, Unit
from ..rendering.wrapping import chop_runs
from .base import Entry

_LEVELS: Final[Mapping[str, tuple[str, str, str]]] = {
    # level: (glyph, word, role)
    "info": ("\u00b7", "", "muted"),
    "success": ("\u2713", "", "ok"),
    "warning": ("!", "warning", "warning"),
    "error": ("\u2717", "error", "failed"),
}


class NoticeEntry(Entry):
    """A status line.

    Args:
        level: ``info``, ``success``, ``warning`` or ``error``; said in a glyph and a word, never by colour alone.
        text: What happened.
        hint: What to do about it.
        kind: What it is about, for whoever looks for it.
    """

    __slots__ = ("hint", "kind", "level", "text")

    KIND: ClassVar[str] = "notice"

    def __init__(self, level: str, text: str, hint: str = "", kind: str = "") -> None:
        super().__init__()
        self.level = level
        self.text = text
        self.hint = hint
        self.kind = kind

    @override
    def source(self) -> str:
        return f"{self.text}\n{self.hint}" if self.hint else self.text

    @override
    def follows_closely(self, before: Entry) -> bool:
        return before.KIND == "notice"

    @override
    def make_units(self, frame: Frame) -> Sequence[Unit]:
        del frame
        return [DrawnUnit(self._draw, rows=1 + bool(self.hint))]

    def _draw(self, frame: Frame) -> list[Piece]:
        glyph, word, role = _LEVELS.get(self.level, _LEVELS["info"])
        head = f"{glyph} {word}: " if word else f"{glyph} "
        pieces: list[Piece] = []
        for text, look in ((head + self.text, role), (self.hint, "muted")):
            for line in clean(text).split("\n") if text else []:
                for row in wrapped([(line, frame.style(look))], max(8, frame.inner - 2)):
                    pieces.append(row.indented([frame.seg("  ")]) if pieces else row)
        return pieces


class DividerEntry(Entry):
    """A rule with words in it, such as where older messages were compressed."""

    __slots__ = ("text",)

    KIND: ClassVar[str] = "divider"

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    @override
    def source(self) -> str:
        return self.text

    @override
    def make_units(self, frame: Frame) -> Sequence[Unit]:
        del frame
        return [DrawnUnit(self._draw)]

    def _draw(self, frame: Frame) -> list[Piece]:
        words = clip(one_line(self.text), frame.inner - 8)
        row = chop_runs([(f"\u2500\u2500 {words} ", frame.style("muted"))], frame.inner)[0]
        rest = frame.inner - sum(len(s.text) for s in row)
        return [Piece([*row, frame.seg("\u2500" * max(0, rest), "rule")], 3)]
