"""The agent's plan as rows: what is done, what is going on, what is left. Pure rows, for panel and cards alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .line_text import Line, Span

TodoState: TypeAlias = Literal["pending", "in_progress", "done", "cancelled"]

_MARKS: dict[TodoState, tuple[str, str, str]] = {
    "pending": ("○", "[ ]", ""),
    "in_progress": ("●", "[>]", "accent"),
    "done": ("✓", "[x]", "muted"),
    "cancelled": ("–", "[-]", "muted"),
}
"""State -> mark, plain mark, style."""


@dataclass(frozen=True, slots=True)
class TodoRow:
    """One todo."""

    text: str
    state: TodoState = "pending"


def todo_lines(todos: Sequence[TodoRow], *, plain: bool = False) -> list[Line]:
    """Return one line per todo, in the given order."""
    lines = []
    for todo in todos:
        mark, plain_mark, style = _MARKS[todo.state]
        shown = plain_mark if plain else mark
        spans: tuple[Span, ...] = ((f"{shown} ", "success" if todo.state == "done" else style), (todo.text, style))
        lines.append(Line(spans, hang=len(shown) + 1))
    return lines


def open_count(todos: Sequence[TodoRow]) -> int:
    """Return how many are not done."""
    return sum(1 for todo in todos if todo.state in ("pending", "in_progress"))
