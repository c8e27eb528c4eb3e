"""What every part of the session database shares."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from ..types.errors import SessionNotFound
from .connections import Database


class Part:
    """A group of methods of :class:`~hermes_tui.engine.store.db.SessionDB`; owns no state beyond the open store."""

    _db: Database

    @staticmethod
    def _row(conn: sqlite3.Connection, session_id: str) -> sqlite3.Row:
        """Return a session's whole row, or raise :class:`SessionNotFound`."""
        row = conn.execute("SELECT * FROM sessions WHERE id = ?", (session_id,)).fetchone()
        if not isinstance(row, sqlite3.Row):
            raise SessionNotFound(
                f"No session has the id {session_id!r}.", hint="Look with `hermes-tui sessions list`."
            )
        return row

    def _set(self, session_id: str, values: Mapping[str, Any]) -> None:
        """Set columns of a session."""
        columns = ", ".join(f"{name} = ?" for name in values)

        def job(conn: sqlite3.Connection) -> None:
            no = self._row(conn, session_id)["no"]
            conn.execute(f"UPDATE sessions SET {columns} WHERE no = ?", (*values.values(), no))

        self._db.write(job)
