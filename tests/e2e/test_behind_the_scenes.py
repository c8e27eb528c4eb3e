"""What a turn costs and what was sent, in the real program: the limit asks, the inspector shows, no secret is seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import CONFIG, Installation, idle, ready, say

pytestmark = pytest.mark.e2e

KEY = "sk-test-SECRET12345678"
"""As the configuration has it."""


@pytest.fixture
def user(tmp_path: Path, server: ModelServer) -> Installation:
    server.add(Turn(text="I look.", tool_calls=(Call(name="terminal", args={"command": "echo lantern"}),)))
    server.add(Turn(text="All is well."))
    return Installation(tmp_path, server.base_url)


def test_a_limit_asks_before_more_is_spent_and_the_turn_goes_on(user: Installation, server: ModelServer) -> None:
    user.write_config(CONFIG.format(url=server.base_url) + "[budget]\nmax_tokens_per_turn = 105\n")
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "look around")
        terminal.wait_for("This turn has used 110 of 105 tokens")
        terminal.wait_for("Go on")
        asked = len([request for request in server.requests if request.body.get("tools")])
        assert asked == 1, "nothing is spent while the question waits"
        terminal.wait_for("ready")
        terminal.type("1")
        terminal.wait_for("All is well.")
        idle(terminal)


def test_the_inspector_shows_what_was_sent_and_hides_the_keys(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, f"my key is {KEY}")
        terminal.wait_for("All is well.")
        idle(terminal)
        say(terminal, "/inspect")
        terminal.wait_for("turn 1, step 2")
        terminal.type("\r")
        terminal.wait_for("assistant")
        terminal.wait_for("lantern")
        assert KEY not in terminal.text and "[redacted" in terminal.text
        terminal.type("4")
        terminal.wait_for("stream_options")
        terminal.type("q")
        terminal.wait_gone("stream_options")
        say(terminal, "/context")
        terminal.wait_for("Tool definitions")
        terminal.type("q")
        idle(terminal)
