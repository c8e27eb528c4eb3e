"""Sessions that go on with a summary: nothing is copied and nothing is lost.

The child's first row is the summary; it says how many messages at the beginning and the end of its parent's history are
still sent. The parent's history does not change any more, so these counts hold, also after an export and an import.
"""

from __future__ import annotations

import os
import sqlite3
import time
from typing import Any

from ..api import StoredMessage
from ..types.ids import new_session_id
from ..types.messages import Message
from . import lineage, rows
from .base import Part
from .messages import store
from .session_rows import make


class CompressionPart(Part):
    """Compression and its undoing."""

    def continue_compressed(self, session_id: str, summary: Message) -> tuple[str, int]:
        """Make the session that continues this one with a summary; return its id and the summary's row id.

        All in one transaction: a session never goes on without its summary.
        """
        new_id = new_session_id()

        def job(conn: sqlite3.Connection) -> tuple[str, int]:
            parent = self._row(conn, session_id)
            values: dict[str, Any] = {
                "id": new_id,
                "source": parent["source"],
                "parent_session_id": session_id,
                "parent_reason": "compression",
            }
            no = make(conn, values, parent)
            (message_id,) = store(conn, no, [(summary, 0)])
            conn.execute(
                "INSERT INTO system_prompts SELECT ?, text FROM system_prompts WHERE session_no = ?", (no, parent["no"])
            )
            conn.execute(
                "UPDATE live SET session_no = ? WHERE session_no = ? AND pid = ?", (no, parent["no"], os.getpid())
            )
            conn.execute(
                "UPDATE sessions SET ended_at = ?, end_reason = 'compression' WHERE no = ?", (time.time(), parent["no"])
            )
            return new_id, message_id

        return self._db.write(job)

    def undo_compression(self, session_id: str) -> bool:
        """Send everything again that the newest summary of this session stands for; False when there is none.

        The session then shares its parent's past as a fork does; what was said since stays.
        """

        def job(conn: sqlite3.Connection) -> bool:
            session = self._row(conn, session_id)
            summary = next((row for row in reversed(_own_past(conn, session_id)) if "compressed" in row.message), None)
            if session["parent_reason"] != "compression" or summary is None:
                return False
            parts = lineage.segments(conn, session["parent_session_id"], with_compressed=True)
            last = lineage.rows_before(conn, parts, summary.id, 1)
            conn.execute("UPDATE messages SET active = 0, undone_at = ? WHERE id = ?", (time.time(), summary.id))
            conn.execute(
                "UPDATE sessions SET parent_reason = 'fork', fork_message_id = ?, message_count = message_count - 1, "
                "compaction_count = compaction_count - 1 WHERE no = ?",
                (last[0]["id"] if last else 0, session["no"]),
            )
            return True

        return self._db.write(job)


def _own_past(conn: sqlite3.Connection, session_id: str) -> list[StoredMessage]:
    parts = lineage.segments(conn, session_id, with_compressed=False)
    return [rows.from_row(row) for row in lineage.rows_before(conn, parts, lineage.NO_BOUND, lineage.NO_BOUND)]


def model_history(conn: sqlite3.Connection, session_id: str) -> list[StoredMessage]:
    """Return what the model gets: a session's own past, and around its summary what that one keeps."""
    levels: list[tuple[list[StoredMessage], int]] = []
    current: str | None = session_id
    while current is not None:
        past = _own_past(conn, current)
        place = next((i for i in reversed(range(len(past))) if "compressed" in past[i].message), None)
        levels.append((past, -1 if place is None else place))
        if place is None:
            break
        owner = past[place].session_id
        found = conn.execute("SELECT parent_session_id FROM sessions WHERE id = ?", (owner,)).fetchone()
        current = found[0] if found else None
    history: list[StoredMessage] = []
    for past, place in reversed(levels):
        if place < 0:
            history = past
            continue
        kept = past[place].message["compressed"]
        tail = history[max(kept["first"], len(history) - kept["last"]) :]
        history = [*history[: kept["first"]], past[place], *tail, *past[place + 1 :]]
    return history
