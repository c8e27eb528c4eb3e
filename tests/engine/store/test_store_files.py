"""Whatever lies at the path: a store opens, or says clearly why not, and nothing is overwritten."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.store import found, raw, talk, texts, user

from hermes_tui.engine.store import connections, migrations
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import MigrationFailed, StoreError, StoreReadOnly


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_and_the_files_are_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "home" / "state.db"
    with SessionDB(path) as db:
        db.create()
        assert mode(path.parent) == 0o700
        assert {name.name: mode(name) for name in path.parent.iterdir()} == {
            "state.db": 0o600,
            "state.db-wal": 0o600,
            "state.db-shm": 0o600,
        }


@pytest.mark.parametrize(
    "content", [b"notes of mine\n", b"SQLite format 2\0", b"\0" * 4096, b"x"], ids=["text", "old", "zeros", "byte"]
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"state\.db"):
        SessionDB(path)
    assert path.read_bytes() == content


def test_a_cut_off_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"SQLite format 3\0 and nothing more")
    with pytest.raises(StoreError, match=r"state\.db"):
        SessionDB(path)
    assert path.read_bytes() == b"SQLite format 3\0 and nothing more"


def test_a_folder_at_the_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="folder"):
        SessionDB(tmp_path)


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    other = raw(path)
    other.execute("CREATE TABLE sessions (id TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        SessionDB(path)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.touch()
    with SessionDB(path) as db:
        talk(db, db.create(session_id="s"), "x")
        assert texts(db.history("s")) == ["x"]


def test_opened_for_reading_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        session = db.create()
        talk(db, session, "needle")
    before = path.read_bytes()
    with SessionDB(path, read_only=True) as db:
        assert db.read_only_reason
        assert found(db.search("needle")) == [session] == [row.id for row in db.list_sessions()]
        for write in (lambda: db.append(session, user("x")), db.create, lambda: db.pin(session)):
            with pytest.raises(StoreReadOnly, match="reading"):
                write()
    assert path.read_bytes() == before


def test_a_store_of_a_newer_program_is_read_and_never_changed(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        session = db.create()
        talk(db, session, "needle")
    other = raw(path)
    other.execute("ALTER TABLE messages ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")
    other.execute("PRAGMA user_version=999")
    other.close()
    before = path.read_bytes()
    with SessionDB(path) as db:
        assert "newer version" in db.read_only_reason
        assert texts(db.history(session)) == ["needle"]
        with pytest.raises(StoreReadOnly, match="newer version"):
            db.create()
    assert path.read_bytes() == before


READ_ONLY_PROGRAM = """
import os, sys
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import StoreReadOnly
if os.geteuid() == 0:  # permissions do not bind root
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
with SessionDB(sys.argv[1]) as db:
    print(bool(db.read_only_reason), [row.title for row in db.list_sessions()], len(db.search("needle").hits))
    try:
        db.create()
    except StoreReadOnly as error:
        print("refused")
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX permissions")
@pytest.mark.parametrize(
    ("case", "folder_mode", "file_mode"),
    [("read-only folder", 0o555, 0o644), ("read-only file", 0o777, 0o444), ("no store yet", 0o555, 0)],
)
def test_a_home_that_cannot_be_written_can_be_browsed(case: str, folder_mode: int, file_mode: int) -> None:
    with tempfile.TemporaryDirectory() as outer:  # pytest's own folder is closed to other users
        home = Path(outer) / "home"
        home.mkdir()
        path = home / "state.db"
        if file_mode:
            with SessionDB(path) as db:
                talk(db, db.create(title="T"), "needle")
            path.chmod(file_mode)
        Path(outer).chmod(0o755)
        home.chmod(folder_mode)
        ran = subprocess.run(
            [sys.executable, "-c", READ_ONLY_PROGRAM, str(path)], capture_output=True, text=True, check=False
        )
        home.chmod(0o755)
    expected = "True ['T'] 1" if file_mode else "True [] 0"
    assert ran.stdout.split("\n")[:2] == [expected, "refused"], (case, ran.stderr)


