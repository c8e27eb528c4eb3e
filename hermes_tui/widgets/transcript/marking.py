"""Marks on finished rows: the cursor's bar, hits, selected text, the pill, the scroll thumb."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


def restyle(strip: Strip, ranges: Iterable[tuple[int, int]], style: Style) -> Strip:
    """Return a strip with ranges of characters (ascending) in another style."""
    segments: list[Segment] = []
    position = 0
    todo = [(start, end) for start, end in ranges if end > start]
    for text, old, _ in strip:
        start, end = position, position + len(text)
        position = end
        at = start
        for first, last in todo:
            if last <= at or first >= end:
                continue
            if first > at:
                segments.append(Segment(text[at - start : first - start], old))
            segments.append(Segment(text[max(first, at) - start : last - start], style if old is None else old + style))
            at = min(last, end)
        if at < end:
            segments.append(Segment(text[at - start :], old))
    return Strip(segments, strip.cell_length)


def replace_end(strip: Strip, segments: list[Segment]) -> Strip:
    """Return a strip with other segments over its last cells."""
    cells = sum(cell_len(segment.text) for segment in segments)
    kept = strip.crop(0, max(0, strip.cell_length - cells))
    return Strip([*kept, *segments], strip.cell_length)


def replace_start(strip: Strip, segment: Segment) -> Strip:
    """Return a strip with another segment over its first cells."""
    return Strip([segment, *strip.crop(cell_len(segment.text), strip.cell_length)], strip.cell_length)
