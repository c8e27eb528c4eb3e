"""What the command-line surfaces share: one place that writes to stdout, tables, times in words."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Sequence
from typing import Any

from ..types.inert import clean

_LOOSE = re.compile(r"[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]")
"""Characters that JSON leaves as they are and a terminal may act on."""


def out(text: str = "") -> None:
    """Write a line for people to stdout: inert, and with characters that it cannot encode as escapes."""
    text = clean(text)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def out_exact(text: str) -> None:
    """Write JSON text; on a terminal, what it would act on stays an escape of the same meaning."""
    if sys.stdout.isatty():
        text = _LOOSE.sub(lambda match: json.dumps(match.group())[1:-1], text)
    sys.stdout.write(text + "\n")


def out_json(value: Any) -> None:
    """Write one JSON value and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")


def table(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> str:
    """Lay out rows in left-aligned columns; wide characters count as the terminal draws them."""
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    widths = [max(cell_width(row[column]) for row in cells) for column in range(len(heads))]
    lines = []
    for row in cells:
        padded = (cell + " " * (width - cell_width(cell)) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def cell_width(text: str) -> int:
    """Terminal columns of a text, near enough for a table."""
    import unicodedata

    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def clip(text: str, width: int) -> str:
    """One line of at most ``width`` columns."""
    line = " ".join(text.split())
    if cell_width(line) <= width:
        return line
    while line and cell_width(line) > width - 1:
        line = line[:-1]
    return line + "\u2026"


def ago(then_s: float, now_s: float | None = None) -> str:
    """Time since, in words."""
    seconds = max(0.0, (time.time() if now_s is None else now_s) - then_s)
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return "just now"


def bars(values: Sequence[float], width: int) -> list[str]:
    """Draw each value as a bar; the largest is ``width`` columns long, and none that counts is empty."""
    largest = max(values, default=0)
    drawn = []
    for value in values:
        eighths = max(round(value / largest * width * 8), 1) if value > 0 else 0
        drawn.append("\u2588" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else ""))
    return drawn


_EIGHTHS = " \u258f\u258e\u258d\u258c\u258b\u258a\u2589"


def size(size_bytes: float) -> str:
    """A number of bytes in words."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes:.0f} bytes"


def count_of(number: int, noun: str) -> str:
    """A number of things: ``1 session``, ``1,200 sessions``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
