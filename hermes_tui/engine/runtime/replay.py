"""Stored messages -> the events that showed them live. Pure, so that a resumed session looks as it did."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from ...tools.registry import ToolRegistry
from ..types.events import (
    ContextCompressed,
    Event,
    MessageCommitted,
    Notice,
    Outcome,
    ReasoningDelta,
    SteerChanged,
    StepStarted,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from ..types.messages import JsonObject, Message, ToolCall, text_of, typed_text
from ..types.sessions import StoredMessage
from .steering import detach

LOST_RESULT = json.dumps({"ok": False, "error": "The result was never stored."})
_DENIED_BY_PERSON_OR_RULE = ("user", "rule", "timeout", "no_surface")


def replay(messages: Sequence[StoredMessage], registry: ToolRegistry) -> list[Event]:
    """Return the events of stored rows, oldest first. Damaged rows are shown as well as they can be.

    Args:
        messages: Rows of one session in order; may begin or end in the middle of a turn.
        registry: Describes calls for their cards.
    """
    events: list[Event] = []
    open_calls: dict[str, ToolCall] = {}
    step, end = 0, ""
    for stored in messages:
        message = stored.message
        if message["role"] != "tool":
            events.extend(_close(call, registry) for call in open_calls.values())
            open_calls.clear()
        match message["role"]:
            case "user" if "compressed" in message:
                events.append(_compressed(stored))
            case "user":
                if step:
                    events.append(_finished(end))
                step, end = 0, ""
                is_command, at = "ran" in message, message.get("created_at", 0.0)
                attached = tuple(message.get("attached", ()))
                started = TurnStarted(text=typed_text(message), attached=attached, is_command=is_command, at=at)
                events.append(started)
                if is_command:
                    step = 1
                    events.extend(_ran(message, registry))
            case "assistant":
                step, end = step + 1, message.get("finish_reason", "")
                events.append(StepStarted(step=step))
                events.extend(_assistant(message))
                for call in message.get("tool_calls") or ():
                    open_calls[call["id"]] = call
                    events.append(_started(call, registry))
            case "tool":
                call_or_none = open_calls.pop(message.get("tool_call_id", ""), None)
                events.extend(_result(message, call_or_none, registry))
            case _:
                continue
        events.append(MessageCommitted(message_id=stored.id, message=message))
        if message.get("synthetic") and message.get("finish_reason") == "interrupted":
            events.append(TurnInterrupted(reason="user"))
    events.extend(_close(call, registry) for call in open_calls.values())
    if step:
        events.append(_finished(end))
    return events


def _compressed(stored: StoredMessage) -> ContextCompressed:
    numbers = stored.message["compressed"]
    return ContextCompressed(
        before_tokens=numbers["before_tokens"],
        after_tokens=numbers["after_tokens"],
        child_session_id=stored.session_id,
        summarised_count=numbers["summarised"],
    )


def _finished(finish_reason: str) -> TurnFinished:
    exit_reason = finish_reason if finish_reason in ("interrupted", "error") else "done"
    return TurnFinished(exit_reason=exit_reason, duration_s=0.0, result={})


def _assistant(message: Message) -> list[Event]:
    events: list[Event] = []
    if reasoning := message.get("reasoning"):
        events.append(ReasoningDelta(text=reasoning))
    is_synthetic = message.get("synthetic", False)
    text = message.get("partial", "") if is_synthetic else text_of(message)
    if text:
        events.append(TextDelta(text=text))
    events.extend(
        ToolDrafted(call_id=call["id"], name=call["function"]["name"]) for call in message.get("tool_calls") or ()
    )
    if is_synthetic and message.get("finish_reason") == "error":
        events.append(Notice(level="error", text=text_of(message).strip("[]"), kind="stored"))
    return events


def _started(call: ToolCall, registry: ToolRegistry) -> ToolStarted:
    name, args = call["function"]["name"], _object(call["function"]["arguments"])
    return ToolStarted(call_id=call["id"], name=name, args=args, display=_describe(registry, name, args, None))


def _result(message: Message, call: ToolCall | None, registry: ToolRegistry) -> list[Event]:
    text = text_of(message)
    payload = _object(text)
    name = message.get("tool_name") or (call["function"]["name"] if call else "")
    args = _object(call["function"]["arguments"]) if call else {}
    finished = ToolFinished(
        call_id=message.get("tool_call_id", ""),
        name=name,
        outcome=_outcome(message, payload),
        result=text,
        display=_describe(registry, name, args, payload),
    )
    addition = detach(text, message.get("api_content", ""))
    return [finished, SteerChanged(text=addition, state="delivered")] if addition else [finished]


def _outcome(message: Message, payload: JsonObject) -> Outcome:
    if message.get("synthetic"):
        return "interrupted"
    if payload.get("ok", True):
        return "ok"
    if payload.get("denied_by") in _DENIED_BY_PERSON_OR_RULE:
        return "denied"
    return "timeout" if payload.get("timed_out") else "error"


def _ran(message: Message, registry: ToolRegistry) -> list[Event]:
    ran, payload = message["ran"], _payload(message)
    call = ran["call"]
    name, args = call["function"]["name"], _object(call["function"]["arguments"])
    finished = ToolFinished(
        call_id=call["id"],
        name=name,
        outcome=cast(Outcome, ran["outcome"]),
        result=json.dumps(payload, ensure_ascii=False),
        duration_s=ran["duration_s"],
        display=_describe(registry, name, args, payload),
    )
    return [_started(call, registry), finished]


def _payload(message: Message) -> JsonObject:
    """Return the whole result of a command that the person ran."""
    content = message["content"]
    output = content[2] if isinstance(content, list) and len(content) > 2 else {}
    return {**message["ran"]["result"], "output": output.get("text", "")}


def _close(call: ToolCall, registry: ToolRegistry) -> ToolFinished:
    """Finish a call whose result was never stored (a crash, a damaged database)."""
    name, args = call["function"]["name"], _object(call["function"]["arguments"])
    return ToolFinished(
        call_id=call["id"],
        name=name,
        outcome="interrupted",
        result=LOST_RESULT,
        display=_describe(registry, name, args, _object(LOST_RESULT)),
    )


def _describe(registry: ToolRegistry, name: str, args: JsonObject, payload: JsonObject | None) -> JsonObject:
    try:
        return registry.describe(name, args, payload)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return {"kind": "generic", "verb": name, "target": ""}


def _object(text: str) -> JsonObject:
    try:
        value = json.loads(text)
    except (ValueError, TypeError):
        return {}
    return value if isinstance(value, dict) else {}
