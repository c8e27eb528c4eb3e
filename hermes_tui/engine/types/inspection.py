"""What a request was made of, and how it went: frozen rows for whoever looks behind the scenes, without secrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .messages import JsonValue
from .usage import Usage

RequestOutcome: TypeAlias = Literal["running", "ok", "error", "interrupted"]
Purpose: TypeAlias = Literal["turn", "compression"]
PartKind: TypeAlias = Literal["prompt", "tools", "messages"]
Change: TypeAlias = Literal["same", "changed", "added", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRow:
    """One model request in a list."""

    number: int
    """1, 2, ... since the session was opened."""
    turn: int
    """1-based, since the session was opened."""
    step: int
    """1-based within the turn."""
    attempt: int = 1
    """1-based within the step: retries, continuations, other keys and models."""
    purpose: Purpose = "turn"
    agent: str = ""
    """Name of the subagent; empty for the main agent."""
    model: str = ""
    provider: str = ""
    api_mode: str = ""
    started_at: float = 0.0
    """Unix seconds."""
    first_token_s: float | None = None
    """Seconds until the first piece of the answer; None while, or when, none came."""
    total_s: float = 0.0
    """Seconds until its end, or until now."""
    outcome: RequestOutcome = "running"
    problem: str = ""
    """Why it failed, in words."""
    usage: Usage | None = None
    """What the provider counted."""
    cost_usd: float | None = None
    estimated_tokens: int = 0
    """Prompt tokens as estimated before it was sent."""
    context_window: int = 0

    @property
    def cached_share(self) -> float | None:
        """Part of the prompt that came from the provider's cache; None when nothing was counted."""
        if self.usage is None or not self.usage.prompt_tokens:
            return None
        return self.usage.cache_read_tokens / self.usage.prompt_tokens

    @property
    def tokens_per_s(self) -> float | None:
        """Speed after the first token; None when it cannot be told."""
        if self.usage is None or self.first_token_s is None or self.total_s <= self.first_token_s:
            return None
        return self.usage.output_tokens / (self.total_s - self.first_token_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPart:
    """One category of what fills the window."""

    name: str
    kind: PartKind
    tokens: int
    """Estimated, in the provider's own counting where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReport:
    """What the next request would carry."""

    parts: tuple[ContextPart, ...] = ()
    """In the order of the request; empty categories are left out."""
    window: int = 0
    """Tokens of the model's window; 0 when unknown."""
    limit: int = 0
    """Tokens from which on the conversation is compressed; 0 when it is not."""

    @property
    def total(self) -> int:
        """Tokens of all parts."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePair:
    """What is stored beside what was sent for it."""

    change: Change
    """``added`` is in the request only, ``dropped`` is stored only."""
    role: str
    """``system``, ``user``, ``assistant``, ``tool``, or ``summary`` for a row that stands for compressed messages."""
    stored: str = ""
    """The stored rows' text; several rows that were sent as one are joined by blank lines."""
    sent: str = ""
    notes: tuple[str, ...] = ()
    """What was done and why, in words."""
    tokens: int = 0
    """Estimate of what was sent."""
    added_tokens: int = 0
    """The part of it that this request alone has."""
    summary_tokens: int = 0
    """The part of it that stands for compressed messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestDetail:
    """Everything about one request."""

    row: RequestRow
    pairs: tuple[MessagePair, ...] = ()
    parts: tuple[ContextPart, ...] = ()
    url: str = ""
    body: JsonValue = None
    """The request's JSON, exactly as sent but for secrets; None where nothing goes over a wire."""
    answer: JsonValue = None
    """What the answer came to, as far as it came."""
    raw: str = ""
    """The beginning of the answer as it arrived."""
    raw_bytes: int = 0
    """Bytes of the whole answer."""
