"""What was typed: the prompt history of each folder, and unsent drafts."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from .base import Part
from .session_rows import folder
from .text import decode, encode

KEPT_PROMPTS = 2000
"""Prompts remembered for a folder."""


class PromptsPart(Part):
    """Prompt history and drafts."""

    def prompt_history(self, cwd: str | Path, limit: int = 500) -> list[str]:
        """Return what was sent in a folder, oldest first, each text once."""
        with self._db.read() as conn:
            found = conn.execute(
                "SELECT text FROM prompts WHERE cwd = ? ORDER BY id DESC LIMIT ?", (folder(cwd), max(0, limit))
            ).fetchall()
        return [decode(row[0]) for row in reversed(found)]

    def add_prompt(self, cwd: str | Path, text: str) -> None:
        """Remember what was sent in a folder; a repeated text moves to the end, an empty one is ignored."""
        if not text.strip():
            return
        where, stored = folder(cwd), encode(text)

        def job(conn: sqlite3.Connection) -> None:
            conn.execute("DELETE FROM prompts WHERE cwd = ? AND text = ?", (where, stored))
            conn.execute("INSERT INTO prompts (cwd, text, created_at) VALUES (?, ?, ?)", (where, stored, time.time()))
            conn.execute(
                "DELETE FROM prompts WHERE cwd = ? AND id <= "
                "(SELECT id FROM prompts WHERE cwd = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (where, where, KEPT_PROMPTS),
            )

        self._db.write(job)

    def save_draft(self, key: str, text: str) -> None:
        """Keep an unsent text under a key (a session id or folder); an empty one forgets it."""

        def job(conn: sqlite3.Connection) -> None:
            if text:
                conn.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?)", (encode(key), encode(text), time.time()))
            else:
                conn.execute("DELETE FROM drafts WHERE key = ?", (encode(key),))

        self._db.write(job)

    def load_draft(self, key: str) -> str:
        """Return the kept text, or an empty one."""
        with self._db.read() as conn:
            found = conn.execute("SELECT text FROM drafts WHERE key = ?", (encode(key),)).fetchone()
        return decode(found[0]) if found else ""
