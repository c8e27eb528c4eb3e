"""How a one-line bar gives up fields as the terminal gets narrow. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from .line_text import Span, cells_of, clip, clip_spans


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a bar, in forms from long to short; each form is a row of styled spans."""

    priority: int
    """0 is given up last."""
    forms: tuple[tuple[Span, ...], ...]
    align: str = "left"
    """``left``, or ``right`` to stand at the end of the bar."""


def field(priority: int, *forms: str | tuple[Span, ...], style: str = "", align: str = "left") -> Field:
    """Return a field; a form given as text takes ``style``. Empty forms are left out."""
    rows = [((form, style),) if isinstance(form, str) else form for form in forms if form]
    return Field(priority, tuple(rows), align)


def fit(fields: Sequence[Field], width: int, separator: str = "  ") -> list[Span]:
    """Return a row of exactly ``width`` cells.

    Every field starts in its shortest form; the least important ones are dropped until the row fits; then the most
    important ones grow into what is left. A single field that is still too long is clipped.
    """
    shown = [entry for entry in fields if entry.forms]
    level = {id(entry): len(entry.forms) - 1 for entry in shown}
    gap = cell_len(separator)

    def needed() -> int:
        return sum(cells_of(entry.forms[level[id(entry)]]) for entry in shown) + gap * max(0, len(shown) - 1)

    for entry in sorted(shown, key=lambda entry: -entry.priority):
        if needed() > width and len(shown) > 1:
            shown.remove(entry)
    for entry in sorted(shown, key=lambda entry: entry.priority):
        fitting = level[id(entry)]
        for level[id(entry)] in range(fitting + 1):
            if needed() <= width:
                break
        else:
            level[id(entry)] = fitting
    return _lay_out([(entry, entry.forms[level[id(entry)]]) for entry in shown], width, separator)


def _lay_out(shown: Sequence[tuple[Field, tuple[Span, ...]]], width: int, separator: str) -> list[Span]:
    sides: dict[str, list[Span]] = {"left": [], "right": []}
    for entry, form in shown:
        side = sides["right" if entry.align == "right" else "left"]
        if side:
            side.append((separator, "separator"))
        side.extend(form)
    room = width - cells_of(sides["right"])
    row: list[Span] = []
    for text, style in sides["left"]:
        part = clip(text, room - cells_of(row))
        row.append((part, style))
    row = clip_spans([*row, (" " * max(0, room - cells_of(row)), ""), *sides["right"]], width)
    return [*row, (" " * (width - cells_of(row)), "")]
