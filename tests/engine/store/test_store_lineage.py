"""Forks share their past, compressed sessions read as one, removal hurts neither."""

from __future__ import annotations

import pytest
from support.store import assistant, found, talk, texts, user

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import SessionNotFound


def rows_stored(db: SessionDB) -> int:
    with db._db.read() as conn:
        return int(conn.execute("SELECT count(*) FROM messages").fetchone()[0])


def test_a_fork_shares_the_past_and_copies_nothing(db: SessionDB) -> None:
    parent = db.create(title="Plan", cwd="/w", model="m")
    ids = talk(db, parent, "one", "a1", "two", "a2")
    fork = db.fork(parent, ids[1])
    assert rows_stored(db) == 4
    talk(db, fork, "other", "b")
    talk(db, parent, "three", "a3")
    assert texts(db.history(fork)) == texts(db.messages(fork)) == ["one", "a1", "other", "b"]
    assert texts(db.history(parent)) == ["one", "a1", "two", "a2", "three", "a3"]
    row = db.row(fork)
    assert (row.parent_id, row.parent_reason, row.title, row.cwd, row.model) == (parent, "fork", "Plan #2", "/w", "m")
    assert (row.message_count, row.turn_count) == (4, 2)


def test_a_fork_of_a_fork_walks_the_whole_way(db: SessionDB) -> None:
    first = db.create()
    ids = talk(db, first, "one", "a1", "two", "a2")
    second = db.fork(first, ids[3])
    talk(db, second, "three", "a3")
    early = db.fork(second, ids[0])
    late = db.fork(second)
    assert texts(db.history(early)) == ["one"]
    assert texts(db.history(late)) == ["one", "a1", "two", "a2", "three", "a3"]


@pytest.mark.parametrize("message_id", [0, 99, -1])
def test_a_fork_needs_a_message_of_the_session(db: SessionDB, message_id: int) -> None:
    session = db.create()
    talk(db, session, "one")
    with pytest.raises(SessionNotFound):
        db.fork(session, message_id)


def test_an_empty_session_cannot_be_forked(db: SessionDB) -> None:
    with pytest.raises(SessionNotFound):
        db.fork(db.create())


def test_undo_in_the_parent_leaves_the_fork_its_past(db: SessionDB) -> None:
    parent = db.create()
    talk(db, parent, "one", "a1", "two", "a2")
    fork = db.fork(parent)
    db.undo_last(parent)
    assert texts(db.history(parent)) == ["one", "a1"]
    assert texts(db.history(fork)) == ["one", "a1", "two", "a2"]
    assert texts(db.history(db.fork(parent))) == ["one", "a1"]


def test_undo_in_a_fork_does_not_touch_the_parent(db: SessionDB) -> None:
    parent = db.create()
    talk(db, parent, "one", "a1", "two", "a2")
    fork = db.fork(parent)
    talk(db, fork, "three", "a3")
    assert [db.undo_last(fork) for _ in range(4)] == ["three", "two", "one", ""]
    assert texts(db.history(fork)) == []
    assert texts(db.history(parent)) == ["one", "a1", "two", "a2"]


def test_a_fork_starts_with_a_copy_of_the_state(db: SessionDB) -> None:
    parent = db.create()
    talk(db, parent, "one")
    db.set_state(parent, "todos", ["x"])
    fork = db.fork(parent)
    db.set_state(fork, "todos", ["y"])
    assert (db.get_state(parent, "todos"), db.get_state(fork, "todos")) == (["x"], ["y"])


def compress(db: SessionDB, session: str) -> str:
    child = db.create(parent=session, parent_reason="compression")
    db.append(child, {"role": "user", "content": "summary", "synthetic": True})
    return child


def test_a_compressed_conversation_is_one_in_lists_and_scrolls_back(db: SessionDB) -> None:
    first = db.create(title="Long")
    talk(db, first, "old", "a1")
    second = compress(db, first)
    talk(db, second, "new", "a2")
    third = compress(db, second)
    (row,) = db.list_sessions()
    assert (row.id, row.title, row.turn_count) == (third, "Long", 2)
    assert db.resolve(first) == db.resolve("Long") == third
    assert texts(db.history(third)) == ["summary"]
    assert texts(db.messages(third)) == ["old", "a1", "summary", "new", "a2", "summary"]
    assert texts(db.messages(third, limit=3)) == ["new", "a2", "summary"]
    assert found(db.search("old")) == [third]
    assert row.compaction_count == 2


def test_forking_at_a_compressed_message_brings_back_what_was_before_it(db: SessionDB) -> None:
    first = db.create()
    ids = talk(db, first, "old", "a1", "older", "a2")
    fork = db.fork(compress(db, first), ids[1])
    assert texts(db.history(fork)) == ["old", "a1"]


def test_hits_of_subagents_count_for_their_parent(db: SessionDB) -> None:
    parent = db.create()
    talk(db, parent, "delegate this")
    child = db.create(parent=parent, source="subagent")
    (message_id, *_) = talk(db, child, "peculiar finding", "ok")
    page = db.search("peculiar")
    assert found(page) == [parent]
    assert texts(db.around(parent, page.hits[0].snippets[0].message_id)) == ["peculiar finding", "ok"]
    assert page.hits[0].snippets[0].message_id == message_id


