"""Slash commands and palette rows do what was meant with their arguments, and with the draft."""

from __future__ import annotations

import pytest
from support.model_server import ModelServer
from support.program import Installation, idle, ready, say

pytestmark = pytest.mark.e2e

CTRL_P, ESC = "\x10", "\x1b"


def test_an_export_goes_to_a_path_with_blanks(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "hello")
        terminal.wait_for("  ok ")
        idle(terminal)
        say(terminal, "/export my notes.md")
        terminal.wait(lambda _: (user.work / "my notes.md").exists(), "the first file")
        say(terminal, "/export json my data.json")
        terminal.wait(lambda _: (user.work / "my data.json").exists(), "the second file")
    assert "hello" in (user.work / "my notes.md").read_text()


def test_a_wrong_theme_changes_nothing_and_the_list_begins_with_the_theme_in_use(user: Installation) -> None:
    choices = user.home / "hermes" / "settings.toml"
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "/theme hermes-light")
        terminal.wait(lambda _: choices.exists() and "hermes-light" in choices.read_text(), "the kept choice")
        say(terminal, "/theme nosuch")
        terminal.wait_for("no theme named 'nosuch'")
        say(terminal, "/theme")
        terminal.wait_for("▌ hermes-light")
        terminal.type(ESC)
        terminal.wait_gone("▌ hermes-light")


def test_queue_and_steer_in_the_palette_take_the_draft(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, 'slow <<{"tokens": 3000, "rate": 30}>>')
        server.wait_request(1, 20)
        terminal.wait_for("esc interrupts")
        for draft, row, sign in (("wait words", "Queue a message", "1 queued"), ("left!", "Steer the", "tool: left!")):
            terminal.type(draft)
            terminal.wait_for(f"❯ {draft}")
            terminal.type(CTRL_P)
            terminal.wait_for("Type to search")
            terminal.type(row)
            terminal.wait_for(f"› {row}")
            terminal.type("\r")
            terminal.wait_for(sign)
        terminal.type(ESC)
        idle(terminal)
