"""The README's tables say what the code says."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_generated_tables_are_up_to_date() -> None:
    tables = runpy.run_path(str(ROOT / "docs" / "update_readme.py"))
    text = (ROOT / "README.md").read_text()
    assert tables["updated"](text) == text, "run: make docs"


def test_every_dependency_has_a_reason() -> None:
    tables = runpy.run_path(str(ROOT / "docs" / "update_readme.py"))
    assert tables["dependencies_table"]().count("\n") == len(tables["REASONS"]) + 1
