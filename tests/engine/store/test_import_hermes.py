"""A Hermes ``state.db`` becomes our sessions, field by field, and is not touched."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from support.hermes_db import HermesDb
from support.store import found, raw, texts

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import StoreError
from hermes_tui.engine.types.usage import Usage

USER = {"role": "user", "content": "hello"}
ANSWER = {"role": "assistant", "content": "hi", "finish_reason": "stop"}


@pytest.fixture
def hermes(tmp_path: Path) -> HermesDb:
    (tmp_path / "hermes").mkdir()
    return HermesDb(tmp_path / "hermes" / "state.db")


def row_of(db: SessionDB, session_id: str) -> dict[str, Any]:
    return {key: value for key, value in db.get_session(session_id).items() if key != "messages"}


def test_every_field_of_a_session_and_its_messages_arrives(db: SessionDB, hermes: HermesDb) -> None:
    call = {"id": "c1", "call_id": "c1", "response_item_id": "fc_1", "type": "function",
            "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}  # fmt: skip
    detail, item = {"type": "reasoning.text", "text": "hm"}, {"type": "reasoning", "id": "rs_1"}
    hermes.session(
        "20260101_101010_abcdef",
        {"role": "user", "content": '\0json:[{"type": "text", "text": "list"}]', "api_content": "list!"},
        {"role": "assistant", "content": "", "tool_calls": json.dumps([call]), "reasoning": "think", "token_count": 7,
         "reasoning_details": json.dumps([detail]), "codex_reasoning_items": json.dumps([item]),
         "finish_reason": "tool_calls"},
        {"role": "tool", "content": '{"output": "a"}', "tool_call_id": "c1", "tool_name": "terminal"},
        {"role": "assistant", "content": "数据库", "reasoning_content": "only here", "finish_reason": "stop"},
        source="telegram", model="m", billing_provider="p", title="T", cwd="/w", git_branch="main",
        system_prompt="You are", started_at=1000.0, ended_at=2000.0, end_reason="user_exit", archived=1,
        input_tokens=10, output_tokens=5, cache_read_tokens=3, cache_write_tokens=2, reasoning_tokens=1,
        api_call_count=2, estimated_cost_usd=0.25, cost_status="estimated",
    )  # fmt: skip
    hermes.close()
    report = db.import_(hermes.path)
    (session,) = report["imported"]
    row = row_of(db, session)
    expected = {
        "id": "20260101_101010_abcdef", "title": "T", "source": "gateway:telegram", "cwd": "/w", "branch": "main",
        "model": "m", "provider": "p", "created_at": 1000.0, "updated_at": 1003.5, "ended_at": 2000.0,
        "end_reason": "user_exit", "archived": 1, "message_count": 4, "turn_count": 1, "request_count": 2,
        "unpriced_count": 0, "cost_usd": 0.25, "parent_session_id": None,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert db.usage(session)[0] == Usage(
        input_tokens=10, output_tokens=5, cache_read_tokens=3, cache_write_tokens=2, reasoning_tokens=1
    )
    assert db.system_prompt(session) == "You are"
    ours = {"id": "c1", "type": "function", "function": call["function"]}
    assert [stored.message for stored in db.history(session)] == [
        {"role": "user", "content": [{"type": "text", "text": "list"}], "api_content": "list!", "created_at": 1000.5},
        {"role": "assistant", "content": "", "tool_calls": [ours], "reasoning": "think", "finish_reason": "tool_calls",
         "reasoning_details": [
            {"provider": "p", "api_mode": "chat_completions", "position": 0, "block": detail},
            {"provider": "p", "api_mode": "responses", "position": 0, "block": item}],
         "created_at": 1001.5},
        {"role": "tool", "content": '{"output": "a"}', "tool_call_id": "c1", "tool_name": "terminal",
         "created_at": 1002.5},
        {"role": "assistant", "content": "数据库", "reasoning": "only here", "finish_reason": "stop",
         "created_at": 1003.5},
    ]  # fmt: skip
    with db._db.read() as conn:
        assert [r[0] for r in conn.execute("SELECT tokens FROM messages ORDER BY id")] == [0, 7, 0, 0]
    assert found(db.search("据库")) == [session] and db.list_sessions(archived=True)[0].id == session


def test_a_second_import_changes_nothing(db: SessionDB, hermes: HermesDb) -> None:
    hermes.session("s1", USER, ANSWER)
    hermes.close()
    db.import_(hermes.path)
    before = (db.list_sessions(), db.history("s1"), db.stats()["by_day"])
    assert db.import_(hermes.path.parent) == {
        "imported": [], "skipped": {"s1": "It is here already."}, "notes": {}, "messages": 0, "dry_run": False,
    }  # fmt: skip
    assert (db.list_sessions(), db.history("s1"), db.stats()["by_day"]) == before


def test_a_dry_run_says_the_same_and_stores_nothing(db: SessionDB, hermes: HermesDb) -> None:
    hermes.session("s1", USER, ANSWER)
    hermes.close()
    preview = db.import_(hermes.path, dry_run=True)
    assert db.list_sessions() == []
    assert {**preview, "dry_run": False} == db.import_(hermes.path)


def files_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


def test_rows_in_the_write_ahead_log_are_read_and_no_file_is_touched(db: SessionDB, hermes: HermesDb) -> None:
    hermes.session("s1", USER)
    before = files_of(hermes.path.parent)
    assert before["state.db-wal"][0]
    assert db.import_(hermes.path)["imported"] == ["s1"]
    assert files_of(hermes.path.parent) == before
    hermes.close()
    before = files_of(hermes.path.parent)
    db.import_(hermes.path)
    assert files_of(hermes.path.parent) == before


def test_an_import_that_was_stopped_goes_on(db: SessionDB, hermes: HermesDb) -> None:
    for number in range(4):
        hermes.session(f"s{number}", USER, started_at=1000.0 + number)
    hermes.close()

    def stop(session_id: str) -> None:
        if session_id == "s1":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        db.import_(hermes.path, progress=stop)
    assert {row.id for row in db.list_sessions()} == {"s0", "s1"}
    report = db.import_(hermes.path)
    assert (report["imported"], list(report["skipped"])) == (["s2", "s3"], ["s0", "s1"])


def test_lineage_is_kept(db: SessionDB, hermes: HermesDb) -> None:
    hermes.session("tip", {"role": "user", "content": "new"}, parent_session_id="root", started_at=5.0, input_tokens=2)
    hermes.session("root", {"role": "user", "content": "old"}, end_reason="compression", started_at=1.0, input_tokens=1)
    branch = {"parent_session_id": "tip", "model_config": '{"_branched_from": "tip"}', "started_at": 6.0}
    hermes.session("branch", {"role": "user", "content": "new"}, {"role": "user", "content": "mine"}, **branch)
    agent = {"parent_session_id": "tip", "model_config": '{"_delegate_from": "tip"}', "started_at": 7.0}
    hermes.session("agent", {"role": "user", "content": "subtask"}, source="subagent", **agent)
    hermes.session("lost", USER, parent_session_id="gone")
    hermes.session("a", USER, parent_session_id="b")
    hermes.session("b", USER, parent_session_id="a")
    hermes.close()
    db.import_(hermes.path)
    rows = {row.id: row for row in db.list_sessions(include_subagents=True)}
    links = {id_: (row.parent_id, row.parent_reason) for id_, row in rows.items()}
    assert links == {
        "tip": ("root", "compression"), "branch": ("tip", "fork"), "agent": ("tip", "delegation"), "lost": ("", ""),
        "a": ("", ""), "b": ("", ""),
    }  # fmt: skip
    assert texts(db.messages("tip")) == ["old", "new"]
    assert texts(db.history("tip")) == ["new"]
    assert (rows["tip"].message_count, rows["tip"].total_tokens) == (2, 3)
    assert texts(db.history("branch")) == ["new", "mine"]
    assert "agent" not in {row.id for row in db.list_sessions()}
    assert found(db.search("subtask")) == ["tip"]


def test_turns_compacted_in_place_become_the_past_of_the_session(db: SessionDB, hermes: HermesDb) -> None:
    hermes.session(
        "s",
        {"role": "user", "content": "first", "active": 0, "compacted": 1},
        {"role": "assistant", "content": "answer", "active": 0, "compacted": 1},
        {"role": "user", "content": "taken back", "active": 0},
        {"role": "user", "content": "summary"},
        title="T",
        input_tokens=4,
    )
    hermes.close()
    assert db.import_(hermes.path)["imported"] == ["s.1", "s"]
    assert texts(db.messages("s")) == ["first", "answer", "summary"]
    assert texts(db.history("s")) == ["summary"]
    assert [(row.id, row.title, row.message_count, row.total_tokens) for row in db.list_sessions()] == [
        ("s", "T", 3, 4)
    ]
    assert not db.search('"taken back"').hits and found(db.search("first")) == ["s"]


def test_spending_is_kept_by_model(db: SessionDB, hermes: HermesDb) -> None:
    hermes.session("s", USER, input_tokens=30)
    for model, count in (("m1", 10), ("m2", 20)):
        hermes.usage(session_id="s", model=model, billing_provider="p", api_call_count=1, input_tokens=count,
                     output_tokens=0, cache_read_tokens=0, cache_write_tokens=0, reasoning_tokens=0,
                     cost_status="unknown", first_seen=1000.0)  # fmt: skip
    hermes.close()
    db.import_(hermes.path)
    stats = db.stats()
    assert {row["model"]: row["input_tokens"] for row in stats["by_model"]} == {"p/m1": 10, "p/m2": 20}
    assert [row["day"] for row in stats["by_day"]] == [time.strftime("%Y-%m-%d", time.localtime(1000.0))]
    assert db.row("s").cost_usd is None


def test_an_old_schema_is_read(db: SessionDB, tmp_path: Path) -> None:
    old = HermesDb(tmp_path / "old.db", is_old=True)
    old.session("s", USER, {"role": "tool", "content": "x", "tool_call_id": "c", "tool_name": "t"}, model="m")
    old.close()
    db.import_(old.path, "hermes")
    assert texts(db.history("s")) == ["hello", "x"]
    assert db.row("s").model == "m"


def test_what_is_passed_over_is_named(db: SessionDB, hermes: HermesDb) -> None:
    hermes.session("empty")
    hermes.session("odd", {"role": "session_meta", "content": "x"}, {"role": "user", "content": "y"})
    hermes.session("broken", {"role": "assistant", "content": "z", "tool_calls": "[{", "reasoning_details": "nope"})
    hermes.close()
    report = db.import_(hermes.path)
    assert report["skipped"] == {"empty": "It has no messages."}
    assert texts(db.history("odd")) == ["y"] and texts(db.history("broken")) == ["z"]


def test_titles_that_are_taken_are_numbered(db: SessionDB, hermes: HermesDb) -> None:
    db.create(title="T")
    hermes.session("s", USER, title="T")
    hermes.close()
    db.import_(hermes.path)
    assert db.row("s").title == "T #2"


@pytest.mark.parametrize("name", ["missing", "foreign", "ours", "damaged"])
def test_what_is_no_hermes_database_is_refused(db: SessionDB, tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.db"
    if name == "foreign":
        raw(path).execute("CREATE TABLE x (y)")
    elif name == "ours":
        SessionDB(path).close()
    elif name == "damaged":
        path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with pytest.raises(StoreError, match=path.name):
        db.import_(path)
