"""Taking sessions away: hidden at once, erased later, and only as far as no fork needs them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable
from typing import Any

from . import live
from .base import Part
from .session_rows import COUNT_COLUMNS

_STATE_TABLES = ("session_state", "system_prompts", "live")


class RemovalPart(Part):
    """Delete with undo, purge, prune."""

    def delete(self, session_id: str) -> None:
        """Hide a session with what it continues and what its subagents did; :meth:`undelete` brings it back."""
        self._mark(session_id, time.time())

    def undelete(self, session_id: str) -> None:
        """Bring a deleted session back."""
        self._mark(session_id, None)

    def purge_deleted(self, older_than_s: float = 0.0) -> int:
        """Erase sessions that were deleted at least so many seconds ago; returns how many rows of sessions went.

        Messages that a fork shares go over to the fork. What the sessions cost stays in the statistics.
        """
        before = time.time() - older_than_s

        def job(conn: sqlite3.Connection) -> int:
            return erase(
                conn, [row[0] for row in conn.execute("SELECT no FROM sessions WHERE deleted_at <= ?", (before,))]
            )

        return self._db.write(job)

    def existing(self, session_ids: Collection[str]) -> set[str]:
        """Return those of some ids that belong to stored sessions."""
        with self._db.read() as conn:
            return {
                session_id
                for session_id in session_ids
                if conn.execute("SELECT 1 FROM sessions WHERE id = ?", (session_id,)).fetchone() is not None
            }

    def prune(
        self,
        older_than_days: float = 90.0,
        dry_run: bool = True,
        source: str | None = None,
        max_bytes: int | None = None,
    ) -> dict[str, Any]:
        """Erase sessions not used for so many days; pinned and open ones stay.

        Args:
            older_than_days: Age since the last use.
            dry_run: Only say what would go.
            source: Only this source.
            max_bytes: Only as many, the oldest first, as bring the file to this size.

        Returns:
            ``sessions`` (ids), ``session_count``, ``message_count``, ``size_bytes`` (about as much becomes free),
            ``oldest_at``, ``newest_at`` (last uses, Unix seconds, or None), ``erased`` (whether it was done).
        """
        before = time.time() - older_than_days * 86400

        def job(conn: sqlite3.Connection) -> dict[str, Any]:
            chosen = _old_sessions(conn, before, source)
            total = conn.execute("SELECT max(1, count(*)) FROM messages").fetchone()[0]
            share = self._db.size_bytes() / total
            if max_bytes is not None:
                chosen = _as_many_as_needed(chosen, (self._db.size_bytes() - max_bytes) / share)
            if not dry_run:
                erase(conn, [no for row in chosen for no in family(conn, row["no"])])
            messages = sum(row["message_count"] for row in chosen)
            used = [row["updated_at"] for row in chosen]
            return {
                "sessions": [row["id"] for row in chosen],
                "session_count": len(chosen),
                "message_count": messages,
                "size_bytes": int(messages * share),
                "oldest_at": min(used, default=None),
                "newest_at": max(used, default=None),
                "erased": not dry_run,
            }

        if not dry_run:
            return self._db.write(job)
        with self._db.read() as conn:
            return job(conn)

    def _mark(self, session_id: str, deleted_at: float | None) -> None:
        def job(conn: sqlite3.Connection) -> None:
            row = self._row(conn, session_id)
            column, value = ("no", row["no"]) if row["parent_reason"] == "delegation" else ("shown_no", row["shown_no"])
            conn.execute(f"UPDATE sessions SET deleted_at = ? WHERE {column} = ?", (deleted_at, value))

        self._db.write(job)


def _old_sessions(conn: sqlite3.Connection, before: float, source: str | None) -> list[sqlite3.Row]:
    old = conn.execute(
        "SELECT no, id, message_count, updated_at FROM sessions WHERE no = shown_no AND pinned = 0 AND updated_at < ? "
        "AND (? IS NULL OR source = ?) ORDER BY updated_at",
        (before, source, source),
    ).fetchall()
    in_use = live.open_now(conn)
    return [row for row in old if row["no"] not in in_use]


def _as_many_as_needed(rows: list[sqlite3.Row], messages: float) -> list[sqlite3.Row]:
    """Return the first rows that hold so many messages together."""
    chosen: list[sqlite3.Row] = []
    for row in rows:
        if messages <= 0:
            break
        messages -= row["message_count"]
        chosen.append(row)
    return chosen


def family(conn: sqlite3.Connection, shown_no: int) -> list[int]:
    """Return all sessions that one stands for in lists."""
    return [row[0] for row in conn.execute("SELECT no FROM sessions WHERE shown_no = ?", (shown_no,))]


def erase(conn: sqlite3.Connection, numbers: Iterable[int]) -> int:
    """Erase sessions for good; returns how many."""
    doomed = list(numbers)
    for no in doomed:
        _hand_over(conn, no)
        conn.execute("DELETE FROM messages WHERE session_no = ?", (no,))
        for table in _STATE_TABLES:
            conn.execute(f"DELETE FROM {table} WHERE session_no = ?", (no,))
        _keep_spending(conn, no)
        conn.execute("DELETE FROM sessions WHERE no = ?", (no,))
    if doomed:
        conn.execute("PRAGMA incremental_vacuum").fetchall()
    return len(doomed)


def _hand_over(conn: sqlite3.Connection, no: int) -> None:
    """Give the rows that forks share to the fork that shares most; the others then fork from that one."""
    parent = conn.execute("SELECT * FROM sessions WHERE no = ?", (no,)).fetchone()
    forks = conn.execute(
        "SELECT no, id, fork_message_id, created_at FROM sessions "
        "WHERE parent_session_id = ? AND parent_reason = 'fork' ORDER BY fork_message_id DESC, created_at",
        (parent["id"],),
    ).fetchall()
    if forks:
        heir = forks[0]
        shared = (no, heir["fork_message_id"])
        # What the parent took back after the fork was made is still part of the fork.
        conn.execute(
            "UPDATE messages SET active = 1, undone_at = NULL WHERE session_no = ? AND id <= ? AND undone_at > ?",
            (*shared, heir["created_at"]),
        )
        conn.execute("UPDATE messages SET session_no = ? WHERE session_no = ? AND id <= ?", (heir["no"], *shared))
        is_fork = parent["parent_reason"] == "fork"
        conn.execute(
            "UPDATE sessions SET parent_session_id = ?, parent_reason = ?, fork_message_id = ? WHERE no = ?",
            (
                parent["parent_session_id"] if is_fork else None,
                "fork" if is_fork else "",
                parent["fork_message_id"] if is_fork else None,
                heir["no"],
            ),
        )
        conn.executemany(
            "UPDATE sessions SET parent_session_id = ? WHERE no = ?", [(heir["id"], fork["no"]) for fork in forks[1:]]
        )
    # A subagent or continuation that is kept stands alone from now on.
    conn.execute(
        "UPDATE sessions SET parent_session_id = NULL, parent_reason = '', shown_no = no "
        "WHERE parent_session_id = ? AND parent_reason <> 'fork'",
        (parent["id"],),
    )


def _keep_spending(conn: sqlite3.Connection, no: int) -> None:
    sums = ", ".join(f"{name} = usage_days.{name} + excluded.{name}" for name in COUNT_COLUMNS)
    columns = f"day, provider, model, cwd, {', '.join(COUNT_COLUMNS)}"
    conn.execute(
        f"INSERT INTO usage_days (session_no, {columns}) SELECT 0, {columns} FROM usage_days WHERE session_no = ? "
        f"ON CONFLICT DO UPDATE SET {sums}",
        (no,),
    )
    conn.execute("DELETE FROM usage_days WHERE session_no = ?", (no,))
