"""Sessions as a front end sees them: rows, stored messages, search results, usage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session in a list."""

    id: str
    title: str
    """Own title, else the first line the user wrote, else empty."""
    source: str = "tui"
    cwd: str = ""
    branch: str = ""
    model: str = ""
    provider: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0
    message_count: int = 0
    turn_count: int = 0
    cost_usd: float | None = None
    total_tokens: int = 0
    pinned: bool = False
    archived: bool = False
    parent_id: str = ""
    parent_reason: str = ""
    """``fork``, ``compression``, ``delegation`` or empty."""
    end_reason: str = ""
    """``error`` while its last turn failed, else why it ended (``closed``, ``compression``), or empty."""
    compaction_count: int = 0
    """How often its older messages were summarised for the model."""
    open_elsewhere: bool = False
    """Another live process has it open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message with its row id."""

    id: int
    message: Message
    session_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A piece of a message around hits."""

    message_id: int
    role: str
    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Hit ranges in ``text``, as [start, end) character offsets."""
    created_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One session that matches, with its best places."""

    session: SessionRow
    snippets: tuple[Snippet, ...] = ()
    hit_count: int = 0
    title_marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """A page of hits."""

    hits: tuple[SearchHit, ...] = ()
    cursor: str = ""
    """Pass it back for the next page; empty at the end."""
    note: str = ""
    """A word on the query when part of it was read literally."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """What was spent on one day, with one model, or in one folder."""

    label: str
    """``2026-10-31``, ``provider/model``, or a folder."""
    request_count: int = 0
    unpriced_count: int = 0
    """Requests without a known price; the cost leaves them out."""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0

    @property
    def total_tokens(self) -> int:
        """All tokens, in and out; reasoning is part of the output."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """Tokens and cost of all sessions."""

    by_day: tuple[UsageRow, ...] = ()
    """In order; days without a request are left out."""
    by_model: tuple[UsageRow, ...] = ()
    by_folder: tuple[UsageRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeProblem:
    """Why a stored session cannot simply go on; a choice for the person, never an error."""

    kind: Literal["open_elsewhere", "folder_gone", "model_gone"]
    text: str
    """What is the matter, in a sentence."""
    hint: str = ""
    """What helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """A cheap snapshot for header and status bar; never blocks."""

    session_id: str
    title: str = ""
    model: str = ""
    provider: str = ""
    cwd: str = ""
    branch: str = ""
    approval_mode: str = "ask"
    context_tokens: int = 0
    context_window: int = 0
    cost_usd: float | None = 0.0
    compaction_count: int = 0
    """How often older messages were summarised when it was opened."""
    cost_cap_usd: float = 0.0
    """What the session may cost; 0 without a limit."""
    running: bool = False
    read_only: bool = False
    """It can be read here, not continued: another process has it open."""
    problems: tuple[ResumeProblem, ...] = ()
    """What was found when a stored session was opened."""
