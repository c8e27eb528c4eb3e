"""Branching off and taking back."""

from __future__ import annotations

import json
import sqlite3
import time
from typing import Any

from ..types.errors import SessionNotFound
from ..types.ids import new_session_id
from ..types.messages import typed_text
from ..types.sessions import StoredMessage
from . import lineage, names, rows
from .base import Part
from .session_rows import make
from .text import decode, encode


class ForksPart(Part):
    """Forks and undo."""

    def fork(self, session_id: str, message_id: int | None = None, *, before: bool = False) -> str:
        """Make a session that shares this one's past, no row copied, and return its id.

        Args:
            session_id: The session to branch off.
            message_id: The last message to share; the newest when None.
            before: Share what came before that message, not itself.

        Raises:
            SessionNotFound: The message is not in the session's past.
        """
        new_id = new_session_id()

        def job(conn: sqlite3.Connection) -> str:
            owner, last_id = _branch_point(conn, session_id, message_id)
            if before:
                owner, last_id = _point_before(conn, owner, last_id)
            origin = self._row(conn, session_id)
            shared = lineage.segments(conn, owner, with_compressed=False)
            messages, turns = lineage.count(conn, shared, last_id)
            values = {
                "id": new_id,
                "source": origin["source"],
                "parent_session_id": owner,
                "parent_reason": "fork",
                "fork_message_id": last_id,
                "message_count": messages,
                "turn_count": turns,
            }
            no = make(conn, values, origin)
            if origin["title"]:
                names.set_title(conn, no, origin["title"], by="auto")
            return new_id

        return self._db.write(job)

    def last_exchange(self, session_id: str) -> StoredMessage | None:
        """Return the message that :meth:`undo_last` would take back with what followed it."""
        with self._db.read() as conn:
            return _last_asked(_history(conn, session_id))

    def undo_last(self, session_id: str) -> str:
        """Take back the last exchange and return its user text; empty when there is none.

        The rows stay stored, out of the model's history and of search. A past that is shared with a parent is not
        touched: the fork then branches off earlier. :meth:`redo_last` brings the exchange back.
        """

        def job(conn: sqlite3.Connection) -> str:
            history = _history(conn, session_id)
            first = _last_asked(history)
            if first is None:
                return ""
            session = self._row(conn, session_id)
            now = time.time()
            conn.execute(
                "UPDATE messages SET active = 0, undone_at = ? WHERE session_no = ? AND id >= ? AND active = 1",
                (now, session["no"], first.id),
            )
            gone = sum(m.id >= first.id for m in history)
            undone = {"session": session_id, "first": first.id, "at": now, "messages": gone}
            if first.session_id != session_id:
                undone["bound"] = session["fork_message_id"]
                bound = min(session["fork_message_id"] or 0, first.id - 1)
                conn.execute("UPDATE sessions SET fork_message_id = ? WHERE no = ?", (bound, session["no"]))
            _count(conn, session["no"], -gone, -1)
            _remember(conn, session["no"], [*_undone(conn, session["no"]), undone])
            return typed_text(first.message)

        return self._db.write(job)

    def redo_last(self, session_id: str) -> list[StoredMessage]:
        """Bring back what the last :meth:`undo_last` took, unless something was said since; returns the rows."""

        def job(conn: sqlite3.Connection) -> list[StoredMessage]:
            session = self._row(conn, session_id)
            undone = _undone(conn, session["no"])
            if not undone or not _is_intact(conn, session, undone[-1]):
                return []
            *earlier, last = undone
            conn.execute(
                "UPDATE messages SET active = 1, undone_at = NULL WHERE session_no = ? AND undone_at = ?",
                (session["no"], last["at"]),
            )
            if "bound" in last:
                conn.execute("UPDATE sessions SET fork_message_id = ? WHERE no = ?", (last["bound"], session["no"]))
            _count(conn, session["no"], last["messages"], 1)
            _remember(conn, session["no"], earlier)
            return [m for m in _history(conn, session_id) if m.id >= last["first"]]

        return self._db.write(job)

    def lineage_of(self, session_id: str) -> list[tuple[str, int]]:
        """Return the sessions that a session's past consists of, itself first, each with its last row that belongs."""
        with self._db.read() as conn:
            parts = lineage.segments(conn, session_id, with_compressed=True)
            names = {
                part.session_no: conn.execute("SELECT id FROM sessions WHERE no = ?", (part.session_no,)).fetchone()[0]
                for part in parts
            }
        return [(str(names[part.session_no]), part.max_id) for part in parts]


