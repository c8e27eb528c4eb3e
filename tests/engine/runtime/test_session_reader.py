"""What a resume shows before there is an engine is what the engine would show, and reading it changes nothing."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from support.store import talk, texts

from hermes_tui.engine.runtime.reader import find_session
from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.messages import Message
from hermes_tui.tools.registry import load_builtin_tools

CALL: Message = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}],
}
RESULT: Message = {"role": "tool", "tool_call_id": "c", "tool_name": "terminal", "content": '{"ok": true}'}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        for name, folder in (("older", "/here"), ("newer", "/there")):
            db.create(session_id=name, title=f"The {name}", cwd=folder, model="m", provider="p", branch="main")
            talk(db, name, f"{name} one", "two")
            db.append_many(name, [CALL, RESULT])
    return path


@pytest.mark.parametrize(
    ("wanted", "folder", "expected"),
    [
        ("older", "", "older"),
        ("The older", "", "older"),
        ("new", "", "newer"),
        ("", "/here", "older"),
        ("", "/elsewhere", "newer"),
        ("", "", "newer"),
    ],
)
def test_it_is_found_as_the_engine_finds_it(path: Path, wanted: str, folder: str, expected: str) -> None:
    past = find_session(path, wanted, folder)
    assert past is not None
    assert (past.state.session_id, past.state.title, past.state.branch) == (expected, f"The {expected}", "main")


def test_it_reads_what_the_engine_reads(path: Path) -> None:
    past = find_session(path, "older", "")
    assert past is not None
    with SessionDB(path) as db:
        for before, limit in ((None, 200), (None, 2), (3, 2)):
            rows = db.messages("older", before, limit)
            assert past.history(before, limit) == rows
            assert past.replay(rows) == replay(rows, load_builtin_tools())


def test_a_compressed_session_goes_on_where_the_engine_goes_on(path: Path) -> None:
    with SessionDB(path) as db:
        numbers = {"first": 0, "last": 0, "summarised": 4, "before_tokens": 9, "after_tokens": 1}
        child, _ = db.continue_compressed("older", {"role": "user", "content": "summary", "compressed": numbers})  # type: ignore[typeddict-item]
    past = find_session(path, "older", "")
    assert past is not None and past.state.session_id == child
    assert texts(past.history())[0] == "older one"


def test_nothing_is_written(path: Path) -> None:
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    past = find_session(path, "older", "")
    assert past is not None and past.history()
    after = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert {name: data for name, data in after.items() if not name.endswith(("-wal", "-shm"))} == before
    assert after.get("state.db-wal", b"") == b""
    with SessionDB(path) as db:
        assert db.check()["ok"] and not db.row("older").open_elsewhere


@pytest.mark.parametrize("case", ["nothing there", "unknown id", "newer format", "no database", "damaged"])
def test_what_cannot_be_read_is_left_to_the_engine(path: Path, case: str) -> None:
    if case == "newer format":
        with sqlite3.connect(path) as conn:
            conn.execute("PRAGMA user_version=999")
    elif case == "no database":
        path.write_bytes(b"not a database at all, but long enough to look like a file of some kind")
    elif case == "damaged":
        path.write_bytes(path.read_bytes()[:4096])
    elif case == "nothing there":
        path = path.with_name("other.db")
    assert find_session(path, "nosuch" if case == "unknown id" else "older", "") is None
    assert path.exists() == (case != "nothing there")
