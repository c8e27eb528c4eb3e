"""Real processes in tests: whether they run, and waiting for what they do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path


def wait_for(condition: Callable[[], bool], what: str) -> None:
    pause = threading.Event()
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, what
        pause.wait(0.01)


def is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat[stat.rindex(b")") + 2 :][:1] not in b"ZX"


def pid_in(path: Path) -> int:
    wait_for(lambda: path.exists() and path.read_text().strip().isdigit(), f"{path} was not written")
    return int(path.read_text())
