"""Plain mode on the terminal: every drawn line, block and mark as one ASCII letter of the same width.

Widgets that have more to say in plain mode say it themselves (words for states, no box, no animation); this table is
for the drawing that is left, so that nothing a screen reader would spell out reaches it. Letters of text stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from unicodedata import name

_MARKS = {
    "✓": "+", "✗": "x", "⊘": "x", "■": "#", "●": "*", "○": "o", "◌": ".", "★": "*", "▲": "!", "▸": ">", "▾": "v",
    "❯": ">", "›": ">", "↳": ">", "⋯": ".", "•": "-", "◦": "-", "▪": "-", "☐": "o", "☑": "x",
    "·": "-", "…": ".", "↑": "^", "↓": "v", "←": "<", "→": ">", "–": "-",
}  # fmt: skip


@cache
def plain_letters() -> Mapping[int, str]:
    """Return the table for :meth:`str.translate`: box drawing, blocks, Braille patterns and our own marks."""
    table = {code: _line(name(chr(code))) for code in range(0x2500, 0x2580)}
    table |= {
        code: "|" if "LEFT" in name(chr(code)) or "RIGHT" in name(chr(code)) else "#" for code in range(0x2580, 0x25A0)
    }
    table |= dict.fromkeys(range(0x2800, 0x2900), "*")
    return table | {ord(mark): letter for mark, letter in _MARKS.items()}


def _line(shape: str) -> str:
    if shape.endswith("HORIZONTAL"):
        return "-"
    return "|" if shape.endswith("VERTICAL") else "+"
