"""Changes to files, and what taking them back would do or did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .sessions import StoredMessage

ChangeKind: TypeAlias = Literal["created", "changed", "deleted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What the agent did to one file, folder or link."""

    path: str
    """As text on one line, relative to the workspace when inside; a folder's ends with a slash."""
    kind: ChangeKind
    added: int = 0
    """Lines."""
    removed: int = 0
    diff: str = ""
    """Unified; empty where there is no text."""
    note: str = ""
    """What the diff does not show: a mode, a size, line ends."""
    by_command: bool = False
    """Found after a shell command; no tool said that it would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """A file that is left as it is."""

    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPlan:
    """What an undo would do. Nothing was done yet."""

    message_id: int = 0
    """The first message that would be taken back; 0 when there is none."""
    text: str = ""
    """Its words."""
    files: tuple[FileChange, ...] = ()
    """Changes that would be taken back."""
    kept: tuple[KeptFile, ...] = ()
    """Files that would stay, and why."""
    note: str = ""
    """What the plan cannot know of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What an undo or a redo did."""

    text: str = ""
    """The words of the message that was taken back."""
    images: tuple[str, ...] = ()
    """Its images, as files."""
    has_message: bool = False
    """A message was taken back, or brought back."""
    files: tuple[str, ...] = ()
    """Paths that are as they were before."""
    kept: tuple[KeptFile, ...] = ()
    """Paths that were left, and why."""
    messages: tuple[StoredMessage, ...] = ()
    """Rows that a redo brought back."""
