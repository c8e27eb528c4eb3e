"""What was spent, drawn as lines: columns by day, bars by model and by folder. Pure; knows no widget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta
from typing import Literal, TypeAlias

from rich.cells import cell_len

from hermes_tui.engine.types.sessions import UsageReport, UsageRow

from .line_text import Line, Span, clip, clip_start, line, shown

Measure: TypeAlias = Literal["tokens", "cost"]
"""What the plots show."""
MEASURES: Mapping[Measure, Callable[[UsageRow], float]] = {
    "tokens": lambda row: row.total_tokens,
    "cost": lambda row: row.cost_usd,
}
MAX_BARS = 12
"""Models and folders that are drawn; the rest become one bar."""
_EIGHTHS_UP = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_EIGHTHS_ACROSS = " \u258f\u258e\u258d\u258c\u258b\u258a\u2589\u2588"
_LABEL_SHARE = 0.38
_AXIS_CELLS = 8
_MAX_COLUMN = 6


@dataclass(frozen=True, slots=True)
class Bucket:
    """One column of the plot: a day, or several where there is no room for each."""

    first: date
    last: date
    value: float


def usage_lines(
    report: UsageReport, *, width: int, height: int, measure: Measure, first: date, last: date
) -> list[Line]:
    """Return the whole page.

    Args:
        report: What was spent.
        width: Cells of a line.
        height: Rows of the plot by day.
        measure: What the plots show.
        first: The first day of the period.
        last: Its last day.
    """
    if not report.by_day:
        return [line("Nothing was spent in this time.", "muted")]
    lines = [*_totals(report), line("")]
    buckets = bucketed(report.by_day, measure, first, last, max(1, width - _AXIS_CELLS))
    lines += _columns(buckets, measure, max(1, width - _AXIS_CELLS), height)
    for title, rows, is_path in (("By model", report.by_model, False), ("By folder", report.by_folder, True)):
        if rows:
            lines += [line(""), line(title, "heading"), *_bars(rows, measure, width, is_path=is_path)]
    return lines


def _totals(report: UsageReport) -> list[Line]:
    total = summed(report.by_day, "")
    spans: list[Span] = [
        (count_words(total.total_tokens), "strong"), (" tokens  ", "muted"), (cost_words(total), "strong"),
        (f"  {total.request_count:,} requests", "muted"),
    ]  # fmt: skip
    parts = [
        f"{count_words(total.input_tokens)} in", f"{count_words(total.cache_read_tokens)} from cache",
        f"{count_words(total.cache_write_tokens)} to cache", f"{count_words(total.output_tokens)} out",
    ]  # fmt: skip
    if total.reasoning_tokens:
        parts.append(f"{count_words(total.reasoning_tokens)} of it reasoning")
    lines = [Line(tuple(spans)), line(", ".join(parts), "muted")]
    if total.unpriced_count:
        lines.append(
            line(f"Requests without a known price: {total.unpriced_count:,}; the cost leaves them out.", "warning")
        )
    return lines


def summed(rows: Sequence[UsageRow], label: str) -> UsageRow:
    """Return the sum of rows under a label."""
    names = [field.name for field in fields(UsageRow) if field.name != "label"]
    return UsageRow(label=label, **{name: sum(getattr(row, name) for row in rows) for name in names})


def bucketed(rows: Sequence[UsageRow], measure: Measure, first: date, last: date, room: int) -> list[Bucket]:
    """Return as many columns as have room, each of the same number of days; days without requests count as zero."""
    values = {row.label: MEASURES[measure](row) for row in rows}
    days = (last - first).days + 1
    span = -(-days // room)
    buckets: list[Bucket] = []
    start = first
    while start <= last:
        end = min(start + timedelta(days=span - 1), last)
        inside = ((start + timedelta(days=n)).isoformat() for n in range((end - start).days + 1))
        buckets.append(Bucket(start, end, sum(values.get(day, 0.0) for day in inside)))
        start = end + timedelta(days=1)
    return buckets


def _columns(buckets: Sequence[Bucket], measure: Measure, room: int, height: int) -> list[Line]:
    """A column for each bucket, the axis at the left, dates below."""
    largest = max((bucket.value for bucket in buckets), default=0.0)
    column = max(1, min(_MAX_COLUMN, room // len(buckets)))
    gap = 1 if column > 2 else 0
    lines: list[Line] = []
    for row in range(height, 0, -1):
        label = axis_words(largest * row / height, measure) if row in (height, (height + 1) // 2) and largest else ""
        cells = "".join(
            _EIGHTHS_UP[_eighths(bucket.value, largest, height, row)] * (column - gap) + " " * gap for bucket in buckets
        )
        lines.append(Line(((f"{label:>{_AXIS_CELLS - 1}} ", "muted"), (cells, "accent")), prose=False))
    width = len(buckets) * column
    lines.append(Line(((" " * _AXIS_CELLS, ""), (_dates(buckets, max(width, 10)), "muted")), prose=False))
    return lines


def _eighths(value: float, largest: float, height: int, row: int) -> int:
    """Return how full the cell at ``row`` (1 at the bottom) is; a value that counts is never invisible."""
    filled = round(value / largest * height * 8) if largest else 0
    if value > 0:
        filled = max(1, filled)
    return max(0, min(8, filled - (row - 1) * 8))


def _dates(buckets: Sequence[Bucket], width: int) -> str:
    first, last = buckets[0].first.strftime("%m-%d"), buckets[-1].last.strftime("%m-%d")
    return first if len(buckets) == 1 else f"{first}{last:>{max(1 + len(last), width - len(first))}}"


def _bars(rows: Sequence[UsageRow], measure: Measure, width: int, *, is_path: bool) -> list[Line]:
    """A bar for each row, the largest first, with tokens and cost at the right."""
    ordered = sorted(rows, key=lambda row: (-MEASURES[measure](row), row.label))
    if len(ordered) > MAX_BARS:
        rest = ordered[MAX_BARS - 1 :]
        ordered = [*ordered[: MAX_BARS - 1], summed(rest, f"{len(rest)} others")]
    facts = [(count_words(row.total_tokens), cost_words(row)) for row in ordered]
    token_cells = max(len(tokens) for tokens, _ in facts)
    cost_cells = max(len(cost) for _, cost in facts)
    label_cells = min(int(width * _LABEL_SHARE), max(cell_len(shown(row.label or "(none)")) for row in ordered))
    room = max(1, width - label_cells - token_cells - cost_cells - 6)
    largest = max(MEASURES[measure](row) for row in ordered)
    lines = []
    for row, (tokens, cost) in zip(ordered, facts, strict=True):
        label = shown(row.label or "(none)")
        label = clip_start(label, label_cells) if is_path else clip(label, label_cells)
        bar = bar_text(MEASURES[measure](row), largest, room)
        spans = (
            (label + " " * (label_cells - cell_len(label)) + "  ", ""),
            (bar + " " * (room - len(bar)), "accent"),
            (f"  {tokens:>{token_cells}}  {cost:>{cost_cells}}", "muted"),
        )
        lines.append(Line(spans, prose=False))
    return lines


def bar_text(value: float, largest: float, room: int) -> str:
    """Return a bar of at most ``room`` cells; a value that counts is never invisible."""
    eighths = max(1, round(value / largest * room * 8)) if value > 0 else 0
    rest = _EIGHTHS_ACROSS[eighths % 8] if eighths % 8 else ""
    return _EIGHTHS_ACROSS[8] * (eighths // 8) + rest


def count_words(count: float) -> str:
    """Return a number as people say it: ``950``, ``12.3k``, ``4.1M``."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.1f}{unit}" if count < 100 * size else f"{count / size:.0f}{unit}"
    return f"{count:.0f}"


def cost_words(row: UsageRow) -> str:
    """Return a cost; a plus says that requests without a known price come on top."""
    if not row.cost_usd and row.unpriced_count:
        return "unknown"
    return f"${row.cost_usd:,.2f}" + ("+" if row.unpriced_count else "")


def price_words(cost_usd: float | None) -> str:
    """Return what one request or session costs, in US dollars: ``$0.0042``, ``free`` or ``unknown``."""
    if cost_usd is None:
        return "unknown"
    return f"${cost_usd:.4f}" if cost_usd else "free"


def axis_words(value: float, measure: Measure) -> str:
    """Return a value at the axis."""
    return f"${value:.2f}" if measure == "cost" else count_words(value)
