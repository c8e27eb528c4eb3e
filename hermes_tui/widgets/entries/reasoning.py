"""What the model thought: live while it thinks, then one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from typing_extensions import override

from ..inert import clean, one_line
from ..line_text import clip
from ..rendering.rows import Frame, Piece
from ..rendering.units import DrawnUnit, LinesUnit, Unit, line_units
from .base import StreamedEntry

LIVE_ROWS: Final = 4
"""Rows of the newest thoughts that are shown while thinking."""


def seconds_text(seconds: float) -> str:
    """Return a duration in few cells: ``0.4s``, ``12s``, ``3m05s``."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    if seconds < 60:
        return f"{seconds:.0f}s"
    return f"{int(seconds) // 60}m{int(seconds) % 60:02d}s"


class ReasoningEntry(StreamedEntry):
    """A stretch of reasoning.

    Args:
        text: The whole text of stored reasoning, or nothing.
    """

    __slots__ = ("_duration_s", "_since")

    KIND: ClassVar[str] = "reasoning"

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self._duration_s = 0.0
        self._since: float | None = None

    def finish(self, duration_s: float = 0.0) -> None:
        """End it; it folds to one line."""
        self._duration_s = duration_s
        self._finished = True

    @override
    def is_open(self, frame: Frame) -> bool:
        if self.expanded is not None:
            return self.expanded
        return frame.reasoning == "full" or frame.detail == "full"

    @override
    def estimate(self, frame: Frame) -> int:
        if frame.reasoning == "hidden" and self.expanded is None:
            return 0
        return super().estimate(frame) + 1 if self.is_open(frame) else 1

    @override
    def make_units(self, frame: Frame) -> Sequence[Unit]:
        if frame.reasoning == "hidden" and not self.expanded:
            return []
        if self._since is None:
            self._since = frame.now
        if self.is_open(frame):
            lines = clean(self.source().strip("\n")).split("\n")
            return [DrawnUnit(self._header), *line_units(lines, "reasoning", prefix="\u2502 ", wrap=True)]
        if not self._finished:
            tail = clean(self.source()[-LIVE_ROWS * frame.inner :]).rstrip("\n").split("\n")
            return [DrawnUnit(self._header), _TailUnit(tail, "reasoning", prefix="\u2502 ", wrap=True)]
        return [DrawnUnit(self._header)]

    def _header(self, frame: Frame) -> list[Piece]:
        if not self._finished:
            clock = seconds_text(max(0.0, frame.now - (self._since or frame.now)))
            return [Piece([frame.seg(clip(f"thinking {clock}", frame.inner), "reasoning")])]
        head = f"thought {seconds_text(self._duration_s)}" if self._duration_s else "thought"
        segments = [frame.seg(head, "reasoning")]
        words = "" if self.is_open(frame) else one_line(self.source()[:400])
        if words and (room := frame.inner - len(head) - 3) > 8:
            segments.append(frame.seg(f" \u00b7 {clip(words, room)}", "muted"))
        return [Piece(segments)]


class _TailUnit(LinesUnit):
    """The last rows of growing text."""

    __slots__ = ()

    @override
    def estimate(self, width: int) -> int:
        return LIVE_ROWS

    @override
    def pieces(self, frame: Frame) -> list[Piece]:
        return super().pieces(frame)[-LIVE_ROWS:]
