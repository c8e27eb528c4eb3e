"""Rows of the budget table: a value, what it is held against, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One budget. It holds when ``value <= limit``; ``value`` is a ratio wherever a baseline exists."""

    name: str
    value: float
    limit: float
    unit: str = "x"
    shown: str = ""
    """The absolute figures behind it, for people."""
    gate: bool = True
    """False: printed for orientation, never fails the run (absolute numbers on a machine of unknown speed)."""

    @property
    def holds(self) -> bool:
        """Whether the budget is kept."""
        return self.value <= self.limit


def table(rows: list[Row]) -> str:
    """Lay the rows out as Markdown."""
    lines = ["| what | measured | budget | |  |", "|---|---:|---:|---|---|"]
    for row in rows:
        verdict = "ok" if row.holds else ("MISSED" if row.gate else "over")
        lines.append(
            f"| {row.name} | {row.value:.3g} {row.unit} | {row.limit:g} {row.unit} | {verdict} | {row.shown} |"
        )
    return "\n".join(lines)
