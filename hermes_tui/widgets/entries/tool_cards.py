"""What each kind of tool shows below its header. One function a kind; the table at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..diff_view import diff_units
from ..inert import clean, one_line
from ..rendering.code_unit import CodeUnit
from ..rendering.rows import BAR, Frame, Piece, wrapped
from ..rendering.units import DrawnUnit, LinesUnit, Unit, line_units
from .subagents import draw as draw_agents
from .tool_result import args_text, output_lines, result_text

if TYPE_CHECKING:
    from .tool import ToolEntry

ERROR_LINES: Final = 10
"""Last lines of a failed call that are shown without being asked for."""
PERSON_LINES: Final = 24
"""Last lines of a person's own command that are shown without being asked for."""
MAX_SUMMARY: Final = 40
"""Cells of a summary in the header."""
CALL_LINES: Final = 5
"""Calls of a script that are shown without being asked for."""
DIFF_LINES: Final = 40
"""Lines of a diff that are shown without being asked for."""

Card: TypeAlias = Callable[["ToolEntry", Frame, bool], list[Unit]]


def _output(entry: ToolEntry, frame: Frame, is_open: bool) -> list[Unit]:
    del frame
    shown = entry.display.get("output") or entry.display.get("content")
    lines = output_lines(shown if isinstance(shown, str) and shown else result_text(entry.result))
    if is_open:
        return line_units(lines, "muted", prefix=BAR)
    says_all = entry.outcome == "denied" and len(str(entry.display.get("summary", ""))) <= MAX_SUMMARY
    if entry.by_person and entry.expanded is None and not says_all:
        return _tail(lines, "muted", PERSON_LINES)
    if entry.outcome in {"error", "timeout"}:
        return _tail(lines, "muted", ERROR_LINES)
    return []


def _terminal(entry: ToolEntry, frame: Frame, is_open: bool) -> list[Unit]:
    """Show the end of a command that failed, too: it ran as it should, but not as somebody hoped."""
    failed = entry.outcome == "ok" and entry.display.get("exit_code") not in (0, None)
    if is_open or entry.by_person or entry.expanded is False or not failed or frame.detail == "compact":
        return _output(entry, frame, is_open)
    return _tail(output_lines(str(entry.display.get("output", ""))), "muted", ERROR_LINES)


def _tail(lines: Sequence[str], role: str, count: int) -> list[Unit]:
    hidden = len(lines) - count
    units: list[Unit] = [more_unit(hidden, "earlier")] if hidden > 0 else []
    return [*units, *line_units(lines[-count:], role, prefix=BAR)]


def more_unit(count: int, what: str = "more") -> Unit:
    """Return a row that says how much is folded away."""
    text = f"\u2026 {count:,} {what} line{'s' if count != 1 else ''}"
    return DrawnUnit(lambda frame: [Piece([frame.seg(BAR, "rule"), frame.seg(text, "muted")], len(BAR))])


def _diff(entry: ToolEntry, frame: Frame, is_open: bool) -> list[Unit]:
    diff = entry.display.get("diff")
    if entry.outcome in {"error", "timeout"} or not isinstance(diff, str) or not diff:
        return _output(entry, frame, is_open)
    if entry.expanded is False or (frame.detail == "compact" and not is_open):
        return []
    units, hidden = diff_units(diff, str(entry.display.get("target", "")), limit=0 if is_open else DIFF_LINES)
    return [*units, more_unit(hidden)] if hidden else units


def _todo(entry: ToolEntry, frame: Frame, is_open: bool) -> list[Unit]:
    items = entry.display.get("items")
    if not isinstance(items, Sequence) or isinstance(items, str) or (frame.detail == "compact" and not is_open):
        return _output(entry, frame, is_open)
    rows = [item for item in items if isinstance(item, Mapping)]
    return [DrawnUnit(lambda f: [piece for row in rows for piece in _todo_row(row, f)], rows=len(rows))]


_TODO_LOOKS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "done": ("\u2713", ("muted", "strike")),
    "in_progress": ("\u25cf", ("strong",)),
    "cancelled": ("\u2013", ("muted", "strike")),
}


def _todo_row(item: Mapping[str, Any], frame: Frame) -> list[Piece]:
    box, roles = _TODO_LOOKS.get(str(item.get("status", "")), ("\u25cb", ()))
    text = one_line(str(item.get("content", "")))
    rows = wrapped([(text, frame.style(*roles))], max(8, frame.inner - 4))
    return [
        row.indented([frame.seg(BAR, "rule"), frame.seg(f"{box} " if number == 0 else "  ", "bullet")])
        for number, row in enumerate(rows)
    ]


def _clarify(entry: ToolEntry, frame: Frame, is_open: bool) -> list[Unit]:
    answer = entry.display.get("answer")
    if not isinstance(answer, str) or not answer:
        return _output(entry, frame, is_open)
    if not is_open and answer == entry.display.get("summary") and len(answer) <= MAX_SUMMARY and "\n" not in answer:
        return []
    return [LinesUnit(clean(answer).split("\n"), prefix=BAR, wrap=True)]


def _code(entry: ToolEntry, frame: Frame, is_open: bool) -> list[Unit]:
    code, calls = entry.display.get("code"), entry.display.get("calls")
    units: list[Unit] = []
    if is_open and isinstance(code, str) and code:
        script = CodeUnit("python", "", 0)
        for source in clean(code).split("\n"):
            script.add(source)
        units.append(script)
    lines = [one_line(str(call)) for call in calls] if isinstance(calls, list) else []
    if lines and (is_open or frame.detail != "compact"):
        shown = lines if is_open or len(lines) <= CALL_LINES + 1 else lines[:CALL_LINES]
        units += line_units([f"\u2192 {call}" for call in shown], "tool", prefix=BAR)
        if len(shown) < len(lines):
            units.append(more_unit(len(lines) - len(shown)))
    return [*units, *_output(entry, frame, is_open)]


def _generic(entry: ToolEntry, frame: Frame, is_open: bool) -> list[Unit]:
    units = _output(entry, frame, is_open)
    if is_open and entry.args:
        units = [*line_units(clean(args_text(entry.args)).split("\n"), "tool", prefix=BAR), *units]
    return units


CARDS: Final[Mapping[str, Card]] = {
    "terminal": _terminal,
    "agents": draw_agents,
    "code": _code,
    "diff": _diff,
    "file": _output,
    "search": _output,
    "todo": _todo,
    "clarify": _clarify,
    "generic": _generic,
}
"""How each kind shows its result."""
