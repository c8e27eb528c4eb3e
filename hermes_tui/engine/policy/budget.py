"""What a turn may use: model calls, tokens, money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

WARN_SHARE = 0.8
"""Part of a limit at which it is mentioned."""


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


SpendState: TypeAlias = Literal["ok", "warn", "exhausted"]


@dataclass(slots=True, kw_only=True)
class SpendLimits:
    """Caps on tokens and money. A cap of 0 is no cap; each warns once."""

    max_tokens: int = 0
    """Per turn."""
    max_cost_usd: float = 0.0
    """Per session."""
    warned: bool = False

    def check(self, tokens: int, cost_usd: float | None) -> SpendState:
        """Compare what was used. An unknown cost (None) cannot exceed its cap."""
        share = max(_share(tokens, self.max_tokens), _share(cost_usd or 0.0, self.max_cost_usd))
        if share >= 1:
            return "exhausted"
        if share < WARN_SHARE or self.warned:
            return "ok"
        self.warned = True
        return "warn"

    def extend(self) -> None:
        """Double both caps, once the person agreed."""
        self.max_tokens *= 2
        self.max_cost_usd *= 2
        self.warned = False


def _share(used: float, limit: float) -> float:
    return used / limit if limit > 0 else 0.0
