"""The last model requests of a session, kept for whoever wants to look: references to what exists anyway.

Recording costs a few assignments per request. What is shown of it is worked out when somebody asks.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..providers.base import ModelRequest
from ..types.inspection import Purpose, RequestOutcome, RequestRow
from ..types.messages import Message
from .accumulate import Answer
from .call import CallOutcome
from .ports import Cost

MAX_REQUESTS = 40
"""Requests kept; older ones are forgotten."""
MAX_RAW_BYTES = 64_000
"""Of each answer as it arrived."""


class RawAnswer:
    """The beginning of an answer's bytes. One thread writes."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.size = 0

    def add(self, data: bytes) -> None:
        """Keep what there is room for."""
        if self.size < MAX_RAW_BYTES:
            self.chunks.append(data)
        self.size += len(data)

    def text(self) -> str:
        """Return the beginning as text."""
        return b"".join(self.chunks)[:MAX_RAW_BYTES].decode("utf-8", "replace")


@dataclass(slots=True, kw_only=True)
class RequestRecord:
    """One request. The agent thread writes; anyone may read."""

    number: int
    turn: int
    step: int
    attempt: int
    purpose: Purpose
    agent: str
    request: ModelRequest
    history: Sequence[Message]
    """The conversation's rows; they only grow, so that a count is a snapshot."""
    row_count: int
    estimated_tokens: int
    started_at: float = field(default_factory=time.time)
    started: float = field(default_factory=time.monotonic)
    raw: RawAnswer = field(default_factory=RawAnswer)
    outcome: CallOutcome | None = None
    total_s: float = 0.0

    def end(self, outcome: CallOutcome) -> None:
        """Note how it went."""
        self.total_s = time.monotonic() - self.started
        self.outcome = outcome

    def as_row(self, cost: Cost) -> RequestRow:
        """Return it as a list shows it."""
        outcome, endpoint = self.outcome, self.request.endpoint
        usage = outcome.answer.usage if outcome is not None else None
        return RequestRow(
            number=self.number,
            turn=self.turn,
            step=self.step,
            attempt=self.attempt,
            purpose=self.purpose,
            agent=self.agent,
            model=endpoint.model,
            provider=endpoint.provider,
            api_mode=endpoint.api_mode,
            started_at=self.started_at,
            first_token_s=outcome.first_delta_s if outcome is not None else None,
            total_s=self.total_s if outcome is not None else time.monotonic() - self.started,
            outcome=_state(outcome),
            problem=str(outcome.error) if outcome is not None and outcome.error is not None else "",
            usage=usage,
            cost_usd=cost(endpoint, usage) if usage is not None else None,
            estimated_tokens=self.estimated_tokens,
            context_window=endpoint.context_window,
        )

    @property
    def answer(self) -> Answer | None:
        """What came; None while it runs."""
        return self.outcome.answer if self.outcome is not None else None


class RequestLog:
    """The requests of one session, subagents' too. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records: deque[RequestRecord] = deque(maxlen=MAX_REQUESTS)
        self._count = 0
        self._turn = 0

    def start_turn(self) -> None:
        """A turn of the main agent begins."""
        self._turn += 1

    def add(
        self,
        request: ModelRequest,
        *,
        step: int = 0,
        purpose: Purpose = "turn",
        agent: str = "",
        history: Sequence[Message] = (),
        estimated_tokens: int = 0,
    ) -> RequestRecord:
        """Begin a record; the caller ends it."""
        with self._lock:
            self._count += 1
            same = (self._turn, step, purpose, agent)
            record = RequestRecord(
                number=self._count,
                turn=self._turn,
                step=step,
                attempt=1 + sum((r.turn, r.step, r.purpose, r.agent) == same for r in self._records),
                purpose=purpose,
                agent=agent,
                request=request,
                history=history,
                row_count=len(history),
                estimated_tokens=estimated_tokens,
            )
            self._records.append(record)
        return record

    def records(self) -> list[RequestRecord]:
        """Return what is kept, oldest first."""
        with self._lock:
            return list(self._records)


def _state(outcome: CallOutcome | None) -> RequestOutcome:
    if outcome is None:
        return "running"
    if outcome.interrupted:
        return "interrupted"
    return "error" if outcome.error is not None else "ok"
