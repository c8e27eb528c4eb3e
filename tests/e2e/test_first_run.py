"""The first run: nobody configured anything. Welcome, demo, local server, key; and what stays when it is skipped."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import ModelServer, Turn
from support.program import Installation, idle, ready, say
from support.terminal import Terminal

pytestmark = pytest.mark.e2e

NOTHING_FOUND = "No key and no local server was found."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([Turn(match="greet", text="Hello there.")]) as server:
        yield server


@pytest.fixture
def user(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def visible(terminal: Terminal) -> str:
    """The screen's words, without frames."""
    return " ".join(terminal.text.split())


def test_the_welcome_can_be_skipped_and_a_message_without_a_model_is_kept(user: Installation) -> None:
    with user.start() as terminal:
        text = terminal.wait(lambda text: "Welcome to hermes-tui" in text and NOTHING_FOUND in text)
        assert "demo" in text and "ANTHROPIC_API_KEY" in text
        terminal.type("\x1b")
        terminal.wait_gone("Welcome to hermes-tui")
        say(ready(terminal), "my first words")
        terminal.wait(lambda text: "No model is chosen." in text and "/model" in text)
        idle(terminal).type("\x1b[A")
        terminal.wait_for("❯ my first words")
        terminal.type("\x03\x04")
        assert terminal.wait_exit() == 0
    assert "my first words" in user.run("sessions", "list").stdout


def test_a_key_is_typed_unseen_and_kept_in_a_private_file(user: Installation) -> None:
    with user.start() as terminal:
        terminal.wait_for(NOTHING_FOUND)
        terminal.type("openai")
        terminal.wait(lambda text: "OPENAI_API_KEY" in text and "ANTHROPIC_API_KEY" not in text)
        terminal.type("\r")
        terminal.wait_for("API key for OpenAI")
        terminal.paste("  sk-proj-TOP\u0421SECRET\n")  # a Cyrillic letter
        terminal.type("\r")
        terminal.wait(lambda text: "Character 12" in text, "the odd character named")
        terminal.type("\x7f" * 40)
        terminal.paste("sk-proj-TOPSECRET99\n")
        terminal.type("\r")
        terminal.wait(lambda text: "Saved in" in text and "Choose a model of OpenAI" in text)
    assert b"SECRET" not in terminal.raw and b"sk-proj" not in terminal.raw
    credentials = user.home / "hermes" / "credentials.toml"
    assert stat.S_IMODE(credentials.stat().st_mode) == 0o600
    assert credentials.read_text() == '[openai]\napi_key = "sk-proj-TOPSECRET99"\n'


def test_a_local_server_is_found_tested_and_remembered(user: Installation, server: ModelServer) -> None:
    user.write_config(f'[providers.mine]\nbase_url = "{server.base_url}"\n')
    with user.start() as terminal:
        terminal.wait_for("Found mine.")
        terminal.type("\r")
        terminal.wait_for("fake-model")
        terminal.type("\r")
        terminal.wait_gone("Welcome to hermes-tui")
        assert server.requests[0].body["model"] == "fake-model"
        terminal.wait(lambda text: re.search(r"^ fake-model", text, re.M), "the model in the status bar")
        say(terminal, "greet me")
        idle(terminal).wait_for("Hello there.")
    assert (user.home / "hermes" / "settings.toml").read_text() == 'model = "mine/fake-model"\n'
    assert user.run("config", "get", "model").stdout == "mine/fake-model\n"


def test_a_local_server_of_the_environment_is_found(user: Installation, server: ModelServer) -> None:
    with user.start(env={"OPENAI_BASE_URL": server.base_url}) as terminal:
        terminal.wait_for("Found OpenAI.")
        assert server.base_url in visible(terminal)
        terminal.type("\r")
        terminal.wait_for("fake-model")


def test_the_demo_plays_to_its_end_and_is_labelled_all_the_time(user: Installation) -> None:
    folder = user.work / "hermes-tui-demo"
    with user.start(size=(110, 40)) as terminal:
        terminal.wait_for(NOTHING_FOUND)
        terminal.type("d")
        terminal.wait_gone("Welcome to hermes-tui")
        terminal.wait(lambda text: "demo" in text.splitlines()[0], "the label")
        say(terminal, "show me")
        terminal.wait_for("You decide whether I may.")
        assert (folder / "notes.md").is_file()
        say(idle(terminal), "clean up")
        terminal.wait(lambda text: "What should happen to" in text and "● ready" in text, "the question")
        terminal.type("1")
        terminal.wait(lambda text: "Run this command?" in text and "● ready" in text, "the approval")
        assert "demo" in terminal.text
        terminal.type("1")
        terminal.wait_for("That is the tour.")
        text = idle(terminal).wait_for("ANTHROPIC_API_KEY")
        assert "demo" in text.splitlines()[0] and "demo" in text.splitlines()[-1]
        assert not folder.exists()
        say(terminal, "and now?")
        idle(terminal).wait_for("/setup")
    assert not (user.home / "hermes" / "settings.toml").exists()  # the demo does not become the default
