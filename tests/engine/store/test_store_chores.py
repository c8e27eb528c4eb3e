"""Work that the writer does while nobody asks for anything: it fails alone."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import StoreError

GUARD_S = 20.0


@pytest.mark.parametrize("error", [ValueError("a bug"), StoreError("no"), sqlite3.OperationalError("no"), OSError(5)])
def test_a_chore_that_fails_is_given_up_and_what_is_said_next_is_stored(db: SessionDB, error: Exception) -> None:
    tried = threading.Event()

    def chore(conn: sqlite3.Connection) -> bool:
        tried.set()
        raise error

    session = db.create()
    db._db._writer.set_chore(chore)
    assert tried.wait(GUARD_S)
    db.append(session, {"role": "user", "content": "still here"})
    assert [row.message["content"] for row in db.history(session)] == ["still here"]
