"""Runs the calls of one answer: each gets exactly one result, whatever happens, and results leave in call order."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from ...tools.base import Assessment, ToolFailure, display_generic
from ...tools.ports import CALLS
from ...tools.registry import ToolRegistry
from ..checkpoints.tracker import Tracker
from ..policy.guardrails import Guardrails
from ..policy.redaction import Redactor
from ..types.errors import ToolError
from ..types.events import Outcome, ToolFinished, ToolStarted
from ..types.messages import ToolCall
from .interrupt import CancelToken
from .job import Done, Job
from .judge import Judge, Permission
from .plan import PlannedCall, Planner, can_run_together
from .results import BATCH_MAX_CHARS, MIN_CHARS, CallResult, as_text, cap, checked, failure
from .script_calls import ScriptCalls
from .tool_context import CallContext, ContextParts

log = logging.getLogger(__name__)

POOL_SIZE = 8
MAX_RUN_S = 660.0
"""Hard limit of one handler: the longest time limit a tool may take (600 s) and a minute to wind down."""
TIMEOUT_GRACE_S = 5.0
"""How long a handler may take to hand over what it has once its time is over."""
INTERRUPT_GRACE_S = 0.12
"""The same after an interrupt; the turn must end within 250 ms."""

NOT_RUN = "The turn was interrupted before this call ran."
CUT_OFF = "The turn was interrupted while this ran. Its outcome is unknown: check before repeating it."
TIMED_OUT = "This took too long and was stopped. Its outcome is unknown: check before repeating it."
_MAX_ERROR_CHARS = 2_000


class Executor:
    """Runs batches for one turn. :meth:`run` blocks the agent thread; handlers run on threads of their own.

    Args:
        registry: Describes calls for their cards.
        planner: Knows the tools offered.
        judge: Gives permission.
        guardrails: The turn's counters.
        parts: What every call's context shares.
        redactor: Cleans results of secrets where they are shown.
        max_run_s: Hard limit of one handler.
        tracker: Follows what calls do to files.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        planner: Planner,
        judge: Judge,
        guardrails: Guardrails,
        parts: ContextParts,
        redactor: Redactor,
        max_run_s: float = MAX_RUN_S,
        tracker: Tracker | None = None,
    ) -> None:
        self._registry = registry
        self._planner = planner
        self._judge = judge
        self._guardrails = guardrails
        self._guard_lock = threading.Lock()
        self._parts = replace(parts, services={**parts.services, CALLS: ScriptCalls(self, planner)})
        self._redactor = redactor
        self._max_run_s = max_run_s
        self._tracker = tracker

    def run(
        self,
        calls: Sequence[ToolCall],
        broken: Collection[str],
        token: CancelToken,
        deliver: Callable[[CallResult], None],
    ) -> None:
        """Run a batch.

        Args:
            calls: The calls of one answer.
            broken: Ids of those whose arguments could not be read.
            token: The turn's token.
            deliver: Takes each result, in call order and as early as that allows, on this thread.
        """
        planned = self._planner.plan(calls, broken)
        self._guardrails.record_step(usable=any(call.error is None for call in planned))
        _Batch(self, planned, token, deliver).run()

    # The steps below are one call's; the batch decides on which thread.

    def context(self, call_id: str, token: CancelToken, within: str = "", card_id: str = "") -> CallContext:
        """Return the context of one call."""
        return CallContext(self._parts, call_id, token, within, card_id)

    def width(self, jobs: Sequence[Job]) -> int:
        """Return how many of these calls may run at once."""
        if len(jobs) < 2 or any(job.planned.tool is None or not job.planned.tool.parallel for job in jobs):
            return 1
        assessments = [self._assess(job) for job in jobs]
        together = can_run_together([job.planned for job in jobs], assessments, self._parts.workspace)
        return POOL_SIZE if together else 1

    def announce(self, job: Job) -> None:
        """Emit ``ToolStarted``, once."""
        with job.lock:
            if job.is_started:
                return
            job.is_started = True
        planned = job.planned
        self._parts.emit(
            ToolStarted(
                call_id=planned.call_id,
                name=planned.name,
                args=self._redactor.value(dict(planned.args)),
                display=self._describe(planned, None),
                within=job.within,
            )
        )

    def carry_out(self, job: Job, on_run: Callable[[], None]) -> tuple[dict[str, Any], Outcome]:
        """Guard, judge and run one call; never raises."""
        planned = job.planned
        if planned.error is not None or planned.tool is None:
            return planned.error or failure("There is no such tool."), "error"
        with self._guard_lock:
            blocked = self._guardrails.block(planned.name, planned.canonical)
        if blocked:
            return failure(blocked), "error"
        try:
            permission = self._judge.decide(planned.tool, planned.args, job.context)
            if permission.refusal is not None:
                by_interrupt = permission.refusal.get("denied_by") == "interrupt"
                return permission.refusal, "interrupted" if by_interrupt else "denied"
            if job.token.cancelled:
                return failure(NOT_RUN), "interrupted"
            job.is_read = permission.is_read
            on_run()
            with self._watch(permission):
                payload = checked(planned.tool.handler(permission.args, job.context))
        except ToolFailure as error:
            payload, permission = failure(error.message, **error.details), None
        except ToolError as error:
            payload, permission = failure(str(error)), None
        except (Exception, SystemExit) as error:
            log.exception("the tool %s failed", planned.name)
            text = f"{type(error).__name__}: {error}"[:_MAX_ERROR_CHARS]
            payload, permission = failure(f"The tool failed. {text}"), None
        if permission is not None and permission.note:
            payload["note"] = " ".join(filter(None, (payload.get("note"), permission.note)))
        return payload, _outcome(payload, job.token)

    def finish(self, done: Done, room: int) -> CallResult:
        """Count, cap and announce a result."""
        job, payload, outcome = done.job, done.payload, done.outcome
        planned = job.planned
        job.context.close()
        job.token.close()
        if planned.tool is not None and planned.error is None and outcome in ("ok", "error", "timeout"):
            payload = self._with_warning(job, payload, is_ok=outcome == "ok")
        limit = min(planned.tool.max_result_chars if planned.tool else MIN_CHARS, max(MIN_CHARS, room))
        try:
            payload = cap(payload, limit, self._parts.spill_dir, self._redactor.text)
            text = as_text(payload)
        except (ValueError, TypeError, RecursionError):
            payload = failure("The tool returned something that cannot be written as JSON.")
            text, outcome = as_text(payload), "error"
        self.announce(job)
        display = self._redactor.value(self._describe(planned, payload))
        result = CallResult(
            call_id=planned.call_id,
            name=planned.name,
            outcome=outcome,
            text=text,
            display=display,
            duration_s=done.duration_s,
        )
        self._parts.emit(
            ToolFinished(
                call_id=result.call_id,
                name=result.name,
                outcome=outcome,
                result=self._redactor.text(text),
                duration_s=done.duration_s,
                display=display,
                within=job.within,
            )
        )
        return result

    @property
    def max_run_s(self) -> float:
        """Hard limit of one handler."""
        return self._max_run_s

    def _watch(self, permission: Permission) -> AbstractContextManager[None]:
        if self._tracker is None:
            return nullcontext()
        return self._tracker.watch(permission.writes, is_command=permission.is_command)

    def _assess(self, job: Job) -> Assessment | None:
        planned = job.planned
        if planned.tool is None or planned.error is not None:
            return None
        try:
            return planned.tool.assess(planned.args, job.context)
        except ToolFailure:
            return None
        except Exception:
            log.exception("the assessment of %s failed", planned.name)
            return None

    def _with_warning(self, job: Job, payload: dict[str, Any], *, is_ok: bool) -> dict[str, Any]:
        planned = job.planned
        with self._guard_lock:
            warning = self._guardrails.record(
                planned.name, planned.canonical, ok=is_ok, result=repr(payload), read_only=job.is_read
            )
        return {**payload, "warning": warning} if warning else payload

    def _describe(self, planned: PlannedCall, payload: dict[str, Any] | None) -> dict[str, Any]:
        try:
            return self._registry.describe(planned.name, planned.args, payload)
        except Exception:
            log.exception("the display of %s failed", planned.name)
            return display_generic(planned.args, payload)


