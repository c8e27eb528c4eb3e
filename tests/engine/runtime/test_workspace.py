"""The branch of a folder is read without running git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hermes_tui.engine.runtime.workspace import find_workspace, git_branch


def git(folder: Path, *args: str) -> str:
    name = ("-c", "user.name=n", "-c", "user.email=e@example.com")
    done = subprocess.run(["git", "-C", str(folder), *name, *args], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "trunk")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def test_a_branch_is_found_from_a_folder_below(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = repository / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.setenv("PATH", "")  # no git is run
    assert git_branch(repository) == git_branch(below) == "trunk"


def test_a_worktree_has_its_own(repository: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "feature/x", "../other")
    assert git_branch(repository.parent / "other") == "feature/x"
    assert git_branch(repository) == "trunk"


def test_a_detached_head_is_the_start_of_its_commit(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "--detach")
    assert git_branch(repository) == commit[:7]


@pytest.mark.parametrize("content", ["", "gitdir: /nowhere/at/all", "gitdir: \0", "nonsense"])
def test_an_odd_git_file_is_no_branch(tmp_path: Path, content: str) -> None:
    (tmp_path / ".git").write_text(content)
    assert git_branch(tmp_path) == ""


def test_the_stored_folder_counts_while_it_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    assert find_workspace(str(tmp_path)) == tmp_path
    monkeypatch.chdir(gone)
    assert find_workspace("") == find_workspace(str(tmp_path / "never")) == gone
    gone.rmdir()
    assert find_workspace("") == Path.home()
