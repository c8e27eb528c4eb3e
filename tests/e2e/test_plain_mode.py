"""Plain mode: nothing but ASCII letters on any screen, and what is asked can be answered."""

from __future__ import annotations

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation
from support.terminal import Terminal

pytestmark = pytest.mark.e2e

ANSWER = (
    "# Title\n\n> quoted\n\n- one\n  - two\n- [x] done\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n"
    "```py\nx = 1\n```\n\nthe-end"
)
SCREENS = {"\x1bOP": "Steer the running turn", "\x12": "to the list", "\x10": "esc close", "\x02": "Files changed"}
"""Help, sessions, palette, side panel: the key, and words to see."""


def shown(terminal: Terminal, words: str) -> Terminal:
    """Wait for words and look at every letter of the screen."""
    terminal.wait_for(words)
    odd = sorted({letter for letter in terminal.text if not letter.isascii()})
    assert not odd, f"{odd} in:\n{terminal.text}"
    return terminal


def test_every_screen_is_ascii_and_a_question_can_be_answered(user: Installation, server: ModelServer) -> None:
    (user.work / "build").mkdir()
    calls = (Call(name="terminal", args={"command": "rm -r build"}),)
    server.add(Turn(match="go", reasoning="Let me see.", tool_calls=calls), Turn(text=ANSWER))
    with user.start("--plain", size=(100, 40)) as terminal:
        shown(terminal, "> Ask anything")
        terminal.type("go")
        terminal.wait_for("> go")
        terminal.type("\r")
        shown(terminal, "* ready")
        terminal.type("1")
        shown(terminal, "the-end")
        assert not (user.work / "build").exists()
        for key, words in SCREENS.items():
            terminal.type(key)
            shown(terminal, words)
            if key != "\x02":  # a dialog is read alone
                terminal.wait_gone("the-end")
            terminal.type("\x1b")
            terminal.wait_gone(words) if key != "\x02" else None
