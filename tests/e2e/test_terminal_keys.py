"""What a terminal does to a program: ctrl+z, ctrl+c, sizes and resize storms, the wheel, sleep and wake."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator, Sequence

import psutil
import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation, idle, ready, say
from support.terminal import Terminal, wait_until

pytestmark = pytest.mark.e2e

WHEEL_UP, WHEEL_DOWN = "\x1b[<64;10;10M", "\x1b[<65;10;10M"
CTRL_C, CTRL_Z = "\x03", "\x1a"
TABLE = ("| n | value |\n|---|---|\n", *(f"| {n:03} | some text {n:03} |\n" for n in range(60)))
SLEEPERS = Call(name="terminal", args={"command": "echo up-$((40+2)); sleep 600 & sleep 601"})
REMOVAL = Call(name="terminal", args={"command": "rm -r build"})


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    turns = [
        Turn(match="greet", text="Hello there."),
        Turn(match="sleep", tool_calls=(SLEEPERS,)),
        Turn(match="story", tokens=4000, rate=50),
        Turn(match="count", text=" ".join(f"word-{n}" for n in range(60)), rate=30),
        Turn(match="lines", text="\n\n".join(f"line number {n}" for n in range(100))),
        Turn(match="remove", pieces=TABLE, rate=60, tool_calls=(REMOVAL,)),
    ]
    with ModelServer(turns) as server:
        yield server


def are_alive(processes: Sequence[psutil.Process]) -> bool:
    return all(process.is_running() and process.status() != "zombie" for process in processes)


def sleepers(terminal: Terminal) -> list[psutil.Process]:
    return [child for child in terminal.children if "sleep" in child.name()]


def test_ctrl_c_clears_the_draft_then_stops_what_runs_then_leaves(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "sleep a while")
        terminal.wait_for("up-42")
        wait_until(lambda: len(sleepers(terminal)) == 2, "both sleepers")
        running = sleepers(terminal)
        terminal.type("a draft")
        terminal.wait_for("❯ a draft")
        terminal.type(CTRL_C)
        terminal.wait_gone("a draft")
        assert are_alive(running)
        terminal.type(CTRL_C)
        terminal.wait(lambda text: "Interrupted" in text and "again to leave" in text)
        wait_until(lambda: not any(map(are_alive, ([process] for process in running))), "the tree gone")
        terminal.type(CTRL_C)
        assert terminal.wait_exit(5) == 0
        assert terminal.is_sane()


def test_ctrl_c_in_a_dialog_stops_the_turn_and_twice_but_slowly_does_not_leave(user: Installation) -> None:
    (user.work / "build").mkdir()
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "remove it")
        terminal.wait(lambda text: "Run this command?" in text and "● ready" in text, "an armed dialog")
        terminal.type(CTRL_C)
        terminal.wait(lambda text: "Run this command?" not in text and "Interrupted" in text)
        assert (user.work / "build").is_dir()
        terminal.type(CTRL_C)
        terminal.wait_for("again to leave")
        terminal.wait_gone("again to leave")  # the announcement outlives the two seconds in which it holds
        terminal.type(CTRL_C)
        terminal.wait_for("again to leave")
        assert terminal.process.poll() is None


def test_ctrl_z_stops_the_program_and_after_a_resize_it_comes_back_whole(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "count slowly")
        terminal.wait_for("word-3")
        terminal.type(CTRL_Z)
        program = psutil.Process(terminal.process.pid)
        wait_until(lambda: program.status() == "stopped", "a stopped program")
        wait_until(terminal.is_sane, "a terminal given back")
        terminal.screen.reset()
        terminal.resize(80, 24)
        terminal.process.send_signal(signal.SIGCONT)
        text = terminal.wait_for("word-59")
        assert "count slowly" in text and "word-30" in text
        idle(terminal).type("typing works")
        terminal.wait_for("❯ typing works")


def test_a_program_that_slept_in_the_middle_of_a_stream_goes_on(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "count slowly")
        terminal.wait_for("word-3")
        terminal.process.send_signal(signal.SIGSTOP)
        program = psutil.Process(terminal.process.pid)
        wait_until(lambda: program.status() == "stopped", "a stopped program")
        terminal.process.send_signal(signal.SIGCONT)
        text = idle(terminal).wait_for("word-59")
        assert "Interrupted" not in text and "error" not in text and "-0" not in text.splitlines()[-1]
        terminal.type("\x04")
        assert terminal.wait_exit(5) == 0
        assert terminal.is_sane()


@pytest.mark.parametrize("size", [(12, 4), (1, 1), (0, 0)])
def test_a_window_without_room_says_so_and_grows_up_unharmed(user: Installation, size: tuple[int, int]) -> None:
    with user.start(size=size) as terminal:
        if size == (12, 4):
            terminal.wait(lambda text: "too small" in " ".join(text.split()), "the notice")
        terminal.resize(100, 30)
        ready(terminal)
        say(terminal, "greet me")
        terminal.wait_for("Hello there.")
        terminal.resize(*size)
        terminal.type("blind")
        terminal.resize(80, 24)
        terminal.wait(lambda text: "❯ blind" in text and "Hello there." in text)


def test_a_storm_of_resizes_while_a_table_streams_and_an_approval_waits(
    user: Installation, server: ModelServer
) -> None:
    (user.work / "build").mkdir()
    dice = random.Random(7)
    count = len(server.requests)
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "remove it")
        terminal.wait_for("some text 003")
        changes = 0
        while not server.requests[count].done.wait(0.005) or changes < 200:
            terminal.resize(dice.randint(1, 140), dice.randint(1, 50))
            changes += 1
        terminal.resize(100, 30)
        terminal.wait_for("● ready")
        for _ in range(50):
            terminal.resize(dice.randint(1, 140), dice.randint(1, 50))
        terminal.resize(40, 12)
        terminal.wait(lambda text: "● ready" in text and "1 once" in text and "4 deny" in text, "the answers")
        terminal.type("4")
        terminal.wait_gone("● ready")
        terminal.resize(100, 30)
        text = idle(terminal).wait_for("denied")
        assert "059 │ some text 059" in text
        assert (user.work / "build").is_dir()


def test_the_wheel_scrolls_the_transcript_and_leaves_the_draft_alone(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "some lines")
        idle(terminal).wait_for("line number 99")
        terminal.type("a draft")
        terminal.wait_for("❯ a draft")
        terminal.type(WHEEL_UP * 5)
        text = terminal.wait_gone("line number 99")
        assert "❯ a draft" in text and "end" in text
        terminal.type(WHEEL_DOWN * 40)
        assert "❯ a draft" in terminal.wait_for("line number 99")
