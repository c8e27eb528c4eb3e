"""What a session carries beside its messages: its open mark, system prompt and small JSON states (todos)."""

from __future__ import annotations

import json
import sqlite3

from ..types.messages import JsonValue
from . import lineage, live
from .base import Part
from .text import decode, encode


class StatePart(Part):
    """Marks, prompt and state of one session."""

    _claimed: set[str]

    def claim(self, session_id: str) -> bool:
        """Mark a session as open in this process; False when another living process has it open.

        :meth:`release`, :meth:`end` or closing the database takes the mark away.
        """
        is_ours = self._db.write(lambda conn: live.claim(conn, lineage.session_no(conn, session_id)))
        if is_ours:
            self._claimed.add(session_id)
        return is_ours

    def release(self, *session_ids: str) -> None:
        """Take the marks away again; unknown sessions are ignored."""
        self._claimed.difference_update(session_ids)

        def job(conn: sqlite3.Connection) -> None:
            for session_id in session_ids:
                live.release(conn, session_id)

        self._db.write(job)

    def system_prompt(self, session_id: str) -> str:
        """Return the stored system prompt, or an empty text."""
        with self._db.read() as conn:
            no = lineage.session_no(conn, session_id)
            row = conn.execute("SELECT text FROM system_prompts WHERE session_no = ?", (no,)).fetchone()
        return decode(row[0]) if row else ""

    def set_system_prompt(self, session_id: str, text: str) -> None:
        """Store the system prompt, byte for byte."""

        def job(conn: sqlite3.Connection) -> None:
            no = lineage.session_no(conn, session_id)
            conn.execute("INSERT OR REPLACE INTO system_prompts VALUES (?, ?)", (no, encode(text)))

        self._db.write(job)

    def set_state(self, session_id: str, key: str, value: JsonValue) -> None:
        """Store a small JSON value under ``key``; None removes it.

        Forks and continuations start with a copy of their parent's.
        """

        def job(conn: sqlite3.Connection) -> None:
            no = lineage.session_no(conn, session_id)
            if value is None:
                conn.execute("DELETE FROM session_state WHERE session_no = ? AND key = ?", (no, key))
            else:
                text = encode(json.dumps(value, ensure_ascii=False))
                conn.execute("INSERT OR REPLACE INTO session_state VALUES (?, ?, ?)", (no, key, text))

        self._db.write(job)

    def get_state(self, session_id: str, key: str) -> JsonValue:
        """Return what :meth:`set_state` stored, or None."""
        with self._db.read() as conn:
            no = lineage.session_no(conn, session_id)
            found = conn.execute(
                "SELECT value FROM session_state WHERE session_no = ? AND key = ?", (no, key)
            ).fetchone()
        value: JsonValue = json.loads(decode(found[0])) if found else None
        return value
