"""Patches over several files: all of them or none."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.tool_context import PlainContext, call_tool

from hermes_tui.tools.registry import load_builtin_tools


def apply(context: PlainContext, *lines: str) -> dict[str, object]:
    return call_tool(context, "patch", patch="\n".join(["*** Begin Patch", *lines, "*** End Patch"]))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


ONE_FILE = {
    "a line changed": (b"a\nb\nc\n", [" a", "-b", "+B"], b"a\nB\nc\n"),
    "two places": (b"a\nb\nc\nd\n", ["-a", "+A", "@@", "-d", "+D"], b"A\nb\nc\nD\n"),
    "by the line before": (b"f:\nx\ng:\nx\n", ["@@ g:", "-x", "+y"], b"f:\nx\ng:\ny\n"),
    "by two lines before": (b"A\nf\nx\nB\nf\nx\n", ["@@ B", "@@ f", "-x", "+y"], b"A\nf\nx\nB\nf\ny\n"),
    "the same line twice": (b"x\nx\n", ["-x", "+y"], None),
    "the second follows the first": (b"x\nm\nx\n", [" m", "-x", "+y"], b"x\nm\ny\n"),
    "added after a line": (b"a\nc\n", ["@@ a", "+b"], b"a\nb\nc\n"),
    "added after the last line": (b"a\nb", ["@@ b", "+c"], b"a\nb\nc"),
    "added nowhere": (b"a\n", ["+b"], None),
    "added to an empty file": (b"", ["+b", "+"], b"b\n\n"),
    "deleted line": (b"a\nb\nc\n", ["-b"], b"a\nc\n"),
    "deleted last line": (b"a\nb\n", ["-b"], b"a\n"),
    "deleted last line without an end": (b"a\nb", ["-b"], b"a"),
    "deleted everything": (b"a\n", ["-a"], b""),
    "blank line added": (b"a\nb\n", [" a", "+", " b"], b"a\n\nb\n"),
    "blank context without its mark": (b"a\n\nb\n", [" a", "", "-b", "+c"], b"a\n\nc\n"),
    "part of a line is no line": (b"xfoo\n", ["-foo", "+bar"], None),
    "crlf": (b"a\r\nb\r\n", [" a", "-b", "+c", "+d"], b"a\r\nc\r\nd\r\n"),
    "crlf, added": (b"a\r\nb\r\n", ["@@ a", "+x"], b"a\r\nx\r\nb\r\n"),
    "bom": (b"\xef\xbb\xbfa\n", ["-a", "+b"], b"\xef\xbb\xbfb\n"),
    "indentation": (b"if a:\n\tb1()\n", [" if a:", "-    b1()", "+    c1()"], b"if a:\n\tc1()\n"),
    "trailing blanks": (b"a1 \nb\n", [" a1", "-b", "+c"], b"a1 \nc\n"),
    "unified line numbers": (b"a\nb\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+c"], b"a\nc\n"),
    "line before is missing": (b"a\n", ["@@ nowhere", "-a", "+b"], None),
    "marks only in order": (b"a\nb\n", ["-b", "+B", "@@", "-a", "+A"], None),
    "no mark": (b"a\n", ["?a"], None),
    "end of file mark": (b"a\n", ["-a", "+b", "*** End of File"], b"b\n"),
    "nothing changes": (b"a\n", [" a"], None),
}


@pytest.mark.parametrize(("before", "lines", "after"), ONE_FILE.values(), ids=ONE_FILE)
def test_a_section_is_applied_exactly_or_refused(
    context: PlainContext, before: bytes, lines: list[str], after: bytes | None
) -> None:
    (context.workspace / "f").write_bytes(before)
    result = apply(context, "*** Update File: f", *lines)
    assert (context.workspace / "f").read_bytes() == (before if after is None else after)
    assert result["ok"] is (after is not None)
    assert after is not None or result["error"]


def test_files_are_changed_made_moved_and_deleted_together(context: PlainContext) -> None:
    for name in ("a", "gone", "run.sh"):
        (context.workspace / name).write_text(f"{name}\n")
    (context.workspace / "run.sh").chmod(0o755)
    result = apply(
        context,
        "*** Update File: a", "-a", "+A",
        "*** Add File: new/b", "+one", "+",
        "*** Delete File: gone",
        "*** Update File: run.sh", "*** Move to: bin/run.sh", "-run.sh", "+moved",
    )  # fmt: skip
    assert tree(context.workspace) == {"a": b"A\n", "new/b": b"one\n\n", "bin/run.sh": b"moved\n"}
    assert (context.workspace / "bin/run.sh").stat().st_mode & 0o777 == 0o755
    assert (result["added"], result["removed"]) == (4, 3)
    assert [str(file["path"]) for file in result["files"]] == ["a", "new/b", "gone", "bin/run.sh", "run.sh"]  # type: ignore[attr-defined]


def test_two_sections_for_one_file_add_up(context: PlainContext) -> None:
    (context.workspace / "f").write_text("a\nb\n")
    apply(context, "*** Update File: f", "-b", "+B", "*** Update File: f", "-a", "+A")
    assert (context.workspace / "f").read_text() == "A\nB\n"


FAILING = {
    "text not there": ["*** Update File: b", "-nope", "+x"],
    "file not there": ["*** Update File: nowhere", "-a", "+b"],
    "add over a file": ["*** Add File: b", "+x"],
    "delete nothing": ["*** Delete File: nowhere"],
    "move over a file": ["*** Update File: b", "*** Move to: a", "-b", "+c"],
    "no name": ["*** Update File: ", "-a"],
    "empty section": ["*** Update File: b"],
    "below a file": ["*** Add File: b/c", "+x"],
    "a name too long": ["*** Add File: " + "x" * 300, "+x"],
}


@pytest.mark.parametrize("lines", FAILING.values(), ids=FAILING)
def test_one_failure_leaves_every_file_as_it_was(context: PlainContext, lines: list[str]) -> None:
    for name in "ab":
        (context.workspace / name).write_text(f"{name}\n")
    before = tree(context.workspace)
    result = apply(context, "*** Update File: a", "-a", "+A", "*** Add File: n", "+x", *lines)
    assert result["ok"] is False
    assert tree(context.workspace) == before


def test_what_was_written_is_taken_back_when_a_later_write_fails(context: PlainContext) -> None:
    for name in ("a", "z"):
        (context.workspace / name).write_text(f"{name}\n")
    (context.workspace / "z").chmod(0o640)
    before = tree(context.workspace)
    # The folder cannot be made, which shows only while writing: a file of the same patch is in its place.
    result = apply(
        context,
        "*** Update File: a",
        "-a",
        "+A",
        "*** Delete File: z",
        "*** Add File: d/n",
        "+x",
        "*** Add File: d/n/m",
        "+y",
    )
    assert result["ok"] is False
    assert tree(context.workspace) == before
    assert (context.workspace / "z").stat().st_mode & 0o777 == 0o640
    assert not (context.workspace / "d").exists()


@pytest.mark.parametrize("patch", ["", "hello", "*** Begin Patch\n*** End Patch", "@@\n-a\n+b"])
def test_what_is_no_patch_is_refused_with_its_form(context: PlainContext, patch: str) -> None:
    result = call_tool(context, "patch", patch=patch)
    assert result["ok"] is False
    assert "Begin Patch" in result["error"] or "Missing" in result["error"]


def test_both_forms_at_once_are_refused(context: PlainContext) -> None:
    result = call_tool(context, "patch", patch="*** Begin Patch", path="f", old_string="a", new_string="b")
    assert "either" in result["error"]


def test_the_assessment_names_every_path_and_the_whole_diff(context: PlainContext) -> None:
    for name in ("a", "b", "c"):
        (context.workspace / name).write_text(f"{name}\n")
    tool = load_builtin_tools().get("patch")
    assert tool is not None
    lines = ["*** Update File: a", "*** Move to: d", "-a", "+A", "*** Delete File: b", "*** Update File: c", "-c", "+C"]
    args = {"patch": "\n".join(lines)}
    assessment = tool.assess(args, context)
    assert [(use.path, use.kind) for use in assessment.paths] == [
        ("a", "delete"), ("d", "write"), ("b", "delete"), ("c", "write")
    ]  # fmt: skip
    assert "+++ b/d" in assessment.diff
    assert "-c\n+C\n" in assessment.diff
    assert tree(context.workspace)["a"] == b"a\n"
    assert tool.display(args, None)["target"] == "a -> d, b, c"
    broken = tool.assess({"patch": "*** Update File: a\n-nope"}, context)
    assert [use.path for use in broken.paths] == ["a"]
