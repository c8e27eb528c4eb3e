"""What is imported is asked for: a package that only a development tool brings along is missing elsewhere."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported() -> Iterator[tuple[str, str]]:
    """Every file with each package that it imports, wherever in it."""
    for file in (ROOT / "hermes_tui").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            yield from ((file.name, name.partition(".")[0]) for name in names)


def plain(requirement: str) -> str:
    """The name of a requirement, as names compare."""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def installed_with(names: set[str]) -> set[str]:
    """Packages with all that they bring along."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        with suppress(PackageNotFoundError):
            waiting |= {plain(need) for need in requires(name) or () if "extra ==" not in need} - found
    return found


def test_every_package_that_is_imported_comes_along() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = (needs for name, needs in project["optional-dependencies"].items() if name != "dev")
    given = installed_with({plain(need) for needs in (project["dependencies"], *extras) for need in needs})
    owners = packages_distributions()
    ours = {"hermes_tui", "hermes_tools", *sys.stdlib_module_names}
    missing = {
        (file, name)
        for file, name in imported()
        if name not in ours and not given & {plain(owner) for owner in owners.get(name, [name])}
    }
    assert not missing
