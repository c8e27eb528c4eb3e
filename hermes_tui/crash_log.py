"""Where the traceback of an internal error goes: a private file, not the person's screen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def write_crash_log(error: BaseException | None, folder: Path | None, redact: Callable[[str], str] = str) -> str:
    """Write a traceback to a private file and return its path, or the traceback itself when no file can be made.

    Args:
        error: What happened.
        folder: Where logs are kept; None takes the machine's temporary folder.
        redact: Takes secrets out of a text.
    """
    import tempfile
    import traceback

    text = redact("".join(traceback.format_exception(error)) if error is not None else "unknown error\n")
    folder = folder or Path(tempfile.gettempdir()) / "logs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
    except OSError:
        return text
    return str(path)
