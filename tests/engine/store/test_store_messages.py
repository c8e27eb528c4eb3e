"""Messages come back as they went in, and only once they are safe."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.store import assistant, talk, texts, user

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import SessionNotFound
from hermes_tui.engine.types.messages import Message

PART: Any = {"type": "text", "text": "a part"}
CALL = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"ls"}'}}
DETAIL = {
    "provider": "anthropic",
    "api_mode": "anthropic_messages",
    "position": 1,
    "block": {"signature": "x==", "n": 1.5},
}

MESSAGES: dict[str, Message] = {
    "plain": {"role": "user", "content": "hello"},
    "empty": {"role": "assistant", "content": ""},
    "no content": {"role": "assistant", "content": None, "tool_calls": [CALL]},  # type: ignore[list-item]
    "no calls": {"role": "assistant", "content": "x", "tool_calls": []},
    "parts": {
        "role": "user",
        "content": [{"type": "text", "text": "看"}, {"type": "image_url", "image_url": {"url": "data:"}}],
    },
    "tool": {"role": "tool", "content": '{"output":"a\\nb"}', "tool_call_id": "c1", "tool_name": "terminal"},
    "reasoning": {"role": "assistant", "content": "x", "reasoning": "", "reasoning_details": [DETAIL]},  # type: ignore[list-item]
    "interrupted": {"role": "assistant", "content": None, "partial": "half an ans", "finish_reason": "interrupted"},
    "api content": {"role": "user", "content": "hi", "api_content": "hi\n<context>\u00a0"},
    "synthetic": {"role": "tool", "content": "{}", "tool_call_id": "c", "synthetic": True},
    "lone surrogates": {"role": "user", "content": "a\ud800b", "api_content": "\udfff", "reasoning": "\ud83d"},
    "surrogate parts": {"role": "user", "content": [{"type": "text", "text": "\ud800"}]},
    "nul and controls": {"role": "user", "content": "a\0b\x1b[31m\r\n\u2028"},
    "unknown field": {"role": "user", "content": "x", "from_elsewhere": {"deep": [1, None, True]}},  # type: ignore[typeddict-unknown-key]
}


@pytest.mark.parametrize("name", MESSAGES)
def test_every_field_comes_back_exactly(db: SessionDB, name: str) -> None:
    message: Message = {**MESSAGES[name], "created_at": 1700000000.125}  # type: ignore[typeddict-item]
    session = db.create()
    message_id = db.append(session, message)
    assert [(m.id, m.message, m.session_id) for m in db.history(session)] == [(message_id, message, session)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(st.characters(), max_size=80), more=st.text(st.characters(), max_size=20))
def test_any_text_comes_back_exactly(db: SessionDB, text: str, more: str) -> None:
    session = db.create()
    message: Message = {"role": "assistant", "content": text, "partial": more, "created_at": 1.0}
    db.append(session, message)
    assert db.history(session)[0].message == message


def test_a_message_without_a_time_gets_the_present_one(db: SessionDB) -> None:
    session = db.create()
    db.append(session, user("x"))
    assert db.history(session)[0].message["created_at"] == pytest.approx(db.row(session).updated_at, abs=5)


def test_many_messages_are_stored_all_or_none(db: SessionDB) -> None:
    session = db.create()
    with pytest.raises(KeyError):
        db.append_many(session, [user("a"), {"content": "no role"}])  # type: ignore[list-item, typeddict-item]
    assert db.history(session) == []
    assert db.row(session).message_count == 0


def test_a_session_that_does_not_exist_is_named_in_the_error(db: SessionDB) -> None:
    with pytest.raises(SessionNotFound, match="nope"):
        db.append("nope", user("x"))


def test_one_bad_job_does_not_take_its_neighbours_down(db: SessionDB) -> None:
    session = db.create()
    failed: list[bool] = []

    def write(number: int) -> None:
        try:
            db.append("nope" if number % 3 == 0 else session, user(str(number)))
        except SessionNotFound:
            failed.append(True)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failed) == 20
    assert sorted(int(str(t)) for t in texts(db.history(session))) == [n for n in range(60) if n % 3]


def test_counters_follow_the_messages(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "first line\nsecond", "a", "next", "b")
    row = db.row(session)
    assert (row.message_count, row.turn_count, row.title) == (4, 2, "first line second")


def test_the_screen_reads_back_page_by_page(db: SessionDB) -> None:
    session = db.create()
    ids = talk(db, session, *[str(n) for n in range(10)])
    last = db.messages(session, limit=4)
    assert [m.id for m in last] == ids[6:]
    before = db.messages(session, before_id=last[0].id, limit=4)
    assert [m.id for m in before] == ids[2:6]
    assert db.messages(session, before_id=ids[0], limit=4) == []


def test_around_puts_the_message_in_the_middle(db: SessionDB) -> None:
    session = db.create()
    ids = talk(db, session, *[str(n) for n in range(20)])
    shown = [m.id for m in db.around(session, ids[10], limit=6)]
    assert shown == ids[7:13]
    assert [m.id for m in db.around(session, ids[0], limit=4)] == ids[:2]


def test_get_session_returns_the_fields_and_the_messages(db: SessionDB) -> None:
    session = db.create(title="T", model="m")
    talk(db, session, "q", "a")
    fields = db.get_session(session)
    assert (fields["id"], fields["title"], fields["model"]) == (session, "T", "m")
    assert [m["content"] for m in fields["messages"]] == ["q", "a"]


def test_undo_takes_back_the_last_exchange_and_keeps_it_stored(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "one", "a1", "two", "a2")
    assert db.undo_last(session) == "two"
    assert texts(db.history(session)) == texts(db.messages(session)) == ["one", "a1"]
    assert not db.search("two").hits
    row = db.row(session)
    assert (row.message_count, row.turn_count) == (2, 1)
    assert db.undo_last(session) == "one"
    assert db.undo_last(session) == ""


def test_undo_passes_over_user_rows_that_the_engine_wrote(db: SessionDB) -> None:
    session = db.create()
    db.append_many(session, [user("real"), assistant("a"), {"role": "user", "content": "summary", "synthetic": True}])
    assert db.undo_last(session) == "real"
    assert db.history(session) == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("content", "[tool run started: list_dir {...}]"),
        ("tool_calls", "[{"),
        ("reasoning_details", "nonsense"),
        ("extra", "[1]"),
        ("extra", "{"),
    ],
)
def test_a_row_that_is_no_json_is_shown_as_text_and_the_rest_of_the_session_loads(
    db: SessionDB, column: str, value: str
) -> None:
    session = db.create()
    ids = db.append_many(session, [user("before"), {"role": "assistant", "content": [PART]}, user("after")])
    db._db.write(lambda conn: conn.execute(f"UPDATE messages SET {column} = ? WHERE id = ?", (value, ids[1])).rowcount)
    before, broken, after = (row.message for row in db.history(session))
    assert (before["content"], after["content"]) == ("before", "after")
    assert broken["damaged"] and "damaged" not in before
    if column == "content":
        assert broken["content"] == value
    assert [row.id for row in db.messages(session)] == ids


def test_redo_brings_back_what_undo_took_and_counts_it(db: SessionDB) -> None:
    session = db.create()
    for text in ("one", "two"):
        db.append(session, {"role": "user", "content": text})
        db.append(session, {"role": "assistant", "content": f"answer {text}"})
    counts = (db.row(session).message_count, db.row(session).turn_count)
    asked = db.last_exchange(session)
    assert asked is not None and asked.message["content"] == "two"
    assert [db.undo_last(session), db.undo_last(session), db.undo_last(session)] == ["two", "one", ""]
    assert db.last_exchange(session) is None
    assert [row.message["content"] for row in db.redo_last(session)] == ["one", "answer one"]
    assert [row.message["content"] for row in db.redo_last(session)] == ["two", "answer two"]
    assert db.redo_last(session) == []
    assert (db.row(session).message_count, db.row(session).turn_count) == counts
    assert [hit.session.id for hit in db.search("answer").hits] == [session]


def test_nothing_is_redone_over_what_was_said_since(db: SessionDB) -> None:
    session = db.create()
    db.append(session, {"role": "user", "content": "one"})
    db.undo_last(session)
    db.append(session, {"role": "user", "content": "other"})
    assert db.redo_last(session) == []
    assert [row.message["content"] for row in db.history(session)] == ["other"]


def test_redo_in_a_fork_brings_back_the_shared_past(db: SessionDB) -> None:
    parent = db.create()
    for text in ("one", "two"):
        db.append(parent, {"role": "user", "content": text})
    fork = db.fork(parent)
    assert db.redo_last(fork) == []
    assert db.undo_last(fork) == "two"
    assert [row.message["content"] for row in db.history(fork)] == ["one"]
    assert [row.message["content"] for row in db.redo_last(fork)] == ["two"]
    assert [row.message["content"] for row in db.history(parent)] == ["one", "two"]


def test_a_fork_cannot_redo_what_its_parent_took_back(db: SessionDB) -> None:
    parent = db.create()
    for text in ("one", "two"):
        db.append(parent, {"role": "user", "content": text})
    db.undo_last(parent)
    fork = db.fork(parent)
    assert db.redo_last(fork) == []
    assert len(db.redo_last(parent)) == 1


def test_the_lineage_names_the_sessions_of_a_past(db: SessionDB) -> None:
    parent = db.create()
    first = db.append(parent, {"role": "user", "content": "one"})
    db.append(parent, {"role": "user", "content": "two"})
    fork = db.fork(parent, first)
    (own, _), (shared, bound) = db.lineage_of(fork)
    assert (own, shared, bound) == (fork, parent, first)
    assert db.existing([parent, "nowhere"]) == {parent}
