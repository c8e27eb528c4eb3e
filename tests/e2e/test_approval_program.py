"""The approval dialog's hard cases, with real keys through a real terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import CONFIG, Installation, ready, say
from support.terminal import Terminal

pytestmark = pytest.mark.e2e


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([]) as server:
        yield server


@pytest.fixture
def user(tmp_path: Path, server: ModelServer) -> Installation:
    made = Installation(tmp_path, server.base_url)
    (made.work / "build").mkdir()
    return made


def configure(user: Installation, server: ModelServer, approvals: str) -> None:
    user.write_config(f"{CONFIG.format(url=server.base_url)}[approvals]\n{approvals}\n")


def command(server: ModelServer, text: str) -> None:
    """Let the model run a command, then end."""
    server.add(Turn(match="go", tool_calls=(Call(name="terminal", args={"command": text}),)), Turn(text="All done."))


def armed(terminal: Terminal) -> Terminal:
    terminal.wait(lambda text: "ready" in text, "an armed dialog")
    return terminal


def results(server: ModelServer) -> list[dict[str, Any]]:
    rows = server.requests[-1].body["messages"]
    return [json.loads(row["content"]) for row in rows if row["role"] == "tool"]


def test_nobody_answering_in_time_is_told_as_that(user: Installation, server: ModelServer) -> None:
    configure(user, server, "timeout_s = 1.0")
    command(server, "rm -r build")
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "go")
        terminal.wait_for("All done.")
        assert "Nobody answered" in results(server)[0]["error"] and (user.work / "build").is_dir()


def test_ctrl_c_denies_and_stops_the_turn(user: Installation, server: ModelServer) -> None:
    command(server, "rm -r build")
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "go")
        armed(terminal)
        terminal.type("\x03")
        terminal.wait_gone("Run this command?")
        assert (user.work / "build").is_dir() and len(server.requests) == 1
