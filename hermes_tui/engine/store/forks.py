"""Branching off and taking back."""

from __future__ import annotations

import sqlite3
import time

from ..types.errors import SessionNotFound
from ..types.ids import new_session_id
from ..types.messages import typed_text
from . import lineage, names, rows
from .base import Part
from .session_rows import make


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

    def undo_last(self, session_id: str) -> str:
        """Take back the last exchange and return its user text; empty when there is none.

        The rows stay stored, out of the model's history and of search. A past that is shared with a parent is not
        touched: the fork then branches off earlier.
        """

        def job(conn: sqlite3.Connection) -> str:
            parts = lineage.segments(conn, session_id, with_compressed=False)
            history = [
                rows.from_row(row) for row in lineage.rows_before(conn, parts, lineage.NO_BOUND, lineage.NO_BOUND)
            ]
            asked = [m for m in history if m.message["role"] == "user" and not m.message.get("synthetic")]
            if not asked:
                return ""
            first = asked[-1]
            session = self._row(conn, session_id)
            conn.execute(
                "UPDATE messages SET active = 0, undone_at = ? WHERE session_no = ? AND id >= ? AND active = 1",
                (time.time(), session["no"], first.id),
            )
            if first.session_id != session_id:
                bound = min(session["fork_message_id"] or 0, first.id - 1)
                conn.execute("UPDATE sessions SET fork_message_id = ? WHERE no = ?", (bound, session["no"]))
            gone = sum(m.id >= first.id for m in history)
            conn.execute(
                "UPDATE sessions SET message_count = max(0, message_count - ?), turn_count = max(0, turn_count - 1), "
                "updated_at = ? WHERE no = ?",
                (gone, time.time(), session["no"]),
            )
            return typed_text(first.message)

        return self._db.write(job)


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
