"""The ``anthropic_messages`` API mode. Translates, and nothing more.

Source: https://docs.anthropic.com/en/api/messages and .../messages-streaming
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
from ..types.errors import StreamBroken
from ..types.messages import ApiMessage, JsonObject, JsonValue, text_of
from ..types.usage import Usage
from .base import Endpoint, ModelRequest, StreamControl
from .decoding import decode, loads
from .surrogates import SurrogateJoiner
from .tool_calls import clean_name
from .transport import Transport

_MODE = "anthropic_messages"
_PATH = "/v1/messages"
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
# Source: the models page; the API wants a cap in every request and refuses one above the model's own.
_OUTPUT_CAPS = ((re.compile(r"claude-3-[57]"), 8_192), (re.compile(r"claude-3-|claude-2"), 4_096))
_OUTPUT_CAP = 32_000
_THINKING_BUDGETS = {"minimal": 1_024, "low": 4_000, "medium": 8_000, "high": 16_000}
_THINKING = ("thinking", "redacted_thinking")
_ADAPTIVE = re.compile(r"claude-(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9])")
"""Models that choose their own thinking budget from an effort."""


class AnthropicMessages:
    """Asks Anthropic-style endpoints through the ``anthropic`` SDK client."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def wire(self, request: ModelRequest) -> tuple[str, JsonObject]:
        """Return the URL and the exact JSON; see ``base.ProviderClient``."""
        return f"{request.endpoint.base_url}{_PATH}", build_body(request)

    def stream(self, request: ModelRequest, control: StreamControl) -> Iterator[StreamDelta]:
        """Send the request and yield its deltas; see ``base.ProviderClient``."""
        endpoint, body = request.endpoint, build_body(request)
        with self._transport.send("anthropic", endpoint, _PATH, body, control) as reply:
            yield from decode(reply, AnthropicDecoder(endpoint), endpoint)


# ------------------------------------------------------------------------------------------------------ the request


def build_body(request: ModelRequest) -> JsonObject:
    """Return the exact JSON of a request."""
    model = request.endpoint.model
    body: JsonObject = {"model": model, "max_tokens": request.max_tokens or _output_cap(model)}
    mark = _cache_mark(request.cache_ttl)
    system = [part for message in request.messages if message["role"] == "system" for part in _texts(message)]
    if system:
        if 0 in request.cache_marks:
            system[-1] = {**system[-1], "cache_control": mark}
        body["system"] = system  # type: ignore[assignment]
    body["messages"] = _rows(request, mark)  # type: ignore[assignment]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if effort := request.reasoning_effort:
        _add_thinking(body, model, effort)
    if request.stream:
        body["stream"] = True
    return body


def _output_cap(model: str) -> int:
    return next((cap for pattern, cap in _OUTPUT_CAPS if pattern.search(model)), _OUTPUT_CAP)


def _add_thinking(body: JsonObject, model: str, effort: str) -> None:
    if _ADAPTIVE.search(model):
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        body["output_config"] = {"effort": "low" if effort == "minimal" else effort}
        return
    budget = _THINKING_BUDGETS.get(effort, _THINKING_BUDGETS["medium"])
    body["thinking"] = {"type": "enabled", "budget_tokens": budget}
    cap = body["max_tokens"]
    # The budget counts against the cap; the answer needs room, too.
    body["max_tokens"] = max(cap if isinstance(cap, int) else 0, budget + 4_096)


def _tool(tool: JsonObject) -> JsonObject:
    function: Any = tool["function"]
    row: JsonObject = {
        "name": function["name"],
        "description": function.get("description", ""),
        "input_schema": function.get("parameters") or {"type": "object", "properties": {}},
    }
    if mark := tool.get("cache_control"):
        row["cache_control"] = mark
    return row


def _cache_mark(ttl: str) -> JsonObject:
    return {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}


