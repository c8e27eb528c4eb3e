"""What a call sends to a running job: the keys, and the words in which the gate judges it.

Text for a shell is a command, text for an interpreter is code, and text for any other program is that program with this
text on its input. Who reads is asked of the system, not of the command: a shell may have been started since.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from .base import ToolFailure
from .job import Job

KEYS: Final = {
    "enter": "\r", "tab": "\t", "esc": "\x1b", "backspace": "\x7f", "space": " ",
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
    "home": "\x1b[H", "end": "\x1b[F", "insert": "\x1b[2~", "delete": "\x1b[3~",
    "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "shift+tab": "\x1b[Z",
    **{f"ctrl+{chr(code + 96)}": chr(code) for code in range(1, 27)},
    **dict(zip((f"f{n}" for n in range(1, 13)), (
        "\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~", "\x1b[21~",
        "\x1b[23~", "\x1b[24~"), strict=True)),
}  # fmt: skip
"""What a terminal sends for a key. Source: xterm's control sequences, PC-style function keys."""
_NAMES: Final = {sent: name for name, sent in reversed(KEYS.items()) if sent not in "\r\n\t "}
_KEY = re.compile("|".join(re.escape(sent) for sent in sorted(_NAMES, key=len, reverse=True)))
_END = re.compile(r"\r\n|[\r\n]")
_TERMINAL_END = re.compile(r"\r\n|[\r\n\x03]")
"""Ctrl+c ends a line, too. Where it is not the key for that, what stands before it was judged."""
_EDITING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_RUNNING = re.compile(r"[\x0f\x18]|\x1b[aA]")
"""Ctrl+o, what begins with ctrl+x, alt+a: keys that run a line before its end. Source: readline(3), zshzle(1)."""
_RECALLING = re.compile(r"(?<![\\$])(?<!\$\{)!(?![\s=(\"']|\Z)|^\^", re.MULTILINE)
"""History expansion. Source: bash(1)."""
STOPS: Final = frozenset({"\x03", "\x04", "\x1c"})
"""Keys that can only end a program or its input."""

_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash", "busybox", "csh", "tcsh"})
_VALUED_OPTIONS: Final = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_CODE_OPTIONS: Final = {
    "python": "-c",
    "pypy": "-c",
    "node": "-e",
    "perl": "-e",
    "ruby": "-e",
    "php": "-r",
    "lua": "-e",
}
"""Interpreter -> the option through which the gate reads its code."""


def keys_text(names: Sequence[str]) -> str:
    """Return what a terminal sends for these keys.

    Raises:
        ToolFailure: A name is unknown.
    """
    for name in names:
        if name.lower() not in KEYS:
            raise ToolFailure(f"There is no key {name!r}. Keys: {', '.join(KEYS)}. Send characters with data.")
    return "".join(KEYS[name.lower()] for name in names)


def judged_text(job: Job, text: str) -> str:
    """Return shell text that says what sending ``text`` does; empty when nothing can come of it yet.

    Raises:
        ToolFailure: A shell would get half a command.
    """
    readers = list(dict.fromkeys(job.process.readers() or ()))
    known = [reader.words for reader in readers]
    shells = [words for words in known if _takes_commands(words)]
    if job.has_terminal and shells:
        _refuse_rewritten(job.typed, text, is_alone=len(shells) == len(known))
    whole = (_TERMINAL_END if job.has_terminal else _END).sub("\n", job.typed + text)
    judged = [_for_reader(words, whole) for words in known]
    folders = [reader.folder or job.cwd for reader in readers]
    if any(folder != os.path.realpath(job.cwd) for folder in folders):
        pairs = zip(folders, judged, strict=True)
        judged = [f"cd {shlex.quote(folder)}\n{words}" if words else "" for folder, words in pairs]
    if not shells and _words(job.command) not in known:
        # Another part of the command may get it in the end.
        judged.append(_as_input("{ " + job.command.strip() + "\n}", whole))
    return "\n".join(filter(None, dict.fromkeys(judged)))


def _refuse_rewritten(typed: str, text: str, *, is_alone: bool) -> None:
    """Refuse what makes an interactive shell run something else than the text that it was sent.

    Args:
        typed: What was sent of the line before.
        text: What is sent now.
        is_alone: No program reads that may want keys.
    """
    if set(text) <= STOPS:
        return
    if is_alone and _EDITING.search(_TERMINAL_END.sub("\n", text)):
        why = "keys that edit, complete or recall cannot be judged"
    elif _RECALLING.search(_TERMINAL_END.sub("\n", typed + text)):
        why = "! and ^ bring back what ran before"
    else:
        return
    raise ToolFailure(f"A shell reads this, and {why}: send plain commands with submit.")


def unfinished(job: Job, text: str) -> str:
    """Return what is left of the line in progress once ``text`` was sent too."""
    return (_TERMINAL_END if job.has_terminal else _END).split(job.typed + text)[-1][-4_000:]


def _for_reader(words: tuple[str, ...], text: str) -> str:
    program = _program(words)
    if _takes_commands(words):
        if _RUNNING.search(text):
            return text.rstrip("\n")  # which nobody can read safely, so it is asked about
        if "\n" not in text:
            return ""  # judged with the rest of its line
        if not text.endswith("\n") or not _is_complete(text):
            raise ToolFailure(
                "A shell reads this: send whole commands with submit, quotes closed, so they can be judged."
            )
        return text.rstrip("\n") or ":"
    base = re.match(r"[a-z]*", program)
    if (option := _CODE_OPTIONS.get(base.group() if base else "")) is not None:
        return f"{program} {option} {shlex.quote(text)}"
    return _as_input(shlex.join(words), text)


def _as_input(command: str, text: str) -> str:
    shown = _KEY.sub(lambda match: f"<{_NAMES[match.group()]}>", text)
    end = "INPUT"
    while end in shown.split("\n"):
        end += "_"
    return f"{command} <<'{end}'\n{shown.removesuffix(chr(10))}\n{end}"


def _program(words: tuple[str, ...]) -> str:
    """Return a program's name; a login shell's begins with a dash."""
    return PurePath(words[0]).name.lstrip("-") if words else ""


def _takes_commands(words: tuple[str, ...]) -> bool:
    """Tell whether this is a shell that runs what it reads, not a script or a text of its own."""
    if _program(words) not in _SHELLS:
        return False
    rest = iter(words[1:])
    for word in rest:
        if word in _VALUED_OPTIONS:
            next(rest, "")
        elif word[:1] not in ("-", "+") or word == "-":
            return word == "-"
        elif word == "-s":
            return True
        elif not word.startswith("--") and "c" in word:
            return False
    return True


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


def _is_complete(text: str) -> bool:
    """Tell whether shell text ends outside quotes, and not on a backslash."""
    quote = ""
    is_escaped = is_comment = False
    before = "\n"
    for char in text:
        if is_comment:
            is_comment = char != "\n"
        elif is_escaped:
            is_escaped = False
        elif char == "\\" and quote != "'":
            is_escaped = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char == "#" and before in " \t\n;&|(":
            is_comment = True
        before = char
    return not quote and not is_escaped and not text.rstrip("\n").endswith("\\")
