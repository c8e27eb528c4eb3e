"""Hold a command's output in bounded memory: text for the model, the full log on disk, the live feed of the card."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from .inert import InertStream
from .redacting import StreamRedactor

KEPT_CHARS = 50_000
HEAD_CHARS = 20_000
TAIL_CHARS = KEPT_CHARS - HEAD_CHARS
LOG_CAP_BYTES = 1 << 30
"""The full log stops growing here, so that an endless program can't fill the disk."""
FRAME_S = 0.03
"""Live output is sent on at most this often."""
REWRITE_S = 1.0
"""A line that is redrawn in place (a progress bar) is shown anew at most this often while it runs."""
LIVE_CAP = 32_000
"""More than this in one frame is thinned: nobody reads it live, and the result and the log have it all."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of the output."""

    text: str
    truncated: bool = False
    log_path: str = ""
    note: str = ""


class LiveFeed:
    """Sends output on as it comes, in frames; append-only text, so redrawn lines appear as new lines now and then."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self._queued = ""
        self._partial = ""
        self._shown = ""
        self._sent_at = 0.0
        self._rewritten_at = 0.0
        self._dirty = False

    def update(self, finished: str, partial: str) -> None:
        """Add finished lines, and say what the line in progress looks like now."""
        self._queued += finished
        if len(self._queued) > LIVE_CAP:
            kept = self._queued[-LIVE_CAP // 2 :].partition("\n")[2] or self._queued[-LIVE_CAP // 2 :]
            self._queued = f"[… {len(self._queued) - len(kept):,} characters not shown live]\n{kept}"
        self._dirty = self._dirty or bool(finished) or partial != self._partial
        self._partial = partial

    def wait_s(self, now: float) -> float | None:
        """Seconds until the next frame is due; None when there is nothing to send."""
        return max(0.0, self._sent_at + FRAME_S - now) if self._dirty else None

    def flush(self, now: float) -> None:
        """Send what is queued."""
        text = ""
        if self._queued:
            rewritten = self._shown and not self._queued.startswith(self._shown)
            text = "\n" + self._queued if rewritten else self._queued[len(self._shown) :]
            self._queued = self._shown = ""
        if self._partial.startswith(self._shown):
            text += self._partial[len(self._shown) :]
            self._shown = self._partial
        elif now - self._rewritten_at >= REWRITE_S:
            text += "\n" + self._partial
            self._shown, self._rewritten_at = self._partial, now
        self._dirty = False
        self._sent_at = now
        if text:
            self._emit(text)


class Capture:
    """Collects one command's output.

    Args:
        log_path: Where the full log goes, should the output be longer than what is kept.
        emit: Receives live text.
        redact: Takes secrets out of what goes into the log.
    """

    def __init__(self, log_path: Path, emit: Callable[[str], None], redact: Callable[[str], str] = str) -> None:
        self.live = LiveFeed(emit)
        self._stream = InertStream()
        self._redact_part = StreamRedactor(redact)
        self._log_path = log_path
        self._log: TextIO | None = None
        self._log_room = LOG_CAP_BYTES
        self._overflows = False
        self._log_note = ""
        self._kept = ""
        self._head = ""
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        finished = self._stream.feed(data)
        self._keep(finished)
        self.live.update(finished, self._stream.partial)

    def finish(self) -> Captured:
        """Close the log and return what was kept."""
        rest = self._stream.finish()
        self._keep(rest)
        self.live.update(rest, "")
        binary = self._describe_binary()
        if not self._overflows:
            return Captured(binary or self._kept)
        log_path = ""
        if self._log is not None:
            self._log.close()
            log_path = str(self._log_path)
        if binary:
            return Captured(binary, True, log_path, self._log_note)
        tail = self._kept[-TAIL_CHARS:]
        dropped = self._dropped + len(self._kept) - len(tail)
        where = f"; the full log is {log_path}" if log_path else ""
        mark = f"\n[… {dropped:,} characters cut here{where} …]\n"
        return Captured(self._head + mark + tail, True, log_path, self._log_note)

    def _keep(self, text: str) -> None:
        if not text:
            return
        self._kept += text
        if not self._overflows:
            if len(self._kept) > KEPT_CHARS:
                self._start_log()
            return
        self._write_log(text)
        if len(self._kept) > 4 * TAIL_CHARS:
            self._dropped += len(self._kept) - TAIL_CHARS
            self._kept = self._kept[-TAIL_CHARS:]

    def _start_log(self) -> None:
        try:
            fd = os.open(self._log_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            self._log = os.fdopen(fd, "w", encoding="utf-8", errors="replace", newline="")
        except OSError as error:
            self._log_note = f"The full log could not be written: {error.strerror}."
        self._overflows = True
        self._write_log(self._kept)
        self._head, self._kept = self._kept[:HEAD_CHARS], self._kept[HEAD_CHARS:]

    def _write_log(self, text: str) -> None:
        if self._log is None or self._log_room <= 0:
            return
        self._log_room -= len(text)
        try:
            self._log.write(self._redact_part(text))
            if self._log_room <= 0:
                self._log.write("\n[log ends here: too long]\n")
                self._log_note = "The output is longer than the log may grow; the log holds its beginning."
        except OSError as error:
            self._log_room = 0
            self._log_note = f"The full log is incomplete: {error.strerror}."

    def _describe_binary(self) -> str:
        if not self._stream.is_binary:
            return ""
        count = self._stream.byte_count
        return f"(binary output, {count:,} bytes: send it to a file and look at it with file, xxd or strings)"