def _rows(request: ModelRequest, mark: JsonObject) -> list[JsonObject]:
    """Return alternating user and assistant rows; results of one assistant row go first into one user row."""
    rows: list[tuple[str, list[JsonObject]]] = []
    for place, message in enumerate(request.messages):
        role = message["role"]
        if role == "system":
            continue
        blocks = _assistant(message, request.endpoint) if role == "assistant" else _user(message)
        wire_role = "assistant" if role == "assistant" else "user"
        if not blocks:
            continue
        if place in request.cache_marks:
            blocks[-1] = {**blocks[-1], "cache_control": mark}
        if rows and rows[-1][0] == wire_role:
            rows[-1][1].extend(blocks)
        else:
            rows.append((wire_role, blocks))
    if rows and rows[-1][0] == "assistant":
        _trim_end(rows[-1][1])
    return [{"role": role, "content": blocks} for role, blocks in rows if blocks]  # type: ignore[dict-item]


def _user(message: ApiMessage) -> list[JsonObject]:
    if message["role"] != "tool":
        return _texts(message)
    parts = _texts(message)
    plain = isinstance(message.get("content"), str) or not parts
    block: JsonObject = {
        "type": "tool_result",
        "tool_use_id": _wire_id(message.get("tool_call_id", "")),
        "content": (text_of(message) if plain else parts),  # type: ignore[dict-item]
    }
    return [block]


def _assistant(message: ApiMessage, endpoint: Endpoint) -> list[JsonObject]:
    blocks = _texts(message)
    blocks += [
        {
            "type": "tool_use",
            "id": _wire_id(call["id"]),
            "name": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"] or "{}"),
        }
        for call in message.get("tool_calls", ())
    ]
    # Signed thinking goes back exactly as it came, at its old place, and only to its issuer.
    for detail in sorted(message.get("reasoning_details", ()), key=lambda detail: detail["position"]):
        if detail["provider"] == endpoint.provider and detail["api_mode"] == _MODE:
            blocks.insert(detail["position"], detail["block"])
    while blocks and blocks[-1]["type"] in _THINKING:
        blocks.pop()
    return blocks


