"""Short ways to fill and read a session store."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.messages import Message
from hermes_tui.engine.types.sessions import SearchPage, StoredMessage


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


_HOLDER = """
import sys
from hermes_tui.engine.store.db import SessionDB
db = SessionDB(sys.argv[1])
print(db.claim(sys.argv[2]), flush=True)
sys.stdin.read()
"""


@contextmanager
def holding(path: Path, session_id: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that has a session open."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path), session_id],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "True\n"
        yield process
    finally:
        process.kill()
        process.communicate()