def test_deleting_a_subagent_leaves_its_parent(db: SessionDB) -> None:
    parent = db.create(title="P")
    child = db.create(parent=parent)
    db.delete(child)
    assert [row.id for row in db.list_sessions(include_subagents=True)] == [parent]
    db.undelete(child)
    db.delete(parent)
    assert db.list_sessions(include_subagents=True) == []


def test_a_deleted_session_is_hidden_everywhere_and_comes_back(db: SessionDB) -> None:
    session = db.create(title="Gone")
    talk(db, session, "findable text")
    db.delete(session)
    assert not db.list_sessions() and not db.search("findable").hits and db.latest() is None
    with pytest.raises(SessionNotFound):
        db.resolve("Gone")
    db.undelete(session)
    assert found(db.search("findable")) == [session] == [row.id for row in db.list_sessions()]


def test_purging_erases_what_was_deleted_long_enough_ago(db: SessionDB) -> None:
    kept, gone = db.create(), db.create()
    talk(db, kept, "kept text")
    talk(db, gone, "gone text")
    db.delete(gone)
    assert db.purge_deleted(older_than_s=60) == 0
    assert db.purge_deleted(older_than_s=0) == 1
    assert rows_stored(db) == 1
    assert found(db.search("text")) == [kept]
    assert db.check()["ok"]
    with pytest.raises(SessionNotFound):
        db.row(gone)


def test_purging_a_parent_leaves_its_forks_whole(db: SessionDB) -> None:
    grand = db.create()
    talk(db, grand, "g1", "g2")
    parent = db.fork(grand)
    ids = talk(db, parent, "p1", "p2", "p3", "p4")
    long, short = db.fork(parent, ids[3]), db.fork(parent, ids[0])
    talk(db, long, "l1")
    talk(db, short, "s1")
    db.undo_last(parent)
    before = {session: texts(db.history(session)) for session in (grand, long, short)}
    for doomed in (parent, grand):
        before.pop(doomed, None)
        db.delete(doomed)
        db.purge_deleted()
        assert {session: texts(db.history(session)) for session in before} == before
    assert before == {long: ["g1", "g2", "p1", "p2", "p3", "p4", "l1"], short: ["g1", "g2", "p1", "s1"]}
    assert db.check()["ok"]
    assert found(db.search("p3")) == [long]


def test_spending_outlives_the_session(db: SessionDB) -> None:
    from hermes_tui.engine.types.usage import Usage

    for _ in range(2):
        session = db.create(model="m", provider="p")
        talk(db, session, "x")
        db.add_usage(session, Usage(input_tokens=1), 1.5)
        db.delete(session)
    db.purge_deleted()
    (day,) = db.stats()["by_day"]
    assert (day["cost_usd"], day["request_count"]) == (3.0, 2)


def test_prune_shows_first_and_spares_pinned_open_and_new_sessions(db: SessionDB) -> None:
    names = ("old", "pinned", "open", "new")
    sessions = {name: db.create(title=name, session_id=name) for name in names}
    for session in sessions.values():
        db.append(session, user("x"))
    db._db.write(lambda conn: conn.execute("UPDATE sessions SET updated_at = 1000 WHERE id <> 'new'").rowcount)
    db.pin("pinned")
    db.claim("open")
    preview = db.prune(older_than_days=30)
    assert (preview["sessions"], preview["message_count"], preview["erased"]) == (["old"], 1, False)
    assert len(db.list_sessions()) == 4
    assert db.prune(older_than_days=30, dry_run=False)["erased"]
    assert {row.id for row in db.list_sessions()} == {"pinned", "open", "new"}
    db.append("new", assistant("still works"))


def test_a_fork_can_end_before_a_message(db: SessionDB) -> None:
    session = db.create(title="T", cwd="/w", model="m")
    ids = talk(db, session, "one", "a1", "two", "a2")
    fork = db.fork(session, ids[2], before=True)
    assert texts(db.history(fork)) == ["one", "a1"]
    assert (db.row(fork).message_count, db.row(fork).turn_count) == (2, 1)
    empty = db.fork(session, ids[0], before=True)
    assert db.history(empty) == [] and db.row(empty).message_count == 0
    talk(db, empty, "instead")
    assert texts(db.messages(empty)) == ["instead"] and db.row(empty).cwd == "/w"


def test_a_fork_before_the_first_message_after_a_compression_shares_what_came_before(db: SessionDB) -> None:
    first = db.create()
    talk(db, first, "old", "a1")
    second = db.create(parent=first, parent_reason="compression")
    (message,) = talk(db, second, "new")
    assert texts(db.messages(db.fork(second, message, before=True))) == ["old", "a1"]


def test_a_session_can_be_claimed_as_it_is_made(db: SessionDB) -> None:
    session = db.create(claim=True)
    with db._db.read() as conn:
        assert conn.execute("SELECT count(*) FROM live").fetchone()[0] == 1
    db.release(session)
    with db._db.read() as conn:
        assert conn.execute("SELECT count(*) FROM live").fetchone()[0] == 0
