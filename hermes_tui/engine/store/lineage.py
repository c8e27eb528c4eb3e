"""How sessions hang together: which rows a session's past consists of, and which session stands for another.

A fork shares its parent's rows up to ``fork_message_id`` and copies none. A session that continues a compressed one
starts with its own rows; the older ones are shown when scrolling up but never sent. Row ids grow with time, so the
rows of a lineage in order of id are the conversation in order.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from ..types.errors import SessionNotFound
from . import rows

_MAX_HOPS = 10_000
NO_BOUND = (1 << 63) - 1
"""Larger than any row id."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The rows that one session gives to a lineage."""

    session_no: int
    max_id: int
    """Last row that belongs; rows above are the other branch's."""
    as_of: float | None
    """A fork keeps what its parent took back after this time (Unix seconds); None for the session's own rows."""


def session_no(conn: sqlite3.Connection, session_id: str) -> int:
    """Return a session's number.

    Raises:
        SessionNotFound: There is none.
    """
    row = conn.execute("SELECT no FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        raise SessionNotFound(f"No session has the id {session_id!r}.", hint="Look with `hermes-tui sessions list`.")
    return int(row[0])


def segments(conn: sqlite3.Connection, session_id: str, *, with_compressed: bool) -> list[Segment]:
    """Return where a session's rows come from, itself first.

    Args:
        conn: Where to read.
        session_id: The session.
        with_compressed: Also what was compressed away: for the screen, not for the model.
    """
    found: list[Segment] = []
    bound, as_of = NO_BOUND, None
    current: str | None = session_id
    seen: set[str] = set()
    while current is not None and current not in seen and len(found) < _MAX_HOPS:
        seen.add(current)
        row = conn.execute(
            "SELECT no, parent_session_id, parent_reason, fork_message_id, created_at FROM sessions WHERE id = ?",
            (current,),
        ).fetchone()
        if row is None:
            if not found:
                session_no(conn, current)  # raises with the right words
            break
        no, parent, reason, fork_id, created_at = row
        found.append(Segment(no, bound, as_of))
        if reason == "fork":
            bound, as_of = min(bound, fork_id or 0), created_at if as_of is None else min(as_of, created_at)
        elif reason != "compression" or not with_compressed:
            break
        current = parent
    return found


def rows_before(
    conn: sqlite3.Connection, parts: list[Segment], before_id: int, limit: int, *, role: str = ""
) -> list[sqlite3.Row]:
    """Return the last ``limit`` visible rows below ``before_id``, of one role if given, oldest first."""
    found: list[sqlite3.Row] = []
    for part in parts:
        condition, values = _visible(part)
        if role:
            condition, values = f"{condition} AND m.role = ?", [*values, role]
        found += conn.execute(
            f"SELECT {rows.SELECT} FROM messages m JOIN sessions s ON s.no = m.session_no "
            f"WHERE {condition} AND m.id < ? ORDER BY m.id DESC LIMIT ?",
            (*values, before_id, limit - len(found)),
        )
        if len(found) >= limit:
            break
    found.sort(key=lambda row: int(row["id"]))
    return found


def rows_from(conn: sqlite3.Connection, parts: list[Segment], first_id: int, limit: int) -> list[sqlite3.Row]:
    """Return the first ``limit`` visible rows from ``first_id`` on, oldest first."""
    found: list[sqlite3.Row] = []
    for part in reversed(parts):
        condition, values = _visible(part)
        found += conn.execute(
            f"SELECT {rows.SELECT} FROM messages m JOIN sessions s ON s.no = m.session_no "
            f"WHERE {condition} AND m.id >= ? ORDER BY m.id LIMIT ?",
            (*values, first_id, limit - len(found)),
        )
        if len(found) >= limit:
            break
    return found


def count(conn: sqlite3.Connection, parts: list[Segment], up_to_id: int) -> tuple[int, int]:
    """Return how many visible rows, and how many of the user's among them, have ids up to ``up_to_id``."""
    total = asked = 0
    for part in parts:
        condition, values = _visible(part)
        found = conn.execute(
            f"SELECT count(*), coalesce(sum(m.role = 'user'), 0) FROM messages m WHERE {condition} AND m.id <= ?",
            (*values, up_to_id),
        ).fetchone()
        total, asked = total + found[0], asked + found[1]
    return total, asked


def _visible(part: Segment) -> tuple[str, list[object]]:
    if part.as_of is None:
        return "m.session_no = ? AND m.id <= ? AND m.active = 1", [part.session_no, part.max_id]
    condition = "m.session_no = ? AND m.id <= ? AND (m.active = 1 OR m.undone_at > ?)"
    return condition, [part.session_no, part.max_id, part.as_of]


def tip(conn: sqlite3.Connection, session_id: str) -> str:
    """Return the session that goes on where this one was compressed, or its own id."""
    row = conn.execute(
        """SELECT t.id FROM sessions s JOIN sessions t ON t.no = s.shown_no
           WHERE s.id = ? AND s.parent_reason <> 'delegation'""",
        (session_id,),
    ).fetchone()
    return str(row[0]) if row else session_id
