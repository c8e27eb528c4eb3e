"""Every kind of edit in every kind of file: applied exactly or refused, and git makes the same of the diff."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.tool_context import PlainContext, call_tool

COUNT = 12
SAME = (3, 9)
"""Lines that are equal."""
RUN = (6, 7, 8)
"""Three equal lines in a row: two of them overlap with two of them."""

TEXTS: Mapping[str, Callable[[int], str]] = {
    "words": lambda number: f"value {number} = {number * 7}",
    "tabs": lambda number: f"\tvalue\t{number}\t=\t{number * 7}",
    "cjk": lambda number: f"\u5024{number} = \u300c{number * 7}\u300d \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "long": lambda number: f"value {number} = {'x' * 30_000}{number}",
}
ENDS: Mapping[str, tuple[str, bool]] = {"lf": ("\n", True), "crlf": ("\r\n", True), "no final newline": ("\n", False)}
MARKS: Mapping[str, bytes] = {"plain": b"", "mark": b"\xef\xbb\xbf"}


@dataclass(frozen=True)
class Edit:
    """What is asked for, and the lines it must come to; ``after`` None when it must be refused."""

    old: str
    new: str
    after: list[str] | None
    all: bool = False


def make_lines(text: Callable[[int], str]) -> list[str]:
    numbers = [SAME[0] if number in SAME else RUN[0] if number in RUN else number for number in range(COUNT)]
    return [text(number) for number in numbers]


def edits(lines: list[str]) -> Mapping[str, Edit]:
    at, new = 4, f"{lines[4]} changed"
    pair = f"{lines[4]}\n{lines[5]}"
    changed = [*lines[:at], new, *lines[at + 1 :]]
    all_x = ["x" if number in SAME else line for number, line in enumerate(lines)]
    return {
        "unique": Edit(lines[4], new, changed),
        "start of a line": Edit(lines[0][:-1], "END", ["END" + lines[0][-1], *lines[1:]]),
        "deleted": Edit(f"{lines[4]}\n", "", [*lines[:at], *lines[at + 1 :]]),
        "inserted": Edit(lines[4], f"{lines[4]}\nnew one", [*lines[: at + 1], "new one", *lines[at + 1 :]]),
        "several": Edit(f"{pair}\n", "one\n", [*lines[:at], "one", *lines[at + 2 :]]),
        "last": Edit(f"{lines[-1]}\n", f"{lines[-1]} end\n", [*lines[:-1], f"{lines[-1]} end"]),
        "repeated": Edit(lines[3], "x", None),
        "repeated, all": Edit(lines[3], "x", all_x, all=True),
        "overlapping": Edit(f"{lines[6]}\n{lines[6]}", "x", None),
        "blanks at the end": Edit(f"{lines[4]}  \n{lines[5]}", f"{new}\n{lines[5]}", changed),
        "indented otherwise": Edit(f"  {lines[4]}\n  {lines[5]}", f"  {new}\n  {lines[5]}", changed),
        "absent": Edit("not in any of them", "x", None),
        "empty": Edit("", "x", None),
    }  # fmt: skip


CASES = list(itertools.product(TEXTS, ENDS, MARKS, edits(make_lines(TEXTS["words"]))))


def content(lines: list[str], ends: str, mark: str) -> bytes:
    newline, has_last = ENDS[ends]
    return MARKS[mark] + (newline.join(lines) + newline * has_last).encode()


@pytest.mark.parametrize(("text", "ends", "mark", "kind"), CASES, ids=[", ".join(case) for case in CASES])
def test_an_edit_is_exact_or_refused(context: PlainContext, text: str, ends: str, mark: str, kind: str) -> None:
    lines = make_lines(TEXTS[text])
    edit = edits(lines)[kind]
    path = context.workspace / "file.txt"
    before = content(lines, ends, mark)
    path.write_bytes(before)
    args = {"path": "file.txt", "old_string": edit.old, "new_string": edit.new, "replace_all": edit.all}
    result = call_tool(context, "patch", **args)
    if edit.after is None or not result["ok"]:
        assert not result["ok"] and path.read_bytes() == before
        assert edit.after is None or kind == "indented otherwise", result["error"]
        return
    assert path.read_bytes() == content(edit.after, ends, mark)
    if ends != "crlf" and mark == "plain" and "more lines of the diff" not in result["diff"]:
        assert applied_by_git(before, result["diff"], context.workspace / "git") == path.read_bytes()


def applied_by_git(before: bytes, diff: str, folder: Path) -> bytes:
    """What ``git apply`` makes of a file."""
    folder.mkdir()
    (folder / "file.txt").write_bytes(before)
    subprocess.run(
        ["git", "apply", "--unsafe-paths", "--directory", str(folder), "--whitespace=nowarn", "-"],
        input=diff.encode(), cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return (folder / "file.txt").read_bytes()


def test_there_are_more_than_two_hundred() -> None:
    assert len(CASES) > 200
