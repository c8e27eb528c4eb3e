"""A session's background jobs: news for the person as events, news for the model with its next request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from ...tools.base import ToolFailure
from ...tools.jobs import JobTable
from ..types.errors import ToolError
from ..types.events import Event, JobsChanged, Notice
from ..types.jobs import JobLog, JobRow

OPENING: Final = "\n\n[News of background jobs; not from the user]\n"
CLOSING: Final = "\n[End of the news]"
LIFETIMES: Final[Mapping[str, str]] = {
    "subagent": "It ends when you have reported.",
    "run": "It ends when this run ends: wait for what you need of it.",
}
"""Platform -> how long a job lasts, where that is shorter than the program."""


class SessionJobs:
    """Implements :class:`~hermes_tui.engine.api.SessionJobs`.

    Args:
        emit: Takes the events.
        redact: Takes secrets out of what is shown.
        platform: Who runs the session.
    """

    def __init__(self, emit: Callable[[Event], None], redact: Callable[[str], str], platform: str = "") -> None:
        self._emit = emit
        self._redact = redact
        self.table = JobTable(self._changed, self._tell, lifetime=LIFETIMES.get(platform, ""))
        """What the tools work with."""

    def rows(self) -> list[JobRow]:
        """Return every job of the session, oldest first. Any thread, never blocks for long."""
        return [self._row(facts) for facts in self.table.rows()]

    def log(self, number: int, cursor: int = 0, max_bytes: int = 64_000) -> JobLog:
        """Return output from a cursor on; a negative one counts from the end."""
        with _told():
            job = self.table.get(number)
        piece = job.output.read(cursor, max_bytes)
        start = piece.cursor - len(piece.text.encode("utf-8", "replace"))
        return JobLog(
            text=piece.text,
            cursor=piece.cursor,
            partial=job.output.partial() if job.is_running else "",
            screen=job.output.screen_text() if job.is_running else None,
            is_cut=bool(piece.lost_bytes) or (cursor < 0 and start > 0),
        )

    def answer(self, number: int, line: str) -> None:
        """Send a line, as the person typed it. Blocks while the job does not read, for seconds at most."""
        with _told():
            job = self.table.get(number)
            job.process.write((line + ("\r" if job.has_terminal else "\n")).encode("utf-8", "replace"))

    def end_input(self, number: int) -> None:
        """Let a job read the end of its input."""
        with _told():
            self.table.get(number).process.close_input()

    def kill(self, number: int) -> None:
        """End a job with all it started. Blocks until it is gone."""
        with _told():
            self.table.get(number).kill()

    def promote(self) -> bool:
        """Let the commands of the running turn go on as jobs; False when none runs. Returns at once."""
        return self.table.promote()

    def take_news(self) -> str:
        """Return, once, the marked block of what the model has not been told; empty when there is none."""
        news = "\n".join(self.table.take_news())
        return f"{OPENING}{news}{CLOSING}" if news else ""

    def _row(self, facts: Mapping[str, Any]) -> JobRow:
        shown = {**facts, "command": self._redact(str(facts["command"]))}
        return JobRow(**shown)

    def _changed(self) -> None:
        self._emit(JobsChanged(jobs=tuple(self.rows())))

    def _tell(self, text: str, hint: str) -> None:
        self._emit(Notice(level="info", text=self._redact(text), hint=self._redact(hint), kind="job"))


@contextmanager
def _told() -> Iterator[None]:
    """Say what a job refuses in the words of a front end."""
    try:
        yield
    except ToolFailure as error:
        raise ToolError(error.message) from error
