"""sessions, gate, models, config and doctor in the real program."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator

import pytest
from support.model_server import ModelServer, Turn
from support.program import Installation

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer([Turn(match="bird", text="The wandering albatross, 信天翁.")]) as server:
        yield server


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Installation:
    user = Installation(tmp_path_factory.mktemp("commands"), server.base_url)
    assert user.run("run", "the largest bird?").returncode == 0
    assert user.run("run", "something else").returncode == 0
    return user


def test_sessions_are_listed_searched_shown_exported_renamed_and_deleted(user: Installation) -> None:
    rows = json.loads(user.run("sessions", "list", "--json").stdout)
    assert [row["title"] for row in rows] == ["something else", "the largest bird?"]
    bird = rows[1]["id"]
    assert bird in user.run("sessions", "list").stdout

    hits = json.loads(user.run("sessions", "search", "信天翁", "--json").stdout)["hits"]
    assert [hit["session"]["id"] for hit in hits] == [bird]
    assert "[albatross]" in user.run("sessions", "search", "albatross").stdout
    assert user.run("sessions", "search", "--here", "nowhere-said").stdout == "Nothing found.\n"

    shown = user.run("sessions", "show", "the largest bird?").stdout
    assert "--- user\nthe largest bird?" in shown and "--- assistant\nThe wandering albatross" in shown
    messages = json.loads(user.run("sessions", "show", bird, "--json").stdout)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]

    assert "albatross" in user.run("sessions", "export", bird).stdout
    target = user.work / "bird.json"
    assert user.run("sessions", "export", bird, "--format", "json", "-o", str(target)).returncode == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600 and "albatross" in target.read_text("utf-8")
    again = user.run("sessions", "export", bird, "-o", str(target))
    assert again.returncode == 1 and "exists" in again.stderr

    assert user.run("sessions", "rename", bird, "Birds").stdout == "Now called: Birds\n"
    refused = user.run("sessions", "delete", "Birds")
    assert refused.returncode == 2 and "--yes" in refused.stderr
    assert user.run("sessions", "delete", "Birds", "--yes", "--json").stdout == f'{{\n  "deleted": "{bird}"\n}}\n'
    assert len(json.loads(user.run("sessions", "list", "--json").stdout)) == 1

    assert json.loads(user.run("sessions", "stats", "--json").stdout)["sessions"] == 1
    assert "1 session" in user.run("sessions", "stats").stdout
    assert json.loads(user.run("sessions", "check", "--json").stdout)["ok"] is True
    assert user.run("sessions", "check").returncode == 0


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["sessions"], 2, ["COMMAND", "--help"]),
        (["sessions", "lst"], 2, ["lst", "list"]),
        (["sessions", "show", "nosuch"], 1, ["nosuch", "sessions list"]),
        (["sessions", "list", "-n", "many"], 2, ["many"]),
        (["sessions", "export", "nosuch", "--format", "pdf"], 2, ["pdf", "md"]),
        (["config", "get", "agent.max_trns"], 3, ["agent.max_trns", "config show"]),
        (["config", "get"], 2, ["needs a key"]),
        (["config", "set", "agent.max_turns", "abc"], 3, ["agent.max_turns", "abc"]),
        (["config", "set", "modle", "x"], 3, ["modle", "model"]),
        (["gate"], 2, ["gate explain"]),
        (["gate", "explain"], 2, ["--stdin"]),
        (["models", "--bogus"], 2, ["--bogus"]),
    ],
)
def test_wrong_words_are_told_with_their_exit_code(
    user: Installation, args: list[str], code: int, words: list[str]
) -> None:
    done = user.run(*args)
    assert (done.returncode, done.stdout) == (code, "")
    assert "Traceback" not in done.stderr
    assert not [word for word in words if word not in done.stderr], done.stderr


def test_settings_are_shown_with_their_origin_and_set_with_a_backup(user: Installation) -> None:
    config = user.home / "hermes" / "config.toml"
    before = config.read_text()
    assert user.run("config", "path").stdout == f"{config}\n"
    assert user.run("config", "get", "agent.max_turns").stdout == "90\n"
    written = user.run("config", "set", "agent.max_turns", "7").stdout
    assert str(config) in written and "config.toml.bak" in written
    assert config.with_name("config.toml.bak").read_text() == before
    assert user.run("config", "get", "agent.max_turns").stdout == "7\n"
    shown = json.loads(user.run("config", "show", "--json", env={"HERMES_TUI_UI_THEME": "hermes-light"}).stdout)
    line = config.read_text().splitlines().index("max_turns = 7") + 1
    assert shown["agent.max_turns"] == {"value": 7, "from": f"config.toml:{line}"}
    assert shown["ui.theme"] == {"value": "hermes-light", "from": "HERMES_TUI_UI_THEME"}
    assert "SECRET" not in user.run("config", "show").stdout


def test_the_gate_explains_one_command_and_a_stream_with_the_users_rules(user: Installation) -> None:
    assert json.loads(user.run("gate", "explain", "rm -rf x", "--json").stdout)["verdict"] == "ask"
    (user.home / "hermes" / "settings.toml").write_text('[approvals]\nallow = ["rm -rf x"]\n')
    requests = "".join(
        json.dumps({"id": str(number), "command": command, "cwd": str(user.work)}) + "\n"
        for number, command in enumerate(("ls", "rm -rf x", "rm -rf y", "rm -rf /"))
    )
    done = user.run("gate", "explain", "--json", "--stdin", input=requests)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(answer["id"], answer["verdict"]) for answer in answers] == [
        ("0", "allow"),
        ("1", "allow"),
        ("2", "ask"),
        ("3", "never"),
    ]
    broken = user.run("gate", "explain", "--json", "--stdin", input="rm -rf /\n")
    assert broken.returncode == 3 and "Line 1" in broken.stderr


def test_models_and_doctor_see_the_server(user: Installation) -> None:
    models = json.loads(user.run("models", "--json").stdout)
    assert "local/fake-model" in [row["id"] for row in models if row["usable"]]
    assert "local/fake-model" in user.run("models").stdout
    findings = {row["name"]: row for row in json.loads(user.run("doctor", "--json").stdout)}
    assert (findings["web pages"]["level"], findings["web search"]["level"]) == ("ok", "ok")
    assert findings["providers"]["text"] == "ready: local"
    assert findings["model"]["text"] == "local/test-model"
    plain = user.run("doctor")
    assert plain.returncode == 0 and "ok  model: local/test-model" in plain.stdout
    assert "SECRET" not in plain.stdout
