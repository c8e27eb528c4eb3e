"""Run a program in a pseudo-terminal and see its screen, for end-to-end tests.

Bytes are fed to a pyte emulator by a reader thread; terminal queries get xterm's answers. Tests wait on what is
visible, never on time.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pyte

CRASHING = Path(__file__).with_name("crashing.py")
"""The app with a fault in it."""
HANG_S = 30.0
"""No wait is longer; only a hang reaches it."""

_ANSWERS: tuple[tuple[re.Pattern[bytes], bytes], ...] = (
    (re.compile(rb"\x1b\[c"), b"\x1b[?62;22c"),
    (re.compile(rb"\x1b\[\?2026\$p"), b"\x1b[?2026;2$y"),
    (re.compile(rb"\x1b\[\?2048\$p"), b"\x1b[?2048;0$y"),
)

_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=?][0-9;]*[uqm]|\x1b\[[0-9;]*[ ]q|\x1bP[^\x1b]*\x1b\\")
_LAST = bytes(8)
"""Written behind what the program wrote; terminals ignore it."""
_ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]")


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = HANG_S) -> None:
    """Block until something that no screen shows holds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"never saw {what}"
        time.sleep(0.01)


class Terminal:
    """A program under a pseudo-terminal.

    Args:
        command: Program and arguments.
        env: Its whole environment.
        cwd: Where it starts.
        size: Columns and rows.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        size: tuple[int, int] = (100, 30),
    ) -> None:
        self.screen = pyte.Screen(*size)
        self.raw = bytearray()
        self._stream = pyte.ByteStream(self.screen)
        self._changed = threading.Condition()
        self._master, slave = pty.openpty()
        self._resize_tty(*size)
        self.slave_name = os.ttyname(slave)
        self.attributes_before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads in the child yet
        )
        self._slave = slave  # kept open, so that the mode can be read after the program left
        self._closing = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while not self._closing:
            try:
                ready, _, _ = select.select([self._master], [], [], 0.2)
                data = os.read(self._master, 65536) if ready else None
            except (OSError, ValueError):
                return
            if data is None:
                continue
            for pattern, answer in _ANSWERS:
                for _ in pattern.findall(data):
                    os.write(self._master, answer)
            with self._changed:
                self.raw += data
                self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
                self._changed.notify_all()

    # What is seen

    @property
    def text(self) -> str:
        """The visible screen, rows joined by newlines."""
        with self._changed:
            return "\n".join(self.screen.display)

    @property
    def left_behind(self) -> str:
        """What the program wrote after it left the full screen."""
        tail = bytes(self.raw).rpartition(b"\x1b[?1049l")[2]
        return _ESCAPES.sub(b"", tail).decode()

    @property
    def children(self) -> list[psutil.Process]:
        """All processes below the program."""
        return psutil.Process(self.process.pid).children(recursive=True)

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the hardware cursor."""
        return self.screen.cursor.x, self.screen.cursor.y

    def wait(self, condition: Callable[[str], Any], what: str = "a condition", timeout_s: float = HANG_S) -> str:
        """Block until ``condition(screen text)`` holds and return the text."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while True:
                text = "\n".join(self.screen.display)
                if condition(text):
                    return text
                if (left := deadline - time.monotonic()) <= 0:
                    raise AssertionError(f"never saw {what}; the screen:\n{text}")
                self._changed.wait(min(left, 0.5))

    def wait_for(self, needle: str, timeout_s: float = HANG_S) -> str:
        """Block until ``needle`` is visible."""
        return self.wait(lambda text: needle in text, repr(needle), timeout_s)

    def wait_gone(self, needle: str, timeout_s: float = HANG_S) -> str:
        """Block until ``needle`` is no longer visible."""
        return self.wait(lambda text: needle not in text, f"{needle!r} gone", timeout_s)

    # What is done

    def type(self, text: str | bytes) -> None:
        """Send keys."""
        data = text.encode() if isinstance(text, str) else text
        while data:
            data = data[os.write(self._master, data[:1024]) :]

    def paste(self, text: str) -> None:
        """Send a bracketed paste."""
        self.type(b"\x1b[200~" + text.encode() + b"\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        """Change the size and tell the program."""
        with self._changed:
            self.screen.resize(rows, columns)
        self._resize_tty(columns, rows)
        os.killpg(self.process.pid, signal.SIGWINCH)

    def _resize_tty(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # How it ends

    def wait_exit(self, timeout_s: float = HANG_S) -> int:
        """Block until the program ends and all that it wrote was read; return its exit code."""
        code = self.process.wait(timeout_s)
        if self._slave >= 0:
            os.write(self._slave, _LAST)
            with self._changed:
                assert self._changed.wait_for(lambda: self.raw.endswith(_LAST), timeout_s)
                del self.raw[-len(_LAST) :]
        return code

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        self._closing = True
        self._reader.join(2)
        os.close(self._slave)
        os.close(self._master)
        self._slave = self._master = -1

    def is_sane(self) -> bool:
        """True when the line mode is as before and all full-screen modes were switched off again."""
        raw = bytes(self.raw)
        for mode in (b"1000", b"1003", b"1006", b"1004", b"2004", b"1049"):
            if raw.rfind(b"\x1b[?" + mode + b"h") > raw.rfind(b"\x1b[?" + mode + b"l"):
                return False
        return termios.tcgetattr(self._slave)[3] == self.attributes_before[3]

    def close(self) -> None:
        """End the program and free the terminal."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._closing = True
        self._reader.join(2)
        for descriptor in (self._slave, self._master):
            if descriptor >= 0:
                os.close(descriptor)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def program() -> list[str]:
    """The installed program's command."""
    return [str(Path(sys.executable).with_name("hermes-tui"))]
