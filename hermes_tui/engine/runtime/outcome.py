"""What a turn came to, in the library's result keys: the same ones however it ended."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..policy.budget import Spent
from ..types.messages import Message
from ..types.usage import Usage

ExitReason: TypeAlias = Literal["done", "interrupted", "budget", "error"]


class Bill:
    """Tokens and money, added up. Any thread.

    Args:
        usage: What was used before.
        cost_usd: What it cost; None when a part of that is unknown.
    """

    def __init__(self, usage: Usage | None = None, cost_usd: float | None = 0.0) -> None:
        self._lock = threading.Lock()
        self.usage = usage or Usage()
        self.known_usd = cost_usd or 0.0
        """The part whose price is known."""
        self.is_partly_unknown = cost_usd is None

    @property
    def cost_usd(self) -> float | None:
        """The whole cost; None once any part of it is unknown."""
        return None if self.is_partly_unknown else self.known_usd

    @property
    def spent(self) -> Spent:
        """What counts towards the limits."""
        return Spent(self.usage.prompt_tokens + self.usage.output_tokens, self.known_usd)

    def add(self, usage: Usage, cost_usd: float | None) -> None:
        """Add one request, or a sum of several."""
        with self._lock:
            self.usage = self.usage + usage
            self.known_usd += cost_usd or 0.0
            self.is_partly_unknown |= cost_usd is None


@dataclass(slots=True)
class Tally:
    """Counts one turn."""

    final_response: str = ""
    reasoning: str = ""
    bill: Bill = field(default_factory=Bill)
    """What it used, subagents included."""
    tool_calls_made: int = 0
    api_calls: int = 0
    errors: list[str] = field(default_factory=list)
    exit_reason: ExitReason = "error"
    """A turn that nothing else ended was ended by a bug."""

    def add_request(self, usage: Usage, cost_usd: float | None) -> None:
        """Count one request."""
        self.api_calls += 1
        self.bill.add(usage, cost_usd)

    def as_result(self, messages: Sequence[Message], session_id: str, model: str, provider: str) -> dict[str, Any]:
        """Return the result dict."""
        return {
            "final_response": self.final_response,
            "messages": list(messages),
            "usage": self.bill.usage.as_dict(),
            "cost_usd": self.bill.cost_usd,
            "tool_calls_made": self.tool_calls_made,
            "api_calls": self.api_calls,
            "reasoning": self.reasoning,
            "errors": list(self.errors),
            "completed": self.exit_reason == "done",
            "interrupted": self.exit_reason == "interrupted",
            "exit_reason": self.exit_reason,
            "session_id": session_id,
            "model": model,
            "provider": provider,
        }