def test_a_full_disk_is_an_error_of_that_write_only(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "kept")

    db._db.write(lambda conn: conn.execute("PRAGMA max_page_count=1").fetchone()[0])
    with pytest.raises(StoreReadOnly, match="full"):
        db.append(session, user("x" * 1_000_000))
    assert texts(db.history(session)) == ["kept"]
    db._db.write(lambda conn: conn.execute("PRAGMA max_page_count=1000000").fetchone()[0])
    talk(db, session, "room again")
    assert texts(db.history(session)) == ["kept", "room again"]
    assert db.check()["ok"]


class NoWal(sqlite3.Connection):
    """A file system that cannot lock shared memory."""

    def execute(self, sql: str, *args: object) -> sqlite3.Cursor:  # type: ignore[override]
        if "journal_mode=WAL" in sql:
            raise sqlite3.OperationalError("locking protocol")
        return super().execute(sql, *args)  # type: ignore[arg-type]


class WalIgnored(sqlite3.Connection):
    """A file system where SQLite keeps the journal it has."""

    def execute(self, sql: str, *args: object) -> sqlite3.Cursor:  # type: ignore[override]
        return super().execute("SELECT 'delete'" if "journal_mode=WAL" in sql else sql, *args)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [NoWal, WalIgnored])
def test_without_wal_a_rollback_journal_is_used_with_one_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[sqlite3.Connection]
) -> None:
    real = sqlite3.connect
    # a file system without WAL is not at hand in a test
    monkeypatch.setattr(connections.sqlite3, "connect", lambda *a, **k: real(*a, **{**k, "factory": kind}))
    with SessionDB(tmp_path / "state.db") as db:
        session = db.create()
        talk(db, session, "needle", "answer")
        assert found(db.search("needle")) == [session]
        assert len(db.notices) == 1 and "WAL" in db.notices[0]


def test_a_store_without_trouble_has_no_notice(db: SessionDB) -> None:
    assert db.notices == () and db.read_only_reason == ""


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    SessionDB(path).close()
    before = path.read_bytes()
    SessionDB(path).close()
    assert path.read_bytes() == before


def test_a_migration_is_recorded_and_the_store_backed_up_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        talk(db, db.create(session_id="s"), "x")

    def m002_adds_mood(conn: sqlite3.Connection) -> None:
        conn.execute("ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT ''")

    with monkeypatch.context() as patch:  # there is no released second migration yet
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m002_adds_mood))
        patch.setattr(connections, "MIGRATIONS", migrations.MIGRATIONS)
        with SessionDB(path) as db:
            assert db.get_session("s")["mood"] == ""
            with db._db.read() as conn:
                names = [row["name"] for row in conn.execute("SELECT name FROM schema_version ORDER BY version")]
        assert names == ["m001_first_schema", "m002_adds_mood"]
    (copy,) = tmp_path.glob("state.db.before-migration-*")
    assert mode(copy) == 0o600
    with SessionDB(copy) as old:
        assert texts(old.history("s")) == ["x"]


def test_a_failed_migration_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        talk(db, db.create(session_id="s"), "x")

    def m002_breaks(conn: sqlite3.Connection) -> None:
        conn.execute("ALTER TABLE sessions ADD COLUMN mood TEXT")
        conn.execute("ALTER TABLE sessions ADD COLUMN mood TEXT")

    with monkeypatch.context() as patch:  # there is no released second migration yet
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m002_breaks))
        patch.setattr(connections, "MIGRATIONS", migrations.MIGRATIONS)
        with pytest.raises(MigrationFailed, match="mood"):
            SessionDB(path)
    with SessionDB(path) as db:
        assert "mood" not in db.get_session("s")
        assert texts(db.history("s")) == ["x"]


def test_a_closed_store_says_so(db: SessionDB) -> None:
    session = db.create()
    db.close()
    db.close()
    for use in (lambda: db.append(session, user("x")), lambda: db.history(session)):
        with pytest.raises(StoreError, match="closed"):
            use()
