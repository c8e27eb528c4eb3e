"""One model request as text: a row of the list, the facts below it, what fills the window. Pure; knows no widget."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from hermes_tui.engine.types.inspection import ContextPart, ContextReport, RequestOutcome, RequestRow

from .line_text import Line, Span, clip, clip_spans, line, shown
from .usage_text import bar_text, count_words

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
    """Return a share: ``91 %``, or ``-``."""
    return "-" if share is None else f"{share:.0%}".replace("%", " %")


def place_of(row: RequestRow) -> str:
    """Return where in the session a request was made: ``turn 2, step 3``, and which attempt."""
    if row.purpose != "turn":
        return f"turn {row.turn}, {row.purpose}, request {row.attempt}"
    return f"turn {row.turn}, step {row.step}" + (f", attempt {row.attempt}" if row.attempt > 1 else "")


def request_row(row: RequestRow, width: int) -> list[Span]:
    """Return a request in one line: as many facts as have room, the most telling first."""
    word, style = _OUTCOMES[row.outcome]
    place = f"{row.turn}.{row.step}" if row.purpose == "turn" else f"{row.turn} sum"
    place += f"/{row.attempt}" if row.attempt > 1 else ""
    usage = row.usage
    tokens = f"~{count_words(row.estimated_tokens)}" if usage is None else count_words(usage.prompt_tokens)
    if width < _MEDIUM:
        head = f"{row.number:>2} {place:<6}"
        return [(head, ""), (f"{word:<8}", style), (f"{seconds(row.total_s):>8}", ""), (f"{tokens:>7}", "muted")]
    cached = "" if row.cached_share is None else f"{percent(row.cached_share)} cached"
    out = "" if usage is None else f"{count_words(usage.output_tokens)} out"
    spans: list[Span] = [
        (f"{row.number:>3} ", "muted"),
        (f"{place:<7}", ""),
        (f"{word:<8}", style),
        (f"{seconds(row.first_token_s):>7}", "muted"),
        (f"{seconds(row.total_s):>9}", ""),
        (f"{tokens:>8} in", ""),
        (f"{cached:>14}", "muted"),
        (f"{out:>10}", ""),
    ]
    if width >= _WIDE:
        cost = "" if row.cost_usd is None else f"${row.cost_usd:.4f}"
        clock = time.strftime("%H:%M:%S", time.localtime(row.started_at))
        spans += [(f"{cost:>9}", "muted"), (f"  {clock}  ", "muted")]
        spans.append((shown(f"{row.agent}: {row.model}" if row.agent else row.model), ""))
    return clip_spans(spans, width)


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
        lines.append(line("cost unknown" if row.cost_usd is None else f"cost ${row.cost_usd:.4f}", "muted"))
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
    return ((total, style), (f" of {report.window:,} ({share:.0%}) in the next request", "muted"))


def _number(value: int | None) -> str:
    return "-" if not value else count_words(value)
