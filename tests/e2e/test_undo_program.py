"""Taking back what the agent did to files, in the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation, idle, say

pytestmark = pytest.mark.e2e

COMMAND = "mkdir docs && echo guide > docs/guide.md && rm notes.txt && chmod 755 run.sh"
PATCH = {"path": "app.py", "old_string": "one", "new_string": "two"}


@pytest.fixture
def work(user: Installation, server: ModelServer) -> Path:
    work = user.work
    (work / "app.py").write_bytes(b"print('one')\r\n")
    (work / "notes.txt").write_text("my notes\n")
    (work / "run.sh").write_text("#!/bin/sh\n")
    user.write_config((user.home / "hermes" / "config.toml").read_text() + '[approvals]\nmode = "off"\n')
    calls = (Call(name="patch", args=PATCH), Call(name="terminal", args={"command": COMMAND}))
    server.add(Turn(match="improve", tool_calls=calls), Turn(text="All done."), Turn(text="I know."))
    return work


def changed(work: Path) -> bool:
    return (work / "docs" / "guide.md").exists() and not (work / "notes.txt").exists()


def test_a_turn_is_undone_after_a_question_and_redone(user: Installation, server: ModelServer, work: Path) -> None:
    with user.start() as terminal:
        terminal.wait(lambda text: "❯" in text and "no approvals" in text, "an open session")
        say(terminal, "improve it")
        terminal.wait_for("All done.")
        idle(terminal)
        assert changed(work)
        (work / "app.py").write_text("the person's own\n")
        say(terminal, "/undo")
        terminal.wait_for("Message and files")
        shown = terminal.text
        assert "docs/guide.md" in shown and "comes back" in shown
        assert "app.py" in shown and "changed since" in shown
        terminal.type("b")
        terminal.wait_for("/redo brings it back")
        assert sorted(path.name for path in work.iterdir()) == ["app.py", "notes.txt", "run.sh"]
        assert (work / "app.py").read_text() == "the person's own\n"
        assert (work / "run.sh").stat().st_mode & 0o777 == 0o644
        terminal.wait(lambda text: "❯ improve it" in text, "the text is back in the prompt")
        terminal.type("\x15")
        say(terminal, "/redo")
        terminal.wait_for("Brought back")
        assert changed(work) and (work / "run.sh").stat().st_mode & 0o777 == 0o755
        assert (work / "app.py").read_text() == "the person's own\n"


def test_another_process_shows_and_undoes_and_the_model_is_told(
    user: Installation, server: ModelServer, work: Path
) -> None:
    assert user.run("run", "improve it").stdout == "All done.\n"
    assert changed(work)
    listed = user.run("sessions", "diff", "improve it")
    assert "-print('one')" in listed.stdout and "deleted  notes.txt" in listed.stdout
    plan = user.run("sessions", "undo", "improve it")
    assert "Would take back 5 paths" in plan.stdout and "--yes" in plan.stderr and changed(work)
    done = json.loads(user.run("sessions", "undo", "improve it", "--yes", "--json").stdout)
    assert done == {"files": ["app.py", "docs", "docs/guide.md", "notes.txt", "run.sh"], "kept": [], "done": True}
    assert (work / "app.py").read_bytes() == b"print('one')\r\n" and not changed(work)
    assert user.run("sessions", "undo", "improve it").stdout == "There is nothing to take back.\n"
    with user.start("-c") as terminal:
        terminal.wait_for("All done.")
        terminal.wait(lambda text: "❯" in text and "no approvals" in text, "an open session")
        say(terminal, "what now?")
        terminal.wait_for("I know.")
        assert "The person took back what you did" in server.last_message()


def test_the_contents_go_with_the_session(user: Installation, server: ModelServer, work: Path) -> None:
    assert user.run("run", "improve it").returncode == 0
    kept = user.home / "hermes" / "checkpoints.db"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert user.run("sessions", "delete", "improve it", "--yes").returncode == 0
    import sqlite3

    with sqlite3.connect(kept) as db:
        assert db.execute("SELECT count(*) FROM edits").fetchone() == (0,)
