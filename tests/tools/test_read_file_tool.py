"""Reading files of every kind, with a way to the rest."""

from __future__ import annotations

import os
import shutil
import socket
import struct
from pathlib import Path

import pytest
from support.tool_context import PlainContext, call_tool, run_tool

from hermes_tui.tools.base import ToolFailure
from hermes_tui.tools.paths import open_regular
from hermes_tui.tools.reading import LINE_CHARS, TOTAL_CHARS
from hermes_tui.tools.registry import load_builtin_tools
from hermes_tui.tools.textfile import EDIT_CAP_BYTES

TEXTS = {
    "plain": (b"a\nb\n", "1\ta\n2\tb", 2),
    "no final newline": (b"a\nb\nc", "1\ta\n2\tb\n3\tc", 3),
    "empty": (b"", "", 0),
    "one newline": (b"\n", "1\t", 1),
    "crlf": (b"a\r\nb\r\n", "1\ta\n2\tb", 2),
    "bom": (b"\xef\xbb\xbfa\n", "1\ta", 1),
    "utf-16": ("\ufeffé漢\nb\n".encode("utf-16-le"), "1\té漢\n2\tb", 2),
    "utf-16 big end": ("\ufeffa\n".encode("utf-16-be"), "1\ta", 1),
    "utf-32": ("\ufeffa\n".encode("utf-32-le"), "1\ta", 1),
    "latin-1": (b"caf\xe9\n", "1\tcafé", 1),
    "form feed is no line end": (b"a\x0cb\n", "1\ta\x0cb", 1),
    "unicode separator is no line end": ("a\u2028b\n".encode(), "1\ta\u2028b", 1),
    "emoji": ("👩‍👩‍👧\n".encode(), "1\t👩‍👩‍👧", 1),
}


@pytest.mark.parametrize(("raw", "content", "lines"), TEXTS.values(), ids=TEXTS)
def test_text_is_numbered_and_counted(context: PlainContext, raw: bytes, content: str, lines: int) -> None:
    (context.workspace / "f").write_bytes(raw)
    result = call_tool(context, "read_file", path="f")
    assert (result["ok"], result["content"], result["total_lines"]) == (True, content, lines)
    assert "truncated" not in result


def test_500_lines_come_at_first_and_the_rest_by_offset(context: PlainContext) -> None:
    (context.workspace / "f").write_text("".join(f"line {n}\n" for n in range(1, 1201)))
    first = call_tool(context, "read_file", path="f")
    assert (first["last_line"], first["next_offset"], first["truncated"]) == (500, 501, True)
    assert "offset 501" in first["note"]
    last = call_tool(context, "read_file", path="f", offset=1199, limit=500)
    assert last["content"] == "1199\tline 1199\n1200\tline 1200"
    assert "truncated" not in last
    assert "no line 1300" in call_tool(context, "read_file", path="f", offset=1300)["note"]


def test_long_lines_are_cut_with_a_mark(context: PlainContext) -> None:
    (context.workspace / "f").write_text("x" * 5000 + "\nshort\n")
    result = call_tool(context, "read_file", path="f")
    assert result["content"] == f"1\t{'x' * LINE_CHARS} [… line cut]\n2\tshort"
    assert "1 long line" in result["note"]


def test_much_text_ends_at_a_line_with_the_way_on(context: PlainContext) -> None:
    (context.workspace / "f").write_text(("y" * 1000 + "\n") * 400)
    result = call_tool(context, "read_file", path="f")
    assert len(result["content"]) <= TOTAL_CHARS
    assert result["next_offset"] == result["last_line"] + 1
    rest = call_tool(context, "read_file", path="f", offset=result["next_offset"])
    assert rest["first_line"] == result["last_line"] + 1


