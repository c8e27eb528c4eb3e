"""The examples of docs/library.md run as they are printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import Call, ModelServer, Turn

DOCS = (Path(__file__).parent.parent / "docs" / "library.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", DOCS, re.S | re.M)


@pytest.fixture
def server(isolated_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model behind the settings that the page shows."""
    (toml,) = re.findall(r"^```toml\n(.*?)^```", DOCS, re.S | re.M)
    monkeypatch.chdir(tmp_path)
    with ModelServer() as made:
        toml = toml.replace("http://127.0.0.1:8080/v1", made.base_url) + "[auxiliary.title]\nenabled = false\n"
        (isolated_home / "hermes").mkdir()
        (isolated_home / "hermes" / "config.toml").write_text(toml)
        yield made


def run(number: int) -> None:
    exec(compile(EXAMPLES[number], f"example {number}", "exec"), {"__name__": "example"})


def asked(server: ModelServer) -> list[list[str]]:
    """The texts of each request with tools, system prompt first."""
    bodies = [request.body for request in server.requests if request.body.get("tools")]
    return [[str(message.get("content")) for message in body["messages"]] for body in bodies]


def test_a_system_prompt_of_ones_own_then_the_session_again(server: ModelServer) -> None:
    run(0)
    assert "You review contracts." in asked(server)[0][0] and asked(server)[0][1:] == ["Name three risks."]
    run(2)
    grown, anew = asked(server)[1:]
    assert grown[1:] == ["Name three risks.", "ok", "And which one is the worst?"]
    assert "You review contracts." in grown[0] and "You review contracts." not in anew[0]
    assert anew[1:] == ["Name three risks.", "ok", "Start over, in English."]


def test_callbacks_decide_and_watch(server: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "a").write_text("")
    (tmp_path / "kept").write_text("")
    commands = ("rm build/a", "rm -rf kept")
    server.add(*(Turn(tool_calls=(Call(name="terminal", args={"command": text}),)) for text in commands))
    run(1)
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "okdone" and "rm -rf kept" in printed.out and not printed.err
    assert not (tmp_path / "build" / "a").exists() and (tmp_path / "kept").exists()


def test_a_batch(server: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(3)
    lines = ["0 Task 1 True ok", "1 Task 2 True ok", "2 Task 3 True ok"]
    assert capsys.readouterr().out.splitlines() == lines
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert sorted(row["prompt"] for row in rows) == ["Task 1", "Task 2", "Task 3"]
    run(3)
    assert capsys.readouterr().out.splitlines() == lines and len(asked(server)) == 3


def test_looking_at_what_was_sent(server: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    run(4)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("1 1 ok ") and "/chat/completions {'role': 'user', 'content': 'Hello'}" in printed[1]
    assert "('user', 'same', ())" in printed[2] and "'Tool definitions'" in printed[3]


def test_every_example_is_tested() -> None:
    assert len(EXAMPLES) == 6


def test_changes_are_shown_taken_back_and_brought_back(
    server: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("b\na\n")
    command = "sort -o notes.txt notes.txt && echo x > list"
    server.add(Turn(tool_calls=(Call(name="terminal", args={"command": command}),)))
    run(5)
    assert capsys.readouterr().out.splitlines() == [
        "created list 1 0", "changed notes.txt 1 1", "('list', 'notes.txt') []",
    ]  # fmt: skip
    assert notes.read_text() == "a\nb\n" and (tmp_path / "list").exists()
