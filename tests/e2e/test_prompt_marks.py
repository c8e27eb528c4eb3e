"""``!command``, ``#note``, ``@file`` and images in the real program."""

from __future__ import annotations

import pytest
from support.model_server import ModelServer, Turn
from support.program import Installation, idle, ready, say

pytestmark = pytest.mark.e2e


def test_a_command_runs_in_its_card_and_the_model_hears_of_it_later(user: Installation, server: ModelServer) -> None:
    server.add(Turn(match="why", text="Because of the seven."))
    with user.start() as terminal:
        ready(terminal)
        terminal.type("!echo marker-$((3+4)); exit 3")
        terminal.wait(lambda text: "shell" in text and "no model asked" in text, "the look of a command")
        terminal.type("\r")
        terminal.wait(lambda text: "│ marker-7" in text and "exit 3" in text, "its card")
        assert server.requests == []
        say(idle(terminal), "why?")
        terminal.wait_for("Because of the seven.")
        (request,) = server.requests
        assert "marker-7\n" in request.body["messages"][-1]["content"]
        terminal.type("\x1b[A\x1b[A")
        terminal.wait_for("no model asked")


def test_escape_stops_a_command_and_one_typed_meanwhile_waits(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "!echo begun; sleep 60")
        terminal.wait_for("│ begun")
        say(terminal, "!echo second")
        terminal.wait_for("queued")
        terminal.type("\x1b")
        terminal.wait_for("interrupted")
        say(idle(terminal), "!echo third")
        terminal.wait(lambda text: "│ second" in text and "│ third" in text, "what waited, then the new one")
    assert server.requests == []


def test_danger_asks_also_the_one_who_typed_it(user: Installation, server: ModelServer) -> None:
    (user.work / "build").mkdir()
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "!rm -rf build")
        terminal.wait_for("ready")
        terminal.type("1")
        terminal.wait_for("allowed once")
        terminal.wait(lambda text: not (user.work / "build").exists(), "the folder is gone")


def test_a_note_is_kept_told_and_taken_back(user: Installation, server: ModelServer) -> None:
    notes = user.home / "hermes"
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "#user: prefers tabs")
        terminal.wait_for("Kept in USER.md (12 of 1,375 characters): prefers tabs")
        (file,) = notes.rglob("USER.md")
        assert file.read_text() == "prefers tabs\n"
        say(terminal, "/forget")
        terminal.wait_for("Removed from USER.md")
        assert file.read_text() == ""
        say(terminal, "# builds with make")
        terminal.wait_for("Kept in MEMORY.md")
        say(terminal, "#" + "x" * 2_200)
        terminal.wait_for("do not fit")
        assert file.with_name("MEMORY.md").read_text() == "builds with make\n"
        terminal.type("\x03")  # the note that did not fit is back in the prompt
        terminal.wait_gone("Pasted")
        say(terminal, "/forget nothing like it")
        terminal.wait_for("No note has")
    assert server.requests == []


def test_named_files_and_dropped_images_go_along_and_are_shown(user: Installation, server: ModelServer) -> None:
    (user.work / "src").mkdir()
    (user.work / "src/a.py").write_text("".join(f"line {number}\n" for number in range(1, 30)))
    image = user.work / "my shot.png"
    image.write_bytes(b"\x89PNG\r\n\x1a\nxx")
    server.add(Turn(match="compare", text="Both look fine."))
    with user.start() as terminal:
        ready(terminal)
        terminal.type("compare @src/a.py:10-12 with ")
        terminal.wait_for("with")
        terminal.type(f"\x1b[200~{image.as_uri()}\x1b[201~")
        terminal.wait_for("[Image #1: my shot.png]")
        terminal.type("\r")
        terminal.wait_for("Both look fine.")
        assert "+ my shot.png: image, 10 bytes" in terminal.text
        assert "+ src/a.py: lines 10-12 of 29" in terminal.text
        typed, files, picture = server.requests[0].body["messages"][-1]["content"]
        assert typed["text"] == "compare @src/a.py:10-12 with [Image #1: my shot.png] "
        assert files["text"].endswith("10\tline 10\n11\tline 11\n12\tline 12")
        assert picture["image_url"]["url"].startswith("data:image/png;base64,")
    with user.start("-c") as terminal:
        terminal.wait_for("+ src/a.py: lines 10-12 of 29")
