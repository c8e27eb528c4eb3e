"""Compressed sessions: nothing is copied, nothing is lost, and it can be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.store import found, talk, texts

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.messages import Message


def summary(first: int, last: int, text: str = "summary") -> Message:
    numbers: Any = {"first": first, "last": last, "tool_chars": 0, "summarised": 0, "files": [], "request": ""}
    row: Message = {"role": "user", "content": text, "synthetic": True}
    row["compressed"] = {**numbers, "before_tokens": 100, "after_tokens": 10}
    return row


def compressed(db: SessionDB) -> tuple[str, str]:
    parent = db.create(title="Long", source="tui")
    db.set_system_prompt(parent, "You are.")
    talk(db, parent, "one", "a1", "two", "a2", "three", "a3")
    child, _ = db.continue_compressed(parent, summary(2, 2))
    return parent, child


def test_the_model_gets_what_is_kept_around_the_summary_and_the_screen_gets_everything_once(db: SessionDB) -> None:
    parent, child = compressed(db)
    talk(db, child, "four", "a4")
    assert texts(db.history(child)) == ["one", "a1", "summary", "three", "a3", "four", "a4"]
    assert texts(db.messages(child)) == ["one", "a1", "two", "a2", "three", "a3", "summary", "four", "a4"]
    assert texts(db.history(parent)) == ["one", "a1", "two", "a2", "three", "a3"]
    assert db.system_prompt(child) == "You are."
    assert [row["content"] for row in db.get_session(child)["messages"]] == texts(db.history(child))


def test_each_original_is_found_once_and_leads_to_the_session_that_goes_on(db: SessionDB) -> None:
    _, child = compressed(db)
    for word in ("two", "three", "a1"):
        page = db.search(word)
        assert found(page) == [child] and page.hits[0].hit_count == 1
    (row,) = db.list_sessions()
    assert (row.id, row.title) == (child, "Long")


def test_a_second_compression_may_keep_what_the_first_one_kept(db: SessionDB) -> None:
    _, child = compressed(db)
    talk(db, child, "four", "a4")
    third, _ = db.continue_compressed(child, summary(2, 3, "second"))
    talk(db, third, "five")
    assert texts(db.history(third)) == ["one", "a1", "second", "a3", "four", "a4", "five"]
    assert db.get_session(third)["compaction_count"] == 2


def test_taking_a_compression_back_sends_everything_again_and_keeps_what_was_said_since(db: SessionDB) -> None:
    _, child = compressed(db)
    talk(db, child, "four", "a4")
    assert db.undo_compression(child)
    everything = ["one", "a1", "two", "a2", "three", "a3", "four", "a4"]
    assert texts(db.history(child)) == texts(db.messages(child)) == everything
    assert db.get_session(child)["compaction_count"] == 0
    assert found(db.search("summary")) == []
    assert not db.undo_compression(child)
    (row,) = db.list_sessions()
    assert row.id == child


def test_taking_back_the_second_compression_leaves_the_first(db: SessionDB) -> None:
    _, child = compressed(db)
    talk(db, child, "four", "a4")
    third, _ = db.continue_compressed(child, summary(2, 1, "second"))
    assert db.undo_compression(third)
    assert texts(db.history(third)) == ["one", "a1", "summary", "three", "a3", "four", "a4"]


def test_a_session_without_a_summary_has_nothing_to_take_back(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "one")
    assert not db.undo_compression(session)


def test_a_fork_of_a_compressed_session_gets_the_same_history(db: SessionDB) -> None:
    _, child = compressed(db)
    ids = talk(db, child, "four", "a4", "five", "a5")
    fork = db.fork(child, ids[1])
    assert texts(db.history(fork)) == ["one", "a1", "summary", "three", "a3", "four", "a4"]


def test_the_open_mark_goes_along(db: SessionDB) -> None:
    parent = db.create()
    talk(db, parent, "one")
    db.claim(parent)
    child, _ = db.continue_compressed(parent, summary(0, 1))
    with db._db.read() as conn:
        marked = conn.execute("SELECT s.id FROM live JOIN sessions s ON s.no = live.session_no").fetchall()
    assert [row[0] for row in marked] == [child]


def test_an_export_brings_the_same_history_into_another_database(db: SessionDB, tmp_path: Path) -> None:
    _, child = compressed(db)
    talk(db, child, "four", "a4")
    third, _ = db.continue_compressed(child, summary(2, 3, "second"))
    file = tmp_path / "export.json"
    file.write_text(db.export(third, "json"), encoding="utf-8")
    with SessionDB(tmp_path / "other.db") as other:
        talk(other, other.create(), "shifts", "the", "ids")
        other.import_(file)
        assert texts(other.history(third)) == texts(db.history(third))
        assert texts(other.messages(third)) == texts(db.messages(third))
