"""Sessions that go on with a summary: nothing is copied and nothing is lost.

The child's first row is the summary; it says how many messages at the beginning and the end of its parent's history are
still sent. The parent's history does not change any more, so these counts hold, also after an export and an import.
"""

from __future__ import annotations

import os
import sqlite3
import time
from typing import Any

from ..types.ids import new_session_id
from ..types.messages import Message
from . import lineage
from .base import Part
from .messages import store
from .past import own_past
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
            summary = next((row for row in reversed(own_past(conn, session_id)) if "compressed" in row.message), None)
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
