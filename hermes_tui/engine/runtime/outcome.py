"""What a turn came to, in the library's result keys: the same ones however it ended."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..types.messages import Message
from ..types.usage import Usage

ExitReason: TypeAlias = Literal["done", "interrupted", "budget", "error"]


@dataclass(slots=True)
class Tally:
    """Counts one turn."""

    final_response: str = ""
    reasoning: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    tool_calls_made: int = 0
    api_calls: int = 0
    errors: list[str] = field(default_factory=list)
    exit_reason: ExitReason = "error"
    """A turn that nothing else ended was ended by a bug."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add_request(self, usage: Usage, cost_usd: float | None) -> None:
        """Count one request."""
        self.api_calls += 1
        self.add_usage(usage, cost_usd)

    def add_usage(self, usage: Usage, cost_usd: float | None) -> None:
        """Count tokens and money, a subagent's too. Any thread."""
        with self._lock:
            self.usage = self.usage + usage
            self.cost_usd = None if cost_usd is None or self.cost_usd is None else self.cost_usd + cost_usd

    def as_result(self, messages: Sequence[Message], session_id: str, model: str, provider: str) -> dict[str, Any]:
        """Return the result dict."""
        return {
            "final_response": self.final_response,
            "messages": list(messages),
            "usage": self.usage.as_dict(),
            "cost_usd": self.cost_usd,
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
