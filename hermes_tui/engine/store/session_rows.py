"""The public form of a session's row, and what a child takes over from its parent."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..types.sessions import SessionRow

TOKEN_COLUMNS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
COUNT_COLUMNS = ("request_count", "unpriced_count", *TOKEN_COLUMNS, "cost_usd")
_INHERITED = ("cwd", "branch", "model", "provider", "preview")
_CONTINUED = (*COUNT_COLUMNS, "message_count", "turn_count", "title", "title_by", "pinned", "archived")


def folder(cwd: str | Path | None) -> str:
    """Return a folder as it is stored: absolute, what is no UTF-8 written out; empty for None."""
    path = os.fsencode(Path(cwd).expanduser().absolute()) if cwd else b""
    return path.decode("utf-8", "backslashreplace")


def cost_of(row: sqlite3.Row) -> float | None:
    """Return a session's cost; None when a request had no known price."""
    if row["unpriced_count"] or (row["message_count"] and not row["request_count"]):
        return None
    return float(row["cost_usd"])


def to_row(row: sqlite3.Row, elsewhere: set[int]) -> SessionRow:
    """Return the public form of a ``sessions`` row."""
    return SessionRow(
        id=row["id"],
        title=row["title"] or row["preview"],
        source=row["source"],
        cwd=row["cwd"],
        branch=row["branch"],
        model=row["model"],
        provider=row["provider"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        message_count=row["message_count"],
        turn_count=row["turn_count"],
        cost_usd=cost_of(row),
        total_tokens=sum(row[name] for name in TOKEN_COLUMNS[:4]),
        pinned=bool(row["pinned"]),
        archived=bool(row["archived"]),
        parent_id=row["parent_session_id"] or "",
        parent_reason=row["parent_reason"],
        end_reason=row["end_reason"],
        compaction_count=row["compaction_count"],
        open_elsewhere=row["no"] in elsewhere,
    )


def insert(conn: sqlite3.Connection, values: Mapping[str, Any]) -> int:
    """Insert a ``sessions`` row that stands for itself, and return its number."""
    marks = ", ".join("?" * len(values))
    sql = f"INSERT INTO sessions ({', '.join(values)}, shown_no) VALUES ({marks}, 0)"
    no = conn.execute(sql, list(values.values())).lastrowid or 0
    conn.execute("UPDATE sessions SET shown_no = no WHERE no = ?", (no,))
    return no


def make(conn: sqlite3.Connection, values: Mapping[str, Any], parent: sqlite3.Row | None) -> int:
    """Insert a new session, or a child with what its kind takes over; return its number.

    A subagent is shown as its parent; the continuation of a compressed session stands for all that came before it.
    """
    now = time.time()
    own: dict[str, Any] = {"created_at": now, "updated_at": now, **values}
    if parent is None:
        return insert(conn, own)
    no = insert(conn, {**own, **{key: parent[key] for key in _INHERITED if not own.get(key)}})
    if values["parent_reason"] == "delegation":
        conn.execute("UPDATE sessions SET shown_no = ? WHERE no = ?", (parent["shown_no"], no))
        return no
    conn.execute(
        "INSERT INTO session_state SELECT ?, key, value FROM session_state WHERE session_no = ?", (no, parent["no"])
    )
    if values["parent_reason"] == "compression":
        columns = ", ".join(_CONTINUED)
        conn.execute(
            f"UPDATE sessions SET ({columns}, compaction_count) = "
            f"(SELECT {columns}, compaction_count + 1 FROM sessions WHERE no = ?) WHERE no = ?",
            (parent["no"], no),
        )
        conn.execute("UPDATE sessions SET shown_no = ? WHERE shown_no = ?", (no, parent["shown_no"]))
    return no
