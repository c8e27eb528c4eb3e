"""Resuming in the real program: another window, a folder or model that is gone, and going back to a message."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from support.model_server import ModelServer, Turn
from support.program import CONFIG, Installation, idle, ready, say

pytestmark = pytest.mark.e2e


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([Turn(match="second", text="Answer two."), Turn(match="first", text="Answer one.")]) as server:
        yield server


def rows(user: Installation) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(user.run("sessions", "list", "--json").stdout)
    return found


def test_escape_twice_goes_back_to_a_message_and_on_in_a_fork(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "the first thing")
        terminal.wait_for("Answer one.")
        idle(terminal)
        say(terminal, "the second thing")
        terminal.wait_for("Answer two.")
        idle(terminal)
        terminal.type("\x1b")
        terminal.type("\x1b")
        terminal.wait_for("Go back to one of your messages")
        terminal.wait_for("the first thing")
        terminal.type("\r")  # the newest is under the cursor
        terminal.wait_gone("Go back to one")
        terminal.wait(lambda text: "Answer two." not in text and "the second thing" in text, "the text to edit")
        terminal.type(" again\r")
        terminal.wait_for("Answer two.")
        idle(terminal)
    asked = [message["content"] for message in server.requests[-1].body["messages"] if message["role"] == "user"]
    assert asked == ["the first thing", "the second thing again"]
    assert [row["parent_reason"] for row in rows(user)] == ["fork", ""]


def test_a_session_open_in_another_window_is_read_or_forked(user: Installation) -> None:
    with user.start() as first:
        ready(first)
        say(first, "the first thing")
        first.wait_for("Answer one.")
        idle(first)
        (row,) = rows(user)
        assert row["open_elsewhere"]
        with user.start("-c") as second:
            second.wait_for("open in another window")
            second.type("r")
            second.wait_gone("Fork it and go on")
            ready(second)
            say(second, "the second thing")
            second.wait_for("/fork goes on in a copy")
            second.wait_for("❯ the second thing")  # not lost
        with user.start("-c") as second:
            second.wait_for("open in another window")
            second.type("f")
            second.wait_gone("Fork it and go on")
            ready(second)
            say(second, "the second thing")
            second.wait_for("Answer two.")
            idle(second)
        assert "Answer two." not in first.text
    assert [row["parent_reason"] for row in rows(user)] == ["fork", ""]
    refused = user.run("run", "--resume", str(row["id"]), "the second thing")
    assert refused.returncode == 0 and "Answer two." in refused.stdout  # both windows are closed


def test_a_folder_and_a_model_that_are_gone_are_a_choice(user: Installation, server: ModelServer) -> None:
    config = CONFIG.format(url=server.base_url)
    user.write_config(config.replace("local", "mine"))
    gone = user.work / "project"
    gone.mkdir()
    assert user.run("run", "the first thing", cwd=gone).returncode == 0
    gone.rmdir()
    user.write_config(config.replace("test-model", "new-model").replace("local", "other"))
    with user.start("-c") as terminal:
        terminal.wait_for("is gone")
        terminal.type("g")
        terminal.wait_for("mine/test-model cannot be used")
        terminal.type("m")
        terminal.wait_for("fake-model")  # the list is there
        terminal.type("other/new-model\r")
        terminal.wait_gone("Choose a model")
        terminal.wait_for("Answer one.")
        idle(terminal)
        say(terminal, "the second thing")
        terminal.wait_for("Answer two.")
    assert server.requests[-1].body["model"] == "new-model"
