"""The processes behind background jobs that began in the shell: taken over from it, or left behind by a command.

Each has one method that blocks on a thread of its own until all of it has ended; nothing polls.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple, Protocol

from .base import ToolFailure
from .job_output import JobOutput
from .proctree import Member, end_session, end_tree, has_process_table, session_members, wait_until_gone
from .shell_call import parse_report

WRITE_TIMEOUT_S: Final = 5.0
"""How long a program may take to read what it is sent."""
_CHUNK = 65_536


class Reader(NamedTuple):
    """A program that may read what is sent."""

    words: tuple[str, ...]
    folder: str = ""
    """Where it is now; empty when nobody may know."""


class Process(Protocol):
    """One job's processes. :meth:`run` has a thread of its own; the rest may be called from any other."""

    @property
    def pid(self) -> int:
        """The process id to name; 0 when unknown."""
        ...

    def run(self, output: JobOutput) -> int | None:
        """Take the output until everything has ended; returns the exit code, None when nobody knows it. Blocks."""
        ...

    def write(self, data: bytes) -> None:
        """Send input.

        Raises:
            ToolFailure: It takes none, or does not read.
        """
        ...

    @property
    def takes_input(self) -> bool:
        """Whether anything can be sent."""
        ...

    def close_input(self) -> None:
        """Let it read the end of its input."""
        ...

    def end(self, grace_s: float) -> None:
        """End all of it: SIGTERM, and after ``grace_s`` SIGKILL. Blocks."""
        ...

    def readers(self) -> list[Reader] | None:
        """Return each program that may read what is sent; None where the system does not tell."""
        ...


class _WithoutInput:
    """The half of :class:`Process` of what began without input."""

    __slots__ = ()
    _refusal: ClassVar[str]

    def write(self, data: bytes) -> None:
        """Refuse."""
        raise ToolFailure(f"Nothing can be sent: {self._refusal}")

    @property
    def takes_input(self) -> bool:
        """Never."""
        return False

    def close_input(self) -> None:
        """Nothing: it never had any."""

    def readers(self) -> list[Reader] | None:
        """Nobody reads."""
        return []


class TakenOver(_WithoutInput):
    """A command that began in the foreground, with the shell that runs it.

    Args:
        process: The shell.
        out_fd: The command's output.
        report: What the shell has reported so far.
        mark: Word that its report carries.
        since: When the command began, in clock ticks; what is older in the session is spared.
        spare: Process ids known to be older.
    """

    _refusal = "it was started in the foreground, where input is empty."

    def __init__(
        self, process: subprocess.Popen[bytes], out_fd: int, report: bytes, mark: str, since: int, spare: frozenset[int]
    ) -> None:
        self._process = process
        self._out_fd = out_fd
        self._report = report
        self._mark = mark
        self._since = since
        self._spare = spare
        self._is_over = False

    @property
    def pid(self) -> int:
        """The shell's process id."""
        return self._process.pid

    def run(self, output: JobOutput) -> int | None:
        """Take the output until the command has ended, then let the shell go. Blocks."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        os.set_blocking(self._out_fd, True)
        while data := read_some(self._out_fd):
            output.feed(data)
        os.close(self._out_fd)
        ending = parse_report(self._report, self._mark)
        while ending is None and (data := read_some(process.stdout.fileno())):
            self._report += data
            ending = parse_report(self._report, self._mark)
        process.stdin.close()
        code = process.wait()
        process.stdout.close()
        if has_process_table():
            wait_until_gone([m for m in session_members(process.pid) if m.pid not in self._spare])
        self._is_over = True
        if ending is not None and ending.status.isdecimal():
            return int(ending.status)
        return 128 - code if code < 0 else code

    def end(self, grace_s: float) -> None:
        """End the command and its shell; what earlier commands left running is spared."""
        if not self._is_over:
            end_session(self._process.pid, since=self._since, grace_s=grace_s, spare=self._spare)


@dataclass(slots=True)
class LeftBehind(_WithoutInput):
    """What a command started with ``&`` and left running in the shell's session."""

    _refusal: ClassVar[str] = "it was started with & and has no input. Use background instead."
    members: list[Member]
    out_fd: int = -1
    """The command's output, when something still holds it open."""
    _is_over: bool = field(default=False, init=False)

    @property
    def pid(self) -> int:
        """The oldest of its processes."""
        return min(self.members, key=lambda member: member.started).pid if self.members else 0

    def run(self, output: JobOutput) -> int | None:
        """Take late output until everything has ended. Its exit code is the shell's to know. Blocks."""
        if self.out_fd >= 0:
            os.set_blocking(self.out_fd, True)
            while data := read_some(self.out_fd):
                output.feed(data)
            os.close(self.out_fd)
        wait_until_gone(self.members)
        self._is_over = True
        return None

    def end(self, grace_s: float) -> None:
        """End these processes and what they started."""
        if not self._is_over:
            end_tree(self.members, grace_s)


def read_some(fd: int, most: int = _CHUNK) -> bytes:
    """Read what is there; empty at the end, which a terminal reports as an error."""
    if fd < 0:
        return b""
    try:
        return os.read(fd, most)
    except OSError:
        return b""
