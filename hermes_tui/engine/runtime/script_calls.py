"""Calls that a tool's script makes: the same checks, questions and counters as for a call by the model."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from ...tools.ports import InnerResult, ToolContext
from ..types.events import Outcome
from ..types.messages import ToolCall
from .interrupt import CancelToken
from .job import Done, Job
from .plan import Planner
from .results import BATCH_MAX_CHARS, CallResult
from .tool_context import CallContext

MAX_SUMMARY_CHARS = 120
"""Of one call's outcome in its line."""


class Steps(Protocol):
    """The part of the executor that carries out one call."""

    def context(self, call_id: str, token: CancelToken, within: str = "", card_id: str = "") -> CallContext:
        """Return the context of one call."""
        ...

    def announce(self, job: Job) -> None:
        """Say that it begins."""
        ...

    def carry_out(self, job: Job, on_run: Callable[[], None]) -> tuple[dict[str, Any], Outcome]:
        """Guard, judge and run it; never raises."""
        ...

    def finish(self, done: Done, room: int) -> CallResult:
        """Count, cap and announce its result."""
        ...


class ScriptCalls:
    """Implements ``tools.ports.InnerCalls``: each call runs on the thread of the handler that asks for it.

    Args:
        steps: Carries them out.
        planner: Knows the tools on offer.
    """

    def __init__(self, steps: Steps, planner: Planner) -> None:
        self._steps = steps
        self._planner = planner
        self._numbers = itertools.count(1)

    @property
    def signatures(self) -> Mapping[str, Sequence[str]]:
        """Names of the tools on offer, with their parameters in order."""
        return self._planner.signatures

    def call(self, name: str, args: Mapping[str, Any], context: ToolContext, limit_s: float, *, by: str) -> InnerResult:
        """Carry out one call within the call of ``context``; see the port."""
        outer = cast(CallContext, context)
        text = json.dumps(dict(args), ensure_ascii=False, default=str)
        call: ToolCall = {
            "id": f"{outer.call_id}.{next(self._numbers)}",
            "type": "function",
            "function": {"name": name, "arguments": text},
        }
        (planned,) = self._planner.plan([call])
        token = outer.cancel.child()
        job = Job(planned, token, self._steps.context(call["id"], token, by, outer.call_id), within=outer.call_id)
        alarm = threading.Timer(limit_s, token.cancel_soon, ("timeout",))
        alarm.daemon = True

        def on_run() -> None:
            job.runs_since = time.monotonic()
            alarm.start()

        asked_at = time.monotonic()
        self._steps.announce(job)
        payload, outcome = self._steps.carry_out(job, on_run)
        ended_at = time.monotonic()
        alarm.cancel()
        began_at = job.runs_since or ended_at
        done = self._steps.finish(Done(job, payload, outcome, ended_at - began_at), BATCH_MAX_CHARS)
        return InnerResult(result=json.loads(done.text), line=_line(done), waited_s=began_at - asked_at)


def _line(done: CallResult) -> str:
    """Say in a line what a call did and how it went."""
    shown = done.display
    head = " ".join(str(word) for word in (shown.get("verb") or done.name, shown.get("target")) if word)
    summary = str(shown.get("summary") or "")[:MAX_SUMMARY_CHARS]
    match done.outcome:
        case "ok":
            how = summary or "ok"
        case "error":
            how = summary or "error"
        case other:
            how = other
    return " ".join(f"{head}: {how}".split())
