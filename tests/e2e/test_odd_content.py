"""Answers and names that once broke terminals: shown as text, live and after a resume, and the program lives on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation, idle, ready, say
from support.terminal import Terminal

pytestmark = pytest.mark.e2e

F1, ESC, CTRL_P, CTRL_R = "\x1bOP", "\x1b", "\x10", "\x12"

ANSWERS: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "a backslash at the end of a moment": (
        ("```ini\n", "note = first part:\\", "\nsecond part\n```\n", "prose-after"),
        ["note = first part:\\", "second part", "prose-after"],
    ),
    "fences in fences": (
        ("````md\n```python\nx = 1\n```\n````\n\nprose-between\n\n```markdown\n| a |\n|---|\n```\n\n", "```\nunclosed"),
        ["```python", "x = 1", "prose-between", "| a |", "unclosed"],
    ),
    "escape sequences": (
        ("\x1b[2J\x1b]0;pwn\x07", "\x1b]8;;http://x.example\x07click\x1b[6n", "\x9b31m \u202eright", " safe\x1b]"),
        ["click", "safe"],
    ),
    "wide characters": (
        ("| what | it |\n|---|---|\n", "| ❤️ ☺️ | x |\n| 👩‍👩‍👧‍👧 | 漢字 |\n| ﷽ | e\u0301 |\n", "\nafter-table"),
        ["漢字", "after-table"],
    ),
    "inert markup": (
        ("<script>alert(1)</script> ![x](file:///etc/passwd) [go](javascript:1) [x](http://[::1) $\\frac{1}{2}$",),
        ["<script>alert(1)</script>", "frac{1}{2}"],
    ),
    "depth and width": (
        ("> " * 60 + "deep\n\n", "".join("  " * n + "- item\n" for n in range(60)), "\n", "u" * 300, "\n\nthe-end"),
        ["the-end"],
    ),
    "a backslash at the very end": (("```ini\nlast line:\\",), ["last line:\\"]),
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([Turn(match=name, pieces=pieces, rate=40) for name, (pieces, _) in ANSWERS.items()]) as server:
        yield server


def test_any_answer_is_shown_as_text_and_its_session_opens_again(user: Installation) -> None:
    with user.start(size=(80, 50)) as terminal:
        ready(terminal)
        for name, (_, words) in ANSWERS.items():
            say(terminal, f"show {name}")
            idle(terminal).wait(lambda text, words=words: all(word in text for word in words), f"{name}: {words}")
        terminal.resize(40, 30)
        terminal.wait_for("last line:\\")
        assert "pwn" not in terminal.screen.title
    with user.start("--continue", size=(80, 50)) as terminal:
        terminal.wait(lambda text: "Resumed" in text and "last line:\\" in text and "the-end" in text)
        say(terminal, "/new")
        terminal.wait_gone("Resumed")


def test_names_of_any_shape_are_no_trouble(user: Installation, server: ModelServer) -> None:
    (user.work / ".git").mkdir()
    (user.work / ".git" / "HEAD").write_text("ref: refs/heads/feature/x-1.[b]é\n")
    for _ in range(2):
        user.run("run", "-m", "local/org/model:1.5", "0 twice/the [/same] title")
    assert server.requests[0].body["model"] == "org/model:1.5"
    with user.start("-m", "local/org/model:1.5", size=(120, 30)) as terminal:
        ready(terminal)
        terminal.wait(lambda text: "feature/x-1.[b]é" in text and "model:1.5" in text)
        terminal.type(CTRL_R)
        terminal.wait(lambda text: text.count("0 twice/the [/same] title") >= 2, "both sessions")
        terminal.type("\r")
        terminal.wait_for("Resumed")


def press(terminal: Terminal, keys: str, seen: str) -> None:
    terminal.type(keys)
    terminal.wait_for(seen)
    terminal.type(ESC)
    terminal.wait_gone(seen)


def test_dialogs_open_and_close_in_any_order_and_answer_once(user: Installation, server: ModelServer) -> None:
    calls = tuple(Call(name="terminal", args={"command": f"rm -r {name}"}) for name in ("one", "two"))
    server.add(Turn(match="remove both", tool_calls=calls))
    for name in ("one", "two"):
        (user.work / name).mkdir()
    with user.start(size=(110, 34)) as terminal:
        ready(terminal)
        for _ in range(3):
            press(terminal, F1, "Keys and commands")
            press(terminal, CTRL_P, "esc close")
            press(terminal, CTRL_R, "Search everything")
        say(terminal, "remove both")
        terminal.wait(lambda text: "rm -r one" in text and "● ready" in text, "the first question")
        terminal.type("11")  # a held key answers nothing
        terminal.wait(lambda text: "❯ 11" in text and "● ready" in text, "both keys in the draft")
        terminal.type("1")
        terminal.wait(lambda text: "rm -r two" in text and "● ready" in text, "the second question")
        assert (user.work / "two").is_dir() and not (user.work / "one").exists()
        terminal.type(ESC)
        idle(terminal).wait_for("denied")
        assert (user.work / "two").is_dir()
