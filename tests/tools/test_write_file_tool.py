"""Writing whole files: atomic, faithful, never over someone else's change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.tool_context import PlainContext, call_tool, run_tool

from hermes_tui.tools import atomic
from hermes_tui.tools.base import ToolFailure
from hermes_tui.tools.registry import load_builtin_tools


def write(context: PlainContext, path: str, content: str) -> dict[str, object]:
    return call_tool(context, "write_file", path=path, content=content)


def test_a_new_file_is_made_with_its_folders(context: PlainContext) -> None:
    result = write(context, "a/b/c.txt", "é漢\n")
    assert (context.workspace / "a/b/c.txt").read_bytes() == "é漢\n".encode()
    assert result == {
        "ok": True, "path": "a/b/c.txt", "added": 1, "removed": 0, "created": True, "size_bytes": 6,
        "note": "Made the folder a/b.",
    }  # fmt: skip
    assert os.listdir(context.workspace / "a/b") == ["c.txt"]  # noqa: PTH208


def test_a_new_file_gets_the_mode_of_the_umask(context: PlainContext) -> None:
    write(context, "f", "x")
    (context.workspace / "plain").touch()
    assert (context.workspace / "f").stat().st_mode == (context.workspace / "plain").stat().st_mode


REWRITES = {
    "lf": (b"a\n", "b\nc\n", b"b\nc\n"),
    "crlf kept": (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
    "mixed is not guessed": (b"a\r\nb\n", "x\ny\n", b"x\ny\n"),
    "explicit crlf": (b"a\n", "x\r\n", b"x\r\n"),
    "bom kept": (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
    "bom not doubled": (b"\xef\xbb\xbfa\n", "\ufeffb\n", b"\xef\xbb\xbfb\n"),
    "utf-16 kept": ("\ufeffa\n".encode("utf-16-le"), "é\n", "\ufeffé\n".encode("utf-16-le")),
    "latin-1 kept": (b"caf\xe9\n", "th\xe9\n", b"th\xe9\n"),
    "latin-1 that lacks it": (b"caf\xe9\n", "漢\n", "漢\n".encode()),
    "to nothing": (b"a\n", "", b""),
    "from nothing": (b"", "a\n", b"a\n"),
    "no final newline": (b"a\n", "b", b"b"),
}


@pytest.mark.parametrize(("before", "content", "after"), REWRITES.values(), ids=REWRITES)
def test_rewriting_keeps_encoding_and_line_ends(
    context: PlainContext, before: bytes, content: str, after: bytes
) -> None:
    path = context.workspace / "f"
    path.write_bytes(before)
    assert write(context, "f", content)["ok"] is True
    assert path.read_bytes() == after


def test_mode_link_target_and_diff_of_an_old_file(context: PlainContext) -> None:
    path = context.workspace / "run.sh"
    path.write_text("a\nb\n")
    path.chmod(0o750)
    (context.workspace / "link").symlink_to("run.sh")
    result = write(context, "link", "a\nc\n")
    assert (path.stat().st_mode & 0o777, path.read_text()) == (0o750, "a\nc\n")
    assert (context.workspace / "link").is_symlink()
    assert result["diff"] == "--- a/run.sh\n+++ b/run.sh\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    assert (result["added"], result["removed"]) == (1, 1)


def test_a_link_to_nothing_makes_its_target(context: PlainContext) -> None:
    (context.workspace / "link").symlink_to("target")
    write(context, "link", "x\n")
    assert (context.workspace / "target").read_text() == "x\n"
    assert (context.workspace / "link").is_symlink()


def test_the_same_content_is_not_written_again(context: PlainContext) -> None:
    path = context.workspace / "f"
    path.write_text("a\n")
    before = path.stat()
    assert "already" in str(write(context, "f", "a\n")["note"])
    assert path.stat().st_ino == before.st_ino


def test_a_file_changed_since_it_was_read_is_refused(context: PlainContext) -> None:
    path = context.workspace / "f"
    path.write_text("a\n")
    call_tool(context, "read_file", path="f")
    path.write_text("someone else\n")
    result = write(context, "f", "mine\n")
    assert (result["ok"], result["stale"]) == (False, True)
    assert path.read_text() == "someone else\n"


def test_a_file_that_appeared_after_the_assessment_is_refused(context: PlainContext) -> None:
    tool = load_builtin_tools().get("write_file")
    assert tool is not None
    args = {"path": "f", "content": "mine\n"}
    assert tool.assess(args, context).diff == "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+mine\n"
    (context.workspace / "f").write_text("theirs\n")
    assert run_tool(context, tool, args)["ok"] is False
    assert (context.workspace / "f").read_text() == "theirs\n"


def test_a_change_in_the_last_moment_leaves_their_file_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old\n")

    def stop() -> None:
        raise ToolFailure("changed")

    with pytest.raises(ToolFailure):
        atomic.write_atomic(path, "f", b"new\n", exists=True, check=stop)
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]
    assert path.read_text() == "old\n"


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        atomic.write_atomic(path, "f", b"new content", exists=True, check=lambda: None)
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new content"


REFUSED = {
    "a folder": ("folder", "a folder"),
    "a folder by its name": ("new/", "names a folder"),
    "below a file": ("file/x", "part of its path is a file"),
    "a pipe": ("pipe", "a named pipe"),
    "a binary": ("binary", "binary"),
    "a circle of links": ("loop", "circle"),
    "no path": ("", "empty"),
    "a name too long": ("x" * 300, "longer than"),
    "a system file": ("/proc/version", "/proc/version"),
}


@pytest.mark.parametrize(("path", "words"), REFUSED.values(), ids=REFUSED)
def test_places_that_take_no_file_are_refused(context: PlainContext, path: str, words: str) -> None:
    (context.workspace / "folder").mkdir()
    (context.workspace / "file").write_text("x")
    (context.workspace / "binary").write_bytes(b"\0\1")
    os.mkfifo(context.workspace / "pipe")
    (context.workspace / "loop").symlink_to("loop")
    result = write(context, path, "content")
    assert result["ok"] is False
    assert words in str(result["error"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_files_and_folders_are_refused(context: PlainContext) -> None:
    path = context.workspace / "f"
    path.write_text("x")
    path.chmod(0o444)
    assert "read-only" in str(write(context, "f", "y")["error"])
    (context.workspace / "locked").mkdir(mode=0o555)
    assert write(context, "locked/new", "y")["ok"] is False


def test_folders_made_for_a_write_that_fails_are_taken_away(context: PlainContext) -> None:
    assert write(context, "a/b/" + "x" * 255 + "y", "c")["ok"] is False
    assert not (context.workspace / "a").exists()


def test_half_a_character_is_refused(context: PlainContext) -> None:
    assert "half a Unicode" in str(write(context, "f", "a\ud800")["error"])
    assert not (context.workspace / "f").exists()


def test_the_card_of_a_new_file_shows_its_lines(context: PlainContext) -> None:
    args = {"path": "f", "content": "a\nb\n"}
    tool = load_builtin_tools().get("write_file")
    assert tool is not None
    card = tool.display(args, call_tool(context, "write_file", **args))
    assert (card["kind"], card["verb"], card["target"], card["summary"]) == ("diff", "write", "f", "new file")
    assert card["diff"].endswith("+a\n+b\n")
    assert (card["added"], card["removed"]) == (2, 0)


def test_a_long_diff_is_cut_with_a_word(context: PlainContext) -> None:
    (context.workspace / "f").write_text("".join(f"{n}\n" for n in range(9000)))
    result = write(context, "f", "".join(f"{n}!\n" for n in range(9000)))
    assert (result["added"], result["removed"]) == (9000, 9000)
    assert "more lines of the diff" in str(result["diff"])
