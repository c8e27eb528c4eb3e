"""``hermes-tui run`` in the real program: answers, exit codes, events, approvals, interrupts."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import Call, ModelServer, Turn
from support.processes import is_running, pid_in, wait_for
from support.program import Installation, nowhere

pytestmark = pytest.mark.e2e

UNKNOWN_MODEL = '{"error": {"message": "model not found", "code": "model_not_found"}}'
GATEWAY_PAGE = "<html><body><h1>502 Bad Gateway</h1></body></html>"


SERVER = Call(name="terminal", args={"command": "echo $$ > pid; exec sleep 603", "background": True})


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    turns = [
        Turn(match="greet", text="Hello there."),
        Turn(match="wrong key", status=401),
        Turn(match="no such model", status=404, body=UNKNOWN_MODEL),
        Turn(match="gateway", status=502, body=GATEWAY_PAGE, headers={"retry-after": "0"}),
        Turn(match="serve", tool_calls=(SERVER,)),
        Turn(match="long story", tokens=4000, rate=50),
    ]
    with ModelServer(turns) as server:
        yield server


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Installation:
    return Installation(tmp_path_factory.mktemp("run"), server.base_url)


def is_clean(text: str) -> bool:
    return "Traceback" not in text and "Exception" not in text and "SECRET" not in text


def test_the_answer_is_all_that_goes_to_standard_output(user: Installation) -> None:
    done = user.run("run", "-", input="greet me\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello there.\n", "")


def test_jobs_end_with_the_run_and_both_sides_are_told(user: Installation, server: ModelServer) -> None:
    done = user.run("run", "serve it")
    assert done.returncode == 0
    assert "job 1 ended with the run: echo $$ > pid; exec sleep 603" in done.stderr
    assert "It ends when this run ends" in server.last_message()
    pid = pid_in(user.work / "pid")
    wait_for(lambda: not is_running(pid), "the job outlived the run")


def test_the_list_of_sessions_says_how_each_ended(user: Installation) -> None:
    for prompt, ended in (("greet me once more", "closed"), ("wrong key", "error")):
        user.run("run", prompt)
        newest = json.loads(user.run("sessions", "list", "--json", "-n", "1").stdout)[0]
        assert (newest["title"], newest["end_reason"], newest["open_elsewhere"]) == (prompt, ended, False)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["run", "wrong key"], 4, ["401", "config.toml"]),
        (["run", "no such model"], 4, ["local", "test-model", "/model"]),
        (["run", "gateway"], 4, ["502", "HTML"]),
        (["run", "-m", "openai/gpt-5-mini", "hi"], 4, ["no key for OpenAI", "OPENAI_API_KEY"]),
        (["run", "-m", "nowhere/x", "hi"], 3, ["nowhere/x", "provider/model"]),
        (["run", "-r", "nosuch", "hi"], 1, ["nosuch", "sessions list"]),
        (["run", "--bogus", "hi"], 2, ["--bogus", "hermes-tui run --help"]),
        (["run", "--max-turns", "abc", "hi"], 2, ["--max-turns", "abc"]),
        (["run"], 2, ["PROMPT"]),
        (["run", "-"], 2, ["the prompt is empty"]),
        (["--bogus"], 2, ["--bogus", "hermes-tui --help"]),
        (["hi", "there"], 2, ["there"]),
        ([], 2, ["needs a terminal", "hermes-tui run"]),
    ],
)
def test_what_goes_wrong_is_said_in_words_with_its_exit_code(
    user: Installation, args: list[str], code: int, words: list[str]
) -> None:
    done = user.run(*args)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert is_clean(done.stderr)
    assert not [word for word in words if word not in done.stderr], done.stderr
    assert done.stderr.count("came from") <= 1


def test_an_endpoint_where_nothing_listens_is_named(tmp_path: Path) -> None:
    with nowhere() as url:
        done = Installation(tmp_path, url).run("run", "hi")
    assert done.returncode == 4
    assert f"Cannot reach {url}" in done.stderr and "base_url" in done.stderr
    assert is_clean(done.stderr)


def test_json_is_one_event_a_line_and_the_result_comes_last(user: Installation) -> None:
    done = user.run("run", "--json", "greet")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["type"] == "turn_started"
    assert {"text_delta", "message_committed", "usage_updated"} <= {event["type"] for event in events}
    assert events[-1]["type"] == "turn_finished"
    assert events[-1]["result"]["final_response"] == "Hello there."
    assert [event["seq"] for event in events] == sorted(event["seq"] for event in events)
    assert done.stderr == ""


def test_a_failed_turn_ends_its_json_with_the_result_too(user: Installation) -> None:
    done = user.run("run", "--json", "wrong key")
    last = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, last["type"], last["exit_reason"]) == (4, "turn_finished", "error")
    assert last["result"]["completed"] is False and "401" in last["result"]["errors"][0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_turn_and_keeps_what_came(
    user: Installation, server: ModelServer, number: signal.Signals
) -> None:
    count = len(server.requests)
    process = user.begin("run", "a long story")
    server.wait_request(count + 1).sent.wait(10)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert is_clean(err)
    server.requests[count].wait_gone()
    shown = json.loads(user.run("sessions", "list", "--json", "-n", "1").stdout)[0]
    assert (shown["title"].split(" #")[0], shown["message_count"]) == ("a long story", 2)


def test_a_reader_that_leaves_ends_the_turn(user: Installation, server: ModelServer) -> None:
    count = len(server.requests)
    process = user.begin("run", "a long story")
    server.wait_request(count + 1).sent.wait(10)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(20) == 0
    assert is_clean(process.stderr.read())
    server.requests[count].wait_gone()


@pytest.mark.parametrize("args", [["sessions", "list"], ["config", "show"], ["gate", "explain", "ls"], ["--help"]])
def test_a_closed_pipe_is_no_error(user: Installation, args: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as closed:
        process = user.begin(*args, stdout=closed)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize(
    ("approve", "commands"),
    [
        ("never", {"echo harmless": True, "touch build/new": False}),
        ("rules", {"touch build/new": True, "rm -r build": False}),
        ("all", {"rm -r build": True, 'rm -rf "$HOME"': False}),
    ],
)
def test_nobody_is_asked_so_what_would_be_asked_is_denied(
    user: Installation, server: ModelServer, approve: str, commands: dict[str, bool]
) -> None:
    build = user.work / "build"
    build.mkdir(exist_ok=True)
    calls = [{"name": "terminal", "args": {"command": command}} for command in commands]
    done = user.run("run", "--approve", approve, f"<<{json.dumps({'tool_calls': calls})}>>")
    results = [json.loads(message["content"]) for message in server.requests[-1].body["messages"][-2:]]
    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert [result["ok"] for result in results] == list(commands.values())
    assert build.exists() is (approve != "all") and user.home.exists()
    assert all(result["error"] for result in results if not result["ok"])
