"""The session's background jobs: what runs, what it wrote, how it ended, and who has been told.

A job ends with the session, unless it was started with ``nohup``. Any thread may ask; each job has one of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from .base import ToolFailure
from .job import Job
from .job_output import JobOutput
from .job_process import Process
from .job_watch import Watch
from .signal import Signal

MAX_RUNNING: Final = 32
MAX_KEPT: Final = 64
"""Jobs that are remembered, those that ended first forgotten."""
CLOSE_GRACE_S: Final = 0.2
NEWS_CHARS: Final = 1_500
"""Output that goes with the news of an end."""


class JobTable:
    """All jobs of a session, and the foreground commands that could become one.

    Args:
        on_change: Told when a job begins, ends, or is forgotten.
        tell: Takes ``(text, hint)`` for the person.
        lifetime: A sentence for the model on how long jobs last; empty when they last as long as the program.
    """

    def __init__(
        self,
        on_change: Callable[[], None] = lambda: None,
        tell: Callable[[str, str], None] = lambda text, hint: None,
        *,
        lifetime: str = "",
    ) -> None:
        self.lifetime = lifetime
        self._on_change = on_change
        self._tell = tell
        self._lock = threading.Lock()
        self._jobs: dict[int, Job] = {}
        self._count = 0
        self._news: list[tuple[Job, str]] = []
        self._foreground: dict[str, Signal] = {}
        self._is_closed = False

    def add(
        self,
        command: str,
        cwd: str,
        process: Process,
        output: JobOutput,
        *,
        watch: Sequence[str] = (),
        is_detached: bool = False,
        is_foreground: bool = False,
    ) -> Job:
        """Follow a process as a job, on a thread of its own.

        Args:
            command: What was run.
            cwd: Where.
            process: What to follow.
            output: Where its output goes.
            watch: Texts to tell of.
            is_detached: It outlives the session.
            is_foreground: A call waits for it; nobody is told of it until :meth:`reveal`.
        """
        watcher = Watch(watch)

        def heard(text: str) -> None:
            job.touch()
            if said := watcher.look(text):
                self._note(job, f"wrote:\n{said}", said.partition("\n")[0])

        with self._lock:
            self._count += 1
            output.on_output = heard
            job = Job(self._count, command, cwd, process, output, is_detached=is_detached)
            job.is_foreground = is_foreground
            self._jobs[job.number] = job
            ended = [number for number, kept in self._jobs.items() if not kept.is_running]
            for number in ended[: max(0, len(self._jobs) - MAX_KEPT)]:
                del self._jobs[number]
        threading.Thread(target=self._follow, args=(job,), name=f"job-{job.number}", daemon=True).start()
        if self._is_closed and not is_detached:  # its call was under way when the session ended
            job.kill(CLOSE_GRACE_S)
        elif not is_foreground:
            self._on_change()
        return job

    def check_room(self) -> None:
        """Refuse one more job when there are too many.

        Raises:
            ToolFailure: There are.
        """
        if len(self.running()) >= MAX_RUNNING:
            raise ToolFailure(f"{MAX_RUNNING} jobs run already: end one with process kill first.")

    def get(self, number: int) -> Job:
        """Return a job.

        Raises:
            ToolFailure: There is none of that number.
        """
        job = self._jobs.get(number)
        if job is None:
            known = ", ".join(map(str, self._jobs)) or "none"
            raise ToolFailure(f"There is no job {number}. Jobs: {known}.")
        return job

    def all(self) -> list[Job]:
        """Return every job that is remembered, oldest first; what a call waits for is none."""
        return [job for job in self._every() if not job.is_foreground]

    def _every(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())

    def reveal(self, job: Job) -> None:
        """Make a job of what a call has waited for."""
        job.is_foreground = False
        self._on_change()

    def running(self) -> list[Job]:
        """Return the jobs that run and end with the session."""
        return [job for job in self._every() if job.is_running and not job.is_detached]

    def rows(self) -> list[Mapping[str, Any]]:
        """Return the facts of every job."""
        return [job.as_row() for job in self.all()]

    def take_news(self) -> list[str]:
        """Return, once, what the model has not been told: matches, and jobs that ended without its knowing."""
        with self._lock:
            news, self._news = self._news, []
        told: list[str] = []
        for job, text in news:
            if text:
                told.append(f"Job {job.number} ({_short(job.command)}) {text}")
            elif not job.is_told:
                job.is_told = True
                told.append(f"Job {job.number} ({_short(job.command)}) {job.ended_how()}.{_last_words(job)}")
        return told

    @contextmanager
    def foreground(self, call_id: str) -> Iterator[Signal]:
        """Let the person move a running call to the background; the signal says that they want it."""
        signal = Signal()
        with self._lock:
            self._foreground[call_id] = signal
        try:
            yield signal
        finally:
            with self._lock:
                self._foreground.pop(call_id, None)

    def promote(self) -> bool:
        """Ask the commands that run in the foreground to go on in the background; False when there is none."""
        with self._lock:
            signals = list(self._foreground.values())
        for signal in signals:
            signal.cancel()
        return bool(signals)

    def close(self) -> None:
        """End every job that is not detached. Blocks for a moment."""
        self._is_closed = True
        jobs = self.running()
        if jobs:
            with ThreadPoolExecutor(len(jobs), thread_name_prefix="end-job") as pool:
                list(pool.map(lambda job: job.kill(CLOSE_GRACE_S), jobs))

    def _follow(self, job: Job) -> None:
        code = job.process.run(job.output)
        job.output.finish()
        job.end(code)
        if self._is_closed or job.is_foreground:
            return
        self._note(job, "", f"Job {job.number} {job.ended_how()}: {_short(job.command)}")
        self._on_change()

    def _note(self, job: Job, text: str, shown: str) -> None:
        with self._lock:
            self._news.append((job, text))
        if text:
            self._tell(f"Job {job.number} wrote: {shown}", _short(job.command))
        else:
            self._tell(shown, "")


def _short(command: str, most: int = 80) -> str:
    line = " ".join(command.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _last_words(job: Job) -> str:
    """Return the end of what the model has not read of a job's output."""
    if job.output.size <= job.read_to:
        return ""
    start = max(job.read_to, job.output.size - NEWS_CHARS)
    text = job.output.read(start if start == job.read_to else -NEWS_CHARS, NEWS_CHARS).text.rstrip()
    return f" The end of its output:\n{text}" if text else ""
