"""A small ``state.db`` as Hermes Agent writes it: the columns of its two main tables and of its usage by model."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SESSION_COLUMNS = (
    "id TEXT PRIMARY KEY", "source TEXT NOT NULL", "user_id TEXT", "model TEXT", "model_config TEXT",
    "system_prompt TEXT", "parent_session_id TEXT REFERENCES sessions(id)", "started_at REAL NOT NULL",
    "ended_at REAL", "end_reason TEXT", "message_count INTEGER DEFAULT 0", "input_tokens INTEGER DEFAULT 0",
    "output_tokens INTEGER DEFAULT 0", "cache_read_tokens INTEGER DEFAULT 0", "cache_write_tokens INTEGER DEFAULT 0",
    "reasoning_tokens INTEGER DEFAULT 0", "cwd TEXT", "git_branch TEXT", "billing_provider TEXT",
    "estimated_cost_usd REAL", "actual_cost_usd REAL", "cost_status TEXT", "title TEXT",
    "api_call_count INTEGER DEFAULT 0", "archived INTEGER NOT NULL DEFAULT 0",
)  # fmt: skip
MESSAGE_COLUMNS = (
    "id INTEGER PRIMARY KEY AUTOINCREMENT", "session_id TEXT NOT NULL", "role TEXT NOT NULL", "content TEXT",
    "tool_call_id TEXT", "tool_calls TEXT", "tool_name TEXT", "timestamp REAL NOT NULL", "token_count INTEGER",
    "finish_reason TEXT", "reasoning TEXT", "reasoning_content TEXT", "reasoning_details TEXT",
    "codex_reasoning_items TEXT", "active INTEGER NOT NULL DEFAULT 1", "compacted INTEGER NOT NULL DEFAULT 0",
    "api_content TEXT",
)  # fmt: skip
USAGE_COLUMNS = (
    "session_id TEXT", "model TEXT", "billing_provider TEXT", "api_call_count INTEGER", "input_tokens INTEGER",
    "output_tokens INTEGER", "cache_read_tokens INTEGER", "cache_write_tokens INTEGER", "reasoning_tokens INTEGER",
    "estimated_cost_usd REAL", "actual_cost_usd REAL", "cost_status TEXT", "first_seen REAL",
)  # fmt: skip
OLD_SESSION_COLUMNS = ("id TEXT PRIMARY KEY", "source TEXT NOT NULL", "model TEXT", "started_at REAL NOT NULL")
OLD_MESSAGE_COLUMNS = MESSAGE_COLUMNS[:8]


class HermesDb:
    """Builds the file row by row.

    Args:
        path: Where.
        is_old: With the columns of the first schemas only.
    """

    def __init__(self, path: Path, *, is_old: bool = False) -> None:
        self.path = path
        self.conn = sqlite3.connect(path, isolation_level=None)
        self.conn.execute("PRAGMA journal_mode=WAL")
        sessions, messages = (
            (OLD_SESSION_COLUMNS, OLD_MESSAGE_COLUMNS) if is_old else (SESSION_COLUMNS, MESSAGE_COLUMNS)
        )
        self.conn.execute(f"CREATE TABLE sessions ({', '.join(sessions)})")
        self.conn.execute(f"CREATE TABLE messages ({', '.join(messages)})")
        if not is_old:
            self.conn.execute(f"CREATE TABLE session_model_usage ({', '.join(USAGE_COLUMNS)})")

    def session(self, id: str, *messages: Mapping[str, Any], **columns: Any) -> None:
        """Insert a session and its messages."""
        self._insert("sessions", {"id": id, "source": "cli", "started_at": 1000.0, **columns})
        for at, message in enumerate(messages):
            self._insert("messages", {"session_id": id, "timestamp": 1000.5 + at, **message})

    def usage(self, **columns: Any) -> None:
        """Insert a row of spending."""
        self._insert("session_model_usage", columns)

    def close(self) -> None:
        """Write everything into the main file."""
        self.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.conn.close()

    def _insert(self, table: str, columns: Mapping[str, Any]) -> None:
        marks: Sequence[str] = ["?"] * len(columns)
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(marks)})"
        self.conn.execute(sql, list(columns.values()))
