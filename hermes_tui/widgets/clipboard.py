"""Copying text out of the app: by a native tool, by the terminal (OSC 52), by tmux, or into a private file.

Each way is tried in turn and the answer says which one it was, honestly: nobody can see whether a terminal obeyed
OSC 52, so it is told as sent, and the text is also offered to tmux where there is one.
"""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Final, Literal, Protocol, TypeAlias

CopyWay: TypeAlias = Literal["tool", "terminal", "tmux", "file", "nothing"]

MAX_OSC52_BYTES: Final = 74_994
"""Longer texts are cut or ignored by common terminals. Source: xterm and tmux limit the sequence to 100,000 bytes."""
_TIMEOUT_S: Final = 2.0


class _Driver(Protocol):
    def write(self, data: str) -> None: ...
    def flush(self) -> None: ...


class _App(Protocol):
    @property
    def _driver(self) -> _Driver | None: ...


@dataclass(frozen=True, slots=True)
class CopyResult:
    """What became of a copy."""

    way: CopyWay
    message: str
    """For the person, one sentence."""


@dataclass(frozen=True, slots=True)
class _Tool:
    command: tuple[str, ...]
    needs: str = ""
    """Environment variable that must be set for it to work."""
    over_ssh: bool = False
    """It reaches the person's own machine through SSH (X forwarding)."""


_TOOLS: Final = (
    _Tool(("wl-copy",), "WAYLAND_DISPLAY"),
    _Tool(("xclip", "-selection", "clipboard"), "DISPLAY", over_ssh=True),
    _Tool(("xsel", "--clipboard", "--input"), "DISPLAY", over_ssh=True),
    _Tool(("pbcopy",)),
    _Tool(("clip.exe",)),
    _Tool(("clip",)),
)

Runner: TypeAlias = Callable[[Sequence[str], bytes], bool]


async def copy(
    text: str, app: _App, *, environ: Mapping[str, str] | None = None, file_folder: Path | None = None
) -> CopyResult:
    """Copy a text. Subprocesses run off the UI thread; call from the UI thread.

    Args:
        text: What to copy.
        app: The running app; its driver writes the OSC 52 sequence.
        environ: The environment; the process's own if None.
        file_folder: Where the file of last resort is written; the temporary folder if None.
    """
    env = os.environ if environ is None else environ
    if not text:
        return CopyResult("nothing", "There is nothing to copy.")
    size = f"{len(text):,} characters" if len(text) != 1 else "1 character"
    if (name := await asyncio.to_thread(copy_with_tool, text, env)) is not None:
        return CopyResult("tool", f"Copied {size} with {name}.")
    in_tmux = "TMUX" in env and await asyncio.to_thread(_run, ("tmux", "load-buffer", "-w", "-"), text.encode())
    also = " It is in the tmux buffer too." if in_tmux else ""
    driver = app._driver
    if driver is not None and (sequence := osc52(text, env)):
        driver.write(sequence)
        driver.flush()
        return CopyResult("terminal", f"Sent {size} to the terminal's clipboard (OSC 52).{also}")
    if in_tmux:
        return CopyResult("tmux", f"Copied {size} to the tmux buffer; paste with prefix ].")
    path = await asyncio.to_thread(write_private, text, file_folder)
    if path is None:
        return CopyResult("nothing", "Could not copy: no clipboard tool, and no file could be written.")
    return CopyResult("file", f"No clipboard could take {size}; they are in {path}.")


def copy_with_tool(text: str, environ: Mapping[str, str], run: Runner | None = None) -> str | None:
    """Return the name of the native tool that took the text, or None. Blocks for up to two seconds a tool.

    Over SSH most tools would fill the clipboard of the wrong machine, so they are left out there.
    """
    is_remote = "SSH_CONNECTION" in environ or "SSH_TTY" in environ
    run = run or _run
    for tool in _TOOLS:
        program = tool.command[0]
        if (is_remote and not tool.over_ssh) or (program == "clip" and sys.platform != "win32"):
            continue
        if (tool.needs and not environ.get(tool.needs)) or which(program, path=environ.get("PATH")) is None:
            continue
        encoding = "utf-16-le" if program.startswith("clip") else "utf-8"
        if run(tool.command, text.encode(encoding)):
            return program
    return None


def osc52(text: str, environ: Mapping[str, str]) -> str:
    """Return the sequence that asks the terminal to take the text, or an empty text if it is too long.

    Inside tmux or screen it is wrapped so that it reaches the outer terminal.
    """
    encoded = text.encode("utf-8", "replace")
    if len(encoded) > MAX_OSC52_BYTES:
        return ""
    sequence = f"\x1b]52;c;{base64.b64encode(encoded).decode()}\x07"
    if "TMUX" in environ:
        escaped = sequence.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{escaped}\x1b\\"
    if environ.get("TERM", "").startswith("screen"):
        # screen passes a string on in pieces of at most 768 bytes
        pieces = [sequence[at : at + 700] for at in range(0, len(sequence), 700)]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return sequence


def write_private(text: str, folder: Path | None = None) -> Path | None:
    """Write the text to a new file that only its owner may read; None if that fails. Blocks."""
    try:
        handle, name = tempfile.mkstemp(prefix="hermes-copy-", suffix=".txt", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
    except OSError:
        return None
    return Path(name)


def _run(command: Sequence[str], content: bytes) -> bool:
    """Feed a program; some of them stay alive to serve the clipboard, so their output is not waited for."""
    try:
        done = subprocess.run(
            command,
            input=content,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
