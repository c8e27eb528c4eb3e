"""Short ways to fill and read a session store."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from hermes_tui.engine.api import SearchPage, StoredMessage
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.messages import Message


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text, "finish_reason": "stop"}


def talk(db: SessionDB, session_id: str, *texts: str) -> list[int]:
    """Append user and assistant messages in turn; returns their ids."""
    return db.append_many(session_id, [(user, assistant)[at % 2](text) for at, text in enumerate(texts)])


def texts(messages: Sequence[StoredMessage]) -> list[object]:
    return [stored.message["content"] for stored in messages]


def found(page: SearchPage) -> list[str]:
    return [hit.session.id for hit in page.hits]


def raw(path: Path) -> sqlite3.Connection:
    """A second connection, as another program would have it."""
    return sqlite3.connect(path, isolation_level=None, timeout=0)
