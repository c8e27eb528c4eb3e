"""Messages that wait: edited with the draft kept, held by Esc, never lost by leaving the session."""

from __future__ import annotations

import pytest
from support.model_server import ModelServer
from support.program import Installation, idle, ready, say
from support.terminal import Terminal

pytestmark = pytest.mark.e2e

SLOW = 'slow <<{"tokens": 3000, "rate": 30}>>'
ALT_ENTER, CTRL_N, CTRL_S, ESC, SHIFT_TAB = "\x1b\r", "\x0e", "\x13", "\x1b", "\x1b[Z"
PASTE = "".join(f"line {number}\n" for number in range(20))


def begin_slow_turn(terminal: Terminal, server: ModelServer) -> None:
    ready(terminal)
    say(terminal, SLOW)
    server.wait_request(1, 20)
    terminal.wait_for("esc interrupts")


def test_a_queued_message_comes_back_whole_and_the_draft_is_stashed(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        begin_slow_turn(terminal, server)
        terminal.paste(PASTE)
        terminal.wait_for("20 lines]")
        terminal.type("\r")
        terminal.wait_for("1 queued")
        terminal.type("unsent words")
        terminal.wait_for("unsent words")
        terminal.type(SHIFT_TAB)
        terminal.wait_for("esc back")
        terminal.type("e")
        terminal.wait_for("❯ [Pasted #1: 20 lines]")
        terminal.type(ESC)
        idle(terminal)
        terminal.type("\r")
        server.wait_request(2, 20)
        idle(terminal)
        assert server.last_message() == PASTE
        terminal.type(CTRL_S)
        terminal.wait_for("❯ unsent words")


def test_esc_stops_although_steering_text_comes_back(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        begin_slow_turn(terminal, server)
        terminal.type("turn left")
        terminal.wait_for("turn left")
        terminal.type(ALT_ENTER)
        terminal.wait_for("after the next tool: turn left")
        terminal.type(ESC)
        terminal.wait_for("1 queued")
        idle(terminal)
        assert len(server.requests) == 1
        say(terminal, "go on")
        server.wait_request(3, 20)
        idle(terminal)
        assert server.last_message() == "go on"


def test_new_with_words_sends_them_to_the_new_session_and_stashes_what_waited(
    user: Installation, server: ModelServer
) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "in the old session")
        server.wait_request(1, 20)
        idle(terminal)
        say(terminal, SLOW)
        server.wait_request(2, 20)
        terminal.wait_for("esc interrupts")
        say(terminal, "still waiting")
        terminal.wait_for("1 queued")
        say(terminal, "/new first words")
        server.wait_request(3, 20)
        idle(terminal)
        roles = [message["role"] for message in server.requests[2].body["messages"]]
        assert (roles, server.last_message()) == (["system", "user"], "first words")
        terminal.type(CTRL_S)
        terminal.wait_for("❯ still waiting")
