"""One model request as text: a row of the list, the facts below it, what fills the window. Pure; knows no widget."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hermes_tui.engine.types.inspection import ContextPart, ContextReport, RequestOutcome, RequestRow

from .line_text import Line, Span, clip, clip_spans, line, shown
from .usage_text import bar_text, count_words, price_words

_OUTCOMES: Mapping[RequestOutcome, tuple[str, str]] = {
    "running": ("running", "accent"),
    "ok": ("ok", "success"),
    "error": ("failed", "error"),
    "interrupted": ("stopped", "warning"),
}
"""Outcome -> word and style."""
_ENDS: Mapping[RequestOutcome, str] = {
    "running": "Running for",
    "ok": "Answered in",
    "error": "Failed after",
    "interrupted": "Stopped after",
}
_WIDE, _MEDIUM = 100, 70
"""Cells from which a row has all columns, or most of them."""
_NUMBER_CELLS, _SHARE_CELLS = 7, 6
FREE = "Free"


def seconds(value: float | None) -> str:
    """Return a duration: ``0.42 s``, ``12.3 s``, ``2 m 05 s``, ``-`` for none."""
    if value is None:
        return "-"
    if value < 10:
        return f"{value:.2f} s"
    if value < 120:
        return f"{value:.1f} s"
    return f"{int(value // 60)} m {int(value % 60):02} s"


def percent(share: float | None) -> str:
    """Return a share: ``91 %``, ``<1 %`` for a little, or ``-``."""
    if share is not None and 0 < share < 0.005:
        return "<1 %"
    return "-" if share is None else f"{share:.0%}".replace("%", " %")


def place_of(row: RequestRow) -> str:
    """Return where in the session a request was made: ``turn 2, step 3``, and which attempt."""
    if row.purpose != "turn":
        return f"turn {row.turn}, {row.purpose}, request {row.attempt}"
    return f"turn {row.turn}, step {row.step}" + (f", attempt {row.attempt}" if row.attempt > 1 else "")


class Column(NamedTuple):
    """One column of the list of requests."""

    title: str
    form: str
    """Format specification of the cell."""
    text: Callable[[RequestRow], str]
    style: str = "muted"
    """Empty for what is read first; the outcome has its own."""
    from_width: int = 0
    """Cells from which a row has it."""


def request_heads(width: int) -> list[Span]:
    """Return the titles above the rows of :func:`request_row`."""
    return clip_spans([(_gap(width).join(f"{c.title:{c.form}}" for c in _columns(width)), "muted")], width)


def request_row(row: RequestRow, width: int) -> list[Span]:
    """Return a request in one line: as many facts as have room, the most telling first."""
    spans: list[Span] = []
    for column in _columns(width):
        style = _OUTCOMES[row.outcome][1] if column.title == "result" else column.style
        spans += [(f"{column.text(row):{column.form}}", style), (_gap(width), "")]
    return clip_spans(spans[:-1], width)


def _columns(width: int) -> list[Column]:
    return [column for column in _COLUMNS if width >= column.from_width]


def _gap(width: int) -> str:
    return "  " if width >= _WIDE else " "


def _step(row: RequestRow) -> str:
    place = f"{row.turn}.{row.step}" if row.purpose == "turn" else f"{row.turn} sum"
    return place + (f"/{row.attempt}" if row.attempt > 1 else "")


def _tokens_in(row: RequestRow) -> str:
    usage = row.usage
    return f"~{count_words(row.estimated_tokens)}" if usage is None else count_words(usage.prompt_tokens)


_COLUMNS: Sequence[Column] = (
    Column("#", ">3", lambda row: str(row.number)),
    Column("step", "<5", _step, ""),
    Column("result", "<7", lambda row: _OUTCOMES[row.outcome][0]),
    Column("first", ">7", lambda row: seconds(row.first_token_s), from_width=_MEDIUM),
    Column("total", ">7", lambda row: seconds(row.total_s), ""),
    Column("tok in", ">6", _tokens_in, ""),
    Column("cached", ">6", lambda row: percent(row.cached_share), from_width=_MEDIUM),
    Column("out", ">6", lambda row: "" if row.usage is None else count_words(row.usage.output_tokens), "", _MEDIUM),
    Column("cost", ">7", lambda row: "-" if row.cost_usd is None else price_words(row.cost_usd), from_width=_MEDIUM),
    Column("started", ">8", lambda row: time.strftime("%H:%M:%S", time.localtime(row.started_at)), from_width=_WIDE),
    Column("model", "", lambda row: shown(f"{row.agent}: {row.model}" if row.agent else row.model), "", _WIDE),
)


def request_facts(row: RequestRow, url: str = "") -> list[Line]:
    """Return everything that is known of a request without its content."""
    lines = [
        Line(
            (
                (f"Request {row.number}", "strong"),
                (f"  {place_of(row)}" + (f", subagent {shown(row.agent)}" if row.agent else ""), "muted"),
            )
        ),
        Line(((shown(f"{row.provider}/{row.model}"), ""), (f"  {row.api_mode}  {shown(url)}".rstrip(), "muted"))),
    ]
    if row.problem:
        lines.append(line(shown(row.problem), "error"))
    speed = f", {row.tokens_per_s:.0f} tokens/s" if row.tokens_per_s is not None else ""
    began = f"first token after {seconds(row.first_token_s)}" if row.first_token_s is not None else "no token"
    lines.append(line(f"{_ENDS[row.outcome]} {seconds(row.total_s)}, {began}{speed}"))
    usage = row.usage
    if usage is None:
        lines.append(line(f"About {row.estimated_tokens:,} tokens; the provider has counted nothing", "muted"))
    else:
        cached = percent(row.cached_share)
        parts = [
            f"{usage.prompt_tokens:,} tokens in, {cached} of them from the cache ({usage.cache_read_tokens:,})",
            f"{usage.cache_write_tokens:,} written to it",
            f"{usage.output_tokens:,} out",
        ]
        if usage.reasoning_tokens:
            parts.append(f"{usage.reasoning_tokens:,} of it reasoning")
        lines.append(line(", ".join(parts)))
        lines.append(line(f"cost: {price_words(row.cost_usd)}", "muted"))
    return lines


def context_lines(report: ContextReport, parts: Sequence[ContextPart], number: int, width: int) -> list[Line]:
    """Return what fills the window as bars.

    Args:
        report: What the next request would carry.
        parts: What the chosen request carried; empty when none is chosen.
        number: The chosen request.
        width: Cells of a line.
    """
    names = list(dict.fromkeys([*(part.name for part in report.parts), *(part.name for part in parts)]))
    if not names:
        return [line("Nothing was sent yet.", "muted")]
    now = {part.name: part.tokens for part in report.parts}
    then = {part.name: part.tokens for part in parts}
    free = max(0, report.window - report.total)
    head = _share_words(report)
    rows = [*names, *([FREE] if report.window else [])]
    values = {**now, FREE: free}
    name_cells = min(max(len(name) for name in rows), max(18, width // 3), max(8, width - 2 * _NUMBER_CELLS))
    numbers = _NUMBER_CELLS * (2 if parts else 1)
    has_share = report.window > 0 and width >= name_cells + numbers + _SHARE_CELLS
    columns = numbers + (_SHARE_CELLS if has_share else 0)
    room = width - name_cells - columns - 4
    largest = max([*now.values(), 1])
    lines = [Line(head), Line()]
    if parts:
        title = f"{'':<{name_cells}}{f'#{number}':>{_NUMBER_CELLS}}{'next':>{_NUMBER_CELLS}}"
        lines.append(line(title, "muted"))
    for name in rows:
        style = "muted" if name == FREE else ""
        spans: list[Span] = [(f"{clip(name, name_cells):<{name_cells}}", style)]
        if parts:
            spans.append((f"{_number(then.get(name)):>{_NUMBER_CELLS}}", "muted"))
        spans.append((f"{_number(values.get(name)):>{_NUMBER_CELLS}}", style))
        if has_share:
            spans.append((f"{percent(values.get(name, 0) / report.window):>{_SHARE_CELLS}}", "muted"))
        if room >= 8 and name != FREE:
            spans.append(("  " + bar_text(now.get(name, 0), largest, room), "accent"))
        lines.append(Line(tuple(spans), prose=False))
    if report.limit:
        lines += [
            Line(),
            line(f"Older messages are summarised from {report.limit:,} tokens on (/compress does it now).", "muted"),
        ]
    return lines


def _share_words(report: ContextReport) -> tuple[Span, ...]:
    total = f"about {report.total:,} tokens"
    if not report.window:
        return ((total, "strong"), (" in the next request", "muted"))
    share = report.total / report.window
    style = "error" if share >= 0.9 else "warning" if share >= 0.75 else "strong"
    return ((total, style), (f" of {report.window:,} ({percent(share)}) in the next request", "muted"))


def _number(value: int | None) -> str:
    return "-" if not value else count_words(value)
