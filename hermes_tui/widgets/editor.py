"""The external editor: a draft goes out to a private file and comes back."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Final, Protocol

_FALLBACKS: Final = ("nano", "vim", "vi", "notepad")


_AT_LINE: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "mg", "ne"), "+{line} {path}"
    ),
    **dict.fromkeys(("hx", "helix", "subl", "zed"), "{path}:{line}"),
    **dict.fromkeys(("code", "codium", "cursor"), "-g {path}:{line}"),
}
"""How an editor is told the line, by the name of its program; others get the path only."""


class _App(Protocol):
    def suspend(self) -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class EditResult:
    """What came back."""

    text: str
    """The edited text; the old one if there is a problem."""
    problem: str = ""
    """For the person; empty if all went well."""


def editor_command(environ: Mapping[str, str]) -> list[str] | None:
    """Return the editor and its arguments: ``$VISUAL``, ``$EDITOR``, else a common one; None if there is none."""
    for name in ("VISUAL", "EDITOR"):
        words = shlex.split(environ.get(name, ""))
        if words and which(words[0], path=environ.get("PATH")):
            return words
    return next(([name] for name in _FALLBACKS if which(name, path=environ.get("PATH"))), None)


def edit_text(text: str, app: _App, *, environ: Mapping[str, str] | None = None, suffix: str = ".md") -> EditResult:
    """Edit a text outside, the app suspended meanwhile. Blocks the UI thread, as a suspended app must.

    Args:
        text: The draft.
        app: The running app.
        environ: The environment; the process's own if None.
        suffix: Of the file, so that the editor knows its kind.
    """
    from textual.app import SuspendNotSupported

    command = editor_command(os.environ if environ is None else environ)
    if command is None:
        return EditResult(text, "No editor was found. Set VISUAL or EDITOR, e.g. export EDITOR=nano.")
    try:
        handle, name = tempfile.mkstemp(prefix="hermes-draft-", suffix=suffix)  # mode 0600
    except OSError as error:
        return EditResult(text, f"No file for the editor could be made: {error.strerror or error}.")
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        with app.suspend():
            problem = _run([*command, name])
        return EditResult(text if problem else _read(path, text), problem)
    except SuspendNotSupported:
        return EditResult(text, "This terminal cannot hand the screen to an editor.")
    except (OSError, UnicodeDecodeError) as error:
        return EditResult(text, f"The edited draft could not be read: {error}. The old one is kept.")
    finally:
        path.unlink(missing_ok=True)


def edit_file(path: Path, line: int, app: _App, *, environ: Mapping[str, str] | None = None) -> str:
    """Open a file in the editor, the app suspended meanwhile; returns what went wrong, or an empty text.

    Args:
        path: The file.
        line: Where to look, from 1.
        app: The running app.
        environ: The environment; the process's own if None.
    """
    from textual.app import SuspendNotSupported

    command = editor_command(os.environ if environ is None else environ)
    if command is None:
        return "No editor was found. Set VISUAL or EDITOR, e.g. export EDITOR=nano."
    if not path.is_file():
        return f"{path} is not there any more."
    how = _AT_LINE.get(Path(command[0]).name, "{path}")
    try:
        with app.suspend():
            return _run([*command, *(word.format(path=path, line=line) for word in how.split())], "")
    except SuspendNotSupported:
        return "This terminal cannot hand the screen to an editor."


def _run(command: Sequence[str], effect: str = "; the draft is unchanged") -> str:
    """Run the editor and return what went wrong, or an empty text."""
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        return f"{command[0]} did not start: {error.strerror or error}."
    return f"{command[0]} ended with code {code}{effect}." if code else ""


def _read(path: Path, before: str) -> str:
    """Return the file's text; editors add a newline at the end that nobody typed."""
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read()
    return text[:-1] if text.endswith("\n") and not before.endswith("\n") else text
