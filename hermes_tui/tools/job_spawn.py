"""A process that is started as a background job: a shell of its own, with a pipe or a terminal for input."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .base import ToolFailure
from .job_output import JobOutput
from .job_process import Reader, read_some
from .proctree import end_session, has_process_table, session_members, wait_until_gone
from .shell_drivers import CHILD_ENV, DROPPED_ENV, JOB_SCRIPTS, TERMINAL_ENV

_CHUNK = 65_536
_TERMINAL_CHUNK = 2_048
"""Drawing takes a while: in small steps nobody else waits for it."""
WRITE_TIMEOUT_S: Final = 5.0
"""How long a program may take to read what it is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What is started, and where."""

    command: str
    program: str
    """The shell's path."""
    shell: str
    """``bash`` or ``sh``: which script reads the state."""
    cwd: str
    env: Mapping[str, str]
    state: bytes = b""
    """Variables and functions, as the persistent shell writes them."""
    has_terminal: bool = False
    detached_log: Path | None = None
    """Where a job writes by itself that outlives the program."""


@dataclass(slots=True)
class _Input:
    """The writing end of a job's input."""

    fd: int = -1
    is_terminal: bool = False
    device: tuple[int, int] = (0, 0)
    """What the reading end is known by."""
    closed_because: str = "its input is closed"
    _closing: threading.Lock = field(default_factory=threading.Lock)

    def write(self, data: bytes) -> None:
        fd = self.fd
        if fd < 0:
            raise ToolFailure(f"Nothing can be sent: {self.closed_because}.")
        deadline = time.monotonic() + WRITE_TIMEOUT_S
        sent = 0
        while sent < len(data):
            try:
                ready = select.select([], [fd], [], max(0.0, deadline - time.monotonic()))[1]
                if not ready:
                    raise ToolFailure(f"It does not read: {sent} of {len(data)} bytes were taken.")
                sent += os.write(fd, data[sent : sent + 1_024])
            except BlockingIOError:
                continue
            except OSError as error:
                raise ToolFailure(f"It reads no more input ({error.strerror}).") from None

    def close(self) -> None:
        with self._closing:  # it may end while its input is closed
            if self.fd >= 0 and not self.is_terminal:
                os.close(self.fd)
                self.fd = -1


