"""The named callbacks of the library, as thin adapters over the hub and the approval broker.

Two families of names work: ``on_...`` and ``..._callback``. An unknown name raises at once.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..types.errors import ConfigError
from ..types.events import (
    ContextCompressed,
    Event,
    FallbackUsed,
    Notice,
    ReasoningDelta,
    RequestRetrying,
    StepStarted,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolStarted,
    as_json,
)
from ..types.requests import ApprovalChoice, ApprovalDecision, ApprovalRequest, ClarifyAnswer, ClarifyRequest
from .hub import Sink

log = logging.getLogger(__name__)

Callback: TypeAlias = Callable[..., Any]
Handler: TypeAlias = Callable[[Callback, Any, "_Turn"], object]


@dataclass(slots=True)
class _Turn:
    """What one event alone does not know."""

    args: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Arguments of running calls, by call id."""
    finished: list[dict[str, Any]] = field(default_factory=list)
    """Tools of the step before: ``{"name", "arguments", "result"}``."""


def _step(call: Callback, event: StepStarted, turn: _Turn) -> None:
    call(event.step, turn.finished)


def _progress_started(call: Callback, event: ToolStarted, turn: _Turn) -> None:
    del turn
    call("tool.started", event.name, str(event.display.get("target", "")), event.args)


def _progress_finished(call: Callback, event: ToolFinished, turn: _Turn) -> None:
    is_error = event.outcome != "ok"
    args = turn.args.get(event.call_id, {})
    call(
        "tool.completed",
        event.name,
        str(event.display.get("summary", "")),
        args,
        duration=event.duration_s,
        is_error=is_error,
        result=event.result,
    )


HANDLERS: dict[str, dict[type[Event], Handler]] = {
    "on_tool_started": {ToolStarted: lambda call, event, turn: call(event.name, event.args)},
    "on_tool_finished": {ToolFinished: lambda call, event, turn: call(event.name, event.result)},
    "on_response_chunk": {TextDelta: lambda call, event, turn: call(event.text)},
    "on_compression": {ContextCompressed: lambda call, event, turn: call(event.before_tokens, event.after_tokens)},
    "tool_progress_callback": {ToolStarted: _progress_started, ToolFinished: _progress_finished},
    "thinking_callback": {
        StepStarted: lambda call, event, turn: call("thinking"),
        TextDelta: lambda call, event, turn: call(""),
        ToolDrafted: lambda call, event, turn: call(""),
    },
    "reasoning_callback": {ReasoningDelta: lambda call, event, turn: call(event.text)},
    "step_callback": {StepStarted: _step},
    "stream_delta_callback": {
        TextDelta: lambda call, event, turn: call(event.text),
        ToolDrafted: lambda call, event, turn: call(None),
    },
    "tool_gen_callback": {ToolDrafted: lambda call, event, turn: call(event.name)},
    "status_callback": {
        Notice: lambda call, event, turn: call("warn" if event.level != "info" else "lifecycle", event.text),
        RequestRetrying: lambda call, event, turn: call("lifecycle", event.reason),
        FallbackUsed: lambda call, event, turn: call("lifecycle", event.reason),
    },
}
"""Name -> the events it hears and how they become its arguments."""

APPROVAL_NAMES = ("on_approval_needed", "approval_callback")
CLARIFY_NAMES = ("on_clarify_needed", "clarify_callback")
EVERY_EVENT = "event_callback"
KNOWN_NAMES = (*HANDLERS, *APPROVAL_NAMES, *CLARIFY_NAMES, EVERY_EVENT)


_CHOICES: Mapping[str | bool, ApprovalChoice] = {
    True: "once",
    "once": "once",
    "session": "session",
    "always": "always",
    "deny": "deny",
}


@dataclass(frozen=True, slots=True)
class AdaptedCallbacks:
    """Callbacks in the form that hub and broker take."""

    sinks: tuple[Sink, ...] = ()
    approver: Callable[[ApprovalRequest], ApprovalDecision] | None = None
    clarifier: Callable[[ClarifyRequest], ClarifyAnswer] | None = None


def adapt_callbacks(callbacks: Mapping[str, Callback] | None) -> AdaptedCallbacks:
    """Adapt a mapping of named callbacks; names whose value is None are left out.

    Raises:
        ConfigError: A name is unknown; the message names the nearest known one.
    """
    given = {name: call for name, call in (callbacks or {}).items() if call is not None}
    for name in given:
        if name not in KNOWN_NAMES:
            near = difflib.get_close_matches(name, KNOWN_NAMES, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known names: {', '.join(sorted(KNOWN_NAMES))}."
            raise ConfigError(f"There is no callback named {name}.", hint=hint)
    sinks = [_sink(given[name], handlers) for name, handlers in HANDLERS.items() if name in given]
    if EVERY_EVENT in given:
        sinks.append(_every_event(given[EVERY_EVENT]))
    return AdaptedCallbacks(
        sinks=tuple(sinks),
        approver=next((_approver(given[name]) for name in APPROVAL_NAMES if name in given), None),
        clarifier=next((_clarifier(given[name], name) for name in CLARIFY_NAMES if name in given), None),
    )


def _sink(call: Callback, handlers: Mapping[type[Event], Handler]) -> Sink:
    turn = _Turn()

    def sink(event: Event) -> None:
        kind = type(event)
        if event.agent_id or getattr(event, "within", ""):  # what subagents and scripts do is part of that call
            return
        if isinstance(event, ToolStarted):
            turn.args[event.call_id] = event.args
        if handler := handlers.get(kind):
            handler(call, event, turn)
        if kind is StepStarted:
            turn.finished = []
        if isinstance(event, ToolFinished):
            args = turn.args.pop(event.call_id, {})
            turn.finished.append({"name": event.name, "arguments": args, "result": event.result})

    return sink


def _every_event(call: Callback) -> Sink:
    def sink(event: Event) -> None:
        fields = as_json(event)
        call(fields.pop("type"), fields)

    return sink


def _approver(call: Callback) -> Callable[[ApprovalRequest], ApprovalDecision]:
    """Accept what scripts return: a bool, a choice's name, or a decision."""

    def approve(request: ApprovalRequest) -> ApprovalDecision:
        try:
            answer = call(request.text, "; ".join(request.reasons))
        except Exception:
            log.exception("the approval callback failed")
            return ApprovalDecision(choice="deny", message="The approval callback failed.")
        if isinstance(answer, ApprovalDecision):
            return answer
        return ApprovalDecision(choice=_CHOICES.get(answer, "deny") if isinstance(answer, str | bool) else "deny")

    return approve


def _clarifier(call: Callback, name: str) -> Callable[[ClarifyRequest], ClarifyAnswer]:
    takes_choices = name == "clarify_callback"

    def clarify(request: ClarifyRequest) -> ClarifyAnswer:
        try:
            answer = call(request.question, list(request.choices)) if takes_choices else call(request.question)
        except Exception:
            log.exception("the clarify callback failed")
            return ClarifyAnswer(text="")
        return ClarifyAnswer(text="" if answer is None else str(answer))

    return clarify
