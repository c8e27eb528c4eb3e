"""What to complete at the caret, and with what. Pure, apart from asking a file index.

A token is the piece of text that a choice would replace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .composer_commands import CommandRow
from .fuzzy import Match, match

TokenKind: TypeAlias = Literal["command", "file", "history"]

_MENTION = re.compile(r'(?:^|(?<=[\s(\[{,;]))@(?:"([^"]*)|([^\s"]*))$')
_COMMAND_WORD = re.compile(r"/[\w-]*")
_LINES = re.compile(r":\d*(?:-\d*)?$")


@dataclass(frozen=True, slots=True)
class Token:
    """What stands before the caret."""

    kind: TokenKind
    start: int
    """Column of its first character, mark included."""
    query: str
    """Without mark and quotes."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of the popup."""

    insert: str
    """Replaces the token."""
    label: str
    positions: tuple[int, ...] = ()
    """Characters of the label that matched."""
    hint: str = ""
    """Follows the label, e.g. the arguments of a command."""
    detail: str = ""
    """Right of it, e.g. what a command does."""
    is_final: bool = False
    """Nothing more is to be typed: Enter may send at once."""


def find_token(row: int, line: str, column: int) -> Token | None:
    """Return the token that ends at the caret.

    A command is only completed at the very start of the text; a file anywhere after a blank or a bracket.

    Args:
        row: The caret's line number.
        line: That line.
        column: The caret's column.
    """
    before = line[:column]
    if row == 0 and before.startswith("/") and _COMMAND_WORD.fullmatch(before):
        return Token("command", 0, before[1:])
    at = before.rfind("@")
    if at < 0:
        return None
    found = _MENTION.search(before)
    if found is None:
        return None
    query = found[1] if found[1] is not None else _LINES.sub("", found[2])
    return Token("file", found.start(), query)


def command_candidates(query: str, commands: Sequence[CommandRow]) -> list[Candidate]:
    """Return the commands that fit, in table order if nothing is typed yet."""
    found: list[tuple[float, int, CommandRow, Match]] = []
    for order, command in enumerate(commands):
        hit = match(query, command.name)
        if hit is not None:
            found.append((-hit.score if query else 0.0, order, command, hit))
    found.sort(key=lambda item: item[:2])
    return [
        Candidate(
            insert=f"/{command.name}" + (" " if command.args else ""),
            label=f"/{command.name}",
            positions=tuple(position + 1 for position in hit.positions),
            hint=command.args,
            detail=command.help,
            is_final=not command.args or command.args.startswith("["),
        )
        for _, _, command, hit in found
    ]


def file_candidates(matches: Sequence[Match], suffix: str = "") -> list[Candidate]:
    """Return rows for files.

    Args:
        matches: What the index found.
        suffix: A line range that was typed already, e.g. ``:10-20``.
    """
    rows = []
    for found in matches:
        is_folder = found.text.endswith("/")
        quoted = f'"{found.text}"' if re.search(r"\s", found.text) else found.text
        rows.append(
            Candidate(
                insert=f"@{quoted}{suffix}" + ("" if is_folder else " "),
                label=found.text,
                positions=found.positions,
            )
        )
    return rows


def history_candidates(prompts: Sequence[str]) -> list[Candidate]:
    """Return rows for earlier prompts, newest first."""
    return [Candidate(insert=prompt, label=" ".join(prompt.split())[:500], is_final=False) for prompt in prompts]


def line_suffix(line: str, token: Token, column: int) -> str:
    """Return the line range that was typed behind a file's name, or an empty text."""
    found = _LINES.search(line[token.start : column])
    return found[0] if found and '"' not in line[token.start : column] else ""


def argument_hint(text: str, commands: Sequence[CommandRow]) -> str:
    """Return the arguments to show behind a command that has been typed whole, or an empty text."""
    for command in commands:
        if command.args and text == f"/{command.name} ":
            return command.args
    return ""
