"""One background job: its state, its output, and those who wait for it."""

from __future__ import annotations

import threading
import time
from typing import Any, Final, Literal, TypeAlias

from .job_output import JobOutput
from .job_process import Process
from .ports import CancelToken

State: TypeAlias = Literal["running", "done", "failed", "ended"]
"""``ended`` by somebody, or with a code that nobody knows."""

KILL_GRACE_S: Final = 1.0
_READ_S: Final = 2.0
_SEARCHED: Final = 1_000_000
"""Bytes before the end that a search looks at."""
_UNHEARD_S: Final = 0.25
"""How often a job is looked at that writes its log itself."""
QUIET_S: Final = 0.12
"""After input, a job that writes nothing for so long has answered."""


class Job:
    """One job. :class:`~hermes_tui.tools.jobs.JobTable` makes and follows it.

    Args:
        number: Its id in this session.
        command: What was run.
        cwd: Where.
        process: Its processes.
        output: What it wrote.
        is_detached: It outlives the session.
    """

    def __init__(
        self, number: int, command: str, cwd: str, process: Process, output: JobOutput, *, is_detached: bool = False
    ) -> None:
        self.number = number
        self.command = command
        self.cwd = cwd
        self.process = process
        self.output = output
        self.is_detached = is_detached
        self.started_at = time.time()
        self.ended_at = 0.0
        self.state: State = "running"
        self.exit_code: int | None = None
        self.is_foreground = False
        """A call waits for it: it is no job yet."""
        self.is_told = False
        """The model knows that it ended."""
        self.read_to = 0
        """How far the model has read its output."""
        self.asked_at = 0
        """Where its output was when something was last sent."""
        self.typed = ""
        """What was sent of a line that is not finished."""
        self.changed = threading.Condition()
        self.version = 0
        """Counts what happened to it."""
        self._is_doomed = False

    @property
    def has_terminal(self) -> bool:
        """Whether it has a screen."""
        return self.output.screen is not None

    @property
    def is_running(self) -> bool:
        """Whether any of it still runs."""
        return self.state == "running"

    def touch(self) -> None:
        """Wake those who wait for output or the end."""
        with self.changed:
            self.version += 1
            self.changed.notify_all()

    def end(self, code: int | None) -> None:
        """Note that all of it has ended."""
        self.exit_code = code
        self.ended_at = time.time()
        if self._is_doomed or code is None:
            self.state = "ended"
        else:
            self.state = "done" if code == 0 else "failed"
        self.touch()

    def kill(self, grace_s: float = KILL_GRACE_S, read_s: float = _READ_S) -> None:
        """End it, and wait until it is gone and its last output is read. Blocks.

        Args:
            grace_s: How long SIGTERM may take before SIGKILL.
            read_s: How long the reading may take.
        """
        self._is_doomed = self.is_running
        self.process.end(grace_s)
        self.wait(read_s)

    def wait(self, timeout_s: float, cancel: CancelToken | None = None, until: str = "") -> bool:
        """Block until it ended, wrote a text, or the time is over.

        Args:
            timeout_s: How long at most.
            cancel: Ends the waiting.
            until: A text in what it wrote since something was last sent to it, or on its screen.

        Returns:
            Whether the text was seen.
        """
        deadline = time.monotonic() + timeout_s
        search = _Search(self, until)
        remove = cancel.on_cancel(self.touch) if cancel is not None else lambda: None
        try:
            while True:
                version = self.version
                is_over = not self.is_running
                if until and search.is_found():
                    return True
                if is_over or (cancel is not None and cancel.cancelled):
                    return False
                if not self.await_change(version, deadline):
                    return bool(until) and search.is_found()
        finally:
            remove()

    def settle(self, timeout_s: float) -> None:
        """Block until it has written something and then nothing for a moment, or ended."""
        deadline = time.monotonic() + timeout_s
        version = self.version
        while self.is_running and self.await_change(version, deadline):
            version = self.version
            deadline = min(deadline, time.monotonic() + QUIET_S)

    def await_change(self, version: int, deadline: float) -> bool:
        """Block until something happened after ``version``; False when the time was over first."""
        left_s = max(0.0, deadline - time.monotonic())
        with self.changed:
            if not self.is_detached:
                return self.changed.wait_for(lambda: self.version != version, left_s)
            self.changed.wait_for(lambda: self.version != version, min(left_s, _UNHEARD_S))
        return left_s > 0

    def as_row(self) -> dict[str, Any]:
        """Return the facts for a list."""
        return {
            "number": self.number,
            "command": self.command,
            "cwd": self.cwd,
            "state": self.state,
            "exit_code": self.exit_code,
            "pid": self.process.pid,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "last_line": self.output.last_line(),
            "has_terminal": self.has_terminal,
            "takes_input": self.is_running and self.process.takes_input,
            "is_detached": self.is_detached,
        }

    def ended_how(self) -> str:
        """Say in words how it ended, or that it runs."""
        if self.is_running:
            return "is running"
        if self.state == "ended":
            return "was ended" if self._is_doomed else "has ended"
        return f"ended with exit code {self.exit_code}"


class _Search:
    """Looks for a text in what a job wrote since it was last asked, without reading anything twice."""

    def __init__(self, job: Job, words: str) -> None:
        self._job = job
        self._words = words
        self._cursor = max(job.asked_at, job.output.size - _SEARCHED)
        self._carry = ""

    def is_found(self) -> bool:
        screen = self._job.output.screen_text()
        if screen is not None and self._words in screen:
            return True
        while True:
            piece = self._job.output.read(self._cursor, 65_536)
            text = self._carry + piece.text
            if self._words in text:
                return True
            self._carry = text[-len(self._words) :]
            if piece.cursor == self._cursor:
                return self._words in self._carry + self._job.output.partial()
            self._cursor = piece.cursor
