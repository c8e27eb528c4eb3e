"""The tests' own model server chooses the right turn, also as a program."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from support import model_server
from support.model_script import generated
from support.model_server import ModelServer, Turn


def say(base_url: str, *messages: tuple[str, str], tools: bool = True) -> str:
    body: dict[str, Any] = {"model": "m", "messages": [{"role": role, "content": text} for role, text in messages]}
    if tools:
        body["tools"] = [{}]
    request = urllib.request.Request(f"{base_url}/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


def test_turns_are_chosen_by_prompt_then_by_order() -> None:
    turns = [Turn(match="weather", text="sunny"), Turn(text="first", times=2), Turn(text="second")]
    with ModelServer(turns, aux="A title", fallback="nothing left") as server:
        url = server.base_url
        assert say(url, ("user", "how is the weather?")) == "sunny"
        assert say(url, ("user", "x")) == "first"
        assert say(url, ("user", "the weather?"), ("tool", "result")) == "first"
        assert say(url, ("user", "x"), tools=False) == "A title"
        assert say(url, ("user", 'x <<{"text": "inline"}>>')) == "inline"
        assert say(url, ("user", 'x <<{"tokens": 30}>>')) == generated(30)
        assert [say(url, ("user", "x")) for _ in range(2)] == ["second", "nothing left"]


def test_it_runs_as_a_program_with_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"turns": [{"text": "from a file"}], "fallback": "end"}))
    command = [sys.executable, str(model_server.__file__), "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["base_url"]
        assert [say(url, ("user", "x")), say(url, ("user", "x"))] == ["from a file", "end"]
        with urllib.request.urlopen(f"{url}/_log", timeout=10) as answer:
            assert len(json.load(answer)) == 2
        process.terminate()
