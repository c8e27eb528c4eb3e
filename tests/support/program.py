"""Start the installed program in a pseudo-terminal with a home of its own and, mostly, a model server on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from support.terminal import Terminal

PROGRAM = [sys.executable, "-m", "hermes_tui"]

CONFIG = """\
model = "local/test-model"
[providers.local]
base_url = "{url}"
api_mode = "chat_completions"
api_key = "sk-test-SECRET12345678"
models = {{ "test-model" = {{ context_window = 64000 }} }}
[auxiliary.title]
enabled = false
"""


class Installation:
    """One user: a home, a work folder, an environment.

    Args:
        root: An empty folder.
        url: Base URL of the model server; without it nothing is configured.
    """

    def __init__(self, root: Path, url: str = "") -> None:
        self.home = root / "home"
        self.work = root / "work"
        for folder in (self.home, self.work):
            folder.mkdir(parents=True)
        self.program: Sequence[str] = PROGRAM
        if url:
            self.write_config(CONFIG.format(url=url))

    @property
    def environment(self) -> dict[str, str]:
        """A small environment, without a trace of the machine's own settings."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "HERMES_TUI_HOME": str(self.home / "hermes"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }

    def write_config(self, text: str | bytes) -> Path:
        """Write the user's config.toml."""
        path = self.home / "hermes" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def start(
        self,
        *args: str,
        size: tuple[int, int] = (100, 30),
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> Terminal:
        """Start the full screen. ``env`` adds variables; None takes one away."""
        return Terminal([*self.program, *args], env=self._merged(env), cwd=cwd or self.work, size=size)

    def run(
        self, *args: str, input: str = "", env: Mapping[str, str | None] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command without a terminal."""
        process = self.begin(*args, env=env, cwd=cwd)
        out, err = process.communicate(input, timeout=60)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def begin(
        self,
        *args: str,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
        stdout: int | IO[str] = subprocess.PIPE,
    ) -> subprocess.Popen[str]:
        """Begin a command without a terminal."""
        return subprocess.Popen(
            [*self.program, *args],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            env=self._merged(env),
            cwd=cwd or self.work,
        )

    def _merged(self, env: Mapping[str, str | None] | None) -> dict[str, str]:
        merged: dict[str, str | None] = {**self.environment, **(env or {})}
        return {name: value for name, value in merged.items() if value is not None}


@contextmanager
def nowhere() -> Iterator[str]:
    """Give the base URL of a loopback port where nothing listens, and nobody else will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def ready(terminal: Terminal) -> Terminal:
    """Wait until a session is open and the prompt takes keys."""
    terminal.wait(lambda text: "❯" in text and " ask " in text, "an open session")
    return terminal


def idle(terminal: Terminal) -> Terminal:
    """Wait until no turn runs."""
    terminal.wait(lambda text: "❯" in text and "esc interrupts" not in text, "the end of the turn")
    return terminal


def say(terminal: Terminal, text: str) -> None:
    """Type a message and press Enter."""
    terminal.type(text)
    terminal.wait_for(text[-20:])
    terminal.type("\r")


def sessions_of(installation: Installation) -> Sequence[Path]:
    """The database files of an installation."""
    return list((installation.home / "hermes").glob("state.db*"))
