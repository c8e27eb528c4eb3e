"""A workspace with a few files, a home beside it, and gates over them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.gate import ShellGate


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    for name in ("src/app.py", "src/util.py", "notes.md", "tests/test_app.py", ".env", "package.json", "sub/x.txt"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (folder / ".git").mkdir()
    return folder


@pytest.fixture
def make_gate(home: Path) -> Callable[..., ShellGate]:
    def make(**settings: object) -> ShellGate:
        return ShellGate(ApprovalSettings(**settings), home=home)  # type: ignore[arg-type]

    return make
