"""What a search is asked and what it finds, whichever program looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

MATCH_CAP = 2_000
NAME_CAP = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search."""

    pattern: str
    root: Path
    """Folder that found paths are relative to."""
    start: str = "."
    """What to search below the root: all of it, or one file."""
    globs: tuple[str, ...] = ()
    context: int = 0
    ignore_case: bool = False
    hidden: bool = False
    match_cap: int = MATCH_CAP
    name_cap: int = NAME_CAP


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that matches, or one around it."""

    path: str
    line: int
    text: str
    is_match: bool = True
    at: int = 0
    """Where in the line the match begins, in characters."""


@dataclass(slots=True)
class Found:
    """Everything a search found, up to its cap."""

    hits: list[Hit] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    match_count: int = 0
    notes: list[str] = field(default_factory=list)
    stopped: str = ""
    """``cap``, ``time``, ``cancel`` or empty."""

    def add(self, hit: Hit) -> None:
        """Take one line."""
        self.hits.append(hit)
        self.match_count += hit.is_match

    def in_order(self) -> list[Hit]:
        """The lines by path; ripgrep's threads finish in any order."""
        return sorted(self.hits, key=lambda hit: (hit.path, hit.line))
