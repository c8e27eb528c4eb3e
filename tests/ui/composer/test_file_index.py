import os
import queue
import subprocess
from pathlib import Path

import pytest

from hermes_tui.widgets import file_index
from hermes_tui.widgets.file_index import FileIndex, FileResult


def make(root: Path, *paths: str) -> None:
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("x", encoding="utf-8")


def ask(index: FileIndex, query: str) -> FileResult:
    """The final answer to a query."""
    answers: queue.Queue[FileResult] = queue.Queue()
    index.request(query, answers.put)
    while not (answer := answers.get(timeout=30)).complete:
        pass
    return answer


def names(index: FileIndex, query: str) -> list[str]:
    return [match.text for match in ask(index, query).matches]


@pytest.fixture
def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without git and ripgrep; PATH is all that the module looks at."""
    monkeypatch.setenv("PATH", "")


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)


def test_in_a_git_folder_tracked_and_new_files_are_found_but_no_ignored_ones(tmp_path: Path):
    make(tmp_path, "src/result.py", "src/new_result.py", "build/result.o")
    (tmp_path / ".gitignore").write_text("build/\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "src/result.py")
    assert names(FileIndex(tmp_path), "result") == ["src/result.py", "src/new_result.py"]


@pytest.mark.usefixtures("no_tools")
def test_without_git_and_ripgrep_the_folder_is_walked_and_gitignore_files_are_obeyed(tmp_path: Path):
    make(tmp_path, "a/keep.txt", "a/keep.log", "a/b/keep.tmp", "c/keep.tmp", "node_modules/keep.js", ".git/keep")
    (tmp_path / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (tmp_path / "a/.gitignore").write_text("b/\n", encoding="utf-8")
    assert sorted(names(FileIndex(tmp_path), "keep")) == ["a/keep.txt", "c/keep.tmp"]


@pytest.mark.usefixtures("no_tools")
def test_nothing_outside_the_folder_is_listed(tmp_path: Path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    make(inside, "here.txt")
    make(outside, "secret.txt")
    (inside / "link").symlink_to(outside, target_is_directory=True)
    found = names(FileIndex(inside), "")
    assert found == ["here.txt"]


@pytest.mark.usefixtures("no_tools")
def test_folders_can_be_chosen_too(tmp_path: Path):
    make(tmp_path, "alpha/beta/gamma.txt")
    assert names(FileIndex(tmp_path), "beta")[0] == "alpha/beta/"


@pytest.mark.usefixtures("no_tools")
def test_odd_names_survive(tmp_path: Path):
    make(tmp_path, "a b.txt", "漢字.md", "quote'd.py", "new\nline.txt")
    (tmp_path / os.fsdecode(b"bad\xff.txt")).write_text("x")
    assert len(names(FileIndex(tmp_path), "")) == 5


def test_the_newest_query_wins_and_no_caller_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    many = [f"dir{number % 500}/file_{number}_result.txt" for number in range(120_000)]
    monkeypatch.setattr(file_index, "_walk", lambda root: iter(many))  # 120,000 real files would only test the disk
    index = FileIndex(tmp_path)
    answers: queue.Queue[FileResult] = queue.Queue()
    for query in ("r", "re", "res", "resu", "result"):
        index.request(query, answers.put)
    while True:
        answer = answers.get(timeout=60)
        if answer.query == "result" and answer.complete:
            break
    assert answer.total == 120_000
    assert len(answer.matches) == 50
    assert ask(index, "result.txt").total == 120_000
    index.close()


@pytest.mark.usefixtures("no_tools")
def test_a_folder_that_cannot_be_read_has_no_files(tmp_path: Path):
    assert names(FileIndex(tmp_path / "gone"), "") == []


def test_a_closed_index_ends_its_thread(tmp_path: Path):
    index = FileIndex(tmp_path)
    ask(index, "")
    index.close()
    index._thread.join(timeout=10)
    assert not index._thread.is_alive()
