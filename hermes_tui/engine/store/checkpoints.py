"""What the agent did to files, and the contents to take it back: ``checkpoints.db``, beside the session database.

Contents are stored once, by their hash. The file can be lost without harm to any session; only undo goes with it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from ..api import UndoScope
from ..types.errors import StoreError
from ..types.files import FileEdit, FileKind, FileMove, FileState
from . import checkpoint_pruning as pruning
from .checkpoint_rows import EDIT_COLUMNS, SCHEMA, VERSION, Operation, edit_of, move_of, operation_of, state_values

Stat = tuple[int, int, int, int, int]
"""``mtime_ns, ctime_ns, size, inode, mode`` of a path; equal ones mean an untouched file."""
Scope = Sequence[tuple[str, int, int]]
"""``(session id, first message id, last message id)``: turns of a conversation, whichever sessions they are in."""

_BUSY_S = 5.0
_DAY_S = 86_400.0


class CheckpointDB:
    """The open file. Usable from any thread and by several processes; every method may block on the disk.

    Args:
        path: The file, made (0600) with its folder (0700) when missing.
        max_bytes: What the contents may take, packed; the oldest go first.
        keep_days: Age at which a turn's contents go.

    Raises:
        StoreError: It cannot be used.
    """

    def __init__(self, path: Path, *, max_bytes: int = 500_000_000, keep_days: float = 30.0) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._keep_days = keep_days
        self._lock = threading.RLock()
        with self._mapped():
            self._conn = self._open()

    def close(self) -> None:
        """Forget what is too old or too much, and close. Twice does no harm."""
        with self._lock:
            try:
                self.prune()
            except StoreError:
                pass  # closed already, or held by another process that will do it
            self._conn.close()

    # Edits and contents

    def record(
        self,
        contents: Mapping[str, bytes],
        *,
        edits: Iterable[FileEdit] = (),
        root: str = "",
        seen: Iterable[tuple[str, Stat, FileState]] = (),
        gone: Iterable[str] = (),
    ) -> None:
        """Store what was found, all of it or nothing.

        An edit that goes on where the turn's last one of the same path ended becomes part of it.

        Args:
            contents: Bytes by digest; those that are there already cost nothing.
            edits: What the agent did.
            root: A folder as last seen: the next two are about it.
            seen: What is there now.
            gone: What is there no more.
        """
        with self._write() as conn:
            for digest, content in contents.items():
                if conn.execute("SELECT 1 FROM objects WHERE digest = ?", (digest,)).fetchone() is None:
                    conn.execute("INSERT INTO objects VALUES (?, ?)", (digest, zlib.compress(content, 1)))
            for edit in edits:
                _add_edit(conn, edit)
            if root:
                _save_folder(conn, root, seen, gone)

    def content(self, state: FileState) -> bytes:
        """Return the bytes of a kept state.

        Raises:
            StoreError: They are gone.
        """
        with self._read() as conn:
            row = conn.execute("SELECT content FROM objects WHERE digest = ?", (state.digest,)).fetchone()
        if row is None:
            raise StoreError("The content is not kept any more.")
        return zlib.decompress(row[0])

    def edits(self, scope: Scope, *, path: str | None = None) -> list[FileEdit]:
        """Return the edits of these turns that were not taken back, in order; of one path if given."""
        found: list[FileEdit] = []
        name = None if path is None else os.fsencode(path)
        with self._read() as conn:
            for session_id, first, last in scope:
                rows = conn.execute(
                    f"SELECT {EDIT_COLUMNS} FROM edits WHERE session_id = ? AND message_id BETWEEN ? AND ? "
                    "AND operation = 0 AND (? IS NULL OR path = ?)",
                    (session_id, first, last, name, name),
                )
                found += map(edit_of, rows)
        found.sort(key=lambda edit: edit.no)
        return found

    # Undo and redo

    def close_redo(self, session_id: str) -> None:
        """Something was said: what was undone before cannot be redone any more."""
        with self._write() as conn:
            conn.execute("UPDATE operations SET is_open = 0 WHERE session_id = ? AND is_open = 1", (session_id,))

    def take_news(self, session_id: str) -> list[Operation]:
        """Return, once, the undos of files alone that still hold, oldest first; the model was not told of them."""
        with self._write() as conn:
            rows = conn.execute(
                "SELECT * FROM operations WHERE session_id = ? AND state = 'undone' AND scope = 'files' AND told = 0 "
                "ORDER BY no",
                (session_id,),
            ).fetchall()
            conn.executemany("UPDATE operations SET told = 1 WHERE no = ?", [(row["no"],) for row in rows])
            return [operation_of(row, self._moves(conn, row["no"])) for row in rows]

    def begin_operation(self, session_id: str, message_id: int, scope: UndoScope, moves: Sequence[FileMove]) -> int:
        """Note an undo that is about to be carried out, and return its number.

        Args:
            session_id: The session that can redo it.
            message_id: The message that is taken back, or whose turn's files are.
            scope: What is taken back.
            moves: What is about to happen to files.
        """
        with self._write() as conn:
            conn.execute(
                "DELETE FROM operations WHERE state = 'begun' AND session_id = ? AND message_id = ?",
                (session_id, message_id),
            )
            cursor = conn.execute(
                "INSERT INTO operations (session_id, message_id, scope, at) VALUES (?, ?, ?, ?)",
                (session_id, message_id, scope, time.time()),
            )
            number = cursor.lastrowid or 0
            conn.executemany(
                "INSERT INTO moves VALUES (?,?,?,?,?,?,?,?,?,?)",
                [
                    (number, os.fsencode(move.path), *state_values(move.now), *state_values(move.target))
                    for move in moves
                ],
            )
        return number

    def finish_operation(self, number: int, failed: Iterable[str], edits: Iterable[int]) -> None:
        """Note that an undo was carried out.

        Args:
            number: From :meth:`begin_operation`.
            failed: Paths that it could not move.
            edits: Numbers of the edits that do not hold any more.
        """
        with self._write() as conn:
            conn.executemany(
                "DELETE FROM moves WHERE operation = ? AND path = ?", [(number, os.fsencode(path)) for path in failed]
            )
            conn.execute("UPDATE operations SET state = 'undone' WHERE no = ?", (number,))
            conn.executemany("UPDATE edits SET operation = ? WHERE no = ?", [(number, edit) for edit in edits])

    def cut_off(self, session_id: str, message_id: int) -> tuple[FileMove, ...]:
        """Return the moves of an undo of this message that was begun and never finished; the next one goes on."""
        with self._read() as conn:
            row = conn.execute(
                "SELECT no FROM operations WHERE state = 'begun' AND session_id = ? AND message_id = ?",
                (session_id, message_id),
            ).fetchone()
            return self._moves(conn, row["no"]) if row is not None else ()

    def last_operation(self, session_id: str) -> Operation | None:
        """Return what a redo would bring back; None when there is nothing, or something was said since."""
        with self._read() as conn:
            row = conn.execute(
                "SELECT * FROM operations WHERE session_id = ? AND is_open = 1 AND state = 'undone' "
                "ORDER BY no DESC LIMIT 1",
                (session_id,),
            ).fetchone()
            return operation_of(row, self._moves(conn, row["no"])) if row is not None else None

    def finish_redo(self, operation: Operation, paths: Iterable[str]) -> None:
        """Note that an undo was redone, its edits of these paths hold again."""
        with self._write() as conn:
            conn.execute("UPDATE operations SET state = 'redone' WHERE no = ?", (operation.no,))
            conn.executemany(
                "UPDATE edits SET operation = 0 WHERE operation = ? AND path = ?",
                [(operation.no, os.fsencode(path)) for path in paths],
            )

    @staticmethod
    def _moves(conn: sqlite3.Connection, operation: int) -> tuple[FileMove, ...]:
        return tuple(map(move_of, conn.execute("SELECT * FROM moves WHERE operation = ?", (operation,))))

    # Folders as last seen

    def load_folder(self, root: str) -> dict[str, tuple[Stat, FileState]]:
        """Return what was last seen below a folder, by absolute path."""
        with self._read() as conn:
            rows = conn.execute(
                "SELECT e.* FROM entries e JOIN folders f ON f.no = e.folder WHERE f.root = ?", (os.fsencode(root),)
            ).fetchall()
        return {
            os.fsdecode(row["path"]): (
                (row["mtime_ns"], row["ctime_ns"], row["bytes"], row["inode"], row["st_mode"]),
                FileState(cast(FileKind, row["kind"]), row["mode"], row["size"], row["digest"]),
            )
            for row in rows
        }

    # Pruning

    def prune(self, now: float | None = None) -> None:
        """Take away what is too old, then the oldest until the rest fits."""
        now = time.time() if now is None else now
        with self._write() as conn:
            pruning.prune(conn, now - self._keep_days * _DAY_S, self._max_bytes)
        with self._read() as conn:
            conn.execute("PRAGMA incremental_vacuum").fetchall()

    def forget(self, is_known: Callable[[Collection[str]], Collection[str]]) -> None:
        """Take away what belongs to sessions that are gone.

        Args:
            is_known: Returns those of some session ids that still exist.
        """
        with self._read() as conn:
            sessions = pruning.sessions_of(conn)
        gone = sessions - set(is_known(sessions)) if sessions else set()
        if gone:
            with self._write() as conn:
                pruning.erase(conn, gone)

    # The file

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        self.path.chmod(0o600)
        conn = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        conn.row_factory = sqlite3.Row
        version = conn.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            conn.close()
            raise StoreError(f"{self.path} is of another version of hermes-tui.", hint="Move it away to use undo.")
        if version == 0:
            conn.execute("PRAGMA auto_vacuum=INCREMENTAL")
        conn.execute("PRAGMA journal_mode=WAL")
        conn.execute("PRAGMA synchronous=NORMAL")
        conn.executescript(SCHEMA)
        conn.execute(f"PRAGMA user_version={VERSION}")
        return conn

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._mapped():
            yield self._conn

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._read() as conn:
            conn.execute("BEGIN IMMEDIATE")
            try:
                yield conn
                conn.execute("COMMIT")
            except BaseException:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
                raise

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"Changes to files cannot be kept for undo: {error}.", hint=f"Look at {self.path}."
            ) from error


def _add_edit(conn: sqlite3.Connection, edit: FileEdit) -> None:
    path = os.fsencode(edit.path)
    row = conn.execute(f"SELECT {EDIT_COLUMNS} FROM edits WHERE path = ? ORDER BY no DESC LIMIT 1", (path,)).fetchone()
    last = edit_of(row) if row is not None and not row["operation"] else None
    is_same_turn = last is not None and (last.session_id, last.message_id) == (edit.session_id, edit.message_id)
    if last is None or not is_same_turn or last.after != edit.before:
        values = (edit.session_id, edit.message_id, path, *state_values(edit.before), *state_values(edit.after))
        conn.execute(
            "INSERT INTO edits (session_id, message_id, path, before_kind, before_mode, before_size, before_digest, "
            "after_kind, after_mode, after_size, after_digest, by_command, at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (*values, edit.by_command, time.time()),
        )
    elif last.before == edit.after:
        conn.execute("DELETE FROM edits WHERE no = ?", (last.no,))
    else:
        columns = "after_kind = ?, after_mode = ?, after_size = ?, after_digest = ?, by_command = max(by_command, ?)"
        conn.execute(f"UPDATE edits SET {columns} WHERE no = ?", (*state_values(edit.after), edit.by_command, last.no))


def _save_folder(
    conn: sqlite3.Connection, root: str, seen: Iterable[tuple[str, Stat, FileState]], gone: Iterable[str]
) -> None:
    conn.execute(
        "INSERT INTO folders (root, used_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET used_at = excluded.used_at",
        (os.fsencode(root), time.time()),
    )
    (number,) = conn.execute("SELECT no FROM folders WHERE root = ?", (os.fsencode(root),)).fetchone()
    names = [(number, os.fsencode(path)) for path in gone]
    conn.executemany("DELETE FROM entries WHERE folder = ? AND path = ?", names)
    conn.executemany(
        "INSERT OR REPLACE INTO entries VALUES (?,?,?,?,?,?,?,?,?,?,?)",
        ((number, os.fsencode(path), *stat, *state_values(state)) for path, stat, state in seen),
    )
