"""Isolation for every test: a home of its own, no keys from outside, no network beyond loopback."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

_KEPT = {"PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "SYSTEMROOT"}


@pytest.fixture(autouse=True)
def isolated_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty home and a small, fixed environment."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name not in _KEPT and not name.startswith(("PYTEST_", "HYPOTHESIS_", "COV_")):
            monkeypatch.delenv(name)
    fixed = {"HOME": home, "HERMES_TUI_HOME": home / "hermes", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    for name, value in fixed.items():
        monkeypatch.setenv(name, str(value))
    return home


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections that would leave the machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if host and host not in {"127.0.0.1", "::1", "localhost"}:
            raise OSError(f"tests stay on loopback, not {host}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