def _texts(message: ApiMessage) -> list[JsonObject]:
    """Return content as blocks; an empty text block is an error there."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return [_part(part) for part in content or () if part.get("type") != "text" or str(part.get("text", "")).strip()]


def _part(part: JsonObject) -> JsonObject:
    if part.get("type") != "image_url":
        return part
    image: Any = part["image_url"]
    url = str(image["url"] if isinstance(image, dict) else image)
    if found := re.match(r"data:([^;,]+);base64,", url):
        source: JsonValue = {"type": "base64", "media_type": found[1], "data": url[found.end() :]}
    else:
        source = {"type": "url", "url": url}
    return {"type": "image", "source": source}


def _trim_end(blocks: list[JsonObject]) -> None:
    """A last assistant row must not end in blanks."""
    last = blocks[-1]
    if last.get("type") == "text":
        blocks[-1] = {**last, "text": str(last["text"]).rstrip()}


def _wire_id(call_id: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id) or "call"


# ------------------------------------------------------------------------------------------------------- the answer


class AnthropicDecoder:
    """Decodes one answer, streamed or whole.

    Args:
        endpoint: Where it comes from, for messages.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.is_done = False
        self.is_finishing = False
        self._endpoint = endpoint
        self._finish = ""
        self._usage: dict[str, Any] = {}
        self._block: JsonObject = {}
        self._calls = 0
        self._tool = ""
        self._text = SurrogateJoiner()

    def event(self, name: str, data: str) -> Iterable[StreamDelta]:
        """Decode one event."""
        body = loads(data)
        if body is None:
            return ()
        kind = body.get("type") or name
        if kind == "content_block_delta":
            return self._delta(body["delta"])
        handler = _HANDLERS.get(kind)
        return handler(self, body) if handler else ()

    def whole(self, body: Any) -> Iterable[StreamDelta]:
        """Decode an answer that came in one piece."""
        deltas: list[StreamDelta] = []
        for block in body["content"]:
            deltas += self._opened({"content_block": block})
            deltas += self._closed({})
        deltas += self._message_delta({"delta": body, "usage": body.get("usage")})
        return [*deltas, *self._stopped({})]

    def close(self) -> Iterable[StreamDelta]:
        """Finish at the end of the stream."""
        if self.is_done:
            return ()
        if self._finish:
            return self._stopped({})
        if self._tool:
            raise StreamBroken(
                f"{self._endpoint.provider} broke off in the middle of the tool call {self._tool}.",
                hint="It was not run.",
            )
        raise StreamBroken(f"{self._endpoint.provider} broke off before the end of its answer.")

    def _delta(self, delta: Mapping[str, Any]) -> Iterable[StreamDelta]:
        kind = delta["type"]
        if kind == "text_delta":
            text = self._text.feed(delta["text"])
            return (TextPiece(text),) if text else ()
        if kind == "input_json_delta":
            fragment = delta["partial_json"]
            return (ToolCallArgs(self._calls - 1, fragment),) if fragment else ()
        if kind == "thinking_delta":
            self._append("thinking", delta["thinking"])
            return (ReasoningPiece(delta["thinking"]),) if delta["thinking"] else ()
        if kind == "signature_delta":
            self._append("signature", delta["signature"])
        return ()

    def _append(self, name: str, piece: str) -> None:
        self._block[name] = f"{self._block.get(name) or ''}{piece}"

    def _started(self, body: Mapping[str, Any]) -> Iterable[StreamDelta]:
        self._usage.update(body["message"].get("usage") or {})
        return ()

    def _opened(self, body: Mapping[str, Any]) -> list[StreamDelta]:
        block = body["content_block"]
        self._block = dict(block)
        kind = block["type"]
        if kind == "tool_use":
            self._tool = clean_name(block["name"])
            self._calls += 1
            start: list[StreamDelta] = [ToolCallStart(self._calls - 1, block["id"], self._tool)]
            given = block.get("input")
            return [*start, ToolCallArgs(self._calls - 1, json.dumps(given))] if given else start
        if kind == "text" and block.get("text"):
            return [TextPiece(block["text"])]
        if kind == "thinking" and block.get("thinking"):
            return [ReasoningPiece(block["thinking"])]
        return []

    def _closed(self, _body: Mapping[str, Any]) -> list[StreamDelta]:
        block, self._block, self._tool = self._block, {}, ""
        return [ReasoningBlock(block)] if block.get("type") in _THINKING else []

    def _message_delta(self, body: Mapping[str, Any]) -> Iterable[StreamDelta]:
        if reason := body["delta"].get("stop_reason"):
            self._finish = _FINISH.get(reason, "stop")
            self.is_finishing = True
        self._usage.update({name: value for name, value in (body.get("usage") or {}).items() if value is not None})
        return (UsageReport(read_usage(self._usage)),)

    def _stopped(self, _body: Mapping[str, Any]) -> list[StreamDelta]:
        if self.is_done:
            return []
        self.is_done = True
        tail = self._text.close()
        reason = self._finish or "stop"
        finish = Finish("tool_calls" if self._calls and reason == "stop" else reason)
        return [TextPiece(tail), finish] if tail else [finish]

    def _failed(self, body: Mapping[str, Any]) -> Iterable[StreamDelta]:
        from .classify import from_answer

        raise from_answer(0, {}, body, self._endpoint)


_HANDLERS: dict[str, Any] = {
    "message_start": AnthropicDecoder._started,
    "content_block_start": AnthropicDecoder._opened,
    "content_block_stop": AnthropicDecoder._closed,
    "message_delta": AnthropicDecoder._message_delta,
    "message_stop": AnthropicDecoder._stopped,
    "error": AnthropicDecoder._failed,
}


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Return token counts; this API's input count excludes the cache already."""
    return Usage(
        input_tokens=usage.get("input_tokens") or 0,
        output_tokens=usage.get("output_tokens") or 0,
        cache_read_tokens=usage.get("cache_read_input_tokens") or 0,
        cache_write_tokens=usage.get("cache_creation_input_tokens") or 0,
    )
