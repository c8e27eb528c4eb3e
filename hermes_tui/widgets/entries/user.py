"""What the person said."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar, Final

from typing_extensions import override

from ..inert import clean, one_line
from ..rendering.rows import Frame, Piece
from ..rendering.units import DrawnUnit, LinesUnit, Unit, line_units
from ..rendering.wrapping import cells_of
from .base import Entry

FOLD_LINES: Final = 24
"""Longer messages (pastes) are folded to their first lines."""


class _FirstLine(LinesUnit):
    """The first line, with the time at the right if there is room."""

    __slots__ = ("_label",)

    def __init__(self, line: str, label: str) -> None:
        super().__init__([line], ground="user", wrap=True, mark="marker")
        self._label = label

    @override
    def pieces(self, frame: Frame) -> list[Piece]:
        pieces = super().pieces(frame)
        free = frame.inner - cells_of(pieces[0].segments)
        if self._label and free > len(self._label) + 1:
            blank = frame.palette.blank(free - len(self._label), "user")
            pieces[0].segments = [*pieces[0].segments, blank, frame.seg(self._label, "muted", ground="user")]
        return pieces


class UserEntry(Entry):
    """A message of the person.

    Args:
        text: As typed; shown as it is, never as Markdown.
        at: Unix seconds; 0 shows no time.
        message_id: The stored message, if known.
        queued: True while it waits for its turn.
        attached: What goes along with it, in words.
    """

    __slots__ = ("at", "attached", "queued", "text")

    KIND: ClassVar[str] = "user"

    def __init__(
        self,
        text: str,
        at: float = 0.0,
        message_id: int | None = None,
        queued: bool = False,
        attached: Sequence[str] = (),
    ) -> None:
        super().__init__(message_id)
        self.attached = attached
        self.text = text
        self.at = at
        self.queued = queued

    @override
    def source(self) -> str:
        return self.text

    @override
    def make_units(self, frame: Frame) -> Sequence[Unit]:
        lines = clean(self.text).rstrip("\n").split("\n")
        shown = lines if self.is_open(frame) or len(lines) <= FOLD_LINES else lines[: FOLD_LINES - 4]
        units: list[Unit] = [_FirstLine(shown[0], self._label())]
        units += line_units(shown[1:], ground="user", wrap=True, mark="marker")
        if hidden := len(lines) - len(shown):
            units.append(DrawnUnit(lambda f: [Piece([f.seg(f"\u2026 {hidden} more lines", "muted")])]))
        attached = [f"+ {line}" for line in map(one_line, self.attached)]
        return [*units, *line_units(attached, "muted", ground="user", wrap=True, mark="marker")]

    def _label(self) -> str:
        if self.queued:
            return "queued"
        return time.strftime("%H:%M", time.localtime(self.at)) if self.at else ""
