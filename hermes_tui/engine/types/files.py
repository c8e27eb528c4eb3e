"""What is at a path, exactly enough to bring it back, and what the agent made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

FileKind: TypeAlias = Literal["none", "file", "link", "folder", "other"]

UNKEPT = "~"
"""How the digest begins of a content that is not kept: too large, or not readable."""


@dataclass(frozen=True, slots=True)
class FileState:
    """What is at a path. Two equal states have the same bytes, target and mode."""

    kind: FileKind = "none"
    mode: int = 0
    """Permission bits; 0 for links and nothing."""
    size: int = 0
    """Bytes of content, of a link its target."""
    digest: str = ""
    """Hash of the bytes in hex; begins with :data:`UNKEPT` where they are not kept."""

    @property
    def has_content(self) -> bool:
        """Whether bytes belong to it."""
        return self.kind in ("file", "link")

    @property
    def is_kept(self) -> bool:
        """Whether it can be brought back."""
        return self.kind != "other" and not self.digest.startswith(UNKEPT)


NOTHING = FileState()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    """What one turn did to one path, from one look to the next."""

    no: int = 0
    """Row number; grows with time."""
    session_id: str
    message_id: int
    """Row of the message that the turn answers."""
    path: str
    """Absolute; names that are no text as :func:`os.fsdecode` gives them."""
    before: FileState
    after: FileState
    by_command: bool = False
    """Found after a shell command, not declared by a tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMove:
    """A path that an undo, or its redo, brings from one state to another."""

    path: str
    now: FileState
    target: FileState

    def reversed(self) -> FileMove:
        """Return the way back."""
        return FileMove(path=self.path, now=self.target, target=self.now)
