"""What every entry has in common."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import ClassVar

from typing_extensions import override

from ..rendering.body import Body
from ..rendering.rows import Frame
from ..rendering.units import Unit
from ..rendering.wrapping import estimate_cells

_serial = count(1)


class Entry:
    """One record of the transcript.

    Args:
        message_id: The stored message it came from, if known.
    """

    __slots__ = ("_body", "_serial", "_shape", "expanded", "message_id", "position", "spaced")

    KIND: ClassVar[str] = ""

    def __init__(self, message_id: int | None = None) -> None:
        self._serial = next(_serial)
        self.message_id = message_id
        self.expanded: bool | None = None
        """What the reader chose; None follows the detail level."""
        self.position = 0
        """Where the transcript keeps it; the transcript's business."""
        self.spaced = True
        """Whether an empty row stands above it; the transcript's business."""
        self._body: Body | None = None
        self._shape: tuple[int, int] | None = None

    @property
    def key(self) -> str:
        """Unique in this process."""
        return str(self._serial)

    def source(self) -> str:
        """Return the text that a reader would copy: as written, not as drawn."""
        raise NotImplementedError

    def make_units(self, frame: Frame) -> Sequence[Unit]:
        """Build the units as they should look now; none when nothing is shown."""
        raise NotImplementedError

    def stable_units(self) -> int:
        """Return how many units at the start will never change again."""
        return 0

    @property
    def is_live(self) -> bool:
        """True while it changes by itself: a clock runs, or text streams."""
        return False

    @property
    def is_behind(self) -> bool:
        """True while text that arrived is not cut yet: the next frame goes on."""
        return False

    def is_open(self, frame: Frame) -> bool:
        """Say whether it shows everything."""
        return self.expanded if self.expanded is not None else frame.detail == "full"

    def follows_closely(self, before: Entry) -> bool:
        """Say whether no empty row separates it from the entry before."""
        del before
        return False

    # -- rows, for the transcript ----------------------------------------------------------------------------------

    @property
    def is_measured(self) -> bool:
        """True when units exist."""
        return self._body is not None

    def body(self, frame: Frame) -> Body:
        """Return the units with their heights, made on first use."""
        if self._body is None:
            self._body = Body(self.make_units(frame), frame)
            self._body.sync(self.stable_units(), frame)
        return self._body

    def refresh(self, frame: Frame) -> None:
        """Follow a change of the record or of the frame."""
        self._shape = None
        if self._body is not None:
            self._body = None
            self.body(frame)

    def resize(self, frame: Frame) -> None:
        """Follow a change of the width."""
        if self._body is not None:
            self._body.sync(self.stable_units(), frame)

    def forget(self) -> None:
        """Drop everything that can be made again."""
        self._body = None

    def height(self, frame: Frame) -> int:
        """Return the rows it takes without the space above: exact where drawn, else a guess."""
        if self._body is not None:
            return self._body.heights.total
        return self.estimate(frame)

    def estimate(self, frame: Frame) -> int:
        """Guess the rows from the size of the text; constant time after the first call."""
        if self._shape is None:
            text = self.source()
            self._shape = text.count("\n") + 1, estimate_cells(text)
        lines, cells = self._shape
        return lines + cells // max(8, frame.inner)


class StreamedEntry(Entry):
    """An entry whose text arrives in any pieces. Subclasses end it by setting ``_finished``.

    Args:
        text: The whole text of a stored one, or nothing.
        message_id: The stored message, if known.
    """

    __slots__ = ("_finished", "_parts")

    def __init__(self, text: str = "", message_id: int | None = None) -> None:
        super().__init__(message_id)
        self._parts = [text] if text else []
        self._finished = bool(text)

    def append(self, piece: str) -> None:
        """Take more text."""
        self._parts.append(piece)
        self._finished = False

    @override
    def source(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    @override
    def is_live(self) -> bool:
        return not self._finished
