"""The approval dialog's hard cases, with real keys through a real terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import CONFIG, Installation, ready, say
from support.terminal import Terminal

pytestmark = pytest.mark.e2e


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
    terminal.wait(lambda text: "\u25cf ready" in text, "an armed dialog")
    return terminal


def press(terminal: Terminal, key: str) -> None:
    """Press an answer key alone, as a person does: again when it came too close to something else."""
    armed(terminal).type(key)
    while "\u25cb wait" in terminal.wait(lambda text: "\u25cf ready" not in text, "the key to count"):
        armed(terminal).type(key)


def results(server: ModelServer) -> list[dict[str, Any]]:
    rows = server.requests[-1].body["messages"]
    return [json.loads(row["content"]) for row in rows if row["role"] == "tool"]


def test_several_questions_come_one_by_one_and_each_gets_its_own_answer(
    user: Installation, server: ModelServer
) -> None:
    configure(user, server, 'mode = "strict"')
    outside = user.work.parent / "outside"
    outside.mkdir()
    names = ("one", "two", "three")
    for name in names:
        (outside / name).write_text(f"text of {name}\n")
    paths = [str(outside / name) for name in (*names, "one")]
    calls = tuple(Call(name="read_file", args={"path": path}) for path in paths)
    server.add(Turn(match="go", tool_calls=calls), Turn(text="All done."))
    with user.start() as terminal:
        terminal.wait(lambda text: "\u276f" in text and " strict " in text, "an open session")
        say(terminal, "go")
        answers = []
        for left in (3, 2, 1):
            armed(terminal)
            if left > 1:
                terminal.wait_for(f"1 of {left}")

            def asked_about(text: str) -> list[str]:
                question = re.sub(r"[\s\u2502]", "", text.rsplit("Read this file?", maxsplit=1)[-1])  # paths wrap
                return [name for name in names if f"outside/{name}" in question]

            terminal.wait(lambda text: bool(asked_about(text)), "the file the question is about")
            shown = asked_about(terminal.text)[0]
            answers.append((shown, "1" if shown != "two" else "4"))
            terminal.type(answers[-1][1])
            terminal.wait(
                lambda text, n=left: f"1 of {n}" not in text or "\u25cb wait" in text or n == 1, "the next one"
            )
        terminal.wait_for("All done.")
    read = {row.get("path", "").rsplit("/", 1)[-1] for row in results(server) if row["ok"] and "path" in row}
    assert read == {"one", "three"} and sum("refused" in str(row.get("error")) for row in results(server)) == 1


def test_nobody_answering_in_time_is_told_as_that(user: Installation, server: ModelServer) -> None:
    configure(user, server, "timeout_s = 1.0")
    command(server, "rm -r build")
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "go")
        terminal.wait_for("All done.")
        assert "Nobody answered" in results(server)[0]["error"] and (user.work / "build").is_dir()


def test_a_paste_and_a_held_key_answer_nothing_and_nothing_typed_is_lost(
    user: Installation, server: ModelServer
) -> None:
    command(server, "rm -r build")
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "go")
        armed(terminal)
        terminal.paste("1\n1\n")
        armed(terminal.wait(lambda text: "\u25cb wait" in text, "disarmed") and terminal)
        terminal.type("1" * 40)
        armed(terminal)
        assert (user.work / "build").is_dir() and "rm -r build" in terminal.text
        press(terminal, "4")
        terminal.wait_for("All done.")
        terminal.wait_for("1111")
    assert not results(server)[0]["ok"] and (user.work / "build").is_dir()


def test_the_click_that_brings_the_window_to_the_front_answers_nothing(user: Installation, server: ModelServer) -> None:
    command(server, "rm -r build")
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "go")
        armed(terminal)
        row = next(n for n, line in enumerate(terminal.text.split("\n"), 1) if "Allow once" in line)
        terminal.type(f"\x1b[O\x1b[I\x1b[<0;20;{row}M\x1b[<0;20;{row}m")
        armed(terminal.wait(lambda text: "\u25cb wait" in text, "disarmed") and terminal)
        assert (user.work / "build").is_dir() and server.requests[-1].body["messages"][-1]["role"] == "user"
        press(terminal, "4")
        terminal.wait_for("All done.")


@pytest.mark.parametrize("size", [(100, 30), (40, 12), (20, 6)])
def test_the_tail_of_a_long_command_is_reached_and_the_answers_too(
    size: tuple[int, int], user: Installation, server: ModelServer
) -> None:
    command(server, "echo " + "\u6f22\u5b57" * 400 + " wide" * 300 + "; rm -r build")
    with user.start(size=size) as terminal:
        terminal.wait(lambda text: "\u276f" in text, "the prompt")
        say(terminal, "go")
        armed(terminal)
        terminal.type("\x1b[F")  # End
        terminal.wait(lambda text: "tracked" in text, "the end of what is shown")
        press(terminal, "4")
        terminal.wait(lambda text: "done." in text, "the answer", 10)
    assert not results(server)[0]["ok"] and (user.work / "build").is_dir()


def test_ctrl_c_denies_and_stops_the_turn(user: Installation, server: ModelServer) -> None:
    command(server, "rm -r build")
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "go")
        armed(terminal)
        terminal.type("\x03")
        terminal.wait_gone("Run this command?")
        assert (user.work / "build").is_dir() and len(server.requests) == 1
