"""Notices what calls do to files, and stores it under the turn that they belong to.

What a tool says it will write is looked at before and after. Around a shell command the whole workspace is: what
changed meanwhile is the agent's, what changed in between is the person's. Nothing here stops a call: what cannot be
kept cannot be taken back, and a notice says so, once.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from ..store.checkpoints import CheckpointDB
from ..types.errors import StoreError
from ..types.files import FileEdit
from .look import Look, look
from .tree import DEFAULT_LIMITS, Change, Found, Limits, Tree

log = logging.getLogger(__name__)

Turn: TypeAlias = tuple[str, int]
"""Session and row of the message that a turn answers."""
_BY_NOBODY: Turn = ("", 0)
_CLOSE_WAIT_S = 0.5


class Tracker:
    """Watches for one session and its subagents. Usable from any thread.

    Args:
        db: Where it is stored.
        workspace: The folder that is watched around commands.
        on_edit: Called after edits were stored, with their paths.
        on_problem: Called once, with why a part cannot be taken back.
        limits: How much is watched.
    """

    def __init__(
        self,
        db: CheckpointDB,
        workspace: Path,
        *,
        on_edit: Callable[[Sequence[str]], None] = lambda paths: None,
        on_problem: Callable[[str], None] = lambda text: None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._db = db
        self._root = os.path.realpath(workspace)
        self._on_edit = on_edit
        self._on_problem = on_problem
        self._limits = limits
        self._lock = threading.RLock()
        self._idle = threading.Condition(self._lock)
        self._first: Tree | None = None
        """The tree while it is looked at for the first time."""
        self._tree: Tree | None = None
        self._told: set[str] = set()
        self._is_closed = False
        self._turn = _BY_NOBODY
        self._commands = 0
        self._declared: list[str] = []
        """Paths of the edits that are being made now."""

    @property
    def problem(self) -> str:
        """Why what commands change cannot be taken back here; empty when it can."""
        return self._tree.problem if self._tree is not None else ""

    def begin_turn(self, session_id: str, message_id: int) -> None:
        """Count what follows to a turn. Any thread; never blocks."""
        self._turn = (session_id, message_id)

    def prepare(self) -> None:
        """Have the first look at the workspace in the background, while the model thinks."""
        threading.Thread(target=self._prepare, name="checkpoint", daemon=True).start()

    def close(self) -> None:
        """The session ends: stop a first look, let calls that were stopped note what they did, and say nothing more."""
        self._is_closed = True
        if (tree := self._first) is not None:
            tree.stop()
        with self._idle:
            self._idle.wait_for(lambda: not self._commands, _CLOSE_WAIT_S)

    @contextmanager
    def watch(self, paths: Sequence[str], *, is_command: bool) -> Iterator[None]:
        """Watch one call.

        Args:
            paths: Absolute paths that it says it will write or delete.
            is_command: It may change anything in the workspace.
        """
        turn = self._turn
        if turn == _BY_NOBODY or not (paths or is_command):
            yield
            return
        before = self._before(paths, is_command)
        try:
            yield
        finally:
            self._after(turn, before, is_command)

    def _before(self, paths: Sequence[str], is_command: bool) -> dict[str, Look]:
        looks: dict[str, Look] = {}
        with self._lock:
            with self._guarded():
                looks = {path: look(path) for path in _with_missing_folders(paths)}
                if self._tree is not None:
                    for path, one in looks.items():
                        self._store(self._tree.sync(path, one))  # the person's, until now
                if is_command:
                    self._refresh()
            self._declared += looks
            self._commands += is_command
        return looks

    def _after(self, turn: Turn, before: dict[str, Look], is_command: bool) -> None:
        with self._lock:
            for path in before:
                self._declared.remove(path)
            with self._guarded():
                self._settle_declared(turn, before)
                if is_command:
                    self._refresh(turn)
            self._commands -= is_command
            self._idle.notify_all()

    def _settle_declared(self, turn: Turn, before: dict[str, Look]) -> None:
        found = Found()
        for path, old in before.items():
            now = look(path)
            if self._tree is not None:
                own = self._tree.sync(path, now)
                found.seen += own.seen
                found.gone += own.gone
            if now.state == old.state:
                continue
            found.changes.append(Change(path, old.state, now.state))
            for one in (old, now):
                if one.state.is_kept and one.state.has_content:
                    found.contents[one.state.digest] = one.content
        self._store(found, turn)

    def _refresh(self, turn: Turn = _BY_NOBODY) -> None:
        """Look at the workspace again; what changed while a command runs is its turn's, else the person's."""
        tree = self._ready_tree()
        if tree is None:
            return
        found = tree.refresh()
        by = turn if turn != _BY_NOBODY else self._turn if self._commands else _BY_NOBODY
        found.changes = [change for change in found.changes if change.path not in self._declared]
        self._store(found, by, by_command=True)
        self._check(tree)

    def _ready_tree(self) -> Tree | None:
        """Return the watched workspace, looked at for the first time if need be; None when it is not watched."""
        if self._tree is None:
            self._tree = self._first = tree = Tree(self._root, self._limits)
            try:
                tree.first_look(self._db.load_folder(self._root), self._store)
            finally:
                self._first = None
            self._check(tree)
        return self._tree if not self._tree.problem else None

    def _check(self, tree: Tree) -> None:
        if tree.problem:
            self._say(f"Files that commands change in {self._root} cannot be taken back: {tree.problem}.")

    def _store(self, found: Found, turn: Turn = _BY_NOBODY, *, by_command: bool = False) -> None:
        edits = [
            FileEdit(
                session_id=turn[0],
                message_id=turn[1],
                path=change.path,
                before=change.before,
                after=change.after,
                by_command=by_command,
            )
            for change in (found.changes if turn != _BY_NOBODY else ())
        ]
        root = self._root if found.seen or found.gone else ""
        if not (edits or root):
            return
        self._db.record(found.contents, edits=edits, root=root, seen=found.seen, gone=found.gone)
        if edits:
            self._on_edit([edit.path for edit in edits])

    def _prepare(self) -> None:
        with self._lock, self._guarded():
            self._ready_tree()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Keep what goes wrong here away from the call."""
        try:
            yield
        except StoreError as error:
            self._say(str(error))
        except Exception:
            log.exception("changes to files could not be followed")
            self._say("Changes to files could not be followed; the log says why.")

    def _say(self, text: str) -> None:
        if text not in self._told and not self._is_closed:
            self._told.add(text)
            self._on_problem(text)


def _with_missing_folders(paths: Iterable[str]) -> list[str]:
    """Return the paths, and before each the folders above it that are not there yet."""
    found: dict[str, None] = {}
    for path in paths:
        above: list[str] = []
        parent = os.path.dirname(path)  # noqa: PTH120
        while parent != os.path.dirname(parent) and not os.path.lexists(parent):  # noqa: PTH120
            above.append(parent)
            parent = os.path.dirname(parent)  # noqa: PTH120
        found.update(dict.fromkeys([*reversed(above), path]))
    return list(found)
