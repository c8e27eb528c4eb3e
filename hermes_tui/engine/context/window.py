"""Builds a request's messages from the stored history: the one place where the message invariants are enforced.

After system, user and assistant alternate; only tool rows repeat; each call has exactly one result, directly after its
assistant row and in call order; ids are unique, arguments valid JSON objects, texts clean and never blank. Repair works
on this copy. It is incremental: the history only grows, so each row is looked at once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ..types.messages import ApiMessage, JsonObject, Message, ToolCall
from .repair import clean_text, clean_tool_name, normalise_arguments, valid_call_id
from .tokens import message_tokens

log = logging.getLogger(__name__)

OUTCOME_UNKNOWN = json.dumps(
    {
        "ok": False,
        "error": "This call was cut off and its outcome is unknown. It may have run, in part or fully: check before "
        "repeating it.",
    }
)
"""Stands in for a result that was never stored."""
OPENING_USER = "(The beginning of this conversation is missing.)"
"""Stands in for the user row that must come first."""


class Window:
    """The request copy of one history. Not locked: one agent thread uses it."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._count: int = 0
        self._last: Message | None = None
        self._rows: list[ApiMessage] = []
        self._systems: list[str] = []
        self._slots: dict[str, list[int]] = {}
        """Rows that still hold a stub, by the call id in the history."""
        self._ids: set[str] = set()
        self._tokens = 0

    def build(self, history: Sequence[Message], system: str = "") -> list[ApiMessage]:
        """Return the messages of the next request.

        Args:
            history: The stored rows. Rows that an earlier call saw must be the same objects; after a change (undo,
                another session) everything is built anew.
            system: The system prompt; system rows inside the history are appended to it.
        """
        if self._count > len(history) or (self._count and history[self._count - 1] is not self._last):
            self._reset()
        for message in history[self._count :] if self._count else history:
            self.take(message)
        if history:
            self._count = len(history)
            self._last = history[-1]
        messages = list(self._rows)
        if messages and messages[-1]["role"] == "assistant":
            messages[-1] = _without_trailing_space(messages[-1])
        head = "\n\n".join(part for part in (clean_text(system), *self._systems) if part)
        if head:
            messages.insert(0, {"role": "system", "content": head})
        return messages

    @property
    def tokens(self) -> int:
        """Estimate of all rows taken so far, system prompt and tools not included."""
        return self._tokens

    @property
    def rows(self) -> Sequence[ApiMessage]:
        """The messages so far, without the system prompt."""
        return self._rows

    @property
    def call_ids(self) -> set[str]:
        """All call ids in the request copy."""
        return self._ids

    def take(self, message: Message) -> int:
        """Take one more row; returns the place of the message that carries it, -1 when none does."""
        self._tokens += message_tokens(message)
        role = message.get("role")
        if role == "tool":
            return self._take_result(message)
        if role == "assistant":
            return self._take_assistant(message)
        if role == "user":
            return self._take_user(message)
        if role == "system" and (text := clean_text(_text(message))).strip():
            self._systems.append(text)
        return -1

    def _take_user(self, message: Message) -> int:
        content = _user_content(message)
        if content is None:
            return -1
        if self._rows and self._rows[-1]["role"] == "user":
            self._rows[-1] = {"role": "user", "content": _joined(self._rows[-1]["content"], content)}
        else:
            self._rows.append({"role": "user", "content": content})
        return len(self._rows) - 1

    def _take_assistant(self, message: Message) -> int:
        text = clean_text(_text(message))
        calls, own_ids = self._take_calls(message.get("tool_calls"))
        row: ApiMessage = {"role": "assistant", "content": text if text.strip() else None}
        if not calls and row["content"] is None:
            return -1
        if calls:
            row["tool_calls"] = calls
        for key in ("reasoning", "reasoning_details"):
            if message.get(key):
                row[key] = message[key]
        if not self._rows:
            self._rows.append({"role": "user", "content": OPENING_USER})
        if self._rows[-1]["role"] == "assistant":
            self._rows[-1] = _merged(self._rows[-1], row)
        else:
            self._rows.append(row)
        place = len(self._rows) - 1
        self._open_slots(calls, own_ids)
        return place

    def _take_calls(self, raw_calls: object) -> tuple[list[ToolCall], list[str]]:
        calls: list[ToolCall] = []
        own_ids: list[str] = []
        for raw in raw_calls if isinstance(raw_calls, list) else ():
            function = raw.get("function") if isinstance(raw, dict) else None
            if not isinstance(function, dict):
                continue
            arguments, state = normalise_arguments(function.get("arguments"))
            name = clean_tool_name(str(function.get("name") or ""))
            if state != "ok":
                log.info("the arguments of a stored call of %s were %s", name, state)
            own_ids.append(str(raw.get("id") or ""))
            call_id = self._unique_id(valid_call_id(raw.get("id")))
            calls.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}})
        return calls, own_ids

    def _unique_id(self, call_id: str) -> str:
        """Return an unused id; the same history always gives the same one, so that prefixes stay stable."""
        unique, number = call_id or "call_0", 1
        while unique in self._ids:
            number += 1
            unique = f"{(call_id or 'call')[:56]}_{number}"
        self._ids.add(unique)
        return unique

    def _open_slots(self, calls: Sequence[ToolCall], own_ids: Sequence[str]) -> None:
        """Answer every call with a stub that its real result replaces, also when that comes late."""
        for own_id in own_ids:
            self._slots.pop(own_id, None)
        for call, own_id in zip(calls, own_ids, strict=True):
            self._slots.setdefault(own_id, []).append(len(self._rows))
            self._rows.append(
                {
                    "role": "tool",
                    "tool_call_id": call["id"],
                    "tool_name": call["function"]["name"],
                    "content": OUTCOME_UNKNOWN,
                }
            )

    def _take_result(self, message: Message) -> int:
        slots = self._slots.get(str(message.get("tool_call_id") or ""))
        if not slots:
            return -1
        place = slots.pop(0)
        text = clean_text(_text(message))
        self._rows[place] = {**self._rows[place], "content": text if text.strip() else "(no output)"}
        return place


