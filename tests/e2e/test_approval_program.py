"""The approval dialog's hard cases, with real keys through a real terminal."""

from __future__ import annotations

import json
import re
import time
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


def test_a_message_that_is_being_typed_never_answers_and_arrives_whole(user: Installation, server: ModelServer) -> None:
    call = Call(name="terminal", args={"command": "rm -r build"})
    server.add(Turn(match="go", first_delay_s=0.3, tool_calls=(call,)), Turn(text="All done."))
    text = "1 yes please add 2 apples and 3 pears, then answer 1 2 3 " * 4
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "go")
        for letter in text:  # as fast as a person at 20 keys a second
            terminal.type(letter)
            time.sleep(0.02)
        armed(terminal)
        assert (user.work / "build").is_dir()
        press(terminal, "4")
        terminal.wait_for("All done.")
        shown = re.sub(r"[\s\u2502\u276f]", "", terminal.text)
        assert re.sub(r"\s", "", text) in shown
    assert not results(server)[0]["ok"]


def subagents(server: ModelServer, **commands: str) -> None:
    """Let the model start an agent for each command, which runs it."""
    goals = [{"goal": f"look after {name}"} for name in commands]
    args = {"tasks": goals} if len(goals) > 1 else goals[0]
    server.add(
        Turn(match="begin", tool_calls=(Call(name="delegate_task", args=args),)),
        *(
            Turn(match=f"look after {name}", tool_calls=(Call(name="terminal", args={"command": command}),))
            for name, command in commands.items()
        ),
        Turn(text="All done.", times=len(commands) + 1),
    )


def test_a_subagents_question_is_named_and_its_answer_reaches_it(user: Installation, server: ModelServer) -> None:
    subagents(server, one="rm -r build")
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "begin")
        armed(terminal)
        assert "subagent 1 look after one" in terminal.text
        press(terminal, "1")
        terminal.wait(lambda text: "Run this command?" not in text and "All done." in text, "the end of the turn")
        assert not (user.work / "build").exists()
        say(terminal, "/new ")
        ready(terminal)


def test_ctrl_c_over_a_subagents_question_stops_all_of_it(user: Installation, server: ModelServer) -> None:
    subagents(server, one="rm -r build")
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "begin")
        armed(terminal)
        terminal.type("\x03")
        terminal.wait(lambda text: "Run this command?" not in text and "esc interrupts" not in text, "the turn's end")
        assert (user.work / "build").is_dir()


def test_three_subagents_ask_at_once_and_each_answer_reaches_its_own(user: Installation, server: ModelServer) -> None:
    names = ("one", "two", "three")
    for name in names:
        (user.work / name).mkdir()
    subagents(server, **{name: f"rm -r {name}" for name in names})
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "begin")
        for left in (3, 2, 1):
            armed(terminal)
            if left > 1:
                terminal.wait_for(f"1 of {left}")
            shown = terminal.wait(lambda text: re.search(r"rm -r (one|two|three)", text), "the command")
            match = re.search(r"rm -r (one|two|three)", shown)
            assert match and f"look after {match[1]}" in shown
            press_next(terminal, "4" if match[1] == "two" else "1", match[0])
        terminal.wait_for("All done.")
    assert [(user.work / name).exists() for name in names] == [False, True, False]


def press_next(terminal: Terminal, key: str, shown: str) -> None:
    """Press an answer key until its question is gone; another one may follow at once."""
    terminal.type(key)
    while shown in terminal.wait(lambda text: shown not in text or "\u25cb wait" in text, "the key to count"):
        if "Run this command?" not in terminal.text or shown not in armed(terminal).text:
            return
        terminal.type(key)


@pytest.mark.parametrize("size", [(100, 30), (40, 12)])
def test_a_long_heredoc_says_how_much_is_hidden_and_is_read_to_its_end(
    size: tuple[int, int], user: Installation, server: ModelServer
) -> None:
    lines = "\n".join(f"line {number}" for number in range(60))
    command(server, f"cat > notes.md <<'E'\n{lines}\nE\nrm -r build")
    with user.start(size=size) as terminal:
        terminal.wait(lambda text: "\u276f" in text, "the prompt")
        say(terminal, "go")
        armed(terminal)
        terminal.wait(lambda text: re.search(r"\d+ more below", text), "how much is hidden")
        terminal.type("\x1b[F")  # End
        terminal.wait(lambda text: "above" in text and "tracked" in text, "the end of what is shown")
        press(terminal, "4")
        terminal.wait(lambda text: "done." in text, "the answer", 10)


def test_a_script_is_shown_whole_its_calls_ask_and_esc_ends_it(user: Installation, server: ModelServer) -> None:
    code = (
        "import subprocess\n"
        "print(terminal('rm -r build')['denied_by'], flush=True)\n"
        "child = subprocess.Popen(['sleep', '1000'])\n"
        "open('child', 'w').write(str(child.pid))\n"
        "child.wait()\n"
    )
    server.add(Turn(match="go", tool_calls=(Call(name="execute_code", args={"code": code}),)), Turn(text="All done."))
    with user.start(size=(100, 34)) as terminal:
        say(ready(terminal), "go")
        text = terminal.wait(lambda text: "Run this Python script?" in text and "\u25cf ready" in text, "the script")
        assert "imports subprocess" in text
        assert "child.wait()" in text
        press(terminal, "1")
        text = terminal.wait(lambda text: "Run this command?" in text and "\u25cf ready" in text, "its call")
        assert "called by a script of execute_code" in text
        press(terminal, "4")
        terminal.wait_for("terminal rm -r build: denied")
        child = user.work / "child"
        terminal.wait(lambda text: child.exists() and child.read_text() != "", "the child")
        terminal.type("\x1b")
        terminal.wait_for("interrupted")
        stat = Path(f"/proc/{child.read_text()}/stat")
        terminal.wait(lambda text: not stat.exists() or " Z " in stat.read_text(), "the end of the child")
    assert (user.work / "build").is_dir()
