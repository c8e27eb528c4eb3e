"""What the question says about the files that would change."""

from __future__ import annotations

import os
import subprocess

import pytest

from hermes_tui.engine.policy.gate.paths import PathGuard
from hermes_tui.engine.policy.gate.touched import describe


@pytest.fixture
def repository(workspace):
    (workspace / ".git").rmdir()
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.test")
    for arguments in (("init", "-q"), ("add", "src", "notes.md"), (*identity, "commit", "-qm", "x")):
        subprocess.run(["git", *arguments], cwd=workspace, check=True)
    return workspace


def _touched(gate, command, folder):
    verdict = gate.judge_command(command, cwd=str(folder))
    return {path.path.removeprefix(f"{folder}/"): (path.kind, path.note) for path in verdict.touched}


def test_a_deletion_counts_files_and_says_whether_git_has_them(make_gate, repository):
    (repository / "build").mkdir()
    for i in range(3):
        (repository / "build" / f"f{i}").write_text("x" * 1000)
    found = _touched(make_gate(), "rm -rf src build gone", repository)
    assert found == {
        "src": ("delete", "2 files, 4 B, tracked by git"),
        "build": ("delete", "3 files, 3.0 KB, not tracked by git"),
        "gone": ("delete", "not there"),
    }


def test_a_glob_lists_what_it_matches(make_gate, repository):
    assert set(_touched(make_gate(), "rm -f src/*.py", repository)) == {"src/app.py", "src/util.py"}


def test_writes_are_listed_with_their_place(make_gate, repository, tmp_path):
    found = _touched(make_gate(), "echo x > notes.md; cp notes.md ../elsewhere", repository)
    assert found["notes.md"] == ("write", "")
    assert found[str(tmp_path / "elsewhere")] == ("write", "outside the workspace")


def test_a_path_known_only_at_run_time_says_so(make_gate, repository):
    assert _touched(make_gate(), 'rm -rf "$x"', repository) == {"\u2026": ("delete", "known only at run time")}


def test_a_file_tool_that_deletes_says_what(make_gate, repository):
    verdict = make_gate().judge_paths([("notes.md", "delete")], cwd=str(repository))
    assert [(path.path, path.note) for path in verdict.touched] == [("notes.md", "1 file, 2 B, tracked by git")]


def test_what_is_allowed_touches_nothing_worth_saying(make_gate, repository):
    assert make_gate().judge_command("touch a", cwd=str(repository)).touched == ()


@pytest.mark.skipif(not os.path.ismount("/dev/shm"), reason="needs a mount point below another folder")
def test_a_mount_point_below_a_deleted_folder_is_named(workspace, home):
    guard = PathGuard(workspace=str(workspace), home=str(home))
    note = describe("/dev", guard)
    assert "reaches into another file system at /dev/" in note and "outside the workspace" in note
    assert "file system" not in describe(str(workspace / "src"), guard)
