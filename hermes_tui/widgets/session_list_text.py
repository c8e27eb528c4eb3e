"""How a session reads in a list: time in words, group, facts, snippet. Pure."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from hermes_tui.engine.types.sessions import SessionRow, Snippet

from .inert import one_line
from .line_text import Span, cells_of, clip_spans, clip_start, overlay

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_PATH_CELLS, _MIN_PATH_CELLS = 32, 10
_REASONS = {"fork": "fork", "delegation": "subagent"}


@dataclass(frozen=True, slots=True)
class SessionItem:
    """A session in the list, with what a search found in it."""

    row: SessionRow
    snippets: tuple[Snippet, ...] = ()
    hit_count: int = 0
    title_marks: tuple[tuple[int, int], ...] = ()


def ago(then_s: float, now_s: float) -> str:
    """Return how long ago something was, short: ``now``, ``5m``, ``3h``, ``2d``, ``Oct 12``, ``Oct 2025``."""
    if then_s <= 0:
        return ""
    passed = max(0.0, now_s - then_s)
    if passed < _MINUTE:
        return "now"
    if passed < _HOUR:
        return f"{int(passed // _MINUTE)}m"
    if passed < _DAY:
        return f"{int(passed // _HOUR)}h"
    if passed < 7 * _DAY:
        return f"{int(passed // _DAY)}d"
    then, now = time.localtime(then_s), time.localtime(now_s)
    return time.strftime("%b %d" if then.tm_year == now.tm_year else "%b %Y", then)


def group_of(then_s: float, now_s: float) -> str:
    """Return the heading under which a time belongs."""
    then, now = time.localtime(then_s), time.localtime(now_s)
    midnight = time.mktime((now.tm_year, now.tm_mon, now.tm_mday, 0, 0, 0, 0, 0, -1))
    if then_s >= midnight:
        return "Today"
    if then_s >= midnight - _DAY:
        return "Yesterday"
    if then_s >= midnight - 6 * _DAY:
        return "This week"
    if (then.tm_year, then.tm_mon) == (now.tm_year, now.tm_mon):
        return "This month"
    return time.strftime("%B %Y", then)


def short_path(path: str, home: str, room: int) -> str:
    """Return a folder in at most ``room`` cells, its end kept."""
    path = one_line(path)
    if home and (path == home or path.startswith(home.rstrip("/") + "/")):
        path = "~" + path[len(home.rstrip("/")) :]
    return clip_start(path, room)


def money(cost_usd: float | None) -> str:
    """Return a cost, empty when unknown or nothing."""
    if not cost_usd:
        return ""
    return f"${cost_usd:.2f}" if cost_usd >= 0.01 else "<$0.01"


def title_of(row: SessionRow) -> str:
    """Return the title, never empty."""
    return one_line(row.title) or "Untitled"


def marks_of(row: SessionRow, current_id: str = "") -> list[str]:
    """Return what is special about a session, in words."""
    marks = []
    if row.id == current_id:
        marks.append("open here")
    elif row.open_elsewhere:
        marks.append("open elsewhere")
    if row.parent_reason in _REASONS:
        marks.append(_REASONS[row.parent_reason])
    if row.compaction_count:
        marks.append("compacted")
    if row.end_reason == "error":
        marks.append("error")
    if row.archived:
        marks.append("archived")
    return marks


def title_row(item: SessionItem, width: int, now_s: float, *, is_marked: bool = False) -> list[Span]:
    """Return the first row: marks, title, time."""
    when = ago(item.row.updated_at, now_s)
    room = width - cell_len(when) - 1
    lead: list[Span] = [("\u2713 ", "success")] if is_marked else []
    if item.row.pinned:
        lead.append(("\u2605 ", "accent"))
    title: list[Span] = [(title_of(item.row), "strong" if item.row.title else "muted")]
    if item.title_marks and one_line(item.row.title) == item.row.title:
        title = overlay(title, item.title_marks, "mark")
    spans = clip_spans([*lead, *title], room)
    return [*spans, (" " * (width - cells_of(spans) - cell_len(when)), ""), (when, "muted")]


def facts_row(item: SessionItem, width: int, home: str, current_id: str = "") -> list[Span]:
    """Return the second row: the best hit, or folder, model, turns, cost and marks; marks stay longest."""
    if item.snippets:
        return _snippet_row(item, width)
    row = item.row
    turns = f"{row.turn_count} turn{'s' * (row.turn_count != 1)}" if row.turn_count else ""
    facts = [one_line(fact) for fact in (row.model.rsplit("/", 1)[-1], turns, money(row.cost_usd)) if fact]
    marks = "  ".join(marks_of(row, current_id))
    for_marks = cell_len(marks) + 2 if marks else 0
    while facts and cell_len("  ".join(facts)) + for_marks > width:
        facts.pop(0)
    room = min(_PATH_CELLS, width - cell_len("  ".join(facts)) - for_marks - 2)
    path = short_path(row.cwd, home, _PATH_CELLS) if row.cwd else ""
    if path and cell_len(path) > room:
        path = short_path(row.cwd, home, room) if room >= _MIN_PATH_CELLS else ""
    parts: list[Span] = [(part, "muted") for part in (path, *facts) if part]
    parts += [(marks, "warning")] if marks else []
    return clip_spans([("  " * bool(number) + text, style) for number, (text, style) in enumerate(parts)], width)


def _snippet_row(item: SessionItem, width: int) -> list[Span]:
    best = item.snippets[0]
    more = f"  {item.hit_count} hits" if item.hit_count > 1 else ""
    if len(more) > width // 2:
        more = ""
    return [*clip_around(best.text, best.marks, width - len(more)), (more, "muted")]


def clip_around(text: str, marks: Sequence[tuple[int, int]], width: int) -> list[Span]:
    """Return a text in one row so that its first mark is visible; what cannot be drawn becomes a blank."""
    flat = "".join(char if char.isprintable() else " " for char in text)
    start = 0
    if marks and cell_len(flat[: marks[0][1]]) > width - 2:
        start = max(0, marks[0][0] - max(4, width // 4))
    spans = overlay([(flat, "muted")], marks, "mark")
    shown = clip_spans(_from(spans, start), width - (1 if start else 0))
    return [("\u2026", "muted"), *shown] if start else shown


def _from(spans: Sequence[Span], start: int) -> list[Span]:
    rest: list[Span] = []
    for text, style in spans:
        if start < len(text):
            rest.append((text[start:], style))
        start = max(0, start - len(text))
    return rest
