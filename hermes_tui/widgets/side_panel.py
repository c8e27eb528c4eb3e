"""The side panel: todos, context, changed files, subagents and jobs, as sections of plain rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .inert import one_line
from .line_text import Line, line
from .line_view import LineView
from .status_bar import short_count
from .todo_list import TodoRow, todo_lines

SectionName: TypeAlias = Literal["todos", "context", "files", "subagents", "jobs"]

_TITLES: dict[SectionName, tuple[str, str]] = {
    "todos": ("Todos", "no plan yet"),
    "context": ("Context", "nothing sent yet"),
    "files": ("Files changed", "none"),
    "subagents": ("Subagents", "none"),
    "jobs": ("Background jobs", "none"),
}
"""Section -> title, and what stands there while it is empty. The order is the order on the screen."""


@dataclass(frozen=True, slots=True)
class ContextRow:
    """One category of what is in the window."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file that was changed in this session."""

    path: str
    added: int = 0
    removed: int = 0
    kind: str = "changed"
    """``created``, ``changed`` or ``deleted``."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A subagent or a background job."""

    name: str
    state: str
    """In a word: ``running``, ``done``, ``failed``."""


class SidePanel(LineView):
    """Hidden by default; the screen shows it by setting ``display``.

    Args:
        plain: Words and ASCII only.
        id: Widget id.
    """

    DEFAULT_CSS = """
    SidePanel {
        display: none; width: 36; max-width: 40%; height: 1fr; padding: 0 1;
        border-left: solid $rule; background: $background;
    }
    """

    def __init__(self, *, plain: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._plain = plain
        self._sections: dict[SectionName, list[Line]] = {name: [] for name in _TITLES}
        self._show()

    def set_todos(self, todos: Sequence[TodoRow]) -> None:
        """Show the plan."""
        rows = [TodoRow(one_line(todo.text), todo.state) for todo in todos]
        self._set("todos", todo_lines(rows, plain=self._plain))

    def set_context(self, rows: Sequence[ContextRow], window: int | None = None) -> None:
        """Show what fills the window, largest first."""
        total = sum(row.tokens for row in rows)
        lines = [
            Line(((f"{short_count(row.tokens):>6}  ", ""), (one_line(row.name), "muted")), hang=8)
            for row in sorted(rows, key=lambda row: -row.tokens)
        ]
        if rows:
            share = f" of {short_count(window)} ({total / window:.0%})" if window else ""
            lines.append(Line(((f"{short_count(total):>6}  ", "strong"), (f"in all{share}", "")), hang=8))
        self._set("context", lines)

    def set_files(self, rows: Sequence[FileRow], more: int = 0) -> None:
        """Show the files that were changed.

        Args:
            rows: The first of them.
            more: How many there are besides.
        """
        lines = [
            Line(
                (
                    (f"+{row.added}", "added"),
                    (" ", ""),
                    (f"-{row.removed}", "removed"),
                    (f"  {one_line(row.path)}", ""),
                    (f" ({row.kind})" if row.kind != "changed" else "", "muted"),
                ),
                hang=2,
            )
            for row in rows
        ]
        self._set("files", lines + [line(f"and {more:,} more", "muted")] * (more > 0))

    def set_subagents(self, rows: Sequence[TaskRow]) -> None:
        """Show the subagents."""
        self._set("subagents", _task_lines(rows))

    def set_jobs(self, rows: Sequence[TaskRow]) -> None:
        """Show the background jobs."""
        self._set("jobs", _task_lines(rows))

    def _set(self, name: SectionName, lines: list[Line]) -> None:
        if lines != self._sections[name]:
            self._sections[name] = lines
            self._show()

    def _show(self) -> None:
        shown: list[Line] = []
        for name, (title, empty) in _TITLES.items():
            if shown:
                shown.append(Line())
            shown.append(line(title, "heading"))
            shown += self._sections[name] or [line(empty, "muted")]
        self.set_lines(shown, keep_scroll=True)


def _task_lines(rows: Sequence[TaskRow]) -> list[Line]:
    styles = {"failed": "error", "done": "success", "running": "accent"}
    return [
        Line(((f"{row.state:<8}", styles.get(row.state, "muted")), (one_line(row.name), "")), hang=8) for row in rows
    ]
