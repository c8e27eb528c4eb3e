"""Which files of a folder are worth watching: those that git would show, or what is like them elsewhere."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ...gitignore import IgnoreRules

SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
"""Made by programs, and large; watched only where git tracks something in them. ``.git`` never."""
_GIT_S = 2.0


class Ignored:
    """The ignore rules of one folder. Files that git tracks are never ignored.

    Args:
        root: An absolute folder.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._tracked, self._parents = _tracked(root)
        self._rules: dict[str, IgnoreRules] = {}

    def __call__(self, folder: str, name: str, *, is_folder: bool) -> bool:
        """Whether an entry of a folder at or below the root is not watched."""
        path = f"{folder}/{name}"
        if name == ".git":
            return True
        if path in self._tracked or path in self._parents:
            return False
        if name in SKIPPED:
            return True
        return self._rules_in(folder).ignores(self._inside(path) + "/" * is_folder)

    def forget_rules(self, folder: str) -> None:
        """Read the rules again at and below a folder whose ``.gitignore`` changed."""
        self._rules = {known: rules for known, rules in self._rules.items() if not f"{known}/".startswith(f"{folder}/")}

    def _rules_in(self, folder: str) -> IgnoreRules:
        found = self._rules.get(folder)
        if found is None:
            inside = self._inside(folder)
            above = self._rules_in(os.path.dirname(folder)) if inside else _outer_rules(self._root)  # noqa: PTH120
            found = self._rules[folder] = above.below(f"{inside}/" if inside else "")
        return found

    def _inside(self, path: str) -> str:
        return path[len(self._root) :].lstrip("/")


def _outer_rules(root: str) -> IgnoreRules:
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    return IgnoreRules(Path(root), everywhere=Path(base, "git", "ignore"))


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
