"""What of ``checkpoints.db`` goes when it is too old, too much, or nobody's any more."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


def prune(conn: sqlite3.Connection, before: float, max_bytes: int) -> None:
    """Take away what is older than a time, then the oldest until the contents fit.

    Args:
        conn: In a write transaction.
        before: Unix seconds.
        max_bytes: What the contents may take, packed.
    """
    conn.execute("DELETE FROM edits WHERE at < ?", (before,))
    conn.execute("DELETE FROM operations WHERE at < ?", (before,))
    _drop_folders(conn, "used_at < ?", before)
    _sweep(conn)
    while _content_bytes(conn) > max_bytes and _drop_oldest(conn):
        _sweep(conn)


def sessions_of(conn: sqlite3.Connection) -> set[str]:
    """Return the ids of all sessions that something is kept for."""
    return {row[0] for row in conn.execute("SELECT session_id FROM edits UNION SELECT session_id FROM operations")}


def erase(conn: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Take away what was kept for sessions."""
    gone = [(session,) for session in sessions]
    for table in ("edits", "operations"):
        conn.executemany(f"DELETE FROM {table} WHERE session_id = ?", gone)
    _sweep(conn)


def _content_bytes(conn: sqlite3.Connection) -> int:
    return int(conn.execute("SELECT coalesce(sum(length(content)), 0) FROM objects").fetchone()[0])


def _drop_oldest(conn: sqlite3.Connection) -> bool:
    """Drop the folder used longest ago, the newest one last; then the oldest tenth of the edits."""
    folders = conn.execute("SELECT count(*), min(used_at) FROM folders").fetchone()
    if folders[0] > 1:
        _drop_folders(conn, "used_at <= ?", folders[1])
        return True
    edits = conn.execute("SELECT count(*) FROM edits").fetchone()[0]
    if edits:
        oldest = "SELECT no FROM edits ORDER BY no LIMIT ?"
        conn.execute(f"DELETE FROM edits WHERE no IN ({oldest})", (max(1, edits // 10),))
        return True
    _drop_folders(conn, "used_at <= ?", float("inf"))
    return bool(folders[0])


def _drop_folders(conn: sqlite3.Connection, condition: str, value: float) -> None:
    conn.execute(f"DELETE FROM entries WHERE folder IN (SELECT no FROM folders WHERE {condition})", (value,))
    conn.execute(f"DELETE FROM folders WHERE {condition}", (value,))


def _sweep(conn: sqlite3.Connection) -> None:
    """Drop the contents that nothing names, and the moves of operations that are gone."""
    conn.execute("DELETE FROM moves WHERE operation NOT IN (SELECT no FROM operations)")
    conn.execute(
        "DELETE FROM objects WHERE digest NOT IN (SELECT digest FROM entries "
        "UNION SELECT before_digest FROM edits UNION SELECT after_digest FROM edits "
        "UNION SELECT now_digest FROM moves UNION SELECT target_digest FROM moves)"
    )
