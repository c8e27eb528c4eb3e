"""Replacing text in files: applied or refused, never corrupted."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from support.tool_context import PlainContext, call_tool, run_tool

from hermes_tui.tools.matching import NotFound, Several, replace
from hermes_tui.tools.registry import load_builtin_tools


@dataclass(frozen=True)
class Row:
    """One edit: the file's bytes before and after; ``after`` None when it must be refused."""

    before: bytes
    old: str
    new: str
    after: bytes | None
    all: bool = False
    how: str = ""
    says: str = ""


U16 = "key = 1\nz\n".encode("utf-16-le")
LONG = "x" * 100_000
PY = b"def f():\n    if a:\n        return 1\n    return 2\n"

ROWS = {
    # unique
    "word": Row(b"a b c\n", "b", "B", b"a B c\n"),
    "first": Row(b"abc", "a", "x", b"xbc"),
    "last": Row(b"abc", "c", "x", b"abx"),
    "whole file": Row(b"abc", "abc", "x", b"x"),
    "to nothing": Row(b"abc", "b", "", b"ac"),
    "whole file to nothing": Row(b"abc\n", "abc\n", "", b""),
    "line deleted": Row(b"a\nb\nc\n", "b\n", "", b"a\nc\n"),
    "line added": Row(b"a\nc\n", "a\n", "a\nb\n", b"a\nb\nc\n"),
    "lines joined": Row(b"a\nb\n", "a\nb", "a b", b"a b\n"),
    "several lines": Row(b"a\nb\nc\nd\n", "b\nc\n", "x\n", b"a\nx\nd\n"),
    "regex characters": Row(b"a.*(b)[c]\n", ".*(b)[c]", r"\1\g<0>", b"a\\1\\g<0>\n"),
    "backslashes": Row(b"a\\nb\n", "\\n", "\\t", b"a\\tb\n"),
    "dollar and percent": Row(b"$a %s {x}\n", "$a %s {x}", "{0} $1", b"{0} $1\n"),
    "leading blank kept": Row(b"  a\n", "a", "b", b"  b\n"),
    "only blanks": Row(b"a  b\n", "  ", " ", b"a b\n"),
    "nul free control": Row(b"a\x0cb\n", "\x0c", "-", b"a-b\n"),
    "vertical tab and form feed are no line ends": Row(b"a\x0bb\x0cc\nd\n", "d", "e", b"a\x0bb\x0cc\ne\n"),
    "unicode line separators kept": Row("a\u2028b\u0085c\nd\n".encode(), "d", "e", "a\u2028b\u0085c\ne\n".encode()),
    # repeated
    "twice": Row(b"a\na\n", "a", "b", None, says="2 times"),
    "twice, all": Row(b"a\na\n", "a", "b", b"b\nb\n", all=True),
    "twice, made unique": Row(b"a\n1\na\n2\n", "a\n2", "b\n2", b"a\n1\nb\n2\n"),
    "overlapping": Row(b"aaa", "aa", "b", None, says="2 times"),
    "overlapping, all": Row(b"aaa", "aa", "b", b"ba", all=True),
    "overlapping lines": Row(b"x\nx\nx\n", "x\nx\n", "y\n", None, says="2 times"),
    "grows with itself, all": Row(b"a a", "a", "aa", b"aa aa", all=True),
    "many": Row(b"a" * 500, "a", "b", None, says="very often"),
    "lines are named": Row(b"q\nhit\nq\nhit\n", "hit", "b", None, says="lines 2, 4"),
    # not there
    "absent": Row(b"hello world\n", "goodbye", "x", None, says="is not in"),
    "nearest shown": Row(b"def alpha():\n    pass\n", "def alpah():", "x", None, says="1\tdef alpha():"),
    "case differs": Row(b"Hello\n", "hello", "x", None, says="capital and small"),
    "line numbers copied": Row(b"foo\nbar\n", "1\tfoo\n2\tbar", "x", None, says="leave them out"),
    "escaped newline": Row(b"a\nb\n", "a\\nb", "x", None, says="two characters"),
    "absent, all": Row(b"a\n", "zz", "x", None, all=True, says="is not in"),
    "empty old": Row(b"a\n", "", "x", None, says="is empty"),
    "same": Row(b"a\n", "a", "a", None, says="the same"),
    "same but for line ends": Row(b"a\r\nb\r\n", "a\nb", "a\r\nb", None, says="line ends"),
    # blanks at line ends
    "trailing blank in file": Row(b"a  \nb\n", "a\nb", "A\nb", b"A\nb\n", how="trailing"),
    "trailing blank in old": Row(b"aa\nbb\n", "aa  \nbb", "AA\nbb", b"AA\nbb\n", how="trailing"),
    "untouched line keeps its blanks": Row(b"a  \nb\nc\n", "a\nb\n", "a\nB\n", b"a  \nB\nc\n", how="trailing"),
    "trailing blanks twice": Row(b"aa \nbb\naa  \nbb\n", "aa\nbb", "x", None, says="2 times"),
    "trailing blanks, all is literal": Row(b"aa \nbb\n", "aa\nbb", "x", None, all=True, says="is not in"),
    "trailing tab": Row(b"aa\t\nbb\n", "aa\nbb\n", "", b"", how="trailing"),
    # indentation
    "indent missing": Row(PY, "if a:\n    return 1", "if b:\n    return 1", PY.replace(b"if a", b"if b"), how="indent"),
    "indent too deep": Row(
        b"if a:\n  b()\n", "    if a:\n      b()\n", "    if x:\n      b()\n", b"if x:\n  b()\n", how="indent"
    ),
    "two for four": Row(
        PY,
        "def f():\n  if a:\n    return 1",
        "def f():\n  if a:\n    return 3",
        PY.replace(b"return 1", b"return 3"),
        how="indent",
    ),
    "tabs in file": Row(
        b"if a:\n\tif b:\n\t\tc()\n",
        "if a:\n    if b:\n        c()",
        "if a:\n    if b:\n        d()\n        e()",
        b"if a:\n\tif b:\n\t\td()\n\t\te()\n",
        how="indent",
    ),
    "tabs in old": Row(
        b"if a:\n    if b:\n        c()\n",
        "if a:\n\tif b:\n\t\tc()",
        "if a:\n\tif b:\n\t\td()",
        b"if a:\n    if b:\n        d()\n",
        how="indent",
    ),
    "tabs deeper than known": Row(
        b"if a:\n\tb()\n",
        "if a:\n    b()",
        "if a:\n    if c:\n        b()",
        b"if a:\n\tif c:\n\t\tb()\n",
        how="indent",
    ),
    "indents contradict": Row(b"a1\n  b1\n    c1\n", "a1\nb1\nc1", "x", None, says="is not in"),
    "new indent unknown": Row(b"\tb1()\n", "   b1()", "   b1()\n    c()", None, says="is not in"),
    "indent twice": Row(b"  aa\n    aa\n", "\taa", "x", None, says="2 times"),
    "blank line inside": Row(b"  aa\n\n  bb\n", "aa\n\nbb", "aa\n\ncc", b"  aa\n\n  cc\n", how="indent"),
    "indent of a lone brace is no place": Row(b"  }\n", "\t}", "x", None, says="is not in"),
    "indent, all is literal": Row(PY, "if a:\n    return 1", "x", None, all=True, says="is not in"),
    "dedent in new": Row(
        b"    if a:\n        b()\n",
        "if a:\n    b()",
        "if a:\n    b()\nc()",
        b"    if a:\n        b()\n    c()\n",
        how="indent",
    ),
    # CR LF
    "crlf, one line": Row(b"a\r\nb\r\nc\r\n", "b", "B", b"a\r\nB\r\nc\r\n"),
    "crlf, old has lf": Row(b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", b"x\r\ny\r\nc\r\n"),
    "crlf, both have crlf": Row(b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
    "crlf, line added": Row(b"a\r\nb\r\n", "a", "a\nnew", b"a\r\nnew\r\nb\r\n"),
    "crlf, line deleted": Row(b"a\r\nb\r\nc\r\n", "b\n", "", b"a\r\nc\r\n"),
    "crlf, at the end": Row(b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
    "crlf, all": Row(b"a\r\nx\r\na\r\nx\r\n", "a\nx", "b\ny", b"b\r\ny\r\nb\r\ny\r\n", all=True),
    "crlf, indent": Row(b"if a:\r\n\tb()\r\n", "if a:\n  b()", "if a:\n  c()", b"if a:\r\n\tc()\r\n", how="indent"),
    "mixed, others untouched": Row(b"a\r\nb\nc\r\nd\n", "c", "C\nX", b"a\r\nb\nC\r\nX\r\nd\n"),
    "mixed, region keeps each": Row(b"a\r\nb\nc\n", "a\nb\nc", "x\ny\nz", b"x\r\ny\nz\n"),
    "lone cr is text": Row(b"a\rb\nc\n", "c", "d", b"a\rb\nd\n"),
    # marks and encodings
    "bom": Row(b"\xef\xbb\xbfkey = 1\n", "key = 1", "key = 2", b"\xef\xbb\xbfkey = 2\n"),
    "bom in old": Row(b"\xef\xbb\xbfkey = 1\n", "\ufeffkey = 1", "\ufeffkey = 2", b"\xef\xbb\xbfkey = 2\n"),
    "utf-16": Row(b"\xff\xfe" + U16, "key = 1", "key = é漢", b"\xff\xfe" + "key = é漢\nz\n".encode("utf-16-le")),
    "utf-16 big end": Row(
        "\ufeffa\r\nb\r\n".encode("utf-16-be"), "a\nb", "c\nd", "\ufeffc\r\nd\r\n".encode("utf-16-be")
    ),
    "latin-1": Row(b"caf\xe9 1\n", "1", "2", b"caf\xe9 2\n"),
    "latin-1 lacks it": Row(b"caf\xe9 1\n", "1", "漢", None, says="iconv"),
    "binary": Row(b"a\0b\n", "a", "b", None, says="binary"),
    "half a character": Row(b"a\n", "a", "\ud800", None, says="half a Unicode"),
    "cjk": Row("漢字かな\n文\n".encode(), "かな", "カナ", "漢字カナ\n文\n".encode()),
    "emoji joined": Row("👩‍👩‍👧 x\n".encode(), "x", "👍🏽", "👩‍👩‍👧 👍🏽\n".encode()),
    "composed and decomposed differ": Row("e\u0301\n".encode(), "é", "e", None, says="is not in"),
    "full-width blank kept": Row("\u3000a1\n".encode(), "a1", "b1", "\u3000b1\n".encode()),
    # ends of files
    "no final newline kept": Row(b"a\nb", "b", "c", b"a\nc"),
    "old ends the line, file does not": Row(b"a\nb1", "b1\n", "c1\n", b"a\nc1", how="missing newline"),
    "old ends the line, file does not, deleted": Row(b"a\nb1", "b1\n", "", b"a\n", how="missing newline"),
    "append at the end": Row(b"a\nb\n", "b\n", "b\nc\n", b"a\nb\nc\n"),
    "newline taken away": Row(b"a\nb\n", "b\n", "b", b"a\nb"),
    "empty file": Row(b"", "a", "b", None, says="is not in"),
    # long
    "long line": Row(f"{LONG}needle{LONG}\n".encode(), "needle", "pin", f"{LONG}pin{LONG}\n".encode()),
    "long needle": Row(f"a{LONG}b\n".encode(), LONG, "-", b"a-b\n"),
    "far down": Row(b"x\n" * 50_000 + b"needle\n", "needle", "pin", b"x\n" * 50_000 + b"pin\n"),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_an_edit_is_applied_exactly_or_refused(context: PlainContext, row: Row) -> None:
    path = context.workspace / "f.txt"
    path.write_bytes(row.before)
    args = {"path": "f.txt", "old_string": row.old, "new_string": row.new, "replace_all": row.all}
    result = call_tool(context, "patch", **args)
    assert path.read_bytes() == (row.before if row.after is None else row.after)
    assert result["ok"] is (row.after is not None)
    if row.after is None:
        assert row.says in result["error"]
        return
    assert row.how in result.get("matched", "")
    assert bool(row.how) is ("matched" in result)
    assert result["diff"].startswith("--- a/f.txt\n+++ b/f.txt\n@@ ")
    assert [entry.name for entry in context.workspace.iterdir()] == ["f.txt"]


LETTERS = st.text(alphabet="ab \n\r\té漢", max_size=40)


@settings(deadline=None, max_examples=400)
@given(
    text=LETTERS, old=st.text(alphabet="ab \n\té漢", min_size=1, max_size=4), new=st.text(alphabet="xy \n", max_size=4)
)
@example(text="aaa", old="aa", new="b")
def test_replacing_a_unique_text_is_what_str_replace_does(text: str, old: str, new: str) -> None:
    text = text.replace("\r", "")
    places = sum(text.startswith(old, at) for at in range(len(text)))
    if places == 1:
        assert replace(text, old, new).text == text.replace(old, new)
    elif places:
        with pytest.raises(Several):
            replace(text, old, new)
        assert replace(text, old, new, replace_all=True).text == text.replace(old, new)
    else:
        with pytest.raises(NotFound):
            replace(text, old, new, replace_all=True)


@settings(deadline=None, max_examples=300)
@given(head=LETTERS, old=st.sampled_from(["needle", "nee\ndle", "\tneedle\n"]), tail=LETTERS)
def test_line_ends_outside_the_edit_stay_as_they_are(head: str, old: str, tail: str) -> None:
    in_file = old.replace("\n", "\r\n")
    assume(not head.endswith("\r"))
    done = replace(head + in_file + tail, old, "pin\npin")
    assert done.text.startswith(head)
    assert done.text.endswith(tail)


@settings(deadline=None, max_examples=300)
@given(
    lines=st.lists(st.sampled_from(["alpha", "  beta", "\tgamma ", "", "    delta", "eps  "]), min_size=1, max_size=8),
    at=st.integers(0, 7),
    count=st.integers(1, 3),
    mangle=st.sampled_from([str.strip, str.rstrip, lambda line: "  " + line, lambda line: line + " "]),
)
def test_a_careless_edit_changes_nothing_but_its_lines(lines: list[str], at: int, count: int, mangle: object) -> None:
    at %= len(lines)
    count = min(count, len(lines) - at)
    text = "\n".join(lines) + "\n"
    old = "\n".join(mangle(line) for line in lines[at : at + count])  # type: ignore[operator]
    try:
        done = replace(text, old, old.replace("a", "A")) if old else None
    except (Several, NotFound):
        return
    if done is not None:
        after = done.text.split("\n")
        assert [line.strip().lower() for line in after] == [line.strip() for line in text.split("\n")]
        outside = [i for i in range(len(lines)) if not at <= i < at + count]
        assert done.how == "" or [after[i] for i in outside] == [lines[i] for i in outside]


def test_mode_and_link_target_are_kept(context: PlainContext) -> None:
    for name, mode in (("run.sh", 0o755), ("secret", 0o600)):
        path = context.workspace / name
        path.write_text("old\n")
        path.chmod(mode)
        (context.workspace / f"to-{name}").symlink_to(name)
        assert call_tool(context, "patch", path=f"to-{name}", old_string="old", new_string="new")["ok"] is True
        assert path.read_text() == "new\n"
        assert path.stat().st_mode & 0o777 == mode
        assert (context.workspace / f"to-{name}").is_symlink()


def test_hard_links_stay_one_file(context: PlainContext) -> None:
    (context.workspace / "a").write_text("old content\n")
    os.link(context.workspace / "a", context.workspace / "b")
    call_tool(context, "patch", path="a", old_string="old content", new_string="new")
    assert (context.workspace / "b").read_text() == "new\n"


def test_a_file_changed_since_it_was_read_is_refused(context: PlainContext) -> None:
    path = context.workspace / "f"
    path.write_text("one\ntwo\n")
    call_tool(context, "read_file", path="f")
    path.write_text("one\ntwo\nby another\n")
    edit = {"path": "f", "old_string": "one", "new_string": "1"}
    refused = call_tool(context, "patch", **edit)
    assert (refused["ok"], refused["stale"]) == (False, True)
    assert "read it again" in refused["error"]
    assert path.read_text() == "one\ntwo\nby another\n"
    call_tool(context, "read_file", path="f")
    assert call_tool(context, "patch", **edit)["ok"] is True


def test_a_file_only_touched_since_it_was_read_is_accepted(context: PlainContext) -> None:
    path = context.workspace / "f"
    path.write_text("one\n")
    call_tool(context, "read_file", path="f")
    os.utime(path, ns=(1, 1))
    assert call_tool(context, "patch", path="f", old_string="one", new_string="1")["ok"] is True


def test_edits_one_after_the_other_need_no_new_reading(context: PlainContext) -> None:
    (context.workspace / "f").write_text("1\n")
    call_tool(context, "read_file", path="f")
    for number in range(1, 5):
        assert call_tool(context, "patch", path="f", old_string=f"{number}", new_string=f"{number + 1}")["ok"] is True


def test_a_file_changed_after_its_diff_was_shown_is_refused(context: PlainContext) -> None:
    path = context.workspace / "f"
    path.write_text("one\n")
    tool = load_builtin_tools().get("patch")
    assert tool is not None
    args = {"path": "f", "old_string": "one", "new_string": "1"}
    assert "-one\n+1\n" in tool.assess(args, context).diff
    path.write_text("one\nmore\n")
    assert "after its diff was shown" in run_tool(context, tool, args)["error"]
    assert path.read_text() == "one\nmore\n"


def test_a_link_that_was_turned_elsewhere_after_the_assessment_is_refused(
    context: PlainContext, tmp_path: Path
) -> None:
    (context.workspace / "inside").write_text("one\n")
    (tmp_path / "outside").write_text("one\n")
    link = context.workspace / "link"
    link.symlink_to("inside")
    tool = load_builtin_tools().get("patch")
    assert tool is not None
    args = {"path": "link", "old_string": "one", "new_string": "1"}
    tool.assess(args, context)
    link.unlink()
    link.symlink_to(tmp_path / "outside")
    assert "leads elsewhere" in run_tool(context, tool, args)["error"]
    assert (tmp_path / "outside").read_text() == "one\n"


def test_a_missing_file_names_the_nearest(context: PlainContext) -> None:
    (context.workspace / "readme.md").touch()
    result = call_tool(context, "patch", path="REDME.md", old_string="a", new_string="b")
    assert "readme.md" in result["error"]


@pytest.mark.parametrize(
    ("name", "text", "words"), [("a.py", "x = (\n", "Python"), ("a.json", "{", "JSON"), ("a.toml", "a =", "TOML")]
)
def test_a_syntax_error_is_noted_and_old_ones_are_told_apart(
    context: PlainContext, name: str, text: str, words: str
) -> None:
    good = {"a.py": "x = 1\n", "a.json": "1", "a.toml": "a = 1"}[name]
    (context.workspace / name).write_text(good)
    first = call_tool(context, "patch", path=name, old_string=good, new_string=text)
    assert words in first["note"]
    assert "before the edit" not in first["note"]
    second = call_tool(context, "patch", path=name, old_string=text, new_string=text + text)
    assert "before the edit" in second["note"]


def test_a_huge_file_is_refused(context: PlainContext) -> None:
    with (context.workspace / "big").open("wb") as file:
        file.truncate(20 * 1024 * 1024)
    assert "too large" in call_tool(context, "patch", path="big", old_string="a", new_string="b")["error"]


def test_the_card_carries_diff_and_counts(context: PlainContext) -> None:
    (context.workspace / "f").write_text("a\nb\n")
    args = {"path": str(context.workspace / "f"), "old_string": "a\n", "new_string": "x\ny\n"}
    result = call_tool(context, "patch", **args)
    tool = load_builtin_tools().get("patch")
    assert tool is not None
    card = tool.display(args, result)
    assert (card["kind"], card["verb"], card["target"], card["added"], card["removed"]) == ("diff", "patch", "f", 2, 1)
    assert card["diff"].endswith("@@ -1,2 +1,3 @@\n-a\n+x\n+y\n b\n")
