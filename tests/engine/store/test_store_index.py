"""The index is exact, costs no message when it breaks, and comes back by itself."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.store import found, raw, talk, texts

from hermes_tui.engine.store import connections, index
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import Interrupted


def settle(db: SessionDB) -> None:
    """Wait until the background build is over: jobs queue behind it."""
    for _ in range(10_000):
        db._db.write(lambda conn: None)
        if db.index_progress() == 1.0 and not db._db.index_damaged:
            return
    raise AssertionError("the index was not finished")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("anudr"), st.text(st.characters(), max_size=30)), max_size=12))
def test_whatever_is_done_the_index_matches_the_messages(db: SessionDB, steps: list[tuple[str, str]]) -> None:
    session = db.create()
    for kind, text in steps:
        match kind:
            case "a":
                talk(db, session, text, text[::-1])
            case "n":
                db.rename(session, text)
            case "u":
                db.undo_last(session)
            case "d":
                db.delete(session)
                db.undelete(session)
            case "r":
                doomed = db.create(title=text)
                talk(db, doomed, text)
                db.delete(doomed)
                db.purge_deleted()
    report = db.check()
    assert report["ok"], report


def test_each_script_uses_one_word_of_the_index(db: SessionDB) -> None:
    """One and two characters are single words, so no text is read to find them."""
    session = db.create()
    talk(db, session, "今天讨论了数据库", "연결오류 🎉")
    with db._db.read() as conn:
        for word in ("天", "今天", "数据", "오류", "오", "u1f389"):
            sql = "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH ?"
            assert conn.execute(sql, (f'body : "{word}"',)).fetchone()[0] == 1


def damage_rows(conn: sqlite3.Connection) -> None:
    conn.execute("UPDATE messages_fts_data SET block = zeroblob(64) WHERE id > 10")


def damage_structure(conn: sqlite3.Connection) -> None:
    conn.execute("UPDATE messages_fts_data SET block = x'ff'")


def empty_structure(conn: sqlite3.Connection) -> None:
    conn.execute("UPDATE messages_fts_data SET block = zeroblob(8)")


def drop_shadow(conn: sqlite3.Connection) -> None:
    conn.execute("PRAGMA writable_schema=ON")
    conn.execute("DROP TABLE messages_fts_data")


def drop_index(conn: sqlite3.Connection) -> None:
    for name in ("insert", "delete", "before", "after"):
        conn.execute(f"DROP TRIGGER messages_fts_{name}")
    conn.execute("DROP TABLE messages_fts")


def drop_triggers(conn: sqlite3.Connection) -> None:
    conn.execute("DROP TRIGGER messages_fts_insert")


@pytest.mark.parametrize(
    "harm", [damage_rows, damage_structure, empty_structure, drop_index, drop_triggers, drop_shadow]
)
def test_a_harmed_index_costs_nothing_and_is_rebuilt(
    tmp_path: Path, harm: Callable[[sqlite3.Connection], None]
) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        session = db.create()
        talk(db, session, "needle in the 数据库", "answer")
    other = raw(path)
    harm(other)
    other.close()
    with SessionDB(path) as db:
        talk(db, session, "second needle", "answer")
        assert len(db.history(session)) == 4
        assert found(db.search("needle")) == [session]
        if harm is damage_rows:
            db.check(repair=True)
        settle(db)
        page = db.search("needle")
        assert (found(page), page.hits[0].hit_count, page.note) == ([session], 2, "")
        assert found(db.search("据库")) == [session]
        assert db.check()["ok"]


def test_an_index_damaged_while_open_is_answered_from_the_messages_and_rebuilt(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "needle one", "haystack")
    other = raw(db.path)
    damage_structure(other)
    other.close()
    page = db.search("needle role:user")
    assert found(page) == [session]
    assert "index" in page.note
    settle(db)
    assert db.search("needle").note == ""
    assert db.check()["ok"]


def test_a_long_rebuild_starts_with_the_newest_and_survives_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        session = db.create()
        talk(db, session, *[f"word{n} common" for n in range(100)])
        db._db.write(index.create)
        monkeypatch.setattr(index, "REFILL_ROWS", 10)  # a real chunk needs thousands of rows
        assert db._db.write(index.refill)
        assert db.index_progress() < 1
        page = db.search("word99")
        assert found(page) == [session] and "%" in page.note
        assert found(db.search("word3")) == []
        db.undo_last(session)  # rows above and below the floor leave the index as they should
        talk(db, session, "newcomer")
        doomed = db.create()
        talk(db, doomed, "doomed")
        db.delete(doomed)
        db.purge_deleted()
    with SessionDB(path) as db:
        settle(db)
        assert found(db.search("word3")) == found(db.search("newcomer")) == [session]
        assert found(db.search("word99")) == found(db.search("doomed")) == []
        assert db.check()["ok"]


def test_a_store_of_another_index_version_is_indexed_anew(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        session = db.create()
        talk(db, session, "needle")
    other = raw(path)
    other.execute("UPDATE index_state SET version = 0")
    other.close()
    with SessionDB(path) as db:
        settle(db)
        assert found(db.search("needle")) == [session]
        assert db.check()["ok"]


class NoFts5(sqlite3.Connection):
    """A SQLite that was built without FTS5."""

    def execute(self, sql: str, *args: object) -> sqlite3.Cursor:  # type: ignore[override]
        if "fts5(" in sql or "_fts MATCH" in sql or "_fts(" in sql:
            raise sqlite3.OperationalError("no such module: fts5")
        return super().execute(sql, *args)  # type: ignore[arg-type]


def test_without_fts5_sessions_work_and_search_reads_the_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sqlite3.connect
    with monkeypatch.context() as patch:  # no other way to have a SQLite without FTS5
        patch.setattr(connections.sqlite3, "connect", lambda *a, **k: real(*a, **{**k, "factory": NoFts5}))
        with SessionDB(tmp_path / "state.db") as db:
            session = db.create(title="T")
            talk(db, session, "100% 数据库 needle-x", "a_b axb", "100 percent needle")
            for query, count in (("needle", 2), ("100%", 1), ("a_b", 1), ("据库", 1), ("need*", 2), ("percent -x", 1)):
                page = db.search(query)
                assert (query, page.hits[0].hit_count) == (query, count)
                assert page.note
            assert [s.text for s in db.search("role:assistant needle OR axb").hits[0].snippets] == ["a_b axb"]
    with SessionDB(tmp_path / "state.db") as db:
        settle(db)
        assert found(db.search("据库")) == [session]
        assert db.check()["ok"]


def test_a_newer_search_stops_the_older_one(db: SessionDB) -> None:
    session = db.create()
    db.append_many(session, [{"role": "user", "content": "% filler " * 200} for _ in range(4000)])
    outcome: list[object] = []

    def run() -> None:
        try:
            outcome.append(db.search("@@@", group="field"))
        except Interrupted as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive() and not outcome:
        db.interrupt_searches("another field")
        db.interrupt_searches("field")
    thread.join()
    assert isinstance(outcome[0], Interrupted)
    assert found(db.search("filler")) == [session]


def test_a_search_of_another_group_goes_on(db: SessionDB) -> None:
    session = db.create()
    db.append_many(session, [{"role": "user", "content": "% filler " * 200} for _ in range(500)])
    stop = threading.Event()

    def type_elsewhere() -> None:
        while not stop.is_set():
            db.interrupt_searches("field")

    thread = threading.Thread(target=type_elsewhere)
    thread.start()
    try:
        assert found(db.search("@@@ OR filler", group="tool")) == [session]
    finally:
        stop.set()
        thread.join()


def test_a_search_sees_one_state_and_holds_up_no_write(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "needle")
    with db._db.read() as conn:
        conn.execute("SELECT count(*) FROM messages").fetchone()
        talk(db, session, "x", "y")
        assert conn.execute("SELECT count(*) FROM messages").fetchone()[0] == 1
    assert texts(db.history(session)) == ["needle", "x", "y"]
