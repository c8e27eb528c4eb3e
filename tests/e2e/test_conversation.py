"""The main road: chat, tools, approvals, interrupts, queue, resume, in the real program."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation, ready, say

pytestmark = pytest.mark.e2e


def test_an_answer_streams_with_its_reasoning_and_is_stored(user: Installation, server: ModelServer) -> None:
    server.add(
        Turn(match="flaky", reasoning="It may be a race.", text="The failure is a **race**.\n\n- first\n- second")
    )
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "why is test_sync flaky?")
        text = terminal.wait(lambda text: "The failure is a race." in text and "second" in text)
        assert "thought" in text
        assert "**" not in text
        terminal.wait_for("64k")
    rows = (
        sqlite3.connect(user.home / "hermes" / "state.db").execute("SELECT role FROM messages ORDER BY id").fetchall()
    )
    assert rows == [("user",), ("assistant",)]


def test_a_command_runs_live_in_its_card(user: Installation, server: ModelServer) -> None:
    call = Call(name="terminal", args={"command": "echo marker-$((40+2)); sleep 0.1"})
    server.add(Turn(match="run", tool_calls=(call,)), Turn(text="It printed the marker."))
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "run it")
        terminal.wait_for("It printed the marker.")
        assert "terminal" in terminal.text
        result = server.requests[-1].body["messages"][-1]
        assert result["role"] == "tool"
        assert "marker-42" in result["content"]


def test_a_dangerous_command_waits_for_a_person_and_denial_reaches_the_model(
    user: Installation, server: ModelServer
) -> None:
    (user.work / "build").mkdir()
    call = Call(name="terminal", args={"command": "rm -rf build"})
    server.add(Turn(match="clean", tool_calls=(call,)), Turn(text="I left it alone."))
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "clean up")
        terminal.wait_for("ready")
        assert "rm -rf build" in terminal.text
        terminal.type("4")
        terminal.wait_for("I left it alone.")
        assert "denied" in terminal.text
        assert (user.work / "build").is_dir()
        assert "refused" in server.last_message()


def test_keys_typed_before_the_dialog_is_armed_go_on_into_the_draft(user: Installation, server: ModelServer) -> None:
    call = Call(name="terminal", args={"command": "rm -rf build"})
    server.add(Turn(match="clean", first_delay_s=0.3, tool_calls=(call,)))
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "clean up")
        terminal.type("1 ")
        terminal.wait_for("Run this command?")
        terminal.type("114")
        terminal.wait_for("ready")
        assert len(server.requests) == 1
        terminal.type("\x1b")
        terminal.wait_gone("Run this command?")
        terminal.wait(lambda text: "❯ 1 114" in text, "the draft")


def test_escape_closes_the_connection_and_keeps_what_came(user: Installation, server: ModelServer) -> None:
    server.add(Turn(match="long", tokens=4000, rate=50), Turn(text="On we go."))
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "a long story")
        server.wait_request().sent.wait(10)
        terminal.wait_for("writing")
        terminal.type("my draft")
        terminal.type("\x1b")
        server.requests[0].wait_gone()
        terminal.wait_for("Interrupted")
        assert "my draft" in terminal.text
        terminal.type("\x03")
        say(terminal, "go on")
        terminal.wait_for("On we go.")
        roles = [message["role"] for message in server.requests[1].body["messages"]]
        assert roles == ["system", "user", "assistant", "user"]


def test_messages_queue_while_a_turn_runs(user: Installation, server: ModelServer) -> None:
    server.add(Turn(match="first", text="one " * 30, rate=12), Turn(match="second", text="The second answer."))
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "first")
        terminal.wait_for("one one")
        say(terminal, "second")
        terminal.wait_for("1 queued")
        terminal.wait_for("The second answer.")
        terminal.wait_gone("queued")


def test_kill_nine_while_streaming_loses_nothing_that_was_committed(user: Installation, server: ModelServer) -> None:
    call = Call(name="terminal", args={"command": "echo kept-result"})
    server.add(
        Turn(match="start", tool_calls=(call,)),
        Turn(text="never finished " * 200, rate=20),
        Turn(match="still", text="Yes, all of it."),
    )
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "start work")
        terminal.wait_for("never finished")
        terminal.process.kill()
        terminal.wait_exit()
    with user.start("--continue") as terminal:
        terminal.wait_for("start work")
        terminal.wait_for("Resumed")
        say(terminal, "still there?")
        terminal.wait_for("Yes, all of it.")
        sent = server.requests[-1].body["messages"]
        assert [message["role"] for message in sent][:4] == ["system", "user", "assistant", "tool"]
        assert "kept-result" in sent[3]["content"]
        assert sent[-1] == {"role": "user", "content": "still there?"}


def test_a_session_is_found_by_a_word_it_said_and_resumed(user: Installation, server: ModelServer) -> None:
    server.add(Turn(match="bird", text="The wandering albatross."), Turn(match="again", text="Still the albatross."))
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "largest bird?")
        terminal.wait_for("The wandering albatross.")
        terminal.wait_for("ctrl+r sessions")  # the turn is over, its last row stored
    with user.start() as terminal:
        ready(terminal)
        terminal.type("\x12")  # ctrl+r
        terminal.wait_for("largest bird?")
        terminal.type("albatross")
        terminal.wait(lambda text: text.count("albatross") >= 2, "a hit")
        terminal.type("\r")
        terminal.wait_for("Resumed")
        say(terminal, "again?")
        terminal.wait_for("Still the albatross.")
        assert [m["role"] for m in server.requests[-1].body["messages"]] == ["system", "user", "assistant", "user"]


def test_model_and_user_text_is_literal_and_escapes_are_inert(user: Installation, server: ModelServer) -> None:
    server.add(Turn(match="[/]", text="Use [/b] and [/INST] or arr[a=b: here \x1b]0;pwned\x07\x1b[2Jafter"))
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "[/] what?")
        terminal.wait_for("Use [/b] and [/INST] or arr[a=b: here")
        terminal.wait_for("after")
        assert "[/] what?" in terminal.text
        assert terminal.screen.title != "pwned"


def test_the_hardware_cursor_is_at_the_caret(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        terminal.type("漢字x")
        terminal.wait_for("x")
        row = next(n for n, line in enumerate(terminal.screen.display) if "❯" in line)
        start = terminal.screen.display[row].index("❯") + 2
        terminal.wait(lambda text: terminal.cursor == (start + 5, row), "the cursor behind the text")


def test_keys_of_one_burst_act_in_the_order_of_typing(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        terminal.type("abcdef\x7f\x7fXY\x1b[D\x1b[Dq")  # two backspaces, two times left
        terminal.wait_for("abcdqXY")
        terminal.type("\x03fresh text\x12alba")  # clear, type, open the sessions, search
        terminal.wait_for("› alba")
        terminal.type("\x1b")  # empties the search
        terminal.wait_gone("› alba")
        terminal.type("\x1b")
        terminal.wait_for("❯ fresh text")


def test_the_demo_runs_to_its_end_without_a_model(tmp_path: Path) -> None:
    user = Installation(tmp_path)
    with user.start("--demo", size=(110, 40)) as terminal:
        ready(terminal)
        assert "demo" in terminal.text
        say(terminal, "show me")
        terminal.wait_for("Answer anything")
        terminal.wait_gone("interrupts")
        say(terminal, "clean up")
        terminal.wait(lambda text: "A question for you" in text and "ready" in text, "a question")
        terminal.type("1")
        terminal.wait(lambda text: "Run this command?" in text and "ready" in text, "an approval")
        terminal.type("1")
        terminal.wait(lambda text: "real model" in text and "interrupts" not in text, "the end of the demo")
        assert "allowed once" in terminal.text
