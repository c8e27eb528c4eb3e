"""A compressed conversation is left and found again by the id that was printed and by the one it began with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import ModelServer, Turn
from support.program import Installation, idle, ready, say

from hermes_tui.engine.store.db import SessionDB

pytestmark = pytest.mark.e2e

CTRL_D, CTRL_HOME = "\x04", "\x1b[1;5H"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([Turn(match="go on", text="Going on.")], aux="They counted.") as server:
        yield server


@pytest.fixture
def user(tmp_path: Path, server: ModelServer) -> Installation:
    """A user with one long session."""
    user = Installation(tmp_path, server.base_url)
    with SessionDB(user.home / "hermes" / "state.db") as db:
        db.create(session_id="first", title="Counting", cwd=str(user.work), model="test-model", provider="local")
        db.append_many(
            "first",
            [
                {"role": ("user", "assistant")[at % 2], "content": f"number {at}. " + "word " * 200}  # type: ignore[misc]
                for at in range(60)
            ],
        )
    return user


def test_both_ids_lead_to_the_live_conversation_and_its_whole_past(user: Installation, server: ModelServer) -> None:
    with user.start("-r", "first") as terminal:
        ready(terminal)
        terminal.wait_for("number 59.")
        terminal.type("/compress\r")
        terminal.wait_for("summarised for the model")
        say(terminal, "please go on")
        terminal.wait_for("Going on.")
        idle(terminal)
        terminal.type(CTRL_D)
        assert terminal.wait_exit() == 0
        printed = re.search(r"hermes-tui -r (\S+)", terminal.left_behind)
    assert printed is not None and printed[1] != "first"
    for name in (printed[1], "first"):
        with user.start("-r", name) as terminal:
            terminal.wait_for("1 compaction")
            assert "Going on." in terminal.text
            terminal.type(CTRL_HOME)
            terminal.wait_for("number 0.")
    assert server.requests[-1].body["messages"][-1]["content"] == "please go on"
    assert len(server.requests[-1].body["messages"]) < 40
