"""One call of the persistent shell: its output pipe, and the wait for whichever end comes first."""

from __future__ import annotations

import array
import fcntl
import math
import os
import re
import select
import subprocess
import termios
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from .capture import Capture
from .ports import CancelToken

_CHUNK = 65_536
_HANDOVER_S = 0.1
"""A call is handed over no sooner: by then its shell has opened its output."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What ended the wait."""

    kind: Literal["status", "exit", "timeout", "interrupt", "handover"]
    """``handover``: the command goes on, but nobody waits for it any more."""
    status: str = ""
    """Exit code in digits, or ``cd`` when the folder could not be entered."""
    cwd: str = ""
    jobs: tuple[int, ...] = ()
    report: bytes = b""
    """With ``handover``: what the shell has reported so far."""


class CallPipes:
    """A call's output pipe, as a named one that the shell opens by path.

    Our own writing end keeps it from ending before the shell has opened it; once that is closed, an end of file says
    that nobody writes any more.

    Args:
        path: Where the named pipe is made.
        status_fd: Where the shell reports.
        mark: Word that the report carries.
    """

    def __init__(self, path: Path, status_fd: int, mark: str) -> None:
        self.path = path
        self.status_fd = status_fd
        self.mark = mark
        os.mkfifo(path, 0o600)
        self.out_fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._writer_fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_writer()
        self.path.unlink(missing_ok=True)
        if self.out_fd >= 0:
            os.close(self.out_fd)
            self.out_fd = -1

    def close_writer(self) -> None:
        """Let the pipe end when its last writer is gone."""
        if self._writer_fd >= 0:
            os.close(self._writer_fd)
            self._writer_fd = -1

    def read(self, capture: Capture, limit: int = _CHUNK) -> int:
        """Take what is there, up to ``limit`` bytes; returns how many."""
        try:
            data = os.read(self.out_fd, limit)
        except BlockingIOError:
            return 0
        if data:
            capture.feed(data)
        return len(data)

    def drain(self, capture: Capture) -> None:
        """Take what was written up to now, however much a background job goes on to write."""
        waiting = array.array("i", [0])
        fcntl.ioctl(self.out_fd, termios.FIONREAD, waiting)
        left = waiting[0]
        while left > 0:
            count = self.read(capture, min(left, _CHUNK))
            if not count:
                return
            left -= count

    def release(self) -> int:
        """Give the reading end away."""
        fd, self.out_fd = self.out_fd, -1
        return fd


def collect(
    pipes: CallPipes,
    process: subprocess.Popen[bytes],
    capture: Capture,
    cancel: CancelToken,
    handover: CancelToken,
    timeout_s: float,
) -> Ending:
    """Read output until the shell reports, ends, is cancelled, is asked to hand over, or runs out of time."""
    started = time.monotonic()
    deadline, handover_from = started + timeout_s, started + _HANDOVER_S
    report = b""
    with _Alarm(cancel, handover) as alarm, _ExitWatch(process) as exit_watch:
        poll = select.poll()
        for fd in (pipes.out_fd, pipes.status_fd, alarm.fd, *exit_watch.fds):
            poll.register(fd, select.POLLIN)
        while True:
            now = time.monotonic()
            wait_s = min(_wait_for_frame(capture), deadline - now, exit_watch.interval_s)
            if handover.cancelled:
                wait_s = min(wait_s, handover_from - now)
            ready = {fd for fd, _ in poll.poll(max(0, math.ceil(wait_s * 1000)))}
            if alarm.fd in ready:
                os.read(alarm.fd, _CHUNK)
            if cancel.cancelled:
                return Ending("interrupt")
            if pipes.out_fd in ready:
                pipes.read(capture)
            if pipes.status_fd in ready:
                report += os.read(pipes.status_fd, _CHUNK)
            ending = parse_report(report, pipes.mark)
            if ending is None and process.poll() is not None:
                ending = Ending("exit")
            if ending is not None:
                pipes.drain(capture)
                return ending
            if handover.cancelled and time.monotonic() >= handover_from:
                return Ending("handover", report=report)
            if time.monotonic() >= deadline:
                return Ending("timeout")


def _wait_for_frame(capture: Capture) -> float:
    """Send the live frame that is due; return the seconds until the next."""
    now = time.monotonic()
    wait_s = capture.live.wait_s(now)
    if wait_s == 0.0:
        capture.live.flush(now)
    return wait_s or math.inf


class _Alarm:
    """A pipe that becomes readable when one of these is cancelled; safe against a hook that fires late."""

    def __init__(self, *tokens: CancelToken) -> None:
        self.fd, self._write_fd = os.pipe()
        self._lock = threading.Lock()
        self._removers = [token.on_cancel(self._ring) for token in tokens]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for remove in self._removers:
            remove()
        with self._lock:
            os.close(self.fd)
            os.close(self._write_fd)
            self._write_fd = -1

    def _ring(self) -> None:
        with self._lock:
            if self._write_fd >= 0:
                os.write(self._write_fd, b"x")


class _ExitWatch:
    """Notices the shell's own end even while its children keep the report pipe open."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.fds: tuple[int, ...] = ()
        self.interval_s = 0.05
        open_pidfd = getattr(os, "pidfd_open", None)
        if open_pidfd is not None:
            with suppress(OSError):
                self.fds = (open_pidfd(process.pid),)
                self.interval_s = math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self.fds:
            os.close(fd)


def is_held_open(pipes: CallPipes) -> bool:
    """Tell whether something that the call started still writes to its output."""
    pipes.close_writer()
    poll = select.poll()
    poll.register(pipes.out_fd, select.POLLIN)
    return not any(event & select.POLLHUP and not event & select.POLLIN for _, event in poll.poll(0))


def parse_report(report: bytes, mark: str) -> Ending | None:
    r"""Read ``jobs \0 mark \0 status \0 cwd \0``; a DEBUG trap's chatter before it does no harm."""
    head, found, rest = report.partition(b"\0" + mark.encode() + b"\0")
    fields = rest.split(b"\0")
    if not found or len(fields) < 3:
        return None
    jobs = tuple(int(word) for word in re.findall(rb"(?m)^\d+$", head))
    return Ending("status", fields[0].decode(), os.fsdecode(fields[1]), jobs)
