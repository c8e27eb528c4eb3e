"""The terminal driver: Textual's, with an input thread that sleeps when nothing is typed and notices a lost terminal.

Textual's own thread wakes ten times a second and spins when the terminal is gone. This one blocks until a key arrives
or it is told to stop, and ticks only while the parser waits for the rest of a sequence.
"""

from __future__ import annotations

import os
import select
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, cast

from textual._parser import ParseError
from textual.drivers.linux_driver import LinuxDriver

from .widgets.paste_parser import PasteParser

TICK_S = 0.005
"""How often a waiting parser is asked whether its time is over: a lone Esc must not wait longer than its delay."""

READ_BYTES = 65536


class PatientFile:
    """The terminal as a file that never fails: what a terminal that is gone cannot take is dropped.

    A failure would end Textual's writing thread, and its full queue would then hold the loop for ever.

    Args:
        file: Where to write.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write, or drop."""
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        """Flush, or drop."""
        with suppress(OSError):
            self._file.flush()

    def fileno(self) -> int:
        """The terminal's descriptor."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()


class TerminalDriver(LinuxDriver):
    """Reads keys without polling. The app may define ``terminal_lost()``, called once on the loop's thread."""

    _wake_read = -1
    _wake_write = -1
    _leaving = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if sys.__stdout__ is not None and not (self._file and self._file.isatty()):
            self._file = sys.__stdout__  # Textual draws on stderr; somebody keeps that in a file
        self._file = cast(Any, PatientFile(cast("IO[str]", self._file)))

    def start_application_mode(self) -> None:
        """Take the terminal over, with a fresh wake-up pipe for the input thread."""
        self._leaving = False
        self._wake_read, self._wake_write = os.pipe()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        # With the mouse left to the terminal, the wheel must not come as arrow keys: they would flip through prompts.
        self.write("\x1b[?1007l")

    def _sigcont_application(self, *signal: Any) -> None:
        """Go on after ctrl+z. A stop from outside left the terminal ours: it is only painted again."""
        if self._must_signal_resume:
            super()._sigcont_application(*signal)
        elif self._auto_restart and self._writer_thread is not None:
            self._loop.call_soon_threadsafe(self._app.post_message, self.SignalResume())

    def stop_application_mode(self) -> None:
        """Give the terminal back, its pen plain."""
        self.write("\x1b[0m")
        super().stop_application_mode()

    def disable_input(self) -> None:
        """Stop the input thread at once."""
        self._leaving = True
        if self._wake_write >= 0:
            os.write(self._wake_write, b"x")
        super().disable_input()
        for descriptor in (self._wake_read, self._wake_write):
            if descriptor >= 0:
                os.close(descriptor)
        self._wake_read = self._wake_write = -1

    def run_input_thread(self) -> None:
        """Read keys until told to stop or the terminal is gone."""
        parser = PasteParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        wake = self._wake_read
        while not self._leaving:
            ready, _, _ = select.select([self.fileno, wake], [], [], TICK_S if parser.is_waiting else None)
            if self.fileno in ready:
                try:
                    data = os.read(self.fileno, READ_BYTES)
                except OSError:  # EIO: the other end of the terminal is closed
                    data = b""
                if not data:
                    self._lose_terminal()
                    return
                if text := decode(data):  # empty when the read ended inside a character
                    for event in parser.feed(text):
                        self.process_message(event)
            for event in parser.tick():
                self.process_message(event)
        try:
            for _ in parser.feed(""):
                pass
        except (EOFError, ParseError):
            pass

    def _lose_terminal(self) -> None:
        lost: Callable[[], None] | None = getattr(self._app, "terminal_lost", None)
        if lost is not None and not self._leaving:
            self._loop.call_soon_threadsafe(lost)


def quiet_exit(close: Callable[[], None], code: int, limit_s: float = 2.5) -> None:
    """End the process without a terminal: close what must be closed, then leave, after ``limit_s`` at the latest."""
    import threading

    closer = threading.Thread(target=close, daemon=True)
    closer.start()
    deadline = time.monotonic() + limit_s

    def leave() -> None:
        closer.join(max(0.0, deadline - time.monotonic()))
        os._exit(code)

    threading.Thread(target=leave, daemon=True).start()