_UNDONE = "undone"
"""Key of the state that holds what can be brought back, the newest last. Forks start with a copy that names no row of
theirs."""


def _history(conn: sqlite3.Connection, session_id: str) -> list[StoredMessage]:
    parts = lineage.segments(conn, session_id, with_compressed=False)
    return [rows.from_row(row) for row in lineage.rows_before(conn, parts, lineage.NO_BOUND, lineage.NO_BOUND)]


def _last_asked(history: list[StoredMessage]) -> StoredMessage | None:
    asked = (m for m in reversed(history) if m.message["role"] == "user" and not m.message.get("synthetic"))
    return next(asked, None)


def _count(conn: sqlite3.Connection, no: int, messages: int, turns: int) -> None:
    conn.execute(
        "UPDATE sessions SET message_count = max(0, message_count + ?), turn_count = max(0, turn_count + ?), "
        "updated_at = ? WHERE no = ?",
        (messages, turns, time.time(), no),
    )


def _undone(conn: sqlite3.Connection, no: int) -> list[dict[str, Any]]:
    row = conn.execute("SELECT value FROM session_state WHERE session_no = ? AND key = ?", (no, _UNDONE)).fetchone()
    return list(json.loads(decode(row[0]))) if row else []


def _is_intact(conn: sqlite3.Connection, session: sqlite3.Row, undone: dict[str, Any]) -> bool:
    """Whether nothing was said since, and the rows are those that were taken (a fork or an import has others)."""
    first = undone["first"]
    if undone["session"] != session["id"] or any(m.id > first for m in _history(conn, session["id"])):
        return False
    if "bound" in undone:
        return bool(session["fork_message_id"] == min(undone["bound"] or 0, first - 1))
    rest = (first, session["no"], undone["at"])
    found = conn.execute("SELECT 1 FROM messages WHERE id = ? AND session_no = ? AND undone_at = ?", rest)
    return found.fetchone() is not None


def _remember(conn: sqlite3.Connection, no: int, undone: list[dict[str, Any]]) -> None:
    conn.execute("INSERT OR REPLACE INTO session_state VALUES (?, ?, ?)", (no, _UNDONE, encode(json.dumps(undone))))


def _point_before(conn: sqlite3.Connection, session_id: str, message_id: int) -> tuple[str, int]:
    """Return the session and the message before a message; no message (0) before the first one."""
    parts = lineage.segments(conn, session_id, with_compressed=True)
    last = lineage.rows_before(conn, parts, message_id, 1)
    return (str(last[0]["session_id"]), int(last[0]["id"])) if last else (session_id, 0)


def _branch_point(conn: sqlite3.Connection, session_id: str, message_id: int | None) -> tuple[str, int]:
    """Return the session to hang the fork on and the last message it shares.

    A message of a compressed ancestor, or of a parent's shared past, hangs the fork there.
    """
    parts = lineage.segments(conn, session_id, with_compressed=True)
    before = lineage.NO_BOUND if message_id is None else message_id + 1
    last = lineage.rows_before(conn, parts, before, 1)
    if not last or message_id not in (None, last[0]["id"]):
        raise SessionNotFound(
            f"Session {session_id} has no message {message_id or ''} to fork from.", hint="Pick one of its messages."
        )
    return str(last[0]["session_id"]), int(last[0]["id"])
