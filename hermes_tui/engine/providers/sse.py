"""Server-sent events from bytes, at any chunking. Knows nothing about models.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

from typing import NamedTuple


class ServerEvent(NamedTuple):
    """One event; ``name`` is empty when the stream gives none."""

    name: str
    data: str


class SseParser:
    """Turns chunks of bytes into events.

    Lines end at LF, CRLF or CR only: U+2028, U+2029 and U+0085 are text. A character cut between two chunks is whole
    again, because lines are found in bytes and decoded afterwards.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._skip_lf = False
        self._started = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events that this chunk completes."""
        if self._skip_lf and chunk:
            # The last chunk ended in CR, which ended a line already; an LF here belongs to it.
            chunk = chunk[1:] if chunk[:1] == b"\n" else chunk
            self._skip_lf = False
        lines = (self._rest + chunk).splitlines(keepends=True)
        self._rest = b""
        if lines and lines[-1][-1] not in b"\r\n":
            self._rest = lines.pop()
        elif lines and lines[-1][-1:] == b"\r":
            self._skip_lf = True
        events: list[ServerEvent] = []
        for line in lines:
            self._line(line.rstrip(b"\r\n"), events)
        return events

    def close(self) -> list[ServerEvent]:
        """Return the event that the end of the stream completes: many servers leave out the last blank line."""
        events: list[ServerEvent] = []
        if self._rest:
            self._line(self._rest, events)
            self._rest = b""
        self._line(b"", events)
        return events

    def _line(self, line: bytes, events: list[ServerEvent]) -> None:
        if not self._started:
            self._started = True
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.startswith(b"data:"):
            self._data.append(str(line[6:] if line[5:6] == b" " else line[5:], "utf-8", "replace"))
        elif not line:
            if self._data:
                events.append(ServerEvent(self._name, "\n".join(self._data)))
                self._data = []
            self._name = ""
        elif line.startswith(b"event:"):
            self._name = str(line[6:], "utf-8", "replace").strip()
        # Everything else is a comment (``:``), ``id``, ``retry`` or unknown, and means nothing here.
