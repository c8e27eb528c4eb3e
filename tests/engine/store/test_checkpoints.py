"""The file that undo keeps its contents in: private, bounded, shared by processes."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_tui.engine.checkpoints.look import digest_of
from hermes_tui.engine.store.checkpoints import CheckpointDB
from hermes_tui.engine.types.errors import StoreError
from hermes_tui.engine.types.files import NOTHING, FileEdit, FileMove, FileState

ALL = [("s", 0, 1 << 60), ("other", 0, 1 << 60)]
DAY_S = 86_400.0


def state(content: bytes) -> FileState:
    return FileState("file", 0o644, len(content), digest_of(content))


def edit(message_id: int, path: str, before: bytes | None, after: bytes | None, session: str = "s") -> FileEdit:
    states = [NOTHING if content is None else state(content) for content in (before, after)]
    return FileEdit(session_id=session, message_id=message_id, path=path, before=states[0], after=states[1])


def record(db: CheckpointDB, *edits: FileEdit, contents: tuple[bytes, ...] = ()) -> None:
    db.record({digest_of(content): content for content in contents}, edits=edits)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[CheckpointDB]:
    made = CheckpointDB(tmp_path / "data" / "checkpoints.db")
    yield made
    made.close()


def test_the_file_and_its_folder_are_private(db: CheckpointDB) -> None:
    assert stat.S_IMODE(db.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(db.path.parent.stat().st_mode) == 0o700


def test_contents_are_stored_once_and_come_back_exactly(db: CheckpointDB) -> None:
    content = bytes(range(256)) * 100
    record(db, edit(1, "/a", None, content), edit(1, "/b", None, content), contents=(content,))
    record(db, contents=(content,))
    assert db.content(state(content)) == content
    assert sqlite3.connect(db.path).execute("SELECT count(*) FROM objects").fetchone() == (1,)
    with pytest.raises(StoreError, match="not kept"):
        db.content(state(b"never seen"))


def test_edits_of_a_turn_that_meet_become_one(db: CheckpointDB) -> None:
    record(db, edit(1, "/a", b"0", b"1"), edit(1, "/a", b"1", b"2"), edit(2, "/a", b"2", b"3"))
    record(
        db, edit(1, "/b", None, b"1"), edit(1, "/b", b"1", None), edit(1, "/c", b"0", b"1"), edit(1, "/c", b"x", b"2")
    )
    found = [(one.message_id, one.path, one.before, one.after) for one in db.edits(ALL)]
    assert found == [
        (1, "/a", state(b"0"), state(b"2")),
        (2, "/a", state(b"2"), state(b"3")),
        (1, "/c", state(b"0"), state(b"1")),
        (1, "/c", state(b"x"), state(b"2")),
    ]
    assert [one.path for one in db.edits([("s", 2, 2)])] == ["/a"]
    assert [one.message_id for one in db.edits(ALL, path="/a")] == [1, 2]


def test_names_that_are_no_text_are_kept(db: CheckpointDB) -> None:
    name = "/x/\udcff\n"
    record(db, edit(1, name, None, b"1"))
    assert [one.path for one in db.edits(ALL)] == [name]


def test_the_newest_undo_is_redone_first_and_none_after_something_was_said(db: CheckpointDB) -> None:
    record(db, edit(1, "/a", b"0", b"1"), edit(2, "/b", b"0", b"1"))
    for one in db.edits(ALL):
        move = FileMove(path=one.path, now=one.after, target=one.before)
        number = db.begin_operation("s", one.message_id, "files", [move])
        assert db.cut_off("s", one.message_id) == (move,)
        db.finish_operation(number, (), [one.no])
    assert db.edits(ALL) == [] and not db.cut_off("s", 1)
    last = db.last_operation("s")
    assert last is not None and last.message_id == 2
    db.finish_redo(last, ["/b"])
    assert [one.path for one in db.edits(ALL)] == ["/b"]
    again = db.last_operation("s")
    assert again is not None and again.message_id == 1
    assert [one.message_id for one in db.take_news("s")] == [1] and db.take_news("s") == []
    db.close_redo("s")
    assert db.last_operation("s") is None


def test_old_turns_go_with_their_contents(tmp_path: Path) -> None:
    db = CheckpointDB(tmp_path / "c.db", keep_days=30)
    record(db, edit(1, "/a", b"old", b"new"), contents=(b"old", b"new"))
    db.prune()
    assert db.content(state(b"old")) == b"old"
    import time

    db.prune(time.time() + 31 * DAY_S)
    assert db.edits(ALL) == []
    with pytest.raises(StoreError):
        db.content(state(b"old"))
    db.close()


def test_what_is_too_much_goes_oldest_first(tmp_path: Path) -> None:
    import os

    contents = [os.urandom(10_000) for _ in range(10)]
    db = CheckpointDB(tmp_path / "c.db", max_bytes=55_000)
    for number, content in enumerate(contents):
        record(db, edit(number, f"/{number}", None, content), contents=(content,))
    db.prune()
    kept = [one.message_id for one in db.edits(ALL)]
    assert kept == [5, 6, 7, 8, 9]
    assert all(db.content(state(contents[number])) for number in kept)
    db.close()


def test_folders_not_seen_for_long_go_before_edits(tmp_path: Path) -> None:
    import os

    old, new, own = (os.urandom(10_000) for _ in range(3))
    db = CheckpointDB(tmp_path / "c.db", max_bytes=25_000)
    for root, content in (("/old", old), ("/new", new)):
        db.record({digest_of(content): content}, root=root, seen=[(f"{root}/f", (1, 2, 3, 4, 5), state(content))])
    record(db, edit(1, "/a", None, own), contents=(own,))
    db.prune()
    assert db.load_folder("/old") == {} and set(db.load_folder("/new")) == {"/new/f"}
    assert len(db.edits(ALL)) == 1
    db.close()


def test_what_was_seen_of_a_folder_is_replaced_and_forgotten_by_path(db: CheckpointDB) -> None:
    stat_of = (1, 2, 3, 4, 5)
    db.record({}, root="/r", seen=[("/r/a", stat_of, state(b"1")), ("/r/b", stat_of, state(b"1"))])
    db.record({}, root="/r", seen=[("/r/a", stat_of, state(b"2"))], gone=["/r/b"])
    assert db.load_folder("/r") == {"/r/a": (stat_of, state(b"2"))}


def test_erased_sessions_are_forgotten_alone(db: CheckpointDB) -> None:
    record(db, edit(1, "/a", None, b"1"), edit(1, "/b", None, b"2", session="other"), contents=(b"1", b"2"))
    db.forget(lambda sessions: [session for session in sessions if session == "other"])
    assert [one.path for one in db.edits(ALL)] == ["/b"]
    with pytest.raises(StoreError):
        db.content(state(b"1"))


def test_two_processes_share_it(db: CheckpointDB) -> None:
    other = CheckpointDB(db.path)
    record(db, edit(1, "/a", None, b"1"), contents=(b"1",))
    record(other, edit(1, "/b", None, b"2", session="other"), contents=(b"2",))
    assert [one.path for one in other.edits(ALL)] == ["/a", "/b"]
    assert db.content(state(b"2")) == b"2"
    other.close()


@pytest.mark.parametrize("what", ["text", "folder", "newer"])
def test_what_is_no_checkpoint_file_is_left_alone(what: str, tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    if what == "folder":
        path.mkdir()
    elif what == "text":
        path.write_text("not a database, but long enough to look at" * 100)
    else:
        with sqlite3.connect(path) as conn:
            conn.execute("PRAGMA user_version=99")
    with pytest.raises(StoreError):
        CheckpointDB(path)
    assert what != "text" or path.read_text().startswith("not a database")
