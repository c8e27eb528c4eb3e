"""What the agent did to the files of a workspace: shown, taken back, brought back. Blocks on the disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..api import UndoScope
from ..store.checkpoint_rows import Operation
from ..store.checkpoints import CheckpointDB, Scope
from ..types.changes import FileChange, KeptFile, Undone, UndoPlan
from ..types.files import FileEdit
from .plan import by_path, plan_moves, plan_undo
from .restore import restore
from .shown import shown_change, shown_path

Lineage = Callable[[str], Sequence[tuple[str, int]]]
"""Session id -> the sessions that its past consists of, each with its last row that belongs."""


class FileHistory:
    """The edits of sessions that work in one folder. Usable from any thread.

    Args:
        db: Where they are stored.
        workspace: Paths inside are shown relative to it.
        lineage: Finds the sessions of a conversation.
    """

    def __init__(self, db: CheckpointDB, workspace: Path, lineage: Lineage) -> None:
        self._db = db
        self._workspace = os.path.realpath(workspace)
        self._lineage = lineage
        self._shown: dict[str, tuple[Sequence[FileEdit], FileChange | None]] = {}

    def changes(self, session_id: str, message_id: int = 0) -> tuple[FileChange, ...]:
        """Return what holds of the turn of a message, of all turns when 0, by path."""
        return self._show(self._db.edits(self._scope(session_id, message_id)))

    def last_changed(self, session_id: str) -> int:
        """Return the message of the last turn whose changes hold; 0 when there is none."""
        return max((edit.message_id for edit in self._db.edits(self._scope(session_id, 0))), default=0)

    def plan(self, session_id: str, message_id: int, *, onwards: bool = False) -> UndoPlan:
        """Say what :meth:`undo` would do; nothing is touched."""
        edits = self._db.edits(self._scope(session_id, message_id, onwards=onwards))
        plan = plan_undo(edits)
        return UndoPlan(
            message_id=message_id,
            files=self._show([edit for edit in edits if edit.no in plan.settled]),
            kept=self._kept(plan.kept),
        )

    def undo(
        self, session_id: str, message_id: int, scope: UndoScope, *, onwards: bool = False, redone_in: str = ""
    ) -> Undone:
        """Take back what the turn of a message did to files, unless only the message is, and note it for a redo.

        Args:
            session_id: The session.
            message_id: The message.
            scope: What is taken back besides.
            onwards: Also all turns since.
            redone_in: The session that may redo it, when another one goes on.
        """
        edits = self._db.edits(self._scope(session_id, message_id, onwards=onwards)) if scope != "message" else []
        plan = plan_undo(edits)
        by = redone_in or session_id
        if not plan.moves and scope == "files":
            return self._undone(set(), plan.kept)
        before = {move.path: move.now for move in self._db.cut_off(by, message_id)}
        number = self._db.begin_operation(
            by,
            message_id,
            scope,
            [replace(move, now=before.get(move.path, move.now)) for move in plan.moves],
        )
        failed = restore(plan.moves, self._db.content)
        paths = {move.path for move in plan.moves} - failed.keys()
        self._db.finish_operation(
            number, failed, [edit.no for edit in edits if edit.no in plan.settled and edit.path in paths]
        )
        return self._undone(paths, plan.kept | failed)

    def last_operation(self, session_id: str) -> Operation | None:
        """Return what :meth:`redo` would bring back."""
        return self._db.last_operation(session_id)

    def redo(self, operation: Operation) -> Undone:
        """Bring back what an undo took; files that changed since stay."""
        plan = plan_moves(move.reversed() for move in operation.moves)
        failed = restore(plan.moves, self._db.content)
        paths = {move.path for move in plan.moves if move.path not in failed}
        self._db.finish_redo(operation, paths)
        return self._undone(paths, plan.kept | failed)

    def close_redo(self, session_id: str) -> None:
        """Something was said: what was undone before stays undone."""
        self._db.close_redo(session_id)

    def take_news(self, session_id: str) -> str:
        """Return, once, what the model must know of files that were taken back alone; empty when there is nothing."""
        lines = []
        for operation in self._db.take_news(session_id):
            names = ", ".join(sorted(shown_path(move.path, self._workspace) for move in operation.moves))
            lines.append(f"[The person took back what you did in an earlier turn to: {names}.]")
        return "\n".join(lines)

    def _scope(self, session_id: str, message_id: int, *, onwards: bool = False) -> Scope:
        return [
            (session, message_id, last if onwards or not message_id else message_id)
            for session, last in self._lineage(session_id)
            if message_id <= last
        ]

    def _show(self, edits: Sequence[FileEdit]) -> tuple[FileChange, ...]:
        found = []
        for path, chain in by_path(edits).items():
            known = self._shown.get(path)
            if known is None or known[0] != chain:
                known = self._shown[path] = (chain, shown_change(path, chain, self._workspace, self._db.content))
            if known[1] is not None:
                found.append(known[1])
        return tuple(sorted(found, key=lambda change: change.path))

    def _kept(self, kept: dict[str, str]) -> tuple[KeptFile, ...]:
        return tuple(KeptFile(path=shown_path(path, self._workspace), why=why) for path, why in sorted(kept.items()))

    def _undone(self, paths: set[str], kept: dict[str, str]) -> Undone:
        return Undone(files=tuple(sorted(shown_path(path, self._workspace) for path in paths)), kept=self._kept(kept))
