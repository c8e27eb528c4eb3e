"""The jobs page: what runs in the background, its output as it comes, and what a person can do about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.engine.api import SessionJobs
from hermes_tui.engine.types.jobs import JobLog, JobRow
from hermes_tui.widgets.field import Field
from hermes_tui.widgets.hint_line import Hint, HintLine
from hermes_tui.widgets.inert import one_line
from hermes_tui.widgets.job_list import JobList
from hermes_tui.widgets.line_list import LineList
from hermes_tui.widgets.line_text import Line, line, shown
from hermes_tui.widgets.line_view import LineView

from .confirm import ConfirmScreen
from .entry_view import EntryView
from .modal import Modal

LOOK_S = 0.25
"""How often an open page looks at its jobs."""
LOG_BYTES = 64_000
MAX_LINES = 2_000
"""Newest lines that the page shows; ``o`` opens more."""
FULL_LOG_BYTES = 2_000_000
NO_JOBS = "No background jobs. The model starts them, and {key} moves a running command here."
_ANSWER_HINTS: tuple[Hint, ...] = (("enter", "send"), ("esc", "stop writing"))


class JobsScreen(Modal[None]):
    """Shows the jobs of a session.

    Args:
        jobs: The session's jobs.
        move_key: The key that moves a running command to the background, for the words on an empty page.
        clock: Unix time.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "jobs.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "back", "Back", show=False),
        Binding("q", "close", "Back", show=False),
        Binding("tab,shift+tab", "swap", "List or output", show=False, priority=True),
        Binding("a", "answer", "Answer", show=False),
        Binding("e", "end_input", "End its input", show=False),
        Binding("k,delete", "kill", "End it", show=False),
        Binding("f", "follow", "Follow its output", show=False),
        Binding("o", "open", "Open the whole output", show=False),
    ]

    def __init__(self, jobs: SessionJobs, *, move_key: str = "", clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._jobs = jobs
        self._move_key = move_key
        self._clock = clock
        self._is_asking = False
        self._shown: int | None = None
        """The job whose output is shown."""
        self._log: JobLog | None = None
        self._lines: list[str] = []

    def compose(self) -> ComposeResult:
        """Lay out list and output; both follow from a thread."""
        with Vertical(classes="page", id="jobs"):
            yield Static("", id="note", markup=False, classes="note")
            yield JobList(self._clock)
            yield LineView(id="output")
            yield Horizontal(
                Static(">", classes="prompt", markup=False), Field(placeholder="A line for it"), classes="field-row"
            )
            yield HintLine()

    def on_mount(self) -> None:
        """Take keys and look."""
        self.query_one("#jobs").border_title = "Jobs"
        self.query_one(JobList).focus()
        self._look()
        self.set_interval(LOOK_S, self._look)

    # Looking

    def _look(self) -> None:
        """Ask for the jobs, and for what is new of the one that is shown."""
        if self._is_asking:
            return
        self._is_asking = True
        number, cursor = self._shown, self._log.cursor if self._log is not None else -LOG_BYTES

        def work() -> tuple[Sequence[JobRow], int | None, JobLog | None]:
            rows = self._jobs.rows()
            known = any(row.number == number for row in rows)
            return rows, number, self._jobs.log(number, cursor) if number is not None and known else None

        self.ask("look", work, lambda found: self._show(*found), lambda error: self._done(error.message))

    def _done(self, problem: str = "") -> None:
        self._is_asking = False
        if problem:
            self.app.notify(problem, severity="error", markup=False)

    def _show(self, rows: Sequence[JobRow], number: int | None, log: JobLog | None) -> None:
        self._done()
        running = sum(row.state == "running" for row in rows)
        self.query_one("#jobs").border_subtitle = f"{running} running" if rows else ""
        self.query_one("#jobs").set_class(not rows, "-empty")
        self.query_one("#note", Static).update(NO_JOBS.format(key=self._move_key or "a key") if not rows else "")
        before = self.query_one(JobList).current
        self.query_one(JobList).set_rows(rows)
        if log is not None and number == self._shown:
            self._take(log)
        if before is None or before != self.query_one(JobList).current:
            self._choose()

    def _take(self, log: JobLog) -> None:
        """Add what is new, and follow when the end is in sight."""
        before = self._log
        if before is not None and replace(log, is_cut=before.is_cut) == replace(before, text=""):
            return
        if log.text:
            added = log.text.split("\n")
            if self._lines:
                added[0] = self._lines.pop() + added[0]
            self._lines = (self._lines + added)[-MAX_LINES:]
        is_cut = log.is_cut or (before is not None and before.is_cut) or len(self._lines) == MAX_LINES
        self._log = replace(log, text="", is_cut=is_cut)
        if before is not None or log.text or log.partial or log.screen:
            self._draw(follows=before is None or self._is_at_end())

    def _is_at_end(self) -> bool:
        return self.query_one("#output", LineView).hidden_below == 0

    def _draw(self, *, follows: bool) -> None:
        log, view = self._log, self.query_one("#output", LineView)
        assert log is not None
        lines: list[Line] = [line("… earlier output: o opens it", "muted")] if log.is_cut else []
        texts = list(self._lines)
        if log.screen is not None:
            texts = [*texts[:-1], *log.screen.split("\n")]
        elif texts:
            texts[-1] += log.partial
        else:
            texts = [log.partial]
        while texts and not texts[-1]:
            texts.pop()
        lines += [Line(((shown(text), ""),), prose=False) for text in texts]
        view.set_lines(lines or [line("No output yet.", "muted")], keep_scroll=True)
        if follows:
            view.scroll_end(animate=False)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._choose()

    def _choose(self) -> None:
        """Show the job under the cursor, from its newest output on, and the keys that do something with it."""
        job = self.query_one(JobList).current
        number = job.number if job is not None else None
        if number != self._shown:
            self._shown, self._log, self._lines = number, None, []
            self.query_one("#output", LineView).set_lines(())
            self.forget("look")
            self._is_asking = False
            self._look()
        if not self.has_class("-answering"):
            self.query_one(HintLine).set_hints(_hints(job))

    # Acting

    def action_back(self) -> None:
        """Stop writing, then leave."""
        if self.has_class("-answering"):
            self._stop_answering()
        else:
            self.finish(None)

    def action_close(self) -> None:
        """Leave."""
        self.finish(None)

    def action_swap(self) -> None:
        """Give the keys to the list, or to the output."""
        target = LineView if self.query_one(JobList).has_focus else JobList
        if not self.has_class("-answering"):
            self.query_one(target).focus()

    def action_answer(self) -> None:
        """Write a line to the job."""
        job = self.query_one(JobList).current
        if job is None or not job.takes_input:
            self.app.notify("This job takes no input.", severity="warning", markup=False)
            return
        self.add_class("-answering")
        self.query_one(HintLine).set_hints(_ANSWER_HINTS)
        self.query_one(Field).focus()

    def _stop_answering(self) -> None:
        self.remove_class("-answering")
        self.query_one(JobList).focus()
        self.query_one(HintLine).set_hints(_hints(self.query_one(JobList).current))

    @on(Field.Submitted)
    def _answered(self, event: Field.Submitted) -> None:
        """Send the line; more may follow."""
        event.stop()
        number, text = self._shown, event.value
        self.query_one(Field).value = ""
        if number is not None:
            self.ask("answer", lambda: self._jobs.answer(number, text), lambda _: self._look())

    def action_end_input(self) -> None:
        """Let the job read the end of its input."""
        job = self.query_one(JobList).current
        if job is not None and job.takes_input:
            self.ask("end input", lambda: self._jobs.end_input(job.number), lambda _: self._look())

    def action_kill(self) -> None:
        """End the job, once the person has said so."""
        job = self.query_one(JobList).current
        if job is None or job.state != "running":
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.ask("kill", lambda: self._jobs.kill(job.number), lambda _: self._look())

        question = ConfirmScreen(f"End job {job.number}?", yes="End it", no="Let it run", detail=one_line(job.command))
        self.app.push_screen(question, answered)

    def action_follow(self) -> None:
        """Go to the end of the output and stay there."""
        self.query_one("#output", LineView).scroll_end(animate=False)

    def action_open(self) -> None:
        """Read the whole output over the whole screen, with search."""
        job = self.query_one(JobList).current
        if job is None:
            return

        def show(log: JobLog) -> None:
            text = log.text + (log.partial if log.screen is None else log.screen)
            self.app.push_screen(EntryView(text, f"job {job.number}  {job.command}"))

        self.ask("open", lambda: self._jobs.log(job.number, -FULL_LOG_BYTES, FULL_LOG_BYTES), show)

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.action_open()

    @on(HintLine.Clicked)
    def _hint_clicked(self, event: HintLine.Clicked) -> None:
        event.stop()
        self.app.post_message(event.press())


def _hints(job: JobRow | None) -> tuple[Hint, ...]:
    """Return only what works with this job."""
    hints: list[Hint] = []
    if job is not None:
        hints += [("a", "answer")] * job.takes_input + [("k", "end it")] * (job.state == "running")
        hints += [("o", "open"), ("f", "follow"), ("tab", "output")]
        hints += [("e", "end its input")] * job.takes_input
    return (*hints[:2], ("esc", "back"), *hints[2:])
