"""What the model said, in Markdown, while it is said and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from typing_extensions import override

from ..rendering.blocks import BlockCutter
from ..rendering.rows import Frame
from ..rendering.units import Unit
from ..rendering.wrapping import estimate_cells
from .base import StreamedEntry

MAX_STEP: Final = 16_000
"""Characters that are cut in one frame. Source: about 3 ms on a slow core."""
MAX_FIRST: Final = 200_000
"""The same for an answer that was whole when it was first looked at: better one late frame than a running screen."""


class AssistantEntry(StreamedEntry):
    """An answer. Text may arrive in any pieces; what is drawn depends on the text alone.

    Args:
        text: The whole text of a stored answer, or nothing.
        message_id: The stored message, if known.
    """

    __slots__ = ("_cutter", "_pending")

    KIND: ClassVar[str] = "assistant"

    def __init__(self, text: str = "", message_id: int | None = None) -> None:
        super().__init__(text, message_id)
        self._pending: list[str] = []
        self._cutter: BlockCutter | None = None

    @override
    def append(self, piece: str) -> None:
        super().append(piece)
        if self._cutter is not None:
            self._pending.append(piece)
        if self._shape is not None:
            lines, cells = self._shape
            self._shape = lines + piece.count("\n"), cells + estimate_cells(piece)

    def finish(self, text: str | None) -> None:
        """End the answer.

        Args:
            text: The whole text where it differs from what arrived; None keeps that.
        """
        if text is not None and text != self.source():
            self._parts, self._cutter, self._body, self._shape = [text], None, None, None
        self._finished = True

    @override
    def make_units(self, frame: Frame) -> Sequence[Unit]:
        if self._cutter is None:
            self._cutter = BlockCutter()
            self._pending = [self.source()]
            self._catch_up(MAX_FIRST if self._finished else MAX_STEP)
        return self._cutter.units

    def _catch_up(self, limit: int = MAX_STEP) -> None:
        """Cut what arrived since the last look, but no more than a frame has time for."""
        cutter = self._cutter
        assert cutter is not None
        if self._pending:
            text = "".join(self._pending)
            cutter.feed(text[:limit])
            self._pending = [text[limit:]] if len(text) > limit else []
        if self._finished and not self._pending:
            cutter.finish()

    @property
    @override
    def is_behind(self) -> bool:
        return self._cutter is not None and bool(self._pending)

    @override
    def stable_units(self) -> int:
        return self._cutter.closed if self._cutter is not None else 0

    @override
    def refresh(self, frame: Frame) -> None:
        if self._body is None:
            return
        if self._cutter is None:
            super().refresh(frame)
            return
        self._catch_up()
        self._body.sync(self._cutter.closed, frame)

    @override
    def forget(self) -> None:
        if self._finished:
            self._body = self._cutter = None
