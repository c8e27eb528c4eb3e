"""The units of one entry with their heights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Final

from .heights import Heights
from .rows import Frame, Row
from .units import Unit

MAX_DRAWN: Final = 200
"""Units of one entry that keep rows."""


class Body:
    """What is known of an entry's rows: exact where drawn, guessed elsewhere.

    Args:
        units: The entry's units; a streaming entry may change this list between calls of :meth:`sync`.
        frame: How to draw.
    """

    __slots__ = ("_drawn", "_stable", "_width", "heights", "units")

    def __init__(self, units: Sequence[Unit], frame: Frame) -> None:
        self.units = units
        self.heights = Heights()
        self._stable = 0
        self._width = frame.inner
        self._drawn: list[Unit] = []
        self.sync(0, frame)

    def sync(self, stable: int, frame: Frame) -> None:
        """Follow changes of the units.

        Args:
            stable: Units at the start that will never change again.
            frame: How to draw.
        """
        start = self._stable
        if self._width != frame.inner:
            self._width = frame.inner
            start = 0
        del_from = min(start, len(self.heights))
        self.heights.delete(del_from, len(self.heights))
        self.heights.insert(del_from, [self._guess(unit, frame) for unit in self.units[del_from:]])
        self._stable = stable

    @staticmethod
    def _guess(unit: Unit, frame: Frame) -> int:
        key = unit.key
        if isinstance(key, tuple) and key[0] == frame.width:
            return unit.height
        return unit.gap + unit.estimate(frame.inner)

    def draw(self, index: int, frame: Frame) -> list[Row]:
        """Return the rows of a unit, and make its height exact."""
        unit = self.units[index]
        if unit.rows_cache is not None and unit.key is frame.key:
            return unit.rows_cache
        rows = unit.draw(frame)
        self.heights[index] = len(rows)
        self._drawn.append(unit)
        return rows

    def trim(self, keep: Set[Unit]) -> None:
        """Forget the rows of units drawn long ago, when there are many.

        Args:
            keep: Units that are on the screen.
        """
        if len(self._drawn) > MAX_DRAWN:
            for unit in self._drawn:
                if unit not in keep:
                    unit.forget()
            self._drawn = [unit for unit in self._drawn if unit in keep]

    def rows(self, frame: Frame) -> Iterator[Row]:
        """Draw everything, unit by unit."""
        for index in range(len(self.units)):
            yield from self.draw(index, frame)
