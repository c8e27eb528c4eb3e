"""Bracketed paste, taken off the key parser: fast for a megabyte, and safe when the text holds the end marker itself.

Textual's parser steps through a paste character by character (1.8 s for 1 MB, measured) and ends it at the first end
marker, so that a marker inside the text turns the rest into key presses. This one cuts the paste out of the stream
first. It also knows the bytes by which plain terminals send alt+enter and alt+arrows. It subclasses a private class of
Textual; its tests notice when that changes. The terminal driver makes one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message

from .paste import MAX_PASTE_CHARS

_MARK_LENGTH: Final = len(BRACKETED_PASTE_END)
_HOLD_S: Final = 0.03
"""How long what follows an end marker waits for a second one. A terminal writes a paste in one go, so a true end is
followed by nothing or by a later key press."""
_ONE_READ: Final = 512
"""A paste longer than this may have been cut by the driver's read buffer, so the rest may still come."""
_ENTER_KEYS: Final = {
    "\x1b\r": "alt+enter",
    "\x1b[27;2;13~": "shift+enter",
    "\x1b[27;3;13~": "alt+enter",
}
"""What terminals send that don't speak the kitty protocol; Textual reads a plain Enter. Source: xterm's ctlseqs."""
_META_ARROW: Final = re.compile("\x1b\x1b\\[([A-DFH])")
"""Alt with an arrow, Home or End as terminals send it that put an Esc before the key (Apple's Terminal, rxvt): nobody
presses Esc and an arrow within one read, and an Esc would interrupt."""


class PasteParser(XTermParser):
    """Key parser that handles bracketed paste in whole pieces.

    Args:
        debug: Passed on to Textual.
        clock: Monotonic seconds.
    """

    def __init__(self, debug: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pieces: list[str] | None = None  # the paste being read
        self._size = 0
        self._tail = ""  # the last characters, in which a marker may have begun
        self._inner_paste = False  # the start marker came in two reads, so Textual's parser has seen it
        self._held: tuple[str, str, float] | None = None  # paste, what followed it, when
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        """Parse what was read; an empty text ends the stream."""
        if not data:
            yield from self._release()
            yield from super().feed(data)
            return
        if self._held is not None:
            paste, rest, _ = self._held
            self._held = None
            yield from self._after_end(paste, rest + data)
            return
        yield from self._route(data)

    def tick(self) -> Iterable[Message]:
        """Give up waiting where time is over."""
        if self._held is not None and self._clock() - self._held[2] >= _HOLD_S:
            yield from self._release()
        yield from super().tick()

    @property
    def is_waiting(self) -> bool:
        """Whether it needs ticks: an Esc that may begin a sequence, or a paste whose end is in doubt."""
        return self._timeout_time is not None or self._held is not None

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        """Tell Enter with a modifier from Enter, which sends."""
        if (name := _ENTER_KEYS.get(sequence)) is not None:
            return [events.Key(name, None)]
        return super()._sequence_to_key_events(sequence, alt)

    def _route(self, data: str) -> Iterator[Message]:
        if self._pieces is not None:
            yield from self._read_paste(data)
            return
        begins_before = (self._tail + data[: _MARK_LENGTH - 1]).find(BRACKETED_PASTE_START)
        if begins_before >= 0:
            cut = begins_before + _MARK_LENGTH - len(self._tail)
            self._inner_paste = True
        else:
            at = data.find(BRACKETED_PASTE_START)
            if at < 0:
                self._tail = (self._tail + data)[-(_MARK_LENGTH - 1) :]
                yield from super().feed(_META_ARROW.sub("\x1b[1;3\\1", data))
                return
            cut = at + _MARK_LENGTH
        keys = data[:cut] if self._inner_paste else data[: cut - _MARK_LENGTH]
        if keys:
            yield from super().feed(keys)
        self._pieces, self._size, self._tail = [], 0, ""
        if data[cut:]:
            yield from self._read_paste(data[cut:])

    def _read_paste(self, data: str) -> Iterator[Message]:
        """Collect until the end marker, which may come in two reads."""
        window = self._tail + data
        end = window.find(BRACKETED_PASTE_END)
        if end < 0:
            keep = len(window) - (_MARK_LENGTH - 1)
            self._collect(window[: max(0, keep)])
            self._tail = window[max(0, keep) :]
            return
        self._collect(window[:end])
        paste = "".join(self._pieces or ())
        self._pieces, self._tail = None, ""
        yield from self._after_end(paste, window[end + _MARK_LENGTH :])

    def _collect(self, piece: str) -> None:
        """Keep a piece; beyond the limit only enough to see that there was too much."""
        if piece and self._pieces is not None and self._size <= MAX_PASTE_CHARS:
            self._pieces.append(piece)
            self._size += len(piece)

    def _after_end(self, paste: str, rest: str) -> Iterator[Message]:
        """Decide whether the marker was the true end: a later one with no start between them says that it was not."""
        stray = rest.split(BRACKETED_PASTE_START, 1)[0].rfind(BRACKETED_PASTE_END)
        if stray >= 0:
            paste += rest[:stray]
            rest = rest[stray + _MARK_LENGTH :]
        if not rest.startswith(BRACKETED_PASTE_START) and (rest or len(paste) > _ONE_READ):
            self._held = (paste, rest, self._clock())
            return
        yield from self._emit(paste)
        if rest:
            yield from self._route(rest)

    def _release(self) -> Iterator[Message]:
        if self._held is not None:
            paste, rest, _ = self._held
            self._held = None
            yield from self._emit(paste)
            if rest:
                yield from self._route(rest)

    def _emit(self, paste: str) -> Iterator[Message]:
        if self._inner_paste:
            self._inner_paste = False
            for message in super().feed(BRACKETED_PASTE_END):
                if not isinstance(message, events.Paste):
                    yield message
        yield events.Paste(paste.replace("\x00", ""))
