"""The program while its database is locked by another process, or its disk takes no more."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psutil
import pytest
from support.model_server import ModelServer, Turn
from support.program import Installation, idle, ready, say
from support.store import raw

from hermes_tui.engine.store.db import SessionDB

pytestmark = pytest.mark.e2e

ENTER, CTRL_D = "\r", "\x04"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    turns = [Turn(match=word, text=f"Answer {word}.") for word in ("three", "two", "one")]
    with ModelServer(turns) as server:
        yield server


@contextmanager
def locked(user: Installation) -> Iterator[sqlite3.Connection]:
    """Another process writes to the database and is not done."""
    path = user.home / "hermes" / "state.db"
    SessionDB(path).close()
    with closing(raw(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


def stored(user: Installation) -> list[object]:
    (row,) = json.loads(user.run("sessions", "list", "--json").stdout)
    messages = json.loads(user.run("sessions", "show", row["id"], "--json").stdout)["messages"]
    return [message["content"] for message in messages]


def test_a_message_waits_for_a_lock_and_is_sent_after_it(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        ready(terminal)
        with locked(user):
            say(terminal, "question one")
            terminal.wait_for("esc interrupts")
            assert not server.requests and "error" not in terminal.text
        terminal.wait_for("Answer one.")
        idle(terminal)
    assert stored(user) == ["question one", "Answer one."]


def test_a_lock_at_the_start_costs_nothing_later(user: Installation) -> None:
    with locked(user) as other, user.start() as terminal:
        ready(terminal)
        other.execute("ROLLBACK")
        for word in ("one", "two", "three"):
            say(terminal, f"question {word}")
            terminal.wait_for(f"Answer {word}.")
            idle(terminal)
        terminal.type(CTRL_D)
        assert terminal.wait_exit() == 0
    assert stored(user) == [f"{kind} {word}{end}" for word in ("one", "two", "three")
                            for kind, end in (("question", ""), ("Answer", "."))]  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="takes the disk from a running process with prlimit")
def test_a_disk_that_takes_no_more_is_told_at_once_and_nothing_is_lost(user: Installation) -> None:
    with user.start() as terminal:
        disk = psutil.Process(terminal.process.pid)
        room = disk.rlimit(psutil.RLIMIT_FSIZE)
        ready(terminal)
        say(terminal, "question one")
        terminal.wait_for("Answer one.")
        idle(terminal)
        disk.rlimit(psutil.RLIMIT_FSIZE, (4096, room[1]))
        say(terminal, "question two")
        text = terminal.wait_for("nothing that was stored is lost")
        assert "❯ question two" in terminal.wait_for("❯ question two") and text.count("Answer one.") == 1
        disk.rlimit(psutil.RLIMIT_FSIZE, room)
        terminal.type(ENTER)
        terminal.wait_for("Answer two.")
        idle(terminal)
        terminal.type(CTRL_D)
        assert terminal.wait_exit() == 0
        assert "To go on: hermes-tui -r" in terminal.left_behind
    assert stored(user) == ["question one", "Answer one.", "question two", "Answer two."]
    assert "whole" in user.run("sessions", "check").stdout


@pytest.mark.skipif(sys.platform != "linux", reason="takes the disk from a running process with prlimit")
def test_leaving_does_not_promise_a_session_that_was_never_stored(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        disk = psutil.Process(terminal.process.pid)
        disk.rlimit(psutil.RLIMIT_FSIZE, (4096, disk.rlimit(psutil.RLIMIT_FSIZE)[1]))
        say(terminal, "question one")
        terminal.wait_for("nothing that was stored is lost")
        terminal.wait_for("❯ question one")
        terminal.type("\x03")  # clear the prompt
        terminal.wait_for("Ask anything")
        terminal.type(CTRL_D)
        terminal.wait_exit()
        assert "hermes-tui -r" not in terminal.left_behind
