"""Killed writers lose nothing that was acknowledged; several processes share a store."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from support.store import raw, talk, texts, user

from hermes_tui.engine.store import connections, live
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import StoreBusy

WRITER = """
import sys
from hermes_tui.engine.store.db import SessionDB
db = SessionDB(sys.argv[1])
session = db.create(session_id=sys.argv[2])
for number in range(int(sys.argv[3])):
    db.append(session, {"role": "user", "content": f"{sys.argv[2]} word{number} 数据库 " + "filler " * (number % 50)})
    print(number, flush=True)
"""

HOLDER = """
import sys
from hermes_tui.engine.store.db import SessionDB
db = SessionDB(sys.argv[1])
print(db.claim(sys.argv[2]), flush=True)
sys.stdin.read()
"""


MIGRATOR = """
import sys
from hermes_tui.engine.store import connections, migrations
from hermes_tui.engine.store.db import SessionDB

def m002_adds_mood(conn):
    conn.execute("ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT ''")

migrations.MIGRATIONS = connections.MIGRATIONS = (*migrations.MIGRATIONS, m002_adds_mood)
print("ready", flush=True)
sys.stdin.readline()
with SessionDB(sys.argv[1]) as db:
    db.append("s", {"role": "user", "content": sys.argv[2]})
print("done", flush=True)
"""


@contextmanager
def running(program: str, *args: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_every_acknowledged_row_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    rng = random.Random(1)
    for round_ in range(5):
        acknowledged = -1
        with running(WRITER, path, f"s{round_}", 100_000) as writer:
            assert writer.stdout is not None
            for _ in range(rng.randrange(1, 60)):
                acknowledged = int(writer.stdout.readline())
            os.kill(writer.pid, signal.SIGKILL)
            acknowledged = max([acknowledged, *map(int, writer.stdout.read().split("\n")[:-1])])
        with SessionDB(path) as db:
            stored = [str(text).split()[1] for text in texts(db.history(f"s{round_}"))]
            assert stored[: acknowledged + 1] == [f"word{number}" for number in range(acknowledged + 1)]
            assert len(stored) <= acknowledged + 2
            assert db.check()["ok"]


def test_several_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.db"  # none of them finds a store: all make it
    with (
        running(WRITER, path, "a", 60) as a,
        running(WRITER, path, "b", 60) as b,
        running(WRITER, path, "c", 60) as c,
        running(WRITER, path, "a", 60) as d,
    ):
        for process in (a, b, c, d):
            out, _ = process.communicate()
            assert out.split() == [str(number) for number in range(60)]
    with SessionDB(path) as db:
        counts = {row.id: row.message_count for row in db.list_sessions()}
        assert counts == {"a": 120, "b": 60, "c": 60}
        assert {name: len(db.history(name)) for name in counts} == counts
        assert db.check()["ok"]
        assert sum(hit.hit_count for hit in db.search("据库").hits) == 240


def test_several_processes_migrate_at_once(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        talk(db, db.create(session_id="s"), "old")
    names = "abcd"
    with ExitStack() as stack:
        processes = [stack.enter_context(running(MIGRATOR, path, name)) for name in names]
        for process in processes:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        assert [process.communicate()[0] for process in processes] == ["done\n"] * len(names)
    with raw(path) as conn:
        assert conn.execute("SELECT name FROM schema_version ORDER BY version").fetchall()[1:] == [("m002_adds_mood",)]
        assert conn.execute("SELECT mood FROM sessions").fetchall() == [("",)]
    assert list(tmp_path.glob("state.db.before-migration-*"))
    for copy in tmp_path.glob("state.db.before-migration-*"):
        with SessionDB(copy) as old:
            assert texts(old.history("s")) == ["old"] and old.check()["ok"]
    with SessionDB(path, read_only=True) as db:
        assert sorted(map(str, texts(db.history("s")))) == ["a", "b", "c", "d", "old"]


def test_a_write_waits_for_the_lock_of_another_process(db: SessionDB) -> None:
    session = db.create()
    other = raw(db.path)
    other.execute("BEGIN IMMEDIATE")
    writers = [threading.Thread(target=talk, args=(db, session, f"m{number}")) for number in range(4)]
    for writer in writers:
        writer.start()
    assert texts(db.history(session)) == []  # reading goes on meanwhile
    other.execute("COMMIT")
    other.close()
    for writer in writers:
        writer.join()
    assert sorted(map(str, texts(db.history(session)))) == ["m0", "m1", "m2", "m3"]


def test_a_lock_that_outlasts_all_patience_fails_that_write_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert connections.PATIENCE_S > 30  # a lock of half a minute is waited for
    monkeypatch.setattr(connections, "PATIENCE_S", 0.05)  # nobody waits that long in a test
    with SessionDB(tmp_path / "state.db") as db:
        session = db.create()
        talk(db, session, "before")
        other = raw(db.path)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="Another process holds"):
            db.append(session, user("meanwhile"))
        assert texts(db.history(session)) == ["before"]
        other.execute("COMMIT")
        other.close()
        db.append(session, user("after"))
        assert texts(db.history(session)) == ["before", "after"]
        assert db.check()["ok"]


def test_opening_an_existing_store_does_not_wait_for_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        talk(db, db.create(session_id="s"), "x")
    other = raw(path)
    other.execute("BEGIN IMMEDIATE")
    with SessionDB(path) as db:
        assert texts(db.history("s")) == ["x"]
        other.execute("COMMIT")
        db.append("s", user("y"))
    other.close()


def test_a_session_open_in_a_living_process_says_so_until_that_is_gone(db: SessionDB) -> None:
    session = db.create(title="x")
    assert db.claim(session) and not db.row(session).open_elsewhere
    db.release(session)
    with running(HOLDER, db.path, session) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "True\n"
        assert db.row(session).open_elsewhere
        assert [row.open_elsewhere for row in db.list_sessions()] == [True]
        assert not db.claim(session)
        os.kill(holder.pid, signal.SIGKILL)
        holder.communicate()
        assert not db.row(session).open_elsewhere
        assert db.claim(session)


def test_closing_the_database_takes_its_marks_away(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        db.claim(db.create(title="x"))
    with SessionDB(path) as db, db._db.read() as conn:
        assert conn.execute("SELECT count(*) FROM live").fetchone()[0] == 0


@pytest.mark.parametrize("mark", ["another boot", "1"])
def test_a_reused_process_id_or_another_boot_does_not_look_open(db: SessionDB, mark: str) -> None:
    session = db.create(title="x")

    def forge(conn: sqlite3.Connection) -> None:
        conn.execute("INSERT INTO live SELECT no, ?, ?, 0 FROM sessions", (os.getppid(), mark))

    db._db.write(forge)
    assert live.started(os.getppid()) not in ("", mark)
    assert not db.row(session).open_elsewhere


def test_a_process_that_never_was_has_no_start() -> None:
    assert live.started(2**22 + 5) == ""
