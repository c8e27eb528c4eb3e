"""Messages: appended, and read for the screen and for the model."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from ..types.messages import Message, typed_text
from ..types.sessions import StoredMessage
from . import lineage, names, rows
from .base import Part
from .past import model_history


class MessagesPart(Part):
    """Rows of one session's conversation."""

    def append(self, session_id: str, message: Message, *, tokens: int = 0) -> int:
        """Store a message and return its id. Blocks until it is committed, and so survives the process's death.

        Args:
            session_id: The session.
            message: Stored exactly; without ``created_at`` it gets the present time.
            tokens: Estimated size, for statistics.
        """
        return self.append_many(session_id, [message], tokens=[tokens])[0]

    def append_many(
        self, session_id: str, messages: Iterable[Message], *, tokens: Sequence[int] | None = None
    ) -> list[int]:
        """Store several messages in one transaction, all or none, and return their ids."""
        new = list(messages)
        sizes = list(tokens) if tokens is not None else [0] * len(new)

        def job(conn: sqlite3.Connection) -> list[int]:
            no = lineage.session_no(conn, session_id)
            return store(conn, no, zip(new, sizes, strict=True))

        return self._db.write(job) if new else []

    def messages(self, session_id: str, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        """Return the last messages below ``before_id`` (the newest when None), oldest first, for the screen.

        The past of a fork and what was compressed away are included; what was taken back is not.
        """
        with self._db.read() as conn:
            parts = lineage.segments(conn, session_id, with_compressed=True)
            bound = lineage.NO_BOUND if before_id is None else before_id
            return [rows.from_row(row) for row in lineage.rows_before(conn, parts, bound, max(0, limit))]

    def user_messages(self, session_id: str, limit: int = 500) -> list[StoredMessage]:
        """Return the last messages that the user wrote, oldest first, what was compressed included."""
        with self._db.read() as conn:
            parts = lineage.segments(conn, session_id, with_compressed=True)
            found = lineage.rows_before(conn, parts, lineage.NO_BOUND, max(0, limit), role="user")
        stored = [rows.from_row(row) for row in found]
        return [one for one in stored if not one.message.get("synthetic") and "compressed" not in one.message]

    def around(self, session_id: str, message_id: int, limit: int = 40) -> list[StoredMessage]:
        """Return up to ``limit`` messages with ``message_id`` in the middle, oldest first.

        A message outside the session's past (a subagent's, found by search) is shown within its own session.
        """
        with self._db.read() as conn:
            owner = conn.execute(
                "SELECT s.id, s.no FROM messages m JOIN sessions s ON s.no = m.session_no WHERE m.id = ?", (message_id,)
            ).fetchone()
            parts = lineage.segments(conn, session_id, with_compressed=True)
            if owner and owner["no"] not in {part.session_no for part in parts}:
                parts = lineage.segments(conn, owner["id"], with_compressed=True)
            after = lineage.rows_from(conn, parts, message_id, max(1, limit // 2))
            before = lineage.rows_before(conn, parts, message_id, max(0, limit - len(after)))
            return [rows.from_row(row) for row in (*before, *after)]

    def history(self, session_id: str) -> list[StoredMessage]:
        """Return what the model gets, oldest first: the past of a fork included, of compressed turns what is kept."""
        with self._db.read() as conn:
            return model_history(conn, session_id)

    def get_session(self, session_id: str) -> dict[str, Any]:
        """Return a session's stored fields and, under ``messages``, its history as OpenAI-style dicts."""
        with self._db.read() as conn:
            fields = dict(self._row(conn, session_id))
        fields["messages"] = [stored.message for stored in self.history(session_id)]
        return fields


def store(conn: sqlite3.Connection, session_no: int, messages: Iterable[tuple[Message, int]]) -> list[int]:
    """Insert messages with their token counts, keep the session's counters, and return the new ids."""
    ids: list[int] = []
    asked: list[Message] = []
    end = ""
    oldest, newest = float("inf"), 0.0
    for message, tokens in messages:
        values = rows.to_values(session_no, message, tokens)
        oldest, newest = min(oldest, values[rows.CREATED_AT]), max(newest, values[rows.CREATED_AT])
        ids.append(int(conn.execute(rows.INSERT, values).lastrowid or 0))
        end = "error" if message.get("finish_reason") == "error" else ""
        if message["role"] == "user" and not message.get("synthetic"):
            asked.append(message)
    conn.execute(
        "UPDATE sessions SET message_count = message_count + ?, turn_count = turn_count + ?, "
        "created_at = min(created_at, ?), updated_at = max(updated_at, ?), last_message_id = ?, "
        "ended_at = NULL, end_reason = ? WHERE no = ?",
        (len(ids), len(asked), oldest, newest, ids[-1], end, session_no),
    )
    for message in asked[:1]:
        preview = names.one_line(typed_text(message))
        conn.execute("UPDATE sessions SET preview = ? WHERE no = ? AND preview = ''", (preview, session_no))
    return ids
