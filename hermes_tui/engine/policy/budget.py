"""What may be used: model calls of a turn; tokens and money of a turn and of a session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

WARN_SHARE = 0.8
"""Part of a limit at which it is mentioned."""

Span: TypeAlias = Literal["turn", "session"]
Unit: TypeAlias = Literal["tokens", "usd"]


class IterationBudget:
    """Model calls left in one turn.

    Args:
        limit: How many calls there are.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    @property
    def remaining(self) -> int:
        """Calls left."""
        return max(0, self.limit - self.used)

    def consume(self) -> bool:
        """Use one call; False when none is left."""
        if self.used >= self.limit:
            return False
        self.used += 1
        return True


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used so far; the money holds what is known of it."""

    tokens: int = 0
    usd: float = 0.0


@dataclass(slots=True)
class Cap:
    """One limit."""

    span: Span
    unit: Unit
    size: float
    """As configured; also what an extension adds. 0 is no limit."""
    limit: float = 0.0
    """At present; it grows with extensions."""
    used: float = 0.0
    has_warned: bool = False

    def __post_init__(self) -> None:
        self.start()

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing is left."""
        return 0 < self.limit <= self.used

    @property
    def is_near(self) -> bool:
        """Whether most of it is used."""
        return 0 < self.limit * WARN_SHARE <= self.used

    def start(self) -> None:
        """Begin anew."""
        self.limit, self.used, self.has_warned = self.size, 0.0, False

    def extend(self) -> None:
        """Give as much room again, from what is used now."""
        self.limit, self.has_warned = self.used + self.size, False

    @property
    def words(self) -> str:
        """``this turn has used 41,000 of 40,000 tokens``."""
        if self.unit == "tokens":
            return f"this {self.span} has used {self.used:,.0f} of {self.limit:,.0f} tokens"
        return f"this {self.span} has cost ${self.used:,.2f} of ${self.limit:,.2f}"

    @property
    def size_words(self) -> str:
        """``40,000 tokens``, ``$2.00``."""
        return f"{self.size:,.0f} tokens" if self.unit == "tokens" else f"${self.size:,.2f}"


class SpendLimits:
    """The caps of one conversation. Not locked.

    Args:
        turn_tokens: Per turn; 0 is no limit, here and below.
        session_tokens: Per session.
        turn_usd: Per turn.
        session_usd: Per session.
    """

    def __init__(
        self, *, turn_tokens: int = 0, session_tokens: int = 0, turn_usd: float = 0.0, session_usd: float = 0.0
    ) -> None:
        self.caps = (
            Cap("turn", "tokens", turn_tokens),
            Cap("session", "tokens", session_tokens),
            Cap("turn", "usd", turn_usd),
            Cap("session", "usd", session_usd),
        )

    @property
    def has_money_cap(self) -> bool:
        """Whether any cap is about money."""
        return any(cap.limit for cap in self.caps if cap.unit == "usd")

    @property
    def session_usd(self) -> float:
        """What the session may cost at present; 0 without a limit."""
        return next(cap.limit for cap in self.caps if (cap.span, cap.unit) == ("session", "usd"))

    def start(self, span: Span) -> None:
        """A turn or session begins: its caps are as configured."""
        for cap in self.caps:
            if cap.span == span:
                cap.start()

    def count(self, turn: Spent, session: Spent) -> None:
        """Take what was used so far."""
        spent = {"turn": turn, "session": session}
        for cap in self.caps:
            cap.used = getattr(spent[cap.span], cap.unit)

    def newly_near(self) -> Iterator[Cap]:
        """Yield each cap that is nearly used up and was not mentioned yet."""
        for cap in self.caps:
            if cap.is_near and not cap.is_exhausted and not cap.has_warned:
                cap.has_warned = True
                yield cap

    def exhausted(self) -> list[Cap]:
        """Return the caps of which nothing is left."""
        return [cap for cap in self.caps if cap.is_exhausted]
