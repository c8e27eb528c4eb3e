"""What is typed and pasted arrives as it was, whatever it looks like and wherever it is typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation, idle, nowhere, ready, say
from support.terminal import Terminal

pytestmark = pytest.mark.e2e

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"
CTRL_C, UP = "\x03", "\x1b[A"


def send(terminal: Terminal, server: ModelServer) -> str:
    """Press Enter and return what the server got."""
    count = len(server.requests)
    terminal.type("\r")
    server.wait_request(count + 1, 20)
    idle(terminal)
    return server.last_message()


def test_pastes_arrive_byte_exact_and_send_nothing_by_themselves(user: Installation, server: ModelServer) -> None:
    megabyte = ("x" * 30 + " \u00e9\u6f22\U0001f600\n") * 26_000
    second = "second\n" * 2000
    with user.start() as terminal:
        ready(terminal)
        terminal.paste(megabyte)
        terminal.wait_for("26,000 lines")
        terminal.type(" and ")
        terminal.paste(second)
        text = terminal.wait_for("2,000 lines")
        assert re.search(r"❯ \[Pasted #1: 26,000 lines\] and \[Pasted #2: 2,000 lines\]", text)
        assert server.requests == []
        terminal.type("\x7f")  # backspace takes the second block whole
        terminal.wait_gone("2,000 lines")
        terminal.paste(second)
        terminal.wait_for("2,000 lines")
        assert send(terminal, server) == f"{megabyte} and {second}"

        terminal.type(f"{PASTE_START} safe {PASTE_END}\r/quit\r{PASTE_END}")
        terminal.wait(lambda text: "❯  safe" in text and "/quit" in text, "the whole paste in the prompt")
        assert len(server.requests) == 1
        assert send(terminal, server).split() == ["safe", "/quit"]


def test_a_message_that_looks_like_a_command_is_sent_as_text(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        ready(terminal)
        for text in ("/home/user/app.log shows an error", "/etc", "/usr/bin/env bash?", "// comment", "[/] [b]"):
            terminal.type(text)
            terminal.wait_for(f"❯ {text}")
            assert send(terminal, server) == text


def test_the_cursor_stays_at_the_caret_while_text_streams(user: Installation, server: ModelServer) -> None:
    server.add(Turn(match="count", text=" ".join(f"word-{n}" for n in range(80)), rate=30))
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "count")
        terminal.wait_for("word-3")
        terminal.type("\u6f22\u5b57 x")
        terminal.wait_for("❯ \u6f22\u5b57 x")
        row = next(n for n, line in enumerate(terminal.screen.display) if "❯" in line)
        caret = terminal.screen.display[row].index("❯") + 2 + 6
        for number in (20, 40, 60, 79):
            terminal.wait_for(f"word-{number}")
            terminal.wait(lambda _: terminal.cursor == (caret, row), "the cursor at the caret")


def test_files_are_completed_in_a_large_folder_while_keys_go_on(user: Installation, server: ModelServer) -> None:
    for folder in range(10):
        (user.work / f"d{folder}").mkdir()
        for name in range(500):
            (user.work / f"d{folder}" / f"f{name}.txt").touch()
    (user.work / "d5" / "Resultate.md").touch()
    with user.start() as terminal:
        ready(terminal)
        terminal.type("look at @Resul")
        terminal.wait_for("❯ look at @Resul")
        terminal.wait(lambda text: "d5/Resultate.md" in text, "the file in the list")
        terminal.type("\t")
        terminal.wait_for("look at @d5/Resultate.md")


def test_control_characters_in_folder_title_and_output_reach_no_terminal(
    user: Installation, server: ModelServer
) -> None:
    folder = user.work / "evil\x1b]0;pwned\x07\x9b31m name"
    folder.mkdir()
    printf = Call(name="terminal", args={"command": r"printf '\033]0;pwned\007shown'"})
    server.add(Turn(match="go on", tool_calls=(printf,)))
    user.run("run", "a title", cwd=folder)
    user.run("sessions", "rename", "a title", "odd \x1b]0;pwned\x07title")
    with user.start("--continue", cwd=folder) as terminal:
        ready(terminal)
        say(terminal, "go on")
        text = idle(terminal).wait(lambda text: "shown" in text and text.count("ok") >= 2)
        assert "evil" in text and "odd" in text
    written = re.sub(r"\x1b\]22;[a-z]*\x07", "", bytes(terminal.raw).decode())  # the shape of the mouse pointer
    assert not re.search(r"\x1b\]|\x07|\x9b", written)


def test_a_message_that_failed_is_one_key_away_and_the_next_one_works(user: Installation, server: ModelServer) -> None:
    unknown = '{"error": {"message": "The model does not exist", "code": "model_not_found"}}'
    server.add(
        Turn(match="first", status=401),
        Turn(match="second", status=404, body=unknown),
        Turn(match="third", status=502, body="<html><h1>Bad Gateway</h1></html>", headers={"retry-after": "0"}),
        Turn(match="fourth", text="Hello again."),
    )
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "the first")
        terminal.wait(lambda text: "401" in text and "The key came from config.toml" in text)
        say(idle(terminal), "the second")
        terminal.wait(lambda text: "does not know the model test-model" in text and "/model" in text)
        say(idle(terminal), "the third")
        text = idle(terminal).wait(lambda text: "502" in text and "try again" in text)
        assert "<html>" not in text
        say(terminal, "the fourth")
        idle(terminal).wait_for("Hello again.")
        for expected in ("the fourth", "the third", "the second", "the first"):
            terminal.type(UP)
            terminal.wait_for(f"❯ {expected}")
        assert "SECRET" not in terminal.text
    assert [m["role"] for m in server.requests[-1].body["messages"]][-1] == "user"


def test_an_endpoint_that_is_not_there_is_named_while_it_is_tried_again(tmp_path: Path) -> None:
    with nowhere() as url, Installation(tmp_path, url).start(size=(160, 30)) as terminal:
        ready(terminal)
        say(terminal, "are you there?")
        terminal.wait_for(f"Cannot reach {url}")
        terminal.type("\x1b")
        idle(terminal).wait_for("Interrupted")


def test_an_unknown_session_is_told_and_a_new_one_opens(user: Installation, server: ModelServer) -> None:
    with user.start("--resume", "nosuch") as terminal:
        ready(terminal)
        terminal.wait(lambda text: "'nosuch'" in text and "sessions list" in text)
        say(terminal, "a new start")
        idle(terminal).wait_for("ok")
