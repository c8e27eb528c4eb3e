"""The ignore rules against git itself."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.gitignore import IgnoreRules
from hermes_tui.tools.pysearch import walk
from hermes_tui.tools.search_types import Query
from hermes_tui.widgets import file_index

NAMES = ("a", "b", "log", "x.log", "keep.log", "build", "é")
PARTS = ("a", "b", "*", "**", "*.log", "keep.log", "build", "log", "[ab]", "?", "é", "x*", "\\#", "b*d")


def make(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def kept_by_git(folder: Path) -> list[str]:
    """What git would add from a folder."""
    asked = ["git", "-C", str(folder), "-c", "core.excludesFile=", "ls-files", "-z", "-o", "--exclude-standard"]
    out = subprocess.run(asked, check=True, capture_output=True).stdout
    return sorted(name for name in out.decode().split("\0") if name)


def checkout(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)


def both(root: Path) -> tuple[list[str], list[str]]:
    """What the two walks of the program keep."""
    query = Query(pattern="", root=root, hidden=True)
    return sorted(file_index._walk(root)), sorted(walk(query))


CASES: Mapping[str, tuple[dict[str, str], str]] = {
    "a deeper file brings back": ({".gitignore": "*.log", "a/.gitignore": "!keep.log"}, "a/keep.log a/x.log"),
    "a deeper file ignores again": ({".gitignore": "*\n!*/\n!*.py", "a/.gitignore": "b.py"}, "a/b.py a/c.py d.c"),
    "the last rule wins": ({".gitignore": "*.log\n!keep.log\nkeep.log"}, "keep.log b"),
    "nothing comes back from an ignored folder": ({".gitignore": "build/\n!build/keep"}, "build/keep a"),
    "a folder brought back is not all in it": ({".gitignore": "*\n!build/\n!build/b"}, "build/a build/b"),
    "a folder rule spares files": ({".gitignore": "log/"}, "a/log b/log/x"),
    "a slash binds to the folder": ({"a/.gitignore": "/b\nc/d"}, "a/b a/e/b a/c/d a/e/c/d"),
    "stars": ({".gitignore": "a/**/z\n**/y\nq/**\ns**t\nu/v**/w"}, "a/z a/b/z y d/y q/1/2 q2 s1t s/t u/v1/w u/v/1/w"),
    "brackets": (
        {".gitignore": "[a-c]1\n[!a]2\n[]x]3\n[[:digit:]]4\n[\\]]5\nz[6"},
        "b1 d1 a2 b2 ]3 x3 y3 74 a4 ]5 z[6",
    ),
    "blanks, comments, escapes": ({".gitignore": "# c\n\nend  \n\\!odd\n\\#hash\nb\\ "}, "end !odd #hash x"),
    "crlf and a mark": ({".gitignore": "\ufeffone\r\ntwo\n"}, "one two three"),
    "the checkout's own list": ({".git/info/exclude": "secret\nx", ".gitignore": "!x"}, "secret a/secret x"),
    "what git cannot read": ({".gitignore": "a[\nb\\\n/\n!\n!/\n//"}, "a[ b c"),
}
"""Rule files, and the names of the files beside them."""


@pytest.mark.parametrize("name", CASES)
def test_both_walks_keep_what_git_keeps(tmp_path: Path, name: str) -> None:
    checkout(tmp_path)
    rules_by_file, names = CASES[name]
    make(tmp_path, {**rules_by_file, **dict.fromkeys(names.split(), "")})
    kept = kept_by_git(tmp_path)
    assert both(tmp_path) == (kept, kept)


def test_rules_above_the_folder_count_up_to_the_checkout(tmp_path: Path) -> None:
    checkout(tmp_path / "repo")
    make(
        tmp_path, {".gitignore": "*.py\n", "repo/.gitignore": "*.log\nsrc/gen/\n", "repo/src/.gitignore": "!keep.log\n"}
    )
    make(tmp_path / "repo/src", {"a.py": "", "x.log": "", "keep.log": "", "gen/b.py": "", "deep/x.log": ""})
    kept = kept_by_git(tmp_path / "repo/src")
    assert kept == [".gitignore", "a.py", "keep.log"]
    assert both(tmp_path / "repo/src") == (kept, kept)


def test_a_link_in_the_place_of_the_rules_is_not_followed(tmp_path: Path) -> None:
    checkout(tmp_path / "repo")
    make(tmp_path, {"rules": "a\n", "repo/a": ""})
    (tmp_path / "repo/.gitignore").symlink_to(tmp_path / "rules")
    assert not IgnoreRules(tmp_path / "repo").below("").ignores("a")


paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)
rules = st.builds(
    lambda bang, root, parts, end: f"{bang}{root}{'/'.join(parts)}{end}",
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3),
    st.sampled_from(["", "", "/"]),
)


@settings(max_examples=60, deadline=None)
@given(
    files=st.lists(paths, min_size=1, max_size=12, unique=True),
    ignores=st.dictionaries(
        st.sampled_from(["", "a/", "b/", "a/b/", "build/"]), st.lists(rules, max_size=5), max_size=4
    ),
)
def test_any_tree_is_walked_as_git_walks_it(files: list[str], ignores: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        checkout(root)
        for name in files:
            if not any((root / parent).is_file() for parent in Path(name).parents) and not (root / name).is_dir():
                make(root, {name: ""})
        for prefix, lines in ignores.items():
            if (root / prefix).is_dir():
                make(root, {f"{prefix}.gitignore": "\n".join(lines) + "\n"})
        kept = kept_by_git(root)
        assert both(root) == (kept, kept)
