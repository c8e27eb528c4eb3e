"""Files and folders that are many, deep, gone, locked or shared: read, write, patch and search."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.tool_context import PlainContext, call_tool

from hermes_tui.tools import ripgrep

MANY = 10_000
DEEP = 1_200
"""Folders in each other; more than Python calls functions in each other."""


@pytest.fixture(params=["ripgrep", "python"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(ripgrep, "find_ripgrep", lambda path: None)
    return str(request.param)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many")
    for number in range(MANY):
        folder = root / f"d{number % 100}"
        if number < 100:
            folder.mkdir()
        (folder / f"f{number}.txt").write_text(f"line of {number}\n")
    (root / "d7" / "f4207.txt").write_text("the needle\n")
    return root


def test_one_of_ten_thousand_files_is_found_by_content_and_by_name(
    context: PlainContext, many: Path, search: str
) -> None:
    found = call_tool(context, "search_files", pattern="needle", path=str(many))
    assert found["ok"] and found["matches"] == 1 and "d7/f4207.txt" in found["output"]
    named = call_tool(context, "search_files", pattern="f4207", target="files", path=str(many))
    assert named["count"] == 1 and "d7/f4207.txt" in named["output"]
    every = call_tool(context, "search_files", pattern="*.txt", target="files", path=str(many), limit=500)
    assert every["count"] == MANY and every["next_cursor"]


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder in a folder in a folder ..., with a file at the end."""
    root = tmp_path / "deep"
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    try:
        for _ in range(DEEP):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open("needle.txt", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)
    yield root
    subprocess.run(["rm", "-rf", str(root)], check=True)  # too deep for shutil


def test_a_very_deep_tree_is_searched_to_its_end(context: PlainContext, deep: Path, search: str) -> None:
    found = call_tool(context, "search_files", pattern="needle", target="files", path=str(deep))
    assert found["ok"] and found["count"] == 1
    assert call_tool(context, "search_files", pattern="x", path=str(deep))["ok"]


@pytest.mark.parametrize("tool", ["read_file", "write_file", "patch", "search_files"])
def test_a_folder_that_is_gone_is_told_in_words(context: PlainContext, tool: str) -> None:
    gone = context.workspace / "gone"
    gone.mkdir()
    assert call_tool(context, "terminal", command=f"cd {gone}; rmdir {gone}")["ok"]
    args = {
        "read_file": {"path": "a.txt"},
        "write_file": {"path": "a.txt", "content": "x\n"},
        "patch": {"path": "a.txt", "old_string": "a", "new_string": "b"},
        "search_files": {"pattern": "x"},
    }[tool]
    result = call_tool(context, tool, **args)
    assert result["ok"] or ("a.txt" in result["error"] and "Traceback" not in result["error"])
    assert call_tool(context, "terminal", command="pwd")["ok"]


def test_edits_at_the_same_time_are_each_there_or_refused(context: PlainContext) -> None:
    path = context.workspace / "shared.txt"
    path.write_text("".join(f"slot {number:02}: -\n" for number in range(24)))
    done: list[int] = []

    def edit(number: int) -> None:
        own = replace(context)
        old = f"slot {number:02}: -"
        for _ in range(200):
            result = call_tool(own, "patch", path="shared.txt", old_string=old, new_string=f"slot {number:02}: done")
            if result["ok"]:
                done.append(number)
                return
            assert result.get("stale"), result

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    lines = path.read_text().splitlines()
    assert sorted(done) == list(range(24))
    assert lines == [f"slot {number:02}: done" for number in range(24)]


def test_links_that_run_in_a_circle_are_no_files(context: PlainContext, search: str) -> None:
    (context.workspace / "a").symlink_to("b")
    (context.workspace / "b").symlink_to("a")
    (context.workspace / "loop").symlink_to(".")
    (context.workspace / "real.txt").write_text("needle\n")
    assert "circle" in call_tool(context, "read_file", path="a")["error"]
    assert not call_tool(context, "write_file", path="a", content="x")["ok"]
    found = call_tool(context, "search_files", pattern="needle")
    assert found["matches"] == 1


def test_pipes_and_devices_are_refused_at_once_and_passed_over(context: PlainContext, search: str) -> None:
    os.mkfifo(context.workspace / "p")
    (context.workspace / "real.txt").write_text("needle\n")
    for path in ("p", "/dev/zero", "/dev/tty"):
        for tool, args in (
            ("read_file", {}),
            ("write_file", {"content": "x"}),
            ("patch", {"old_string": "a", "new_string": "b"}),
        ):
            result = call_tool(context, tool, path=path, **args)
            assert not result["ok"] and ("regular file" in result["error"] or "device" in result["error"]), result
    assert "folder" in call_tool(context, "patch", path=".", old_string="a", new_string="b")["error"]
    assert call_tool(context, "search_files", pattern="needle")["matches"] == 1
