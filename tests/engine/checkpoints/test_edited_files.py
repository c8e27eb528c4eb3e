"""What an undo brings back, byte for byte, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest
from support.edited_tree import EditedTree, left, remove

from hermes_tui.engine.checkpoints.tree import Limits

ODD = b"\x00\xff\r\nx\r\n\xfe binary"


@pytest.fixture(params=[False, True], ids=["plain", "git"])
def tree(tmp_path: Path, request: pytest.FixtureRequest) -> EditedTree:
    return EditedTree(tmp_path, git=request.param)


def test_bytes_modes_links_and_folders_come_back_exactly(tree: EditedTree) -> None:
    work = tree.work
    (work / "src" / "deep").mkdir(parents=True)
    (work / "empty").mkdir(mode=0o750)
    (work / "src" / "deep" / "odd.bin").write_bytes(ODD)
    (work / "run.sh").write_bytes(b"#!/bin/sh\r\n")
    (work / "run.sh").chmod(0o755)
    (work / "link").symlink_to("./src//deep")
    os.fsencode("x")
    (work / os.fsdecode(b"name-\xff")).write_bytes(b"odd name")
    before = tree.now()
    tree.begin_turn()
    with tree.command():
        remove(work / "src")
        remove(work / "empty")
        (work / "run.sh").write_bytes(b"#!/bin/sh\n")
        (work / "run.sh").chmod(0o600)
        remove(work / "link")
        (work / "link").mkdir()
        (work / "link" / "new").write_text("in a folder that was a link")
        (work / os.fsdecode(b"name-\xff")).unlink()
        (work / "made" / "below").mkdir(parents=True)
        (work / "made" / "below" / "file").write_text("x")
    after = tree.now()
    done = tree.undo()
    assert not done.kept
    assert tree.now() == before
    assert not tree.redo().kept
    assert tree.now() == after
    assert not tree.undo().kept
    assert tree.now() == before


def test_what_the_person_changed_since_stays_and_is_named(tree: EditedTree) -> None:
    work = tree.work
    for name in ("mine", "yours", "both"):
        (work / name).write_text("before")
    tree.begin_turn()
    with tree.command():
        (work / "yours").write_text("agent")
        (work / "both").write_text("agent")
        (work / "new").write_text("agent")
    (work / "mine").write_text("person")
    (work / "both").write_text("person")
    (work / "new").chmod(0o700)
    done = tree.undo()
    assert done.files == ("yours",)
    assert left(done) == ["both", "new"]
    assert "changed since" in done.kept[0].why
    contents = {name: (work / name).read_text() for name in ("mine", "yours", "both", "new")}
    assert contents == {"mine": "person", "yours": "before", "both": "person", "new": "agent"}


def test_a_change_between_two_edits_is_where_an_undo_ends(tree: EditedTree) -> None:
    (tree.work / "f").write_text("0")
    tree.begin_turn()
    with tree.tool("f"):
        (tree.work / "f").write_text("1 agent")
    (tree.work / "f").write_text("2 person")
    with tree.command():
        (tree.work / "f").write_text("3 agent")
    done = tree.undo()
    assert (tree.work / "f").read_text() == "2 person"
    assert "only the latest edit" in done.kept[0].why


def test_undo_twice_goes_further_back_and_redo_comes_forward(tree: EditedTree) -> None:
    for number in range(1, 4):
        tree.begin_turn()
        with tree.command():
            (tree.work / "f").write_text(str(number))
    for turn in (3, 2):
        tree.undo(turn)
    assert (tree.work / "f").read_text() == "1"
    tree.redo()
    assert (tree.work / "f").read_text() == "2"
    tree.redo()
    assert (tree.work / "f").read_text() == "3"


def test_several_turns_are_taken_back_at_once(tree: EditedTree) -> None:
    (tree.work / "f").write_text("0")
    for number in range(1, 4):
        tree.begin_turn()
        with tree.command():
            (tree.work / "f").write_text(str(number))
            (tree.work / f"new{number}").touch()
    tree.undo(2, onwards=True)
    assert (tree.work / "f").read_text() == "1"
    assert sorted(path.name for path in tree.work.glob("new*")) == ["new1"]


def test_an_older_turn_is_not_taken_back_under_a_newer_one(tree: EditedTree) -> None:
    for number in (1, 2):
        tree.begin_turn()
        with tree.command():
            (tree.work / "f").write_text(str(number))
    assert left(tree.undo(1)) == ["f"]
    assert (tree.work / "f").read_text() == "2"


def test_a_folder_of_the_agent_with_a_file_of_the_person_stays(tree: EditedTree) -> None:
    tree.begin_turn()
    with tree.command():
        (tree.work / "made").mkdir()
        (tree.work / "made" / "agent").touch()
    (tree.work / "made" / "person").touch()
    done = tree.undo()
    assert [path.name for path in (tree.work / "made").iterdir()] == ["person"]
    assert [(kept.path, kept.why) for kept in done.kept] == [("made", "holds files that are not the agent's")]


def test_a_file_whose_folder_the_person_took_away_is_named(tree: EditedTree) -> None:
    (tree.work / "d").mkdir()
    (tree.work / "d" / "f").touch()
    tree.begin_turn()
    with tree.command():
        (tree.work / "d" / "f").unlink()
    (tree.work / "d").rmdir()
    assert [kept.why for kept in tree.undo().kept] == ["its folder is gone"]
    assert tree.now() == {}


def test_what_git_ignores_is_not_followed_and_what_it_tracks_is(tmp_path: Path) -> None:
    tree = EditedTree(tmp_path, git=True)
    work = tree.work
    (work / ".gitignore").write_text("*.log\nbuild/\n")
    for name in ("a.log", "kept.log", "sub/b.log", "build/out", "node_modules/x", "sub/c.txt"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text("before")
    subprocess.run(["git", "-C", str(work), "add", "-f", "kept.log"], check=True)
    tree.begin_turn()
    with tree.command():
        for name in ("a.log", "kept.log", "sub/b.log", "build/out", "node_modules/x", "sub/c.txt"):
            (work / name).write_text("after")
    assert tree.undo().files == ("kept.log", "sub/c.txt")
    with tree.tool("a.log"):  # a tool that names a file has it kept all the same
        (work / "a.log").write_text("edited")
    assert tree.undo().files == ("a.log",)
    assert (work / "a.log").read_text() == "after"


def test_edits_outside_the_workspace_are_kept_with_the_folders_they_made(tree: EditedTree) -> None:
    outside = tree.work.parent / "elsewhere" / "deep" / "f"
    tree.begin_turn()
    with tree.tracker.watch([str(outside)], is_command=False):
        outside.parent.mkdir(parents=True)
        outside.write_text("x")
    assert len(tree.undo().files) == 3
    assert not (tree.work.parent / "elsewhere").exists()


def test_a_folder_that_is_too_large_is_said_to_be(tmp_path: Path) -> None:
    tree = EditedTree(tmp_path, limits=Limits(entries=3))
    for number in range(5):
        (tree.work / f"f{number}").write_text("before")
    tree.begin_turn()
    with tree.command():
        (tree.work / "f0").write_text("after")
    with tree.tool("f1"):
        (tree.work / "f1").write_text("after")
    assert tree.problems == [
        f"Files that commands change in {tree.work} cannot be taken back: it holds more than 3 files."
    ]
    assert tree.undo().files == ("f1",)


def test_a_folder_that_grows_too_large_loses_nothing_that_was_seen(tmp_path: Path) -> None:
    tree = EditedTree(tmp_path, limits=Limits(entries=3))
    (tree.work / "f").write_text("before")
    tree.begin_turn()
    with tree.command():
        (tree.work / "f").write_text("after")
        for number in range(9):
            (tree.work / f"new{number}").touch()
    assert "more than 3 files" in tree.tracker.problem
    assert "f" in tree.undo().files
    assert (tree.work / "f").read_text() == "before"


def test_a_file_too_large_to_keep_is_left_and_named(tree: EditedTree) -> None:
    big = tree.work / "big"
    with big.open("wb") as file:
        file.truncate(10_000_001)
    tree.begin_turn()
    with tree.command():
        big.write_text("small now")
    done = tree.undo()
    assert [kept.why for kept in done.kept] == ["too large to be kept, or not readable"]
    assert big.read_text() == "small now"


def test_a_restarted_program_undoes_what_the_one_before_did(tree: EditedTree) -> None:
    (tree.work / "f").write_text("before")
    tree.begin_turn()
    with tree.command():
        (tree.work / "f").write_text("after")
    tree.restart()
    (tree.work / "g").write_text("the person's, in between")
    with tree.command():
        pass
    assert tree.undo().files == ("f",)
    assert (tree.work / "g").exists()


def test_hard_links_stay_one_file(tree: EditedTree) -> None:
    (tree.work / "a").write_text("before")
    (tree.work / "b").hardlink_to(tree.work / "a")
    tree.begin_turn()
    with tree.command(), (tree.work / "a").open("r+") as file:
        file.write("after, and longer")
    tree.undo()
    assert (tree.work / "b").read_text() == "before"
    assert (tree.work / "a").samefile(tree.work / "b")


def test_a_link_put_in_the_way_leads_nobody_elsewhere(tree: EditedTree) -> None:
    (tree.work / "d").mkdir()
    (tree.work / "d" / "f").write_text("before")
    tree.begin_turn()
    with tree.command():
        (tree.work / "d" / "f").write_text("after")
    elsewhere = tree.work.parent / "elsewhere"
    (tree.work / "d").rename(elsewhere)
    (tree.work / "d").symlink_to(elsewhere)
    assert left(tree.undo()) == ["d/f"]
    assert (elsewhere / "f").read_text() == "after"


def test_a_folder_behind_a_link_keeps_its_mode(tree: EditedTree) -> None:
    folder, elsewhere = tree.work / "a" / "b" / "c", tree.work.parent / "elsewhere"
    folder.mkdir(parents=True)
    tree.begin_turn()
    with tree.tool("a/b/c"):
        folder.chmod(0o500)
    (tree.work / "a").rename(elsewhere)
    (tree.work / "a").symlink_to(elsewhere)
    assert left(tree.undo()) == ["a/b/c"]
    assert (elsewhere / "b" / "c").stat().st_mode & 0o777 == 0o500


def test_edits_of_calls_that_run_at_once_are_counted_once(tree: EditedTree) -> None:
    (tree.work / "f").write_text("before")
    tree.begin_turn()
    with tree.command(), tree.tool("f"):
        (tree.work / "f").write_text("half")
        with tree.command():
            (tree.work / "g").write_text("x")
        (tree.work / "f").write_text("after")
    assert len(tree.db.edits([("s", 0, 99)])) == 2
    assert tree.undo().files == ("f", "g")
    assert (tree.work / "f").read_text() == "before"


def test_the_list_says_what_was_done(tree: EditedTree) -> None:
    work = tree.work
    (work / "a.txt").write_text("one\ntwo\n")
    (work / "crlf").write_bytes(b"x\ny\n")
    (work / "gone").write_text("x\n")
    (work / "mode").write_text("x\n")
    (work / "bin").write_bytes(b"\0\1")
    tree.begin_turn()
    with tree.tool("a.txt"):
        (work / "a.txt").write_text("one\n2\n")
    with tree.command():
        (work / "crlf").write_bytes(b"x\r\ny\r\n")
        (work / "gone").unlink()
        (work / "mode").chmod(0o755)
        (work / "bin").write_bytes(b"\0\1\2")
        (work / "new").mkdir()
    found = {change.path: change for change in tree.history.changes("s")}
    assert {path: (one.kind, one.added, one.removed) for path, one in found.items()} == {
        "a.txt": ("changed", 1, 1),
        "bin": ("changed", 0, 0),
        "crlf": ("changed", 2, 2),
        "gone": ("deleted", 0, 1),
        "mode": ("changed", 0, 0),
        "new/": ("created", 0, 0),
    }
    assert "-two" in found["a.txt"].diff and "+2" in found["a.txt"].diff
    assert not found["a.txt"].by_command and found["bin"].by_command
    assert found["mode"].note == "mode 644 became 755"
    assert found["bin"].note == "no text (2 bytes became 3 bytes)"


def test_a_folder_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    tree = EditedTree(tmp_path, limits=Limits(tree_bytes=10))
    (tree.work / "f").write_text("more than ten bytes")
    tree.begin_turn()
    with tree.command():
        (tree.work / "f").write_text("after")
    assert "its files hold more than 0 MB" in tree.problems[0]
    assert tree.db.load_folder(str(tree.work)) == {}
    assert tree.undo().files == ()


def test_a_name_that_comes_during_the_first_look_is_not_missed(
    tree: EditedTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hermes_tui.engine.checkpoints import tree as module

    (tree.work / "d").mkdir()
    real = module.look_closer

    def late(path: str, status: os.stat_result) -> object:
        if path.endswith("/d"):
            (tree.work / "d" / "person").write_text("came after the names of its folder were read")
        return real(path, status)

    tree.begin_turn()
    with monkeypatch.context() as patched:  # there is no other way into this moment
        patched.setattr(module, "look_closer", late)
        tree.tracker._prepare()
    with tree.command():
        (tree.work / "d" / "person").unlink()
    assert tree.undo().files == ("d/person",)
    assert (tree.work / "d" / "person").exists()


def test_a_closed_tracker_says_nothing_and_keeps_what_a_stopped_command_did(tree: EditedTree) -> None:
    (tree.work / "f").write_text("before")
    tree.begin_turn()
    stopped = threading.Event()

    def command() -> None:
        with tree.command():
            (tree.work / "f").write_text("after")
            assert stopped.wait(20)

    thread = threading.Thread(target=command)
    thread.start()
    while not tree.tracker._commands:
        thread.join(0.01)
    threading.Timer(0.05, stopped.set).start()
    tree.tracker.close()
    thread.join(20)
    assert tree.undo().files == ("f",)
    tree.db.close()
    with tree.command():
        pass
    assert tree.problems == []
