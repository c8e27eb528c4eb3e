"""How the program ends: quits, signals, faults, a terminal that is gone. It leaves a sane terminal and no children."""

from __future__ import annotations

import json
import re
import signal
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation, idle, ready, say
from support.terminal import CRASHING, Terminal, wait_until

pytestmark = pytest.mark.e2e

SLEEPERS = Call(name="terminal", args={"command": "echo up-$((40+2)); sleep 600 & sleep 601"})

SERVER = Call(name="terminal", args={"command": "echo serving; sleep 602", "background": True})


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    turns = [
        Turn(match="greet", text="Hello there."),
        Turn(match="sleep", tool_calls=(SLEEPERS,)),
        Turn(match="serve", tool_calls=(SERVER,)),
        Turn(match="story", tokens=4000, rate=50),
        Turn(match="flood", tokens=40_000),
    ]
    with ModelServer(turns) as server:
        yield server


def start_sleepers(terminal: Terminal) -> Sequence[psutil.Process]:
    """Have the model run a command with children, and return them once they are there."""
    say(terminal, "sleep a while")
    terminal.wait_for("up-42")
    wait_until(lambda: sum("sleep" in child.name() for child in terminal.children) == 2, "both sleepers")
    return terminal.children


def stored_text(user: Installation) -> str:
    """The only session, as printed."""
    (row,) = json.loads(user.run("sessions", "list", "--json").stdout)
    return user.run("sessions", "show", row["id"]).stdout


def wait_all_gone(processes: Sequence[psutil.Process]) -> None:
    wait_until(lambda: not [p for p in processes if p.is_running() and p.status() != "zombie"], "children ended", 5)


def test_leaving_prints_the_command_that_goes_on_and_it_works(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        say(terminal, "greet me")
        terminal.wait_for("Hello there.")
        idle(terminal).type("\x04")
        assert terminal.wait_exit() == 0
        assert terminal.is_sane()
        found = re.fullmatch(r"To go on: hermes-tui (-r \S+)\s*", terminal.left_behind)
    assert found, terminal.left_behind
    with user.start(*found[1].split()) as terminal:
        terminal.wait(lambda text: "greet me" in text and "Hello there." in text and "Resumed" in text)


def test_leaving_while_a_command_runs_asks_first_and_then_ends_it(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        children = start_sleepers(terminal)
        terminal.type("\x04")
        terminal.wait_for("A turn is running.")
        terminal.type("n")
        terminal.wait_gone("A turn is running.")
        terminal.type("\x04")
        terminal.wait_for("A turn is running.")
        terminal.type("y")
        assert terminal.wait_exit(5) == 0
        assert terminal.is_sane()
        wait_all_gone(children)


def test_a_child_that_is_killed_is_one_failed_call(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        ready(terminal)
        for child in start_sleepers(terminal):
            child.kill()
        idle(terminal).wait_for("ok")
        assert '"exit_code": 137' in server.last_message()
        say(terminal, "greet me")
        idle(terminal).wait_for("Hello there.")


def test_the_terminate_signal_saves_and_leaves_a_sane_terminal(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        children = start_sleepers(terminal)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_exit(5) == 0
        assert terminal.is_sane()
        assert "To go on: hermes-tui -r" in terminal.left_behind
        wait_all_gone(children)
    shown = stored_text(user)
    assert "--- user\nsleep a while" in shown and "up-42" in shown and "[interrupted]" in shown


@pytest.mark.parametrize("how", ["hang up", "SIGHUP"])
def test_a_lost_terminal_ends_the_program_within_three_seconds(user: Installation, how: str) -> None:
    with user.start() as terminal:
        ready(terminal)
        children = start_sleepers(terminal)
        if how == "hang up":
            terminal.hang_up()
        else:
            terminal.process.send_signal(signal.SIGHUP)
        assert terminal.wait_exit(3) == 129
        wait_all_gone(children)
    assert "sleep a while" in stored_text(user)


@pytest.mark.parametrize("speed", ["story", "flood"])
def test_a_terminal_lost_while_text_streams_ends_the_program(
    user: Installation, server: ModelServer, speed: str
) -> None:
    count = len(server.requests)
    with user.start(size=(200, 60)) as terminal:
        ready(terminal)
        say(terminal, f"a {speed}")
        terminal.wait_for("writing")
        terminal.hang_up()
        assert terminal.wait_exit(3) == 129
    server.requests[count].done.wait(10)
    assert f"--- user\na {speed}\n--- assistant\n" in stored_text(user)


@pytest.mark.parametrize("place", ["timer", "worker", "engine", "compose", "paint"])
def test_a_fault_leaves_a_sane_terminal_one_line_and_a_private_log(user: Installation, place: str) -> None:
    command = [sys.executable, str(CRASHING), place, str(user.home)]
    with Terminal(command, env=user.environment, cwd=user.work) as terminal:
        assert terminal.wait_exit() == 1
        assert terminal.is_sane()
        first, second = terminal.left_behind.splitlines()
    assert first == "hermes-tui stopped on an internal error: RuntimeError: a [red] fault [/]"
    log = Path(second.removeprefix("Details: "))
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "in crash\n" in log.read_text() and "RuntimeError: a [red] fault [/]" in log.read_text()


def test_a_fault_while_a_command_runs_ends_its_processes(user: Installation) -> None:
    command = [sys.executable, str(CRASHING), "later", str(user.work)]
    with Terminal(command, env=user.environment, cwd=user.work) as terminal:
        ready(terminal)
        children = start_sleepers(terminal)
        (user.work / "now").touch()
        assert terminal.wait_exit(5) == 1
        assert terminal.is_sane()
        wait_all_gone(children)
    assert "[interrupted]" in stored_text(user)


def start_job(terminal: Terminal) -> Sequence[psutil.Process]:
    """Have the model start a background job, and return its processes once the turn is over."""
    say(terminal, "serve the site")
    terminal.wait_for("[1 job]")
    idle(terminal).wait_for("ok")
    idle(terminal)
    wait_until(lambda: any(child.name() == "sleep" for child in terminal.children), "the job's process")
    return terminal.children


def test_leaving_while_a_job_runs_asks_first_and_then_ends_it(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        children = start_job(terminal)
        terminal.type("\x04")
        terminal.wait_for("1 background job is running and ends with this session.")
        terminal.type("n")
        terminal.wait_gone("is running and ends with")
        terminal.type("\x04")
        terminal.wait_for("is running and ends with")
        terminal.type("y")
        assert terminal.wait_exit(5) == 0
        assert terminal.is_sane()
        wait_all_gone(children)


def test_a_lost_terminal_ends_jobs(user: Installation) -> None:
    with user.start() as terminal:
        ready(terminal)
        children = start_job(terminal)
        terminal.process.send_signal(signal.SIGHUP)
        terminal.wait_exit(5)
        wait_all_gone(children)
