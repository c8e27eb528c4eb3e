"""Run a program in a pseudo-terminal and stamp what it writes. No emulator runs beside it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

HANG_S = 60.0


class PtyRun:
    """One run. ``wait(needle)`` returns the monotonic second at which the bytes had all arrived."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], cwd: Path, size: tuple[int, int] = (120, 40)
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.data = bytearray()
        self._stamps: list[tuple[int, float]] = []
        self._more = threading.Condition()
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=dict(env), cwd=cwd, start_new_session=True
        )
        os.close(slave)
        self._closing = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while not self._closing:
            try:
                if not select.select([self._master], [], [], 0.2)[0]:
                    continue
                piece = os.read(self._master, 1 << 16)
            except OSError:
                return
            now = time.monotonic()
            if b"\x1b[?2026$p" in piece:
                os.write(self._master, b"\x1b[?2026;2$y")
            with self._more:
                self.data += piece
                self._stamps.append((len(self.data), now))
                self._more.notify_all()

    def mark(self) -> int:
        """Position to wait from."""
        with self._more:
            return len(self.data)

    def wait(self, needle: bytes, since: int = 0, timeout_s: float = HANG_S) -> float:
        """Block until the bytes arrived after ``since``; return when."""
        deadline = time.monotonic() + timeout_s
        with self._more:
            while (at := self.data.find(needle, since)) < 0:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    tail = bytes(self.data[-2000:]).decode("utf-8", "replace")
                    raise RuntimeError(f"{needle!r} never came; the end of the output: {tail!r}")
                self._more.wait(0.2)
            end = at + len(needle)
            return next(stamp for size, stamp in self._stamps if size >= end)

    def quiet(self, for_s: float = 0.4, timeout_s: float = HANG_S) -> None:
        """Block until nothing was written for a while."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            size = self.mark()
            time.sleep(for_s)
            if self.mark() == size:
                return

    def type(self, keys: bytes) -> float:
        """Send keys; returns when."""
        now = time.monotonic()
        os.write(self._master, keys)
        return now

    def resize(self, columns: int, rows: int) -> float:
        """Change the size; returns when."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        now = time.monotonic()
        os.killpg(self.process.pid, signal.SIGWINCH)
        return now

    def cpu_s(self) -> float:
        """User and system seconds of the process tree so far."""
        root = psutil.Process(self.process.pid)
        times = [p.cpu_times() for p in (root, *root.children(recursive=True))]
        return sum(t.user + t.system for t in times) + times[0].children_user + times[0].children_system

    def memory_mb(self) -> float:
        """Proportional set size of the process tree, MB."""
        root = psutil.Process(self.process.pid)
        return sum(p.memory_full_info().pss for p in (root, *root.children(recursive=True))) / 1e6

    def close(self) -> None:
        """End the process tree."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._closing = True
        self._reader.join()
        os.close(self._master)

    def __enter__(self) -> PtyRun:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
