"""Background jobs as a front end sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

JobState: TypeAlias = Literal["running", "done", "failed", "ended"]
"""``ended`` by somebody, or with a code that nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """One job in a list."""

    number: int
    """Its id within the session, from 1."""
    command: str
    cwd: str = ""
    state: JobState = "running"
    exit_code: int | None = None
    pid: int = 0
    """0 when unknown."""
    started_at: float = 0.0
    """Unix seconds."""
    ended_at: float = 0.0
    """Unix seconds; 0 while it runs."""
    last_line: str = ""
    """The newest line of its output that is not blank."""
    has_terminal: bool = False
    takes_input: bool = False
    is_detached: bool = False
    """It goes on when the program ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLog:
    """A part of a job's output."""

    text: str
    cursor: int
    """Where the next part begins."""
    partial: str = ""
    """The line in progress."""
    screen: str | None = None
    """What stands on its terminal; None without one."""
    is_cut: bool = False
    """Something before ``text`` was left out."""
