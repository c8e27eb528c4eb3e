"""Heights of many things in a column, with quick sums: which thing is at row y, where does thing i start."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

_CHUNK = 256


class Heights:
    """Row counts with chunked sums. Reading and changing one is fast for 100,000 items; inserting costs one pass."""

    __slots__ = ("_rows", "_sums", "total")

    def __init__(self, rows: Iterable[int] = ()) -> None:
        self._rows = array("i", rows)
        self._sums: list[int] = []
        self.total = 0
        self._sum_from(0)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> int:
        return self._rows[index]

    def __setitem__(self, index: int, rows: int) -> None:
        delta = rows - self._rows[index]
        if delta:
            self._rows[index] = rows
            self._sums[index // _CHUNK] += delta
            self.total += delta

    def append(self, rows: int) -> None:
        """Add one at the end."""
        if len(self._rows) % _CHUNK == 0:
            self._sums.append(0)
        self._rows.append(rows)
        self._sums[-1] += rows
        self.total += rows

    def insert(self, index: int, rows: Iterable[int]) -> None:
        """Insert several before ``index``."""
        self._rows[index:index] = array("i", rows)
        self._sum_from(index)

    def delete(self, start: int, stop: int) -> None:
        """Delete the items ``[start, stop)``."""
        del self._rows[start:stop]
        self._sum_from(start)

    def start(self, index: int) -> int:
        """Return the rows before item ``index``."""
        chunk = index // _CHUNK
        return sum(self._sums[:chunk]) + sum(self._rows[chunk * _CHUNK : index])

    def find(self, row: int) -> tuple[int, int]:
        """Return ``(item, row inside it)`` for a row of the whole column; clamped to the ends."""
        if not self._rows:
            return 0, 0
        row = max(0, min(row, self.total - 1))
        ends = list(accumulate(self._sums))
        chunk = bisect_right(ends, row)
        row -= ends[chunk - 1] if chunk else 0
        first = chunk * _CHUNK
        inner = list(accumulate(self._rows[first : first + _CHUNK]))
        item = bisect_right(inner, row)
        return first + item, row - (inner[item - 1] if item else 0)

    def _sum_from(self, index: int) -> None:
        first = index // _CHUNK
        self._sums[first:] = [sum(self._rows[i : i + _CHUNK]) for i in range(first * _CHUNK, len(self._rows), _CHUNK)]
        self.total = sum(self._sums)
