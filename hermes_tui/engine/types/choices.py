"""What a person set, allowed, trusted or noted, as a front end lists it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

NoteTarget: TypeAlias = Literal["memory", "user"]
"""``memory`` holds what is known of machine and projects, ``user`` who the person is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptNote:
    """A note of the memory files after it was added or removed."""

    text: str
    target: NoteTarget
    path: str
    """The file."""
    used_chars: int
    """What the file holds now."""
    max_chars: int


RuleKind: TypeAlias = Literal["allow", "deny", "deny_path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowRuleRow:
    """A stored approval rule."""

    rule: str
    kind: RuleKind
    scope: str
    """``everywhere`` or a folder."""
    hits: int = 0


SettingKind: TypeAlias = Literal["switch", "choice", "number", "text", "list", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """One setting as it holds."""

    key: str
    """Dotted."""
    section: str
    """The table that it is in; empty at the top."""
    value: str
    """As TOML; ``(set)`` for a secret."""
    text: str = ""
    """The value as it is typed: a list with commas between."""
    default: str = ""
    """As TOML."""
    origin: str = "default"
    """``default``, a file with its line, a variable, or ``command line``."""
    is_default: bool = True
    is_firm: bool = False
    """A variable or a flag sets it, which wins over every file."""
    kind: SettingKind = "text"
    choices: tuple[str, ...] = ()
    """Accepted values, when there are only a few."""
    doc: str = ""
    """What it means."""
    note: str = ""
    """Why it is not changed here; empty when it can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustItem:
    """Something of a folder that wants to be used."""

    kind: Literal["instructions", "settings"]
    """What it is for: ``instructions`` go into the model's prompt, ``settings`` hold for sessions in this folder."""
    path: str
    """Absolute."""
    digest: str
    """Hash of its content; trust holds for exactly this."""
    text: str
    """What would be used, hidden characters made visible."""
    size_bytes: int = 0
    hidden_count: int = 0
    """Invisible characters in it."""
    changed: bool = False
    """It was trusted or refused before, with other content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustRequest:
    """What a folder wants that a person has not answered yet."""

    folder: str
    items: tuple[TrustItem, ...]