class _Batch:
    """One batch in flight: starts jobs, waits for results, timeouts and the interrupt, delivers in order."""

    def __init__(
        self,
        executor: Executor,
        planned: Sequence[PlannedCall],
        token: CancelToken,
        deliver: Callable[[CallResult], None],
    ) -> None:
        self._executor = executor
        self._token = token
        self._deliver = deliver
        self._inbox: queue.SimpleQueue[Done | None] = queue.SimpleQueue()
        self._jobs = [self._job(call) for call in planned]
        self._results: dict[str, CallResult] = {}
        self._next = 0
        self._room = BATCH_MAX_CHARS
        self._interrupt_at = 0.0
        """Monotonic time at which an interrupted batch stops waiting; 0 while not interrupted."""

    def run(self) -> None:
        """Run the batch to its end."""
        own = [job for job in self._jobs if not job.planned.same_as]
        waiting, running = deque(own), set[str]()
        width = self._executor.width(own)
        remove = self._token.on_cancel(lambda: self._inbox.put(None))
        try:
            while waiting or running:
                while waiting and len(running) < width and not self._token.cancelled:
                    job = waiting.popleft()
                    running.add(job.planned.call_id)
                    threading.Thread(target=self._work, args=(job,), name="tool", daemon=True).start()
                if self._token.cancelled:
                    waiting.clear()
                    self._interrupt_at = self._interrupt_at or time.monotonic() + INTERRUPT_GRACE_S
                if running:
                    self._wait(own, running)
        except BaseException:  # the store failed, or Ctrl+C broke the wait off: nothing may run on unseen
            for job in own:
                job.token.cancel_soon("error")
            raise
        finally:
            remove()
        for job in self._jobs:
            if job.planned.call_id not in self._results:
                self._close(job)
        self._flush()

    def _job(self, planned: PlannedCall) -> Job:
        token = self._token.child()
        return Job(planned, token, self._executor.context(planned.call_id, token))

    def _work(self, job: Job) -> None:
        """Carry out one job on its own thread and report."""

        def on_run() -> None:
            job.runs_since = time.monotonic()
            if job.planned.tool is not None and job.planned.tool.is_bounded:
                job.deadline = job.runs_since + self._executor.max_run_s
            if self._executor.max_run_s < MAX_RUN_S:
                self._inbox.put(None)

        payload, outcome = self._carry_out(job, on_run)
        duration_s = time.monotonic() - job.runs_since if job.runs_since else 0.0
        self._inbox.put(Done(job, payload, outcome, duration_s))

    def _carry_out(self, job: Job, on_run: Callable[[], None]) -> tuple[dict[str, Any], Outcome]:
        """Announce and carry out one job; whatever happens there is a result, for the batch waits for it."""
        try:
            self._executor.announce(job)
            return self._executor.carry_out(job, on_run)
        except Exception as error:
            log.exception("the call of %s failed", job.planned.name)
            return failure(f"The call failed. {type(error).__name__}"), "error"

    def _wait(self, jobs: Sequence[Job], running: set[str]) -> None:
        """Wait for one thing to happen and act on it."""
        active = [job for job in jobs if job.planned.call_id in running]
        ends = [job.deadline for job in active if job.deadline]
        if self._interrupt_at:
            ends = [self._interrupt_at]
        try:
            done = self._inbox.get(timeout=max(0.0, min(ends) - time.monotonic()) if ends else MAX_RUN_S)
        except queue.Empty:
            self._time_out(active, running)
            return
        if done is not None and done.job.planned.call_id in running:
            running.discard(done.job.planned.call_id)
            self._accept(done)

    def _time_out(self, active: Sequence[Job], running: set[str]) -> None:
        now = time.monotonic()
        if self._interrupt_at:
            if now >= self._interrupt_at:
                running.clear()
            return
        for job in active:
            if not job.deadline or now < job.deadline:
                continue
            if job.is_late:
                running.discard(job.planned.call_id)
                self._accept(Done(job, failure(TIMED_OUT), "timeout", now - job.runs_since))
            else:
                job.is_late = True
                job.deadline = now + TIMEOUT_GRACE_S
                job.token.cancel_soon("timeout")

    def _close(self, job: Job) -> None:
        """Answer a call that did not come to a result of its own."""
        twin = self._results.get(job.planned.same_as)
        if twin is not None:
            payload: dict[str, Any] = {"ok": twin.outcome == "ok", "same_call_as": twin.call_id}
            payload["note"] = "This call is identical to another one of the same answer; it ran once."
            self._accept(Done(job, payload, twin.outcome, 0.0))
            return
        text = CUT_OFF if job.runs_since else NOT_RUN
        duration_s = time.monotonic() - job.runs_since if job.runs_since else 0.0
        self._accept(Done(job, failure(text), "interrupted", duration_s))

    def _accept(self, done: Done) -> None:
        result = self._executor.finish(done, self._room)
        self._room -= len(result.text)
        self._results[result.call_id] = result
        self._flush()

    def _flush(self) -> None:
        while self._next < len(self._jobs):
            result = self._results.get(self._jobs[self._next].planned.call_id)
            if result is None:
                return
            self._next += 1
            self._deliver(result)


def _outcome(payload: dict[str, Any], token: CancelToken) -> Outcome:
    if payload["ok"]:
        return "ok"
    if token.cancelled:
        return "timeout" if token.reason == "timeout" else "interrupted"
    return "timeout" if payload.get("timed_out") else "error"
