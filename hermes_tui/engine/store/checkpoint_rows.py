"""The tables of ``checkpoints.db`` and their rows as objects."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from typing import Literal, cast

from ..api import UndoScope
from ..types.files import FileEdit, FileKind, FileMove, FileState

VERSION = 1

_STATE = "{0}_kind TEXT NOT NULL, {0}_mode INTEGER NOT NULL, {0}_size INTEGER NOT NULL, {0}_digest TEXT NOT NULL"

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS objects (digest TEXT PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS edits (
  no INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_id INTEGER NOT NULL, path BLOB NOT NULL,
  {_STATE.format("before")}, {_STATE.format("after")},
  by_command INTEGER NOT NULL, at REAL NOT NULL,
  operation INTEGER NOT NULL DEFAULT 0  -- the undo that took it back; 0 while it holds
);
CREATE INDEX IF NOT EXISTS edits_turn ON edits(session_id, message_id);
CREATE INDEX IF NOT EXISTS edits_path ON edits(path);
CREATE TABLE IF NOT EXISTS operations (
  no INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_id INTEGER NOT NULL, scope TEXT NOT NULL,
  at REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'begun',   -- then 'undone', maybe 'redone'
  told INTEGER NOT NULL DEFAULT 0,       -- 1 once the model knows of it
  is_open INTEGER NOT NULL DEFAULT 1     -- 0 once something was said: it cannot be redone any more
);
CREATE TABLE IF NOT EXISTS moves (
  operation INTEGER NOT NULL, path BLOB NOT NULL, {_STATE.format("now")}, {_STATE.format("target")},
  PRIMARY KEY (operation, path)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS folders (no INTEGER PRIMARY KEY, root BLOB NOT NULL UNIQUE, used_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS entries (
  folder INTEGER NOT NULL, path BLOB NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
  bytes INTEGER NOT NULL, inode INTEGER NOT NULL, st_mode INTEGER NOT NULL,
  kind TEXT NOT NULL, mode INTEGER NOT NULL, size INTEGER NOT NULL, digest TEXT NOT NULL,
  PRIMARY KEY (folder, path)
) WITHOUT ROWID;
"""

EDIT_COLUMNS = (
    "no, session_id, message_id, path, before_kind, before_mode, before_size, before_digest, after_kind, after_mode, "
    "after_size, after_digest, by_command, operation"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An undo that was carried out."""

    no: int
    session_id: str
    message_id: int
    scope: UndoScope
    state: Literal["begun", "undone", "redone"]
    moves: tuple[FileMove, ...]


def state_values(state: FileState) -> tuple[str, int, int, str]:
    """Return a state as columns."""
    return state.kind, state.mode, state.size, state.digest


def _state(row: sqlite3.Row, name: str) -> FileState:
    kind = cast(FileKind, row[f"{name}_kind"])
    return FileState(kind, row[f"{name}_mode"], row[f"{name}_size"], row[f"{name}_digest"])


def edit_of(row: sqlite3.Row) -> FileEdit:
    """Return a row of ``edits``."""
    return FileEdit(
        no=row["no"],
        session_id=row["session_id"],
        message_id=row["message_id"],
        path=os.fsdecode(row["path"]),
        before=_state(row, "before"),
        after=_state(row, "after"),
        by_command=bool(row["by_command"]),
    )


def move_of(row: sqlite3.Row) -> FileMove:
    """Return a row of ``moves``."""
    return FileMove(path=os.fsdecode(row["path"]), now=_state(row, "now"), target=_state(row, "target"))


def operation_of(row: sqlite3.Row, moves: tuple[FileMove, ...]) -> Operation:
    """Return a row of ``operations`` with its moves."""
    return Operation(
        no=row["no"],
        session_id=row["session_id"],
        message_id=row["message_id"],
        scope=cast(UndoScope, row["scope"]),
        state=cast(Literal["begun", "undone", "redone"], row["state"]),
        moves=moves,
    )
