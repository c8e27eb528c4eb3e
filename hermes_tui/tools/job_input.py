"""What a call sends to a running job: the keys, and the words in which the gate judges it.

Text for a shell is a command, text for an interpreter is code, and text for any other program is that program with this
text on its input. Who reads is asked of the system, not of the command: a shell may have been started since.
"""

from __future__ import annotations

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
    text = (job.typed + text).replace("\r\n", "\n").replace("\r", "\n")
    readers = job.process.readers()
    known = list(dict.fromkeys(readers or ()))
    judged = [_for_reader(words, text) for words in known]
    has_shell = any(_takes_commands(words) for words in known)
    if not has_shell and _words(job.command) not in known:
        # Another part of the command may get it in the end.
        judged.append(_as_input("{ " + job.command.strip() + "\n}", text))
    return "\n".join(filter(None, dict.fromkeys(judged)))


def unfinished(job: Job, text: str) -> str:
    """Return what is left of the line in progress once ``text`` was sent too."""
    return re.split(r"[\r\n]", job.typed + text)[-1][-4_000:]


def _for_reader(words: tuple[str, ...], text: str) -> str:
    program = _program(words)
    if _takes_commands(words):
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
