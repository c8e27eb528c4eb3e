"""The list of background jobs: one row each, only visible rows drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.cells import cell_len

from hermes_tui.engine.types.jobs import JobRow

from .entries.reasoning import seconds_text
from .inert import one_line
from .line_list import LineList
from .line_text import Span, clip, clip_spans

_AGE_FROM = 50
"""Cells from which on a row has room for an age."""
STATE_STYLES = {"running": "accent", "done": "success", "failed": "error", "ended": "muted"}


class JobList(LineList):
    """Draws jobs, newest first.

    Args:
        clock: Unix time.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._clock = clock
        self._rows: list[JobRow] = []

    @property
    def current(self) -> JobRow | None:
        """The job under the cursor."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    def set_rows(self, rows: Sequence[JobRow]) -> None:
        """Show these jobs; the cursor stays on the job where it was."""
        chosen = self.current
        self._rows = sorted(rows, key=lambda row: -row.number)
        numbers = [row.number for row in self._rows]
        place = numbers.index(chosen.number) if chosen is not None and chosen.number in numbers else None
        if place == self.cursor:
            self.items_changed()
        else:
            self.items_changed(place or 0)

    def item_count(self) -> int:
        """Return the number of jobs."""
        return len(self._rows)

    def draw(self, index: int, row: int, width: int) -> Sequence[Span]:
        """Draw one job."""
        del row
        return job_row(self._rows[index], width, self._clock())


def job_row(job: JobRow, width: int, now_s: float) -> list[Span]:
    """Return a job's number, state, age and command, and its last line where there is room."""
    age = seconds_text(max(0.0, (job.ended_at or now_s) - job.started_at))
    head: list[Span] = [(f"{job.number:>3} ", "muted"), (f" {state_words(job):<9}", STATE_STYLES[job.state])]
    head.append((f"{age:>7}  " if width >= _AGE_FROM else "", "muted"))
    room = width - sum(len(text) for text, _ in head)
    last = one_line(job.last_line) if room > 50 else ""
    command = one_line(job.command)
    if last and cell_len(command) > room // 2:
        command = clip(command, room // 2)
    spans = [*head, (command, "")]
    if last:
        spans.append((f"  {last}", "muted"))
    return clip_spans(spans, width)


def state_words(job: JobRow) -> str:
    """Say how a job is: a failed one by its exit code, a detached one as such."""
    if job.state == "failed":
        return f"exit {job.exit_code}"
    return "detached" if job.state == "running" and job.is_detached else job.state
