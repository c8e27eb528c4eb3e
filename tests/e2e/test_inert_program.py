"""Text that tries to act on the terminal is only text: live, resumed, found, shown, exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation, ready, say
from support.terminal import Terminal

pytestmark = pytest.mark.e2e

ATTACKS = (
    "\x1b]52;c;Y3VybA==\x07",  # writes the clipboard
    "\x1b]0;pwned\x07",  # sets the title
    "\x1b]8;;http://evil.example\x07click\x1b]8;;\x07",  # a disguised link
    "\x1b[?1049l\x1b[2J",  # leaves the screen
    "\x1b[6n",  # asks for the cursor
    "\x1b]9;notify\x07",
    "\x9b31m",
    "\x1b]",  # never ends
)
WORDS = f"before {''.join(ATTACKS)} [red]after[/red] [@click=app.quit]x[/] \u202eevil"
FORBIDDEN = ("\x1b]52;c;Y3VybA", "\x1b]0;pwned", "evil.example\x07", "\x1b]9;notify", "\x1b[6n", "\u202e", "\x9b")


@pytest.fixture
def user(tmp_path: Path, server: ModelServer) -> Installation:
    made = Installation(tmp_path, server.base_url)
    (made.work / "evil.txt").write_text(WORDS, encoding="utf-8")
    server.add(
        Turn(
            match="look",
            tool_calls=(
                Call(name="terminal", args={"command": "cat evil.txt"}),
                Call(name="read_file", args={"path": "evil.txt"}),
            ),
        ),
        Turn(text=f"It says: {WORDS}", reasoning=WORDS),
    )
    return made


def acted(raw: bytes) -> list[str]:
    return [attack for attack in FORBIDDEN if attack.encode() in raw]


def settled(terminal: Terminal) -> Terminal:
    terminal.wait(lambda text: "It says: before" in text and "after" in text, "the answer")
    return terminal


def test_it_is_inert_live_resumed_found_and_in_the_list(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "look")
        settled(terminal)
        assert "[red]after[/red]" in terminal.text
        terminal.type("\x0f")  # more detail: the cards show what the tools gave
        terminal.wait_for("Detail:")
        assert acted(bytes(terminal.raw)) == []
    with user.start("-c") as terminal:
        settled(terminal)
        terminal.type("/find after\r")
        terminal.wait_for("hit ")
        terminal.type("\x1b")
        terminal.wait_gone("hit ")
        terminal.type("\x12")  # the browser with its preview
        terminal.wait_for("Sessions")
        assert acted(bytes(terminal.raw)) == []


def test_it_is_inert_without_a_screen_too(user: Installation, server: ModelServer) -> None:
    done = user.run("run", "look")
    assert acted(done.stderr.encode()) == []
    (session,) = json.loads(user.run("sessions", "list", "--json").stdout)
    for args in (("show",), ("export", "--format", "md"), ("export", "--format", "html"), ("search",)):
        words = ("before",) if args == ("search",) else (session["id"],)
        told = user.run("sessions", *args, *words).stdout
        assert "before" in told and acted(told.encode()) == [], args
    exact = json.loads(user.run("sessions", "export", "--format", "json", session["id"]).stdout)
    assert "\\u001b]0;pwned" in json.dumps(exact)


def test_a_title_and_a_folder_cannot_break_out_of_the_terminals_title(
    user: Installation, server: ModelServer, tmp_path: Path
) -> None:
    folder = tmp_path / "x\x07\x1b]52;c;Y3VybA==\x07"
    folder.mkdir()
    with user.start(cwd=folder) as terminal:
        ready(terminal)
        say(terminal, "look")
        settled(terminal)
        terminal.type("/title \x1b[200~a\x1b]0;pwned\x07b\x1b[201~\r")
        terminal.wait_for("look")
        assert b"52;c;Y3VybA" not in bytes(terminal.raw) and b"]0;pwned" not in bytes(terminal.raw)
