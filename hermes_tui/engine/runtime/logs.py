"""The program's log: one private file, no line with a secret. ``HERMES_DEBUG=1`` also logs requests and answers."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

from ..config.paths import ensure_private_dir
from ..types.errors import ConfigError

ROOT = "hermes_tui"
NAME = "hermes-tui.log"
MAX_BYTES = 5_000_000
KEPT_FILES = 2
_FORMAT = "%(asctime)s %(levelname)s %(name)s [%(threadName)s] %(message)s"


class _Clean(logging.Formatter):
    """Formats a record whole, tracebacks included, then takes the secrets out: the one funnel to the file."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__(_FORMAT)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


class _PrivateFile(RotatingFileHandler):
    """Creates its files 0600, and makes an older one so."""

    def _open(self) -> IO[str]:  # type: ignore[override]
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # somebody else's file keeps its mode
            os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")


def start_log(folder: Path, env: Mapping[str, str], redact: Callable[[str], str]) -> Callable[[], None]:
    """Send the program's log records to a file, made with the first of them; returns the function that ends it.

    Warnings and errors are logged; with ``HERMES_DEBUG`` everything. Nothing is ever written to the terminal. Where the
    folder cannot be written there is no log.

    Args:
        folder: Where logs are kept.
        env: Usually ``os.environ``.
        redact: Takes secrets out of a text.
    """
    logger = logging.getLogger(ROOT)
    handler: logging.Handler
    try:
        ensure_private_dir(folder)
        handler = _PrivateFile(folder / NAME, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, encoding="utf-8", delay=True)
    except ConfigError:
        handler = logging.NullHandler()
    handler.setFormatter(_Clean(redact))
    before = (logger.level, logger.propagate)
    logger.setLevel(logging.DEBUG if env.get("HERMES_DEBUG", "") not in ("", "0") else logging.WARNING)
    logger.propagate = False
    logger.addHandler(handler)

    def stop() -> None:
        logger.removeHandler(handler)
        handler.close()
        logger.setLevel(before[0])
        logger.propagate = before[1]

    return stop