class Spawned:
    """A job with a shell of its own, and a pipe or a terminal for input.

    Args:
        launch: What to start.
        rows: Height of its terminal.
        columns: Width of its terminal.
    """

    def __init__(self, launch: Launch, rows: int, columns: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="hermes-job-"))
        self._input = _Input(is_terminal=launch.has_terminal)
        self._is_over = False
        self._out_fd = -1
        try:
            self._process = self._start(launch, rows, columns)
        except OSError as error:
            self._clear()
            raise ToolFailure(f"The job could not be started: {error.strerror}.") from error

    @property
    def pid(self) -> int:
        """The shell's process id, which is the session's too."""
        return self._process.pid

    def _start(self, launch: Launch, rows: int, columns: int) -> subprocess.Popen[bytes]:
        state, command = self._folder / "state", self._folder / "command"
        state.write_bytes(launch.state)
        command.write_bytes(os.fsencode(launch.command) + b"\n")
        env = {k: v for k, v in launch.env.items() if k not in DROPPED_ENV and not k.startswith("BASH_FUNC_")}
        env |= TERMINAL_ENV if launch.has_terminal else CHILD_ENV
        script = JOB_SCRIPTS[launch.shell, launch.has_terminal]
        options = ("--noprofile", "--norc") if launch.shell == "bash" else ()
        words = [launch.program, *options, "-c", script, launch.shell, str(state), str(command)]
        if launch.has_terminal:
            return self._start_on_terminal(words, launch.cwd, env, rows, columns)
        if launch.detached_log is not None:
            self._input.closed_because = "it is detached and has no input"
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            with os.fdopen(os.open(launch.detached_log, flags, 0o600), "wb") as log:
                return subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=launch.cwd, env=env,
                    start_new_session=True,
                )  # fmt: skip
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=launch.cwd, env=env,
            start_new_session=True, bufsize=0,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        self._input.fd, self._out_fd = os.dup(process.stdin.fileno()), os.dup(process.stdout.fileno())
        process.stdin.close()
        process.stdout.close()
        known = os.fstat(self._input.fd)
        self._input.device = (known.st_dev, known.st_ino)
        os.set_blocking(self._input.fd, False)
        return process

    def _start_on_terminal(
        self, words: list[str], cwd: str, env: Mapping[str, str], rows: int, columns: int
    ) -> subprocess.Popen[bytes]:
        """Start the shell, which opens the terminal itself: so it becomes the one that controls the session."""
        master, slave = pty.openpty()
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            self._input.device = (0, os.fstat(slave).st_rdev)
            process = subprocess.Popen(
                [*words, os.ttyname(slave)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, cwd=cwd, env=env, start_new_session=True, bufsize=0,
            )  # fmt: skip
            assert process.stdout is not None
            process.stdout.read(1)  # ends when the shell has put the terminal in place of this pipe
            process.stdout.close()
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
        os.set_inheritable(master, False)
        self._input.fd, self._out_fd = os.dup(master), master
        os.set_blocking(self._input.fd, True)
        return process

    def run(self, output: JobOutput) -> int | None:
        """Take the output until everything has ended; returns the exit code. Blocks."""
        most = _TERMINAL_CHUNK if self._input.is_terminal else _CHUNK
        while data := read_some(self._out_fd, most):
            if replies := output.feed(data):
                with suppress(ToolFailure):
                    self._input.write(replies)
        code = self._process.wait()
        if has_process_table():
            wait_until_gone(session_members(self._process.pid))
        self._is_over = True
        self._clear()
        return 128 - code if code < 0 else code

    def write(self, data: bytes) -> None:
        """Send input."""
        self._input.write(data)

    @property
    def takes_input(self) -> bool:
        """Whether anything can be sent."""
        return self._input.fd >= 0

    def close_input(self) -> None:
        """Close the pipe, or type the terminal's end-of-file key."""
        if self._input.is_terminal:
            self._input.write(b"\x04")
        else:
            self._input.close()

    def end(self, grace_s: float) -> None:
        """End all of it."""
        if not self._is_over:
            end_session(self._process.pid, since=0, grace_s=grace_s)

    def readers(self) -> list[Reader] | None:
        """Return each program that may read what is sent, the job's own shell left out."""
        return readers_of(self._process.pid, self._input.device)

    def _clear(self) -> None:
        self._input.is_terminal = False
        self._input.close()
        self._input.closed_because = "it has ended"
        if self._out_fd >= 0:
            os.close(self._out_fd)
            self._out_fd = -1
        shutil.rmtree(self._folder, ignore_errors=True)


def readers_of(sid: int, device: tuple[int, int]) -> list[Reader] | None:
    """Return the programs of a session whose standard input is this pipe or terminal.

    Args:
        sid: The session; its leader, and what that has only just forked, are left out.
        device: ``(st_dev, st_ino)`` of a pipe, ``(0, st_rdev)`` of a terminal.
    """
    if not has_process_table():
        return None
    own = _words_of(sid)
    found: list[Reader] = []
    for member in session_members(sid):
        with suppress(OSError):
            known = os.stat(f"/proc/{member.pid}/fd/0")  # noqa: PTH116 - Path.stat would follow twice
            words = _words_of(member.pid)
            if words != own and device in ((known.st_dev, known.st_ino), (0, known.st_rdev)):
                found.append(Reader(words, _folder_of(member.pid)))
    return found


def _folder_of(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115 - the text as it is
    except OSError:
        return ""


def _words_of(pid: int) -> tuple[str, ...]:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return ()
    return tuple(os.fsdecode(word) for word in words)
