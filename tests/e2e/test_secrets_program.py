"""No file of the home holds a key: not the database, its index, the logs with debugging on, spills, exports, titles."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation

pytestmark = pytest.mark.e2e

KEY = "sk-test-SECRET123"
TOKEN = "ghp_" + "A1b2C3d4E5" * 4
CONFIG = """\
model = "local/test-model"
[providers.local]
base_url = "{url}"
api_mode = "chat_completions"
api_key_env = "LOCAL_KEY"
models = {{ "test-model" = {{ context_window = 64000 }} }}
[approvals]
mode = "off"
"""


@pytest.fixture
def user(tmp_path: Path, server: ModelServer) -> Installation:
    made = Installation(tmp_path)
    made.write_config(CONFIG.format(url=server.base_url))
    (made.work / "token.txt").write_text(f"token {TOKEN}\n")
    return made


def run(user: Installation, *args: str) -> str:
    env = {"LOCAL_KEY": KEY, "OPENAI_API_KEY": "sk-other-0123456789", "HERMES_DEBUG": "1"}
    done = user.run(*args, env=env)
    return done.stdout + done.stderr


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def leaks(folder: Path) -> list[str]:
    return [
        f"{path.name}: {secret}"
        for path in files(folder)
        for secret in (KEY, TOKEN)
        if secret.encode() in path.read_bytes()
    ]


def test_no_file_of_the_home_holds_a_key_after_a_session_with_debugging(
    user: Installation, server: ModelServer
) -> None:
    calls = (
        Call(name="terminal", args={"command": "cat token.txt"}),
        Call(name="terminal", args={"command": "seq 20000; cat token.txt; seq 20000"}),
        Call(name="read_file", args={"path": "token.txt"}),
    )
    server.add(
        Turn(match="look", tool_calls=calls),
        Turn(text=f"The token is {TOKEN}.", reasoning=f"I saw {TOKEN}"),
        Turn(text=f"Title with {TOKEN}"),
    )
    out = run(user, "run", f"look at it, my key is {KEY}")
    assert "The token is" in out
    home = user.home / "hermes"
    log = (home / "logs" / "hermes-tui.log").read_text()
    assert "chat/completions" in log and "[redacted:" in log
    assert any(path.suffix == ".log" and "terminal" in path.name for path in files(home / "cache"))
    (session,) = json.loads(user.run("sessions", "list", "--json").stdout)
    for command in (
        ["export", "--format", "md"],
        ["export", "--format", "json"],
        ["export", "--format", "html"],
        ["show"],
    ):
        told = run(user, "sessions", *command, session["id"])
        assert "token is" in told and KEY not in told and TOKEN not in told
    assert KEY not in str(session) and TOKEN not in str(session)
    assert leaks(home) == []


@pytest.mark.parametrize("status", [400, 401, 500])
def test_an_error_that_repeats_the_key_is_not_kept_with_it(
    status: int, user: Installation, server: ModelServer
) -> None:
    server.add(*[Turn(status=status, body=f'{{"error": {{"message": "bad key {KEY} in {TOKEN}"}}}}')] * 8)
    out = run(user, "run", "hello")
    assert KEY not in out and TOKEN not in out
    assert leaks(user.home / "hermes") == []


def test_child_processes_get_no_provider_keys(user: Installation, server: ModelServer) -> None:
    server.add(
        Turn(match="look", tool_calls=(Call(name="terminal", args={"command": "env"}),)),
        Turn(text="Done."),
    )
    run(user, "run", "look")
    result = server.requests[1].body["messages"][-1]["content"]
    assert "HOME=" in result
    assert "LOCAL_KEY" not in result and "OPENAI_API_KEY" not in result and KEY not in result


def test_everything_kept_is_private_and_old_wide_files_are_narrowed_when_written(
    user: Installation, server: ModelServer
) -> None:
    home = user.home / "hermes"
    (home / "logs").mkdir()
    for name in ("config.toml", "state.db", "logs/hermes-tui.log"):
        (home / name).touch()
        (home / name).chmod(0o644)
    server.add(
        Turn(match="look", tool_calls=(Call(name="terminal", args={"command": "seq 40000"}),)),
        Turn(text="Done."),
    )
    before = os.umask(0o022)
    try:
        run(user, "run", "look")
        run(user, "config", "set", "agent.max_turns", "50")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files(home)}
    assert {name for name, mode in modes.items() if mode & 0o077} == set()
    assert {"config.toml", "state.db", "hermes-tui.log"} <= modes.keys() and len(modes) >= 4
