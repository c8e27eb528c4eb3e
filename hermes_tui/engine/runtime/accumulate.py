"""Folds the deltas of one stream into an answer, and says which event each delta is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..context.repair import clean_text, clean_tool_name, normalise_arguments, valid_call_id
from ..types.deltas import (
    Finish,
    ReasoningBlock,
    ReasoningPiece,
    StreamDelta,
    TextPiece,
    ToolCallArgs,
    ToolCallStart,
    UsageReport,
)
from ..types.events import Event, ReasoningDelta, TextDelta, ToolDelta, ToolDrafted
from ..types.ids import new_call_id
from ..types.messages import JsonObject, Message, ReasoningDetail, ToolCall
from ..types.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One model answer, normalised: names clean, ids unique, arguments valid JSON objects."""

    text: str = ""
    reasoning: str = ""
    details: tuple[ReasoningDetail, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    repaired: frozenset[str] = frozenset()
    """Ids of calls whose arguments had to be mended."""
    broken: frozenset[str] = frozenset()
    """Ids of calls whose arguments could not be read; stored as ``{}`` and never run."""
    finish_reason: str = "stop"
    usage: Usage | None = None

    def as_message(self) -> Message:
        """Return the assistant row."""
        message: Message = {"role": "assistant", "content": self.text or (None if self.calls else "")}
        if self.calls:
            message["tool_calls"] = list(self.calls)
        if self.reasoning:
            message["reasoning"] = self.reasoning
        if self.details:
            message["reasoning_details"] = list(self.details)
        message["finish_reason"] = self.finish_reason
        return message


@dataclass(slots=True)
class _Draft:
    call_id: str
    name: str
    fragments: list[str]


class Accumulator:
    """Takes deltas one by one. Not locked: one thread feeds it.

    Args:
        provider: Issuer of the opaque reasoning blocks.
        api_mode: Their wire form.
        has_call_id: Whether the conversation has a call with this id already; a repeated id gets a new one.
    """

    def __init__(
        self, provider: str, api_mode: str, has_call_id: Callable[[str], bool] = lambda call_id: False
    ) -> None:
        self._provider = provider
        self._api_mode = api_mode
        self._has_call_id = has_call_id
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._details: list[ReasoningDetail] = []
        self._drafts: dict[int, _Draft] = {}
        self._block_count = 0
        self._in_text = False
        self._usage: Usage | None = None
        self._finish = ""
        self._handlers: dict[type, Callable[[Any], Event | None]] = {
            TextPiece: self._on_text,
            ReasoningPiece: self._on_reasoning,
            ReasoningBlock: self._on_block,
            ToolCallStart: self._on_call,
            ToolCallArgs: self._on_args,
            UsageReport: self._on_usage,
            Finish: self._on_finish,
        }

    @property
    def has_shown(self) -> bool:
        """Whether any delta so far was worth an event."""
        return bool(self._text or self._reasoning or self._drafts)

    def feed(self, delta: StreamDelta) -> Event | None:
        """Take a delta; returns the event that shows it, if any."""
        return self._handlers[type(delta)](delta)

    def partial_text(self) -> str:
        """The answer's text so far."""
        return clean_text("".join(self._text))

    def answer(self) -> Answer:
        """Return the normalised answer of all deltas so far."""
        calls: list[ToolCall] = []
        repaired: set[str] = set()
        broken: set[str] = set()
        for draft in self._drafts.values():
            arguments, state = normalise_arguments("".join(draft.fragments))
            if state == "repaired":
                repaired.add(draft.call_id)
            elif state == "broken":
                broken.add(draft.call_id)
            function = {"name": draft.name, "arguments": arguments}
            calls.append({"id": draft.call_id, "type": "function", "function": function})  # type: ignore[typeddict-item]
        reason = self._finish or "stop"
        if calls and reason != "length":
            reason = "tool_calls"
        return Answer(
            text=self.partial_text(),
            reasoning=clean_text("".join(self._reasoning)),
            details=tuple(self._details),
            calls=tuple(calls),
            repaired=frozenset(repaired),
            broken=frozenset(broken),
            finish_reason=reason,
            usage=self._usage,
        )

    def _on_text(self, delta: TextPiece) -> Event | None:
        if not delta.text:
            return None
        if not self._in_text:
            self._in_text = True
            self._block_count += 1
        self._text.append(delta.text)
        return TextDelta(text=delta.text)

    def _on_reasoning(self, delta: ReasoningPiece) -> Event | None:
        if not delta.text:
            return None
        self._reasoning.append(delta.text)
        return ReasoningDelta(text=delta.text)

    def _on_block(self, delta: ReasoningBlock) -> Event | None:
        self._add_block(delta.block)
        return None

    def _add_block(self, block: JsonObject) -> None:
        self._details.append(
            {"provider": self._provider, "api_mode": self._api_mode, "position": self._block_count, "block": block}
        )
        self._block_count += 1
        self._in_text = False

    def _on_call(self, delta: ToolCallStart) -> Event | None:
        if delta.index in self._drafts:
            return None
        name = clean_tool_name(delta.name)
        draft = _Draft(self._fresh_id(delta.call_id), name, [])
        self._drafts[delta.index] = draft
        self._block_count += 1
        self._in_text = False
        return ToolDrafted(call_id=draft.call_id, name=name)

    def _on_args(self, delta: ToolCallArgs) -> Event | None:
        draft = self._drafts.get(delta.index)
        if draft is None or not delta.fragment:
            return None
        draft.fragments.append(delta.fragment)
        return ToolDelta(call_id=draft.call_id, fragment=delta.fragment)

    def _on_usage(self, delta: UsageReport) -> Event | None:
        self._usage = delta.usage
        return None

    def _on_finish(self, delta: Finish) -> Event | None:
        self._finish = delta.reason
        return None

    def _fresh_id(self, call_id: str) -> str:
        cleaned = valid_call_id(call_id)
        taken = self._has_call_id(cleaned) or any(draft.call_id == cleaned for draft in self._drafts.values())
        return new_call_id() if taken or not cleaned else cleaned
