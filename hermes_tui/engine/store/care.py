"""The store's health: what it holds, whether it is whole, and mending it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from ..types.errors import StoreDamaged
from . import index
from .base import Part
from .migrations import MIGRATIONS
from .session_rows import COUNT_COLUMNS

_ORPHANS = "session_no NOT IN (SELECT no FROM sessions)"
_LISTED = "FROM sessions WHERE deleted_at IS NULL AND no = shown_no"
_BY = {"day": "day", "model": "provider || '/' || model", "folder": "cwd"}


class CarePart(Part):
    """Statistics and checks."""

    def stats(self) -> dict[str, Any]:
        """Return counts, size on disk, sessions by source, and spending by day, model and folder."""
        with self._db.read() as conn:
            counts = conn.execute(
                "SELECT count(*) AS sessions, coalesce(sum(message_count), 0) AS messages, "
                f"min(created_at) AS first_at, max(updated_at) AS last_at {_LISTED}"
            ).fetchone()
            by_source = conn.execute(f"SELECT source, count(*) {_LISTED} GROUP BY 1 ORDER BY 2 DESC").fetchall()
        return {
            **dict(counts),
            "size_bytes": self._db.size_bytes(),
            "by_source": dict(map(tuple, by_source)),
            **self.spending(),
        }

    def spending(self, since_day: str = "") -> dict[str, list[dict[str, Any]]]:
        """Return tokens, cost and requests under ``by_day``, ``by_model`` and ``by_folder``; days come in order.

        Args:
            since_day: The first day that counts (``2026-10-01``), local time; all when empty.
        """
        totals = ", ".join(f"sum({name}) AS {name}" for name in COUNT_COLUMNS)
        with self._db.read() as conn:
            return {
                f"by_{label}": [
                    dict(row)
                    for row in conn.execute(
                        f"SELECT {key} AS {label}, {totals} FROM usage_days WHERE day >= ? GROUP BY 1 ORDER BY 1",
                        (since_day,),
                    )
                ]
                for label, key in _BY.items()
            }

    def check(self, repair: bool = False) -> dict[str, Any]:
        """Read the whole file and compare the index with the messages. Slow on a large store.

        Args:
            repair: Also build a damaged index anew (in the background) and remove rows without a session.

        Returns:
            ``ok``, ``path``, ``schema``, ``size_bytes``, ``index`` (``whole``, ``building`` or ``damaged``),
            ``problems`` and ``repaired`` (sentences).
        """
        repaired: list[str] = []
        problems, share, orphans = self._look()
        state = "whole" if share == 1.0 else "building"
        if not self.read_only_reason and state == "whole" and (wrong := self._db.write(index.verify)):
            state = "damaged"
            problems.append(f"The search index does not match the messages ({wrong}).")
            if repair:
                self._db.rebuild_index()
                repaired.append("The search index is being built anew.")
        if orphans:
            problems.append(f"{orphans} messages belong to no session.")
            if repair:
                self._db.write(lambda conn: conn.execute(f"DELETE FROM messages WHERE {_ORPHANS}").rowcount)
                repaired.append(f"{orphans} messages without a session were removed.")
        return {
            "ok": not problems,
            "path": str(self._db.path),
            "schema": len(MIGRATIONS),
            "size_bytes": self._db.size_bytes(),
            "index": state,
            "problems": problems,
            "repaired": repaired,
        }

    def _look(self) -> tuple[list[str], float, int]:
        """Return what SQLite finds wrong, the indexed share, and how many messages belong to no session."""
        problems: list[str] = []
        try:
            with self._db.read() as conn:
                problems += [row[0] for row in conn.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
                orphans = conn.execute(f"SELECT count(*) FROM messages WHERE {_ORPHANS}").fetchone()[0]
                return problems, index.progress(conn), orphans
        except StoreDamaged as error:
            return [*problems, error.message], 0.0, 0

    def is_damaged(self) -> bool:
        """Whether pages of the file cannot be trusted; a wrong index alone does not count. Slow on a large store."""
        with self._db.read() as conn:
            problems = [row[0] for row in conn.execute("PRAGMA integrity_check(20)")]
        return any(problem != "ok" and not index.is_about_index(problem) for problem in problems)

    def copy_to(self, path: Path) -> None:
        """Copy the whole store into a new private file. Blocks."""
        path.touch(mode=0o600)
        with self._db.read() as conn, closing(sqlite3.connect(path)) as copy:
            conn.backup(copy)

    @property
    def read_only_reason(self) -> str:
        """Why nothing can be stored, for people; empty when it can."""
        return self._db.read_only_reason
