"""Searching contents and names, with ripgrep and without."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.tool_context import PlainContext, call_tool, plain_context

from hermes_tui.tools import ripgrep
from hermes_tui.tools.globs import GlobFilter
from hermes_tui.tools.registry import load_builtin_tools
from hermes_tui.tools.search_types import MATCH_CAP

Search = Callable[..., dict[str, object]]


@pytest.fixture(params=["rg", "python"])
def context(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlainContext]:
    """A context with ripgrep, and one without."""
    env = dict(os.environ)
    if request.param == "python":
        env["PATH"] = str(tmp_path / "empty")
        monkeypatch.setattr(sys, "executable", str(tmp_path / "empty" / "python"))  # rg is also looked for beside it
    elif ripgrep.find_ripgrep(env.get("PATH")) is None:
        pytest.skip("ripgrep is not installed")
    with plain_context(tmp_path, env=env) as made:
        if request.param == "python":
            call_tool(made, "search_files", pattern="x")  # takes the one-time note
        yield made


@pytest.fixture
def search(context: PlainContext) -> Search:
    def run(pattern: str, **args: object) -> dict[str, object]:
        return call_tool(context, "search_files", pattern=pattern, **args)

    return run


def put(context: PlainContext, **files: str) -> None:
    for name, text in files.items():
        path = context.workspace / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_matches_come_by_path_and_line(context: PlainContext, search: Search) -> None:
    put(context, b_dot_py="x = 1\ny = 2\nx = 3\n", a__c_dot_py="# x = 0\n")
    result = search("x = \\d")
    assert result == {
        "ok": True, "output": "a/c.py\n1: # x = 0\nb.py\n1: x = 1\n3: x = 3", "matches": 3, "files": 2, "shown": 3,
        "truncated": False,
    }  # fmt: skip


def test_context_lines_are_marked_and_not_doubled(context: PlainContext, search: Search) -> None:
    put(context, f="".join(f"l{n}\n" for n in range(1, 10)) + "hit\nmid\nhit\nend\n")
    assert search("hit", context=1)["output"] == "f\n9- l9\n10: hit\n11- mid\n12: hit\n13- end"


def test_pages_fit_together_and_truncation_is_always_said(context: PlainContext, search: Search) -> None:
    put(context, f="".join(f"hit {n}\n" for n in range(1, 81)))
    first = search("hit")
    assert (first["matches"], first["shown"], first["truncated"]) == (80, 50, True)
    assert "1-50 of 80" in str(first["note"])
    put(context, f="changed meanwhile\n")
    second = search("hit", cursor=first["next_cursor"])
    assert str(second["output"]).startswith("f\n51: hit 51\n")
    assert (second["shown"], second["truncated"]) == (30, False)
    assert "next_cursor" not in second


def test_exactly_one_page_is_not_called_truncated(context: PlainContext, search: Search) -> None:
    put(context, f="hit\n" * 50)
    assert search("hit")["truncated"] is False
    assert search("hit", limit=49)["truncated"] is True


def test_an_old_cursor_is_refused_with_a_way_on(context: PlainContext, search: Search) -> None:
    for cursor in ("s999:50", "nonsense", "s1:x"):
        assert "search again" in str(search("x", cursor=cursor)["error"])


def test_a_search_without_end_stops_and_says_so(context: PlainContext, search: Search) -> None:
    put(context, f="hit\n" * (MATCH_CAP + 500), g="hit\n" * (MATCH_CAP + 500))
    result = search("hit")
    assert (result["at_least"], result["truncated"]) == (True, True)
    assert "there are more" in str(result["note"])


def test_ignored_and_hidden_files_are_left_out(context: PlainContext, search: Search) -> None:
    put(
        context,
        _dot_gitignore="*.log\nbuild/\n!keep.log\n",
        a_dot_log="hit\n",
        keep_dot_log="hit\n",
        build__x="hit\n",
        sub___dot_gitignore="only\n",
        sub__only="hit\n",
        sub__seen="hit\n",
        _dot_env="hit\n",
        _dot_git__config="hit\n",
    )
    assert search("hit")["output"] == "keep.log\n1: hit\nsub/seen\n1: hit"
    assert search("hit", glob="*.log")["output"] == "keep.log\n1: hit"
    assert search(".env", target="files")["output"] == ".env"
    assert search("hit", glob=".env")["output"] == ".env\n1: hit"
    assert search("hit", path="build/x")["output"] == "build/x\n1: hit"
    assert "Ignored and hidden" in str(search("absent")["note"])


GLOBS = {
    "*.py": ["a.py", "s/b.py", "s/t/c.py"],
    "s/*.py": ["s/b.py"],
    "s/**": ["s/b.py", "s/d.ts", "s/t/c.py"],
    "*.{py,ts}": ["a.py", "s/b.py", "s/d.ts", "s/t/c.py"],
    "[ab].py": ["a.py", "s/b.py"],
    "!*.py": ["e.tsx", "s/d.ts"],
    "?.ts": ["s/d.ts"],
}


@pytest.mark.parametrize(("glob", "names"), GLOBS.items(), ids=GLOBS)
def test_globs_choose_files(context: PlainContext, search: Search, glob: str, names: list[str]) -> None:
    put(context, a_dot_py="hit", s__b_dot_py="hit", s__t__c_dot_py="hit", s__d_dot_ts="hit", e_dot_tsx="hit")
    output = str(search("hit", glob=glob)["output"])
    assert [line for line in output.splitlines() if ": " not in line] == names


@pytest.mark.parametrize("pattern", ["a(b", "[", "*x", "a{2,1}"])
def test_a_bad_expression_is_searched_as_text_and_says_so(context: PlainContext, search: Search, pattern: str) -> None:
    put(context, f=f"before {pattern} after\n")
    result = search(pattern)
    assert result["matches"] == 1
    assert "plain text" in str(result["note"])


def test_look_around_works(context: PlainContext, search: Search) -> None:
    put(context, f="foobar\nfoobaz\n")
    assert search("foo(?=baz)")["output"] == "f\n2: foobaz"


def test_case_can_be_ignored(context: PlainContext, search: Search) -> None:
    put(context, f="Hello\n")
    assert search("hello")["matches"] == 0
    assert search("hello", ignore_case=True)["matches"] == 1


def test_text_of_every_script_and_broken_bytes_are_found(context: PlainContext, search: Search) -> None:
    put(context, 漢字="日本語のテキスト\n")
    (context.workspace / "latin").write_bytes(b"caf\xe9 bar\n")
    assert search("本語")["output"] == "漢字\n1: 日本語のテキスト"
    assert search("bar")["output"] == "latin\n1: caf\ufffd bar"


def test_binaries_and_special_files_are_skipped(context: PlainContext, search: Search) -> None:
    (context.workspace / "bin").write_bytes(b"\0\0hit\n")
    os.mkfifo(context.workspace / "pipe")
    put(context, f="hit\n")
    assert search("hit")["output"] == "f\n1: hit"
    assert "named pipe" in str(search("hit", path="pipe")["error"])


def test_loops_of_links_end(context: PlainContext, search: Search) -> None:
    put(context, sub__f="hit\n")
    (context.workspace / "sub" / "up").symlink_to("..")
    assert search("hit")["matches"] == 1


def test_long_lines_are_cut_around_the_match(context: PlainContext, search: Search) -> None:
    put(context, f="é" * 5000 + "needle" + "y" * 5000 + "\n")
    line = str(search("needle")["output"]).splitlines()[1]
    assert "needle" in line
    assert len(line) < 520


def test_a_path_is_given_back_so_that_it_can_be_read(context: PlainContext, search: Search) -> None:
    put(context, sub__f="hit\n")
    for path in ("sub", "sub/", "./sub", str(context.workspace / "sub"), "sub/f"):
        name = str(search("hit", path=path)["output"]).splitlines()[0]
        assert call_tool(context, "read_file", path=name)["ok"] is True


def test_a_missing_folder_names_the_nearest(context: PlainContext, search: Search) -> None:
    put(context, source__f="x")
    assert search("x", path="sorce")["similar"] == ["source"]


def test_names_are_found_by_glob_and_by_part_newest_first(context: PlainContext, search: Search) -> None:
    put(context, old_dot_py="", sub__new_dot_py="", sub__Readme="")
    os.utime(context.workspace / "old.py", (1, 1))
    assert search("*.py", target="files")["output"] == "sub/new.py\nold.py"
    assert search("sub/*", target="files", limit=1)["truncated"] is True
    assert search("readme", target="files")["output"] == "sub/Readme"
    assert search("README", target="files")["files"] == 0
    assert search("README", target="files", ignore_case=True)["output"] == "sub/Readme"
    assert search("ub/ne", target="files")["output"] == "sub/new.py"


def test_names_with_odd_characters_stay_on_one_line(context: PlainContext, search: Search) -> None:
    (context.workspace / "a\nb").write_text("hit\n")
    Path(os.fsdecode(os.fsencode(context.workspace) + b"/bad\xff")).write_text("hit\n")
    (context.workspace / "-dash").write_text("hit\n")
    assert sorted(str(search("*", target="files")["output"]).splitlines()) == ["-dash", "a\\nb", "bad\\xff"]
    assert search("hit", path="-dash")["output"] == "-dash\n1: hit"
    assert search("hit")["files"] == 3


def test_a_pattern_like_an_option_is_a_pattern(context: PlainContext, search: Search) -> None:
    put(context, f="--files\n-e x\n")
    assert search("--files")["output"] == "f\n1: --files"
    assert search("-e x")["matches"] == 1


def test_a_cancelled_search_ends(context: PlainContext, search: Search) -> None:
    put(context, f="hit\n")
    context.cancel.cancel()
    assert search("hit")["interrupted"] is True
    assert search("*", target="files")["interrupted"] is True


def test_the_card_counts(context: PlainContext, search: Search) -> None:
    put(context, a="hit\nhit\n", b="hit\n")
    tool = load_builtin_tools().get("search_files")
    assert tool is not None
    summaries = [
        tool.display(args, call_tool(context, "search_files", **args))["summary"]
        for args in (
            {"pattern": "hit"},
            {"pattern": "hit", "path": "b"},
            {"pattern": "none"},
            {"pattern": "*", "target": "files"},
            {"pattern": "zz", "target": "files"},
        )
    ]
    assert summaries == ["3 matches in 2 files", "1 match in 1 file", "no matches", "2 files", "no files"]


def test_without_ripgrep_it_says_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with plain_context(tmp_path, env={"PATH": str(tmp_path)}) as context:
        notes = [call_tool(context, "search_files", pattern="x").get("note", "") for _ in range(2)]
    assert ["ripgrep (rg) was not found" in note for note in notes] == [True, False]


def test_ripgrep_beside_this_python_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert ripgrep.find_ripgrep(str(tmp_path / "elsewhere")) == str(program)


def test_interrupt_ends_a_running_ripgrep(tmp_path: Path) -> None:
    slow = tmp_path / "bin" / "rg"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec {shutil.which('sleep')} 60\n")
    slow.chmod(0o755)
    with plain_context(tmp_path, env={"PATH": str(slow.parent)}) as context:

        def interrupt() -> None:
            pause = threading.Event()
            while not (tmp_path / "pid").exists():
                pause.wait(0.01)
            context.cancel.cancel()

        thread = threading.Thread(target=interrupt)
        thread.start()
        assert call_tool(context, "search_files", pattern="x")["interrupted"] is True
        thread.join()
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


GLOB_TABLE = [
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/y/b", True),
    ("a/*", "a/b/c", False),
    ("**/b.py", "b.py", True),
    ("/a.py", "b/a.py", False),
    ("build/", "x/build/y", True),
    ("[!a].c", "b.c", True),
    ("[!a].c", "a.c", False),
    ("a.b", "axb", False),
    ("a\\b", "a\\b", True),
    ("[", "[", True),
    ("{a", "a", True),
]


@pytest.mark.parametrize(("glob", "path", "passes"), GLOB_TABLE)
def test_a_glob_matches_whole_paths(glob: str, path: str, passes: bool) -> None:
    assert GlobFilter((glob,))(path) is passes
