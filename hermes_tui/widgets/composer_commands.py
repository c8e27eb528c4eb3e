"""What the text of the composer means: a message or a command. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

SubmitKind: TypeAlias = Literal["message", "command", "shell", "note"]
"""A command is known by its name, not by its slash; ``!`` begins a shell command, ``#`` a note for the memory."""

OWN_MARKS: Mapping[SubmitKind, str] = {"shell": "!", "note": "#"}
"""Kinds that stand behind a mark of their own in the prompt."""

_NOTE = re.compile(r"#(?:[^#!\d\n][^\n]*)?")
"""One line. ``## Heading``, ``#!/bin/sh``, ``#12`` and whatever has several lines (pasted Markdown) are messages."""
_COMMAND = re.compile(r"/(\S+)(?:\s+(.*))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A slash command as completion shows it."""

    name: str
    """Without the slash."""
    args: str
    """Argument hint, e.g. ``[title]``; empty for none."""
    help: str
    group: str = ""


def parse_command(text: str, names: Container[str]) -> tuple[str, str] | None:
    """Return ``(name, arguments)`` if the first word is a slash and exactly a known name, else None.

    ``/home/user/x``, ``/etc`` and ``// comment`` are ordinary text.

    Args:
        text: The whole message.
        names: Names and aliases without the slash.
    """
    found = _COMMAND.fullmatch(text)
    if found is None or found[1] not in names:
        return None
    return found[1], (found[2] or "").rstrip()


def kind_of(text: str, names: Container[str] = ()) -> SubmitKind:
    """Return what a text is. A blank before the mark makes any text a message."""
    if text.startswith(OWN_MARKS["shell"]):
        return "shell"
    if text.startswith(OWN_MARKS["note"]) and _NOTE.fullmatch(text):
        return "note"
    return "command" if parse_command(text, names) is not None else "message"
