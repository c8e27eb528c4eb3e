"""The broker between calls that wait for a person and the surfaces that can ask one.

A call blocks in :meth:`Approvals.request` or :meth:`Approvals.ask` on its own thread; any surface answers by request
id; the first answer wins, and the ``...Resolved`` event tells everybody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeAlias, TypeVar

from ..types.events import ApprovalRequested, ApprovalResolved, ClarifyRequested, ClarifyResolved, Event
from ..types.requests import ApprovalDecision, ApprovalRequest, ClarifyAnswer, ClarifyRequest

AnswerT = TypeVar("AnswerT")
Approver: TypeAlias = Callable[[ApprovalRequest], ApprovalDecision]
Clarifier: TypeAlias = Callable[[ClarifyRequest], ClarifyAnswer]


class Cancellable(Protocol):
    """The part of a cancel token that a waiting request needs."""

    @property
    def cancelled(self) -> bool:
        """True once the call is to stop."""
        ...

    def on_cancel(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Run ``hook`` on cancellation; returns the function that removes it."""
        ...


@dataclass(slots=True)
class _Waiting(Generic[AnswerT]):
    """One open question; answered exactly once."""

    call_ids: list[str]
    key: tuple[str, ...] = ()
    answered: threading.Event = field(default_factory=threading.Event)
    answer: AnswerT | None = None


class Approvals:
    """Asks people. Every method may be called from any thread.

    Args:
        emit: Takes the ``...Requested`` and ``...Resolved`` events.
        approver: Answers approvals in place of a surface (a library callback); runs on a thread of its own.
        clarifier: Answers questions in the same way.
    """

    def __init__(
        self, emit: Callable[[Event], None], *, approver: Approver | None = None, clarifier: Clarifier | None = None
    ) -> None:
        self._emit = emit
        self._approver = approver
        self._clarifier = clarifier
        self._lock = threading.Lock()
        self._surface_count = 0
        self._approvals: dict[str, _Waiting[ApprovalDecision]] = {}
        self._questions: dict[str, _Waiting[ClarifyAnswer]] = {}
        self._allowed: set[tuple[str, ...]] = set()
        self._refused: dict[tuple[str, ...], ApprovalDecision] = {}

    @property
    def can_ask(self) -> bool:
        """Whether anybody could answer an approval."""
        return self._surface_count > 0 or self._approver is not None

    @property
    def can_clarify(self) -> bool:
        """Whether anybody could answer a question."""
        return self._surface_count > 0 or self._clarifier is not None

    def attach_surface(self) -> Callable[[], None]:
        """Say that somebody watches the events and will answer; returns the function that takes it back."""
        with self._lock:
            self._surface_count += 1
        once = threading.Lock()

        def detach() -> None:
            if once.acquire(blocking=False):
                with self._lock:
                    self._surface_count -= 1

        return detach

    def start_turn(self) -> None:
        """Forget what was refused in the turn before."""
        with self._lock:
            self._refused.clear()

    def known_answer(self, request: ApprovalRequest) -> ApprovalDecision | None:
        """Return the answer that a person gave to this very action before, while it still holds."""
        key = _key(request)
        with self._lock:
            if key in self._allowed:
                return ApprovalDecision(choice="session", by="rule")
            return replace(self._refused[key], by="rule") if key in self._refused else None

    def request(self, request: ApprovalRequest, cancel: Cancellable) -> ApprovalDecision:
        """Ask for approval; blocks until answered, cancelled, or past the request's deadline.

        Identical requests that wait at the same time are one question. A refusal holds for the same action until the
        turn ends, "session" until the session does.
        """
        key = _key(request)
        if cancel.cancelled:
            return ApprovalDecision(choice="deny", by="interrupt")
        if known := self.known_answer(request):
            return known
        with self._lock:
            if not self.can_ask:
                return ApprovalDecision(choice="deny", by="no_surface")
            waiting = next((w for w in self._approvals.values() if w.key == (*key, request.agent_id)), None)
            is_first = waiting is None
            if waiting is None:
                waiting = _Waiting[ApprovalDecision](list(request.call_ids), (*key, request.agent_id))
                self._approvals[request.request_id] = waiting
            else:
                waiting.call_ids.extend(request.call_ids)
        if not is_first:
            waiting.answered.wait()
        else:
            self._emit(ApprovalRequested(request=request))
            self._wait_for_decision(request, waiting, cancel)
        return waiting.answer or ApprovalDecision(choice="deny", by="interrupt")

    def resolve(self, request_id: str, decision: ApprovalDecision) -> bool:
        """Answer an approval; False when it is not waiting any more."""
        with self._lock:
            waiting = self._approvals.pop(request_id, None)
            if waiting is None:
                return False
            waiting.answer = decision
            self._remember(waiting.key[:-1], decision)
        self._emit(ApprovalResolved(request_id=request_id, call_ids=tuple(waiting.call_ids), decision=decision))
        waiting.answered.set()
        return True

    def ask(self, request: ClarifyRequest, cancel: Cancellable) -> ClarifyAnswer:
        """Ask a question; blocks until answered or cancelled. Empty when nobody is there."""
        if not self.can_clarify:
            return ClarifyAnswer(text="", by="no_surface")
        waiting = _Waiting[ClarifyAnswer]([request.call_id])
        with self._lock:
            self._questions[request.request_id] = waiting
        self._emit(ClarifyRequested(request=request))
        if self._clarifier is not None:
            clarifier = self._clarifier
            _start(lambda: self.answer(request.request_id, clarifier(request)))
        remove = cancel.on_cancel(lambda: self._drop_question(request.request_id))
        waiting.answered.wait()
        remove()
        return waiting.answer or ClarifyAnswer(text="", by="interrupt")

    def answer(self, request_id: str, answer: ClarifyAnswer) -> bool:
        """Answer a question; False when it is not waiting any more."""
        with self._lock:
            waiting = self._questions.pop(request_id, None)
            if waiting is None:
                return False
            waiting.answer = answer
        self._emit(ClarifyResolved(request_id=request_id, answer=answer))
        waiting.answered.set()
        return True

    def _wait_for_decision(
        self, request: ApprovalRequest, waiting: _Waiting[ApprovalDecision], cancel: Cancellable
    ) -> None:
        if self._approver is not None:
            approver = self._approver
            _start(lambda: self.resolve(request.request_id, approver(request)))
        remove = cancel.on_cancel(lambda: self._drop_approval(request.request_id))
        if not waiting.answered.wait(request.deadline_s or None):
            self.resolve(request.request_id, ApprovalDecision(choice="deny", by="timeout"))
            waiting.answered.wait()
        remove()

    def _drop_approval(self, request_id: str) -> None:
        self.resolve(request_id, ApprovalDecision(choice="deny", by="interrupt"))

    def _drop_question(self, request_id: str) -> None:
        self.answer(request_id, ClarifyAnswer(text="", by="interrupt"))

    def _remember(self, key: tuple[str, ...], decision: ApprovalDecision) -> None:
        if decision.choice == "session":
            self._allowed.add(key)
        elif decision.choice == "deny" and decision.by == "user":
            self._refused[key] = decision


def _key(request: ApprovalRequest) -> tuple[str, ...]:
    """Return what makes two requests the same action, whichever tool asks for it."""
    kind = request.tool if request.action == "tool" else request.action
    return (kind, request.text, request.cwd, request.diff)


def _start(work: Callable[[], object]) -> None:
    threading.Thread(target=work, name="answer-callback", daemon=True).start()
