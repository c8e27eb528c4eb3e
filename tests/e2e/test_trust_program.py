"""Trust as a person meets it: the program in a terminal, a project with instructions, a model on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import ModelServer, Turn
from support.program import Installation, ready, say
from support.terminal import Terminal

pytestmark = pytest.mark.e2e

ASKS = "Do you trust this folder?"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([Turn(text="Fine.")] * 4) as server:
        yield server


@pytest.fixture
def user(tmp_path: Path, server: ModelServer) -> Installation:
    made = Installation(tmp_path, server.base_url)
    (made.work / "AGENTS.md").write_text("Always use tabs here.")
    return made


def press(terminal: Terminal, key: str) -> None:
    """Press an answer key alone, again while the dialog takes it for typing."""
    terminal.type(key)
    while ASKS in terminal.wait(lambda text: ASKS not in text or "\u25cb wait" in text, "the key to count"):
        terminal.wait_for("\u25cf ready")
        terminal.type(key)


def prompts(server: ModelServer) -> list[str]:
    return [request.body["messages"][0]["content"] for request in server.requests]


def test_the_dialog_comes_first_and_a_message_given_at_the_start_waits_for_it(
    user: Installation, server: ModelServer
) -> None:
    with user.start("hello there") as terminal:
        terminal.wait(lambda text: ASKS in text and "Always use tabs here." in text and "ready" in text, "the dialog")
        assert server.requests == []
        terminal.type("1")
        terminal.wait_for("Fine.")
        assert "Always use tabs here." in prompts(server)[0]
    with user.start() as terminal:
        ready(terminal)
        assert ASKS not in terminal.text


def test_what_is_not_trusted_stays_out_and_can_be_asked_about_again(user: Installation, server: ModelServer) -> None:
    with user.start() as terminal:
        terminal.wait(lambda text: ASKS in text and "ready" in text, "the dialog")
        terminal.type("4")
        terminal.wait(lambda text: ASKS not in text, "the dialog gone")
        ready(terminal)
        say(terminal, "hello there")
        terminal.wait_for("Fine.")
        assert "Always use tabs" not in prompts(server)[0] and "nobody trusts it" in terminal.text
        say(terminal, "/trust ")
        terminal.wait(lambda text: ASKS in text and "ready" in text, "the dialog again")
        terminal.type("1")
        terminal.wait_for("/new")


def test_a_run_without_a_screen_leaves_it_out_says_so_and_takes_trust_for_one_run(
    user: Installation, server: ModelServer
) -> None:
    left_out = user.run("run", "hello")
    assert left_out.returncode == 0 and "AGENTS.md is not used" in left_out.stderr and "--trust" in left_out.stderr
    trusted = user.run("run", "--trust", "hello")
    assert trusted.returncode == 0 and "AGENTS.md" not in trusted.stderr
    again = user.run("run", "hello")
    assert "AGENTS.md is not used" in again.stderr
    assert ["Always use tabs" in prompt for prompt in prompts(server)] == [False, True, False]


def test_a_folder_that_wants_nothing_asks_nothing(user: Installation, server: ModelServer) -> None:
    (user.work / "AGENTS.md").unlink()
    with user.start("hello there") as terminal:
        terminal.wait_for("Fine.")
        assert ASKS not in terminal.text and not (user.home / "hermes" / "trust.json").exists()


def test_a_projects_settings_hold_once_trusted_but_never_lead_the_key_elsewhere(
    user: Installation, server: ModelServer
) -> None:
    (user.work / "AGENTS.md").unlink()
    (user.work / ".env").write_text('OPENAI_BASE_URL="http://127.0.0.1:1/v1"\n')
    config = user.work / ".hermes" / "config.toml"
    config.parent.mkdir()
    config.write_text(
        'model = "local/project-model"\n[providers.local]\nbase_url = "http://127.0.0.1:1/v1"\n'
        '[approvals]\nmode = "off"\ndeny = ["ls"]\n'
    )
    before = user.run("run", "hello")
    assert before.returncode == 0 and "config.toml is not used" in before.stderr
    assert server.requests[-1].body["model"] == "test-model"
    assert "not used" in user.run("config", "show").stdout

    with user.start() as terminal:
        terminal.wait(lambda text: ASKS in text and "changes settings here" in text and "ready" in text, "the dialog")
        press(terminal, "1")
        terminal.wait(lambda text: ASKS not in text and "project-model \u00b7 ask" in text, "the project's model")
        say(terminal, "hello there")
        terminal.wait_for("Fine.")
        told = terminal.wait_for("providers.local.base_url")
    assert "approvals.mode" in told
    assert server.requests[-1].body["model"] == "project-model"

    shown = user.run("config", "show").stdout
    assert ".hermes/config.toml:1" in shown and "providers.local.base_url cannot be set by a project" in shown
    assert user.run("gate", "explain", "ls", "--json").stdout.count('"deny"') == 1
