"""What the model gets of a session: its own rows, and around a summary what the session before it keeps."""

from __future__ import annotations

import sqlite3

from ..types.sessions import StoredMessage
from . import lineage, rows


def own_past(conn: sqlite3.Connection, session_id: str) -> list[StoredMessage]:
    """Return a session's rows, the past of a fork included, oldest first."""
    parts = lineage.segments(conn, session_id, with_compressed=False)
    return [rows.from_row(row) for row in lineage.rows_before(conn, parts, lineage.NO_BOUND, lineage.NO_BOUND)]


def model_history(conn: sqlite3.Connection, session_id: str) -> list[StoredMessage]:
    """Return what the model gets: a session's own past, and around its summary what that one keeps."""
    levels: list[tuple[list[StoredMessage], int]] = []
    current: str | None = session_id
    while current is not None:
        past = own_past(conn, current)
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
