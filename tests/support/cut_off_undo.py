"""Undo, or redo, in a process of its own that is killed before its n-th change of the disk. Prints when it is done.

Usage: ``python cut_off_undo.py ROOT N undo|redo``
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from hermes_tui.engine.checkpoints.history import FileHistory
from hermes_tui.engine.store.checkpoints import CheckpointDB

CHANGES = ("replace", "unlink", "rmdir", "mkdir", "chmod", "symlink", "write", "ftruncate")


def main(root: Path, number: int, what: str) -> None:
    left = [number]

    def dying(real: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return real(*args, **options)

        return call

    history = FileHistory(CheckpointDB(root / "data" / "checkpoints.db"), root / "work", lambda s: [(s, 1 << 60)])
    operation = history.last_operation("s")
    for name in CHANGES:
        setattr(os, name, dying(getattr(os, name)))
    if what == "undo":
        history.undo("s", 1, "files")
    elif operation is not None:
        history.redo(operation)
    sys.stdout.write("done")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
