"""What a background job writes: the end of it in memory, all of it in a private file, read by cursor.

A cursor is a place in the text as kept, in bytes of UTF-8; secrets are taken out before anything is kept.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .capture import LOG_CAP_BYTES
from .inert import InertStream
from .redacting import StreamRedactor
from .screen import Screen

TAIL_BYTES: Final = 128_000
"""What stays in memory; older text is read from the file."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a job's output."""

    text: str
    cursor: int
    """Where the next part begins."""
    lost_bytes: int = 0
    """What stood before it and is kept nowhere."""


class JobOutput:
    """Takes a job's bytes and keeps them as text. Any thread.

    Args:
        log_path: Where all of it goes.
        redact: Takes secrets out.
        has_screen: The job has a terminal: its output is the lines that scroll off a screen, and the screen.
    """

    def __init__(
        self,
        log_path: Path,
        redact: Callable[[str], str] = str,
        *,
        has_screen: bool = False,
    ) -> None:
        self.log_path = log_path
        self.screen = Screen() if has_screen else None
        self._stream = InertStream()
        self._redact = redact
        self._redact_part = StreamRedactor(redact)
        self.on_output: Callable[[str], None] = lambda text: None
        """Told of everything that comes, on the feeding thread, with the lines that it finished."""
        self._lock = threading.Lock()
        self._tail = b""
        self._size = 0
        self._kept = 0
        self._fd = -1
        self._is_logging = True
        self._last_line = ""
        self.note = ""
        """What is wrong with the file, if anything."""

    @property
    def size(self) -> int:
        """The cursor at the end of the finished lines."""
        return self._size

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; returns what a terminal would answer."""
        with self._lock:
            if self.screen is not None:
                self.screen.feed(data)
                replies = self.screen.take_replies()
                finished = "".join(f"{line}\n" for line in self.screen.take_scrolled())
            else:
                finished, replies = self._stream.feed(data), b""
            text = self._keep(finished)
        self.on_output(text)
        return replies

    def finish(self) -> None:
        """The job writes no more: keep what is on its screen, or in the line it did not finish."""
        with self._lock:
            rest = self._stream.finish()
            if self.screen is not None and not self.screen.is_alternate:
                rest = "".join(f"{line}\n" for line in self.screen.lines())
            text = self._keep(rest)
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
        self.on_output(text)

    def partial(self) -> str:
        """Return the line in progress: a prompt, for instance."""
        with self._lock:
            return "" if self.screen is not None else self._redact(self._stream.partial)

    def screen_text(self) -> str | None:
        """Return what stands on the screen; None without one."""
        with self._lock:
            return None if self.screen is None else self._redact(self.screen.text())

    def last_line(self) -> str:
        """Return the newest line that is not blank."""
        with self._lock:
            if self.screen is not None:
                lines = [line for line in self.screen.lines() if line.strip()]
                return self._redact(lines[-1]) if lines else self._last_line
            return self._redact(self._stream.partial) if self._stream.partial.strip() else self._last_line

    def read(self, cursor: int, max_bytes: int) -> Piece:
        """Return up to ``max_bytes`` from a cursor on; a negative one counts from the end."""
        with self._lock:
            start = _start(cursor, self._size)
            in_memory = self._size - len(self._tail)
            if start >= in_memory:
                return _piece(self._tail[start - in_memory :], start, max_bytes, is_aligned=cursor >= 0)
            kept = self._kept
        data = b""
        if start < kept:
            with suppress(OSError):
                fd = os.open(self.log_path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    data = os.pread(fd, min(max_bytes + 1, kept - start), start)
                finally:
                    os.close(fd)
        if data:
            return _piece(data, start, max_bytes, is_aligned=cursor >= 0)
        later = self.read(in_memory, max_bytes)
        return Piece(later.text, later.cursor, in_memory - start)

    def _keep(self, text: str) -> str:
        if not text:
            return ""
        text = self._redact_part(text)
        if not text:
            return ""
        data = text.encode("utf-8", "replace")
        self._write(data)
        self._size += len(data)
        self._tail = (self._tail + data)[-TAIL_BYTES:] if len(data) < TAIL_BYTES else data[-TAIL_BYTES:]
        self._last_line = next((line for line in reversed(text[-4_000:].split("\n")) if line.strip()), self._last_line)
        return text

    def _write(self, data: bytes) -> None:
        if not self._is_logging:
            return
        try:
            if self._fd < 0:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._fd = os.open(self.log_path, flags, 0o600)
            os.write(self._fd, data[: LOG_CAP_BYTES - self._kept])
        except OSError as error:
            self._is_logging = False
            self.note = f"The log is incomplete: {error.strerror}."
            return
        self._kept += len(data)
        if self._kept >= LOG_CAP_BYTES:
            self._kept = LOG_CAP_BYTES
            self._is_logging = False
            self.note = "The log holds the beginning only: the output is longer than a log may grow."


def _start(cursor: int, size: int) -> int:
    """Return where to read from; when sought from the end, a byte more, which may be the end of a line."""
    return min(cursor, size) if cursor >= 0 else max(0, size + cursor - 1)


def _piece(data: bytes, start: int, max_bytes: int, *, is_aligned: bool) -> Piece:
    """Cut a piece so that it holds whole characters, and whole lines where one was sought from the end."""
    skipped = 0
    if not is_aligned and start:
        skipped = data.find(b"\n") + 1
        if skipped in (0, len(data)):
            skipped = 1
    taken = data[skipped : skipped + max_bytes]
    if len(data) - skipped > max_bytes:
        cut = taken.rfind(b"\n") + 1
        taken = taken[:cut] if cut else _whole_characters(taken)
    return Piece(taken.decode("utf-8", "replace"), start + skipped + len(taken))


def _whole_characters(data: bytes) -> bytes:
    """Leave out a character that is cut off at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:  # not a continuation
            length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
    return data


class RawOutput(JobOutput):
    """The output of a job that writes its log itself: read from there, secrets taken out of what is read."""

    @property
    def size(self) -> int:
        """The cursor at the end."""
        try:
            return self.log_path.stat().st_size
        except OSError:
            return 0

    def read(self, cursor: int, max_bytes: int) -> Piece:
        """Return up to ``max_bytes`` from a cursor on; a negative one counts from the end."""
        start = _start(cursor, self.size)
        data = b""
        with suppress(OSError), self.log_path.open("rb") as log:
            log.seek(start)
            data = log.read(max_bytes + 2)
        piece = _piece(data, start, max_bytes, is_aligned=cursor >= 0)
        stream = InertStream()
        text = stream.feed(piece.text.encode()) + stream.finish()
        return Piece(self._redact(text), piece.cursor)

    def last_line(self) -> str:
        """Return the newest line that is not blank."""
        lines = [line for line in self.read(-2_000, 2_000).text.split("\n") if line.strip()]
        return lines[-1] if lines else ""