def without_images(messages: Sequence[ApiMessage]) -> list[ApiMessage]:
    """Return the messages with each image replaced by a note, for a model that reads text only."""
    return [
        {**message, "content": [_note_for_image(part) for part in content]}
        if isinstance(content := message.get("content"), list)
        else message
        for message in messages
    ]


def without_reasoning_blocks(messages: Sequence[ApiMessage]) -> list[ApiMessage]:
    """Return the messages without signed and encrypted reasoning, for a provider that refused it."""
    return [
        {key: value for key, value in message.items() if key != "reasoning_details"}  # type: ignore[misc]
        if "reasoning_details" in message
        else message
        for message in messages
    ]


def _note_for_image(part: JsonObject) -> JsonObject:
    if part.get("type") == "text":
        return part
    return {"type": "text", "text": "[An image was here; this model reads text only.]"}


def _text(message: Mapping[str, Any]) -> str:
    """Return what is sent as text, whatever type a damaged or foreign row holds."""
    return words_of(message.get("api_content") or message.get("content"))


def words_of(content: object) -> str:
    """Return a content's text, whatever type a damaged or foreign row holds."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") if isinstance(part, dict) else str(part) for part in content)
    return json.dumps(content, ensure_ascii=False, default=str)


def _user_content(message: Message) -> str | list[JsonObject] | None:
    content = message.get("api_content") or message.get("content")
    if not isinstance(content, list):
        text = clean_text(_text(message))
        return text if text.strip() else None
    parts = [part for raw in content if (part := _user_part(raw)) is not None]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(str(part["text"]) for part in parts) or None
    return parts


def _user_part(raw: object) -> JsonObject | None:
    if not isinstance(raw, dict) or raw.get("type") == "text":
        text = clean_text(str(raw.get("text") or "") if isinstance(raw, dict) else str(raw))
        return {"type": "text", "text": text} if text.strip() else None
    return raw if raw.get("type") == "image_url" and raw.get("image_url") else None


def _joined(first: str | list[JsonObject] | None, second: str | list[JsonObject] | None) -> str | list[JsonObject]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_as_parts(first), *_as_parts(second)]


def _as_parts(content: str | list[JsonObject] | None) -> list[JsonObject]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _merged(first: ApiMessage, second: ApiMessage) -> ApiMessage:
    """Join two assistant rows. Opaque reasoning is bound to its own row's blocks, so neither row's survives."""
    texts = [text for row in (first, second) if isinstance(text := row["content"], str)]
    merged: ApiMessage = {"role": "assistant", "content": "\n\n".join(texts) or None}
    if "tool_calls" in second:
        merged["tool_calls"] = second["tool_calls"]
    if "reasoning" in second:
        merged["reasoning"] = second["reasoning"]
    return merged


def _without_trailing_space(row: ApiMessage) -> ApiMessage:
    content = row["content"]
    return {**row, "content": content.rstrip()} if isinstance(content, str) else row
