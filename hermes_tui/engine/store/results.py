"""From ranked sessions to the page that is shown: their rows, and snippets of their best messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ..types.sessions import SearchHit, SearchPage, Snippet
from . import live
from .matching import TEXT_COLUMNS, Plan
from .session_rows import to_row
from .snippets import excerpt, marks_in
from .text import plain_text
from .windows import Cursor, Group

SNIPPETS = 3
"""Shown for a session at most."""


def _many(conn: sqlite3.Connection, sql: str, ids: Sequence[int]) -> list[sqlite3.Row]:
    return conn.execute(sql.replace("(?)", f"({','.join('?' * len(ids))})"), ids).fetchall()


def to_hits(conn: sqlite3.Connection, plan: Plan, groups: Sequence[Group]) -> tuple[SearchHit, ...]:
    """Return the hits for sessions in the given order."""
    numbers = [group.shown_no for group in groups]
    sessions = {row["no"]: row for row in _many(conn, "SELECT * FROM sessions WHERE no IN (?)", numbers)}
    wanted = [message_id for group in groups for message_id in group.message_ids[:SNIPPETS]]
    snippets = _snippets(conn, plan, wanted)
    elsewhere = live.open_elsewhere(conn)
    hits = []
    for group in groups:
        session = to_row(sessions[group.shown_no], elsewhere)
        hits.append(
            SearchHit(
                session=session,
                snippets=tuple(snippets[message_id] for message_id in group.message_ids[:SNIPPETS]),
                hit_count=len(group.message_ids),
                title_marks=marks_in(session.title, plan.pattern),
            )
        )
    return tuple(hits)


def _snippets(conn: sqlite3.Connection, plan: Plan, ids: Sequence[int]) -> dict[int, Snippet]:
    sql = f"SELECT m.id, m.created_at, {TEXT_COLUMNS} FROM messages m WHERE m.id IN (?)"
    found = {}
    for row in _many(conn, sql, ids):
        text, marks = excerpt(plain_text(*row[2:]), plan.pattern)
        found[row["id"]] = Snippet(
            message_id=row["id"], role=row["role"], text=text, marks=marks, created_at=row["created_at"]
        )
    return found


def recent(
    conn: sqlite3.Connection, plan: Plan | None, cursor: Cursor, *, cwd: str, limit: int, note: str = ""
) -> SearchPage:
    """List the sessions used last; with a plan, those that its filters leave."""
    conditions = plan.session_conditions if plan else ()
    where = "".join(f" AND {item.sql}" for item in conditions)
    values = [value for item in conditions for value in item.values]
    rows = conn.execute(
        "SELECT s.* FROM sessions s WHERE s.deleted_at IS NULL AND s.no = s.shown_no AND (? = '' OR s.cwd = ?)"
        f"{where} ORDER BY s.updated_at DESC LIMIT ? OFFSET ?",
        (cwd, cwd, *values, limit + 1, cursor.offset),
    ).fetchall()
    elsewhere = live.open_elsewhere(conn)
    hits = tuple(SearchHit(session=to_row(row, elsewhere)) for row in rows[:limit])
    more = Cursor(offset=cursor.offset + limit).text() if len(rows) > limit else ""
    return SearchPage(hits=hits, cursor=more, note=note)
