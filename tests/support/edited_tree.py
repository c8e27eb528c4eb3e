"""A folder that an agent and a person change in turns, with what each of them made of it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hermes_tui.engine.checkpoints.history import FileHistory
from hermes_tui.engine.checkpoints.look import look
from hermes_tui.engine.checkpoints.tracker import Tracker
from hermes_tui.engine.checkpoints.tree import Limits
from hermes_tui.engine.store.checkpoints import CheckpointDB
from hermes_tui.engine.types.changes import Undone

SESSION = "s"
LAST = 1 << 60


def snapshot(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Everything below a folder but ``.git``: kind, mode and bytes, by relative path."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in [*folders, *files]:
            path = Path(folder, name)
            status = path.lstat()
            key = str(path.relative_to(root))
            if stat.S_ISLNK(status.st_mode):
                found[key] = ("link", 0, os.fsencode(os.readlink(path)))  # noqa: PTH115 - exactly
            elif stat.S_ISDIR(status.st_mode):
                found[key] = ("folder", stat.S_IMODE(status.st_mode), b"")
            else:
                found[key] = ("file", stat.S_IMODE(status.st_mode), path.read_bytes())
    return found


class EditedTree:
    """A workspace with a tracker and its history.

    Args:
        root: An empty folder.
        git: Make it a git repository.
        limits: How much the tracker watches.
    """

    def __init__(self, root: Path, *, git: bool = False, limits: Limits | None = None) -> None:
        self.work = root / "work"
        self.work.mkdir()
        if git:
            subprocess.run(["git", "init", "-q", str(self.work)], check=True)
        self.path = root / "data" / "checkpoints.db"
        self.db = CheckpointDB(self.path)
        self.problems: list[str] = []
        self.edited: list[str] = []
        self.turn = 0
        self._limits = limits or Limits()
        self.tracker, self.history = self._open()

    def _open(self) -> tuple[Tracker, FileHistory]:
        tracker = Tracker(
            self.db, self.work, on_edit=self.edited.extend, on_problem=self.problems.append, limits=self._limits
        )
        return tracker, FileHistory(self.db, self.work, lambda session: [(session, LAST)])

    def restart(self) -> None:
        """Close everything and open it again, as another process would."""
        self.db.close()
        self.db = CheckpointDB(self.path)
        self.tracker, self.history = self._open()
        if self.turn:
            self.tracker.begin_turn(SESSION, self.turn)

    def begin_turn(self) -> int:
        """Let the agent begin its next turn; returns its message's row."""
        self.turn += 1
        self.history.close_redo(SESSION)
        self.tracker.begin_turn(SESSION, self.turn)
        return self.turn

    @contextmanager
    def command(self) -> Iterator[None]:
        """What happens inside is done by a command of the agent."""
        with self.tracker.watch((), is_command=True):
            yield

    @contextmanager
    def tool(self, *names: str) -> Iterator[None]:
        """What happens inside is done by a tool that names its paths."""
        with self.tracker.watch([str(self.work / name) for name in names], is_command=False):
            yield

    def undo(self, turn: int = 0, *, onwards: bool = False) -> Undone:
        """Take back what a turn did to files; the last one's when 0."""
        return self.history.undo(SESSION, turn or self.turn, "files", onwards=onwards)

    def redo(self) -> Undone:
        """Bring back what the last undo took."""
        operation = self.history.last_operation(SESSION)
        assert operation is not None
        return self.history.redo(operation)

    def now(self) -> dict[str, tuple[str, int, bytes]]:
        """The whole tree."""
        return snapshot(self.work)

    def state(self, name: str) -> object:
        """What is at a path, as something that can be compared."""
        return look(str(self.work / name)).state


def remove(path: Path) -> None:
    """Delete whatever is at a path."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def left(done: Undone) -> Sequence[str]:
    """The paths that an undo left."""
    return [kept.path for kept in done.kept]
