"""What sessions spent: tokens and cost, in total and by day."""

from __future__ import annotations

import sqlite3
import time

from ..types.usage import Usage
from .base import Part
from .session_rows import COUNT_COLUMNS, TOKEN_COLUMNS, cost_of

ADD_DAY = (
    f"INSERT INTO usage_days (session_no, day, provider, model, cwd, {', '.join(COUNT_COLUMNS)}) "
    f"VALUES ({', '.join('?' * (5 + len(COUNT_COLUMNS)))}) ON CONFLICT DO UPDATE SET "
    + ", ".join(f"{name} = {name} + excluded.{name}" for name in COUNT_COLUMNS)
)
"""Adds to a day's row."""


class UsagePart(Part):
    """Tokens and cost."""

    def add_usage(self, session_id: str, usage: Usage, cost_usd: float | None) -> None:
        """Add one request's tokens and cost (None: no known price) to the session and to its day."""
        counts = list(usage.as_dict().values())

        def job(conn: sqlite3.Connection) -> None:
            row = self._row(conn, session_id)
            spent = (1, int(cost_usd is None), *counts, cost_usd or 0.0)
            sums = ", ".join(f"{name} = {name} + ?" for name in COUNT_COLUMNS)
            conn.execute(f"UPDATE sessions SET {sums} WHERE no = ?", (*spent, row["no"]))
            day = time.strftime("%Y-%m-%d")
            conn.execute(ADD_DAY, (row["no"], day, row["provider"], row["model"], row["cwd"], *spent))

        self._db.write(job)

    def usage(self, session_id: str) -> tuple[Usage, float | None]:
        """Return a session's tokens and cost, those of what was compressed included."""
        with self._db.read() as conn:
            row = self._row(conn, session_id)
        return Usage(**{name: row[name] for name in TOKEN_COLUMNS}), cost_of(row)