@pytest.mark.parametrize("ending", ["", "\n"])
def test_a_file_too_large_for_memory_is_read_in_place(context: PlainContext, ending: str) -> None:
    count = EDIT_CAP_BYTES // 16 + 1000
    with (context.workspace / "big").open("w") as file:
        for start in range(0, count, 1000):
            file.write("".join(f"line {n:010d}\n" for n in range(start + 1, min(start + 1000, count) + 1)))
        file.write("the end" + ending)
    middle = call_tool(context, "read_file", path="big", offset=count - 1, limit=2)
    assert middle["content"] == f"{count - 1}\tline {count - 1:010d}\n{count}\tline {count:010d}"
    assert middle["total_lines"] == count + 1
    end = call_tool(context, "read_file", path="big", offset=count + 1)
    assert end["content"] == f"{count + 1}\tthe end"
    assert "truncated" not in end


def test_reading_a_large_file_stops_when_cancelled(context: PlainContext) -> None:
    with (context.workspace / "big").open("wb") as file:
        file.write(b"a\n" * (EDIT_CAP_BYTES // 2 + 1))
    context.cancel.cancel()
    assert "Interrupted" in call_tool(context, "read_file", path="big")["error"]


def test_a_sparse_file_of_two_gigabytes_is_recognised_as_binary(context: PlainContext) -> None:
    with (context.workspace / "sparse").open("wb") as file:
        file.truncate(2 << 30)
    assert "binary" in call_tool(context, "read_file", path="sparse")["error"]


def test_reading_again_says_unchanged_once_and_then_shows_it(context: PlainContext) -> None:
    path = context.workspace / "f"
    path.write_text("a\n")
    results = [call_tool(context, "read_file", path="f") for _ in range(3)]
    assert ["content" in result for result in results] == [True, False, True]
    assert results[1]["unchanged"] is True
    path.write_text("b\n")
    assert call_tool(context, "read_file", path="f")["content"] == "1\tb"
    assert "content" in call_tool(context, "read_file", path="f", offset=1, limit=10)


PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\x08\x02"
BINARIES = {
    "png": (PNG, "a PNG image (640x480 pixels, 26 bytes)"),
    "jpeg": (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
    "gif": (b"GIF89a\0\0", "a GIF image"),
    "webp": (b"RIFF\0\0\0\0WEBP", "a WebP image"),
    "elf": (b"\x7fELF\x02\x01\0", "a program (ELF)"),
    "zip": (b"PK\x03\x04\0\0", "a ZIP archive"),
    "pdf": (b"%PDF-1.7\nabc", "a PDF document"),
    "nul": (b"abc\0def", "binary"),
    "utf-16 that is not": (b"\xff\xfea", "says it is UTF-16-LE"),
}


@pytest.mark.parametrize(("raw", "words"), BINARIES.values(), ids=BINARIES)
def test_what_is_no_text_is_named(context: PlainContext, raw: bytes, words: str) -> None:
    (context.workspace / "f").write_bytes(raw)
    result = call_tool(context, "read_file", path="f")
    assert result["ok"] is False
    assert words in result["error"]


def test_a_folder_is_listed_folders_first(context: PlainContext) -> None:
    (context.workspace / "z").mkdir()
    (context.workspace / "a.txt").touch()
    (context.workspace / "link").symlink_to("a.txt")
    (context.workspace / "broken").symlink_to("nowhere")
    (context.workspace / "new\nline").touch()
    Path(os.fsdecode(os.fsencode(context.workspace) + b"/bad\xff")).touch()
    result = call_tool(context, "read_file", path=".")
    assert result["kind"] == "directory"
    assert result["content"].splitlines() == [
        "z/", "a.txt", "bad\\xff", "broken -> nowhere", "link -> a.txt", "new\\nline"
    ]  # fmt: skip
    assert "$'...'" in result["note"]
    page = call_tool(context, "read_file", path=".", limit=2)
    assert (page["truncated"], page["next_offset"]) == (True, 3)


def test_special_files_are_refused_at_once(context: PlainContext) -> None:
    os.mkfifo(context.workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(context.workspace / "s"))
        for path, words in {"pipe": "a named pipe", "s": "a socket", "/dev/zero": "a device"}.items():
            result = call_tool(context, "read_file", path=path)
            assert result["ok"] is False
            assert words in result["error"]


def test_files_that_claim_to_be_empty_are_read(context: PlainContext) -> None:
    assert "Name:" in call_tool(context, "read_file", path="/proc/self/status")["content"]


def test_a_miss_names_what_is_near(context: PlainContext) -> None:
    (context.workspace / "src").mkdir()
    (context.workspace / "src" / "Settings.py").touch()
    assert call_tool(context, "read_file", path="src/setings.py")["similar"] == ["Settings.py"]
    result = call_tool(context, "read_file", path="scr/deep/Settings.py")
    assert "nothing named scr" in result["error"]
    assert result["similar"] == ["src"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        ("\ud800", "Unicode"),
        ("x" * 300, "longer than"),
        ("file/below", "part of its path is a file"),
        ("loop", "circle"),
        ("broken", "does not exist"),
        ("~nosuchuser/x", "does not exist"),
    ],
)
def test_impossible_paths_are_told_in_words(context: PlainContext, path: str, words: str) -> None:
    (context.workspace / "file").touch()
    (context.workspace / "loop").symlink_to("loop")
    (context.workspace / "broken").symlink_to("nowhere")
    result = call_tool(context, "read_file", path=path)
    assert result["ok"] is False
    assert words in result["error"]


def test_relative_paths_start_at_the_shell(context: PlainContext, isolated_home: Path) -> None:
    (context.workspace / "sub").mkdir()
    (context.workspace / "sub" / "f").write_text("here\n")
    call_tool(context, "terminal", command="cd sub")
    assert call_tool(context, "read_file", path="f")["path"] == "sub/f"
    (isolated_home / "h").write_text("home\n")
    assert call_tool(context, "read_file", path="~/h")["content"] == "1\thome"


def test_the_assessment_names_the_path_and_is_read_only(context: PlainContext) -> None:
    tool = load_builtin_tools().get("read_file")
    assert tool is not None
    assessment = tool.assess({"path": "../x"}, context)
    assert [(use.path, use.kind) for use in assessment.paths] == [("../x", "read")]
    assert assessment.read_only
    assert assessment.cwd == str(context.workspace)


def test_a_link_turned_elsewhere_after_the_assessment_is_not_followed(context: PlainContext, tmp_path: Path) -> None:
    (context.workspace / "inside").write_text("a\n")
    (tmp_path / "outside").write_text("secret\n")
    link = context.workspace / "link"
    link.symlink_to("inside")
    tool = load_builtin_tools().get("read_file")
    assert tool is not None
    tool.assess({"path": "link"}, context)
    link.unlink()
    link.symlink_to(tmp_path / "outside")
    assert "leads elsewhere" in run_tool(context, tool, {"path": "link"})["error"]


def test_a_folder_that_became_a_link_before_the_opening_is_noticed(tmp_path: Path) -> None:
    for name in ("inside", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name)
    if not Path("/proc/self/fd").exists():
        pytest.skip("the system does not tell where an open file is")
    shutil.move(tmp_path / "inside", tmp_path / "away")
    (tmp_path / "inside").symlink_to("outside")
    with pytest.raises(ToolFailure, match="leads elsewhere"):
        open_regular(tmp_path / "inside" / "f", "inside/f")


def test_the_card_says_how_much(context: PlainContext) -> None:
    (context.workspace / "f").write_text("a\n" * 700)
    tool = load_builtin_tools().get("read_file")
    assert tool is not None
    cards = [
        tool.display(args, call_tool(context, "read_file", **args))
        for args in ({"path": "f"}, {"path": "."}, {"path": "no"})
    ]
    assert [card["summary"].split(".")[0] for card in cards] == ["lines 1-500 of 700", "1 entry", "no does not exist"]
    assert {card["kind"] for card in cards} == {"file"}
