"""Which files of a folder are worth watching: those that git would show, or what is like them elsewhere."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
"""Made by programs, and large; watched only where git tracks something in them. ``.git`` never."""
_GIT_S = 2.0

Rules = tuple[tuple[str, "GitIgnoreSpec"], ...]
"""``(folder, its rules)`` from the outermost in; the last one that says something counts."""


class Ignored:
    """The ignore rules of one folder. Files that git tracks are never ignored.

    Args:
        root: An absolute folder.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._tracked, self._parents = _tracked(root)
        self._rules: dict[str, Rules] = {}
        self._top = _top(root)

    def __call__(self, folder: str, name: str, *, is_folder: bool) -> bool:
        """Whether an entry of a folder at or below the root is not watched."""
        path = f"{folder}/{name}"
        if name == ".git":
            return True
        if path in self._tracked or path in self._parents:
            return False
        if name in SKIPPED:
            return True
        ignored = False
        for base, spec in self._rules_in(folder):
            verdict = spec.check_file(path[len(base) + 1 :] + "/" * is_folder).include
            ignored = ignored if verdict is None else verdict
        return ignored

    def forget_rules(self, folder: str) -> None:
        """Read the rules again at and below a folder whose ``.gitignore`` changed."""
        self._rules = {known: rules for known, rules in self._rules.items() if not f"{known}/".startswith(f"{folder}/")}

    def _rules_in(self, folder: str) -> Rules:
        found = self._rules.get(folder)
        if found is None:
            above = self._rules_in(os.path.dirname(folder)) if folder != self._top else _outer_rules(self._top)  # noqa: PTH120
            found = self._rules[folder] = (*above, *_read_rules(folder, Path(folder, ".gitignore")))
        return found


def _top(root: str) -> str:
    """Return the git work tree around a folder, or the folder."""
    for folder in (Path(root), *Path(root).parents):
        if (folder / ".git").exists():
            return str(folder)
    return root


def _outer_rules(top: str) -> Rules:
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    files = (Path(base, "git", "ignore"), Path(top, ".git", "info", "exclude"))
    return tuple(rule for file in files for rule in _read_rules(top, file))


def _read_rules(base: str, file: Path) -> Iterator[tuple[str, GitIgnoreSpec]]:
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    from pathspec import GitIgnoreSpec

    yield base, GitIgnoreSpec.from_lines(lines)


def _tracked(root: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the files that git tracks below a folder, and the folders they are in."""
    command = ["git", "-C", root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "ls-files", "-z"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_GIT_S, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return frozenset(), frozenset()
    names = [os.fsdecode(name) for name in done.stdout.split(b"\0") if name] if done.returncode == 0 else []
    parents = {root}
    for name in names:
        parent = name
        while (cut := parent.rfind("/")) > 0 and f"{root}/{parent[:cut]}" not in parents:
            parent = parent[:cut]
            parents.add(f"{root}/{parent}")
    return frozenset(f"{root}/{name}" for name in names), frozenset(parents)
