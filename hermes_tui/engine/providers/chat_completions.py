"""The ``chat_completions`` API mode: any OpenAI-compatible endpoint. Translates, and nothing more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..types.deltas import Finish, ReasoningBlock, ReasoningPiece, StreamDelta, TextPiece, UsageReport
from ..types.errors import StreamBroken
from ..types.messages import ApiMessage, JsonObject, JsonValue, text_of
from ..types.usage import Usage
from .base import Endpoint, ModelRequest, StreamControl
from .decoding import decode, loads
from .surrogates import SurrogateJoiner
from .think_tags import ThinkSplitter
from .tool_calls import ToolCallFragments
from .transport import Transport

_PATH = "/chat/completions"
_FINISH = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}
_FAILED = {"error", "insufficient_system_resource", "network_error", "abort"}
"""Finish reasons by which a server says that it gave up."""


class ChatCompletions:
    """Asks chat-completions endpoints through the ``openai`` SDK client."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def wire(self, request: ModelRequest) -> tuple[str, JsonObject]:
        """Return the URL and the exact JSON; see ``base.ProviderClient``."""
        return f"{request.endpoint.base_url}{_PATH}", build_body(request)

    def stream(self, request: ModelRequest, control: StreamControl) -> Iterator[StreamDelta]:
        """Send the request and yield its deltas; see ``base.ProviderClient``."""
        endpoint, body = request.endpoint, build_body(request)
        with self._transport.send("openai", endpoint, _PATH, body, control) as reply:
            yield from decode(reply, ChatDecoder(endpoint), endpoint)


# ------------------------------------------------------------------------------------------------------ the request


def build_body(request: ModelRequest) -> JsonObject:
    """Return the exact JSON of a request."""
    quirks = request.endpoint.quirks
    body: JsonObject = {
        "model": request.endpoint.model,
        "messages": [_message(message, request.endpoint) for message in request.messages],
    }
    if request.stream:
        body["stream"] = True
        if "no_stream_options" not in quirks:
            body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = list(request.tools)
    if request.max_tokens:
        body["max_completion_tokens" if "max_completion_tokens" in quirks else "max_tokens"] = request.max_tokens
    if request.reasoning_effort and "reasoning_object" in quirks:
        body["reasoning"] = {"effort": request.reasoning_effort}
    elif request.reasoning_effort:
        body["reasoning_effort"] = request.reasoning_effort
    return body


def _message(message: ApiMessage, endpoint: Endpoint) -> JsonObject:
    role = message["role"]
    if role == "tool":
        call_id = _call_id(message.get("tool_call_id", ""), endpoint)
        return {"role": "tool", "tool_call_id": call_id, "content": text_of(message)}
    content = message.get("content")
    row: JsonObject = {"role": role, "content": "" if content is None else content}  # type: ignore[dict-item]
    if calls := message.get("tool_calls"):
        row["tool_calls"] = [
            {
                "id": _call_id(call["id"], endpoint),
                "type": "function",
                "function": {"name": call["function"]["name"], "arguments": call["function"]["arguments"]},
            }
            for call in calls
        ]
        if "echo_reasoning" in endpoint.quirks and message.get("reasoning"):
            row["reasoning_content"] = message["reasoning"]
    if details := _details_for(message, endpoint):
        row["reasoning_details"] = details
    return row


def _details_for(message: ApiMessage, endpoint: Endpoint) -> list[JsonValue]:
    """Return the opaque blocks that this very provider issued; nobody else gets them."""
    if "reasoning_details" not in endpoint.quirks:
        return []
    details = message.get("reasoning_details", [])
    return [row["block"] for row in details if row["provider"] == endpoint.provider and row["api_mode"] == _MODE]


_MODE = "chat_completions"
_ID_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _call_id(call_id: str, endpoint: Endpoint) -> str:
    """Return the id that goes on the wire; the same one for a call and its result."""
    if "short_ids" not in endpoint.quirks or (len(call_id) == 9 and call_id.isalnum() and call_id.isascii()):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "replace")).digest()
    return "".join(_ID_LETTERS[byte % len(_ID_LETTERS)] for byte in digest[:9])


# ------------------------------------------------------------------------------------------------------- the answer


class ChatDecoder:
    """Decodes one answer, streamed or whole.

    Args:
        endpoint: Where it comes from, for messages and quirks.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.is_done = False
        self.is_finishing = False
        self._endpoint = endpoint
        self._finish = ""
        self._ended = False
        self._calls = ToolCallFragments()
        self._think = ThinkSplitter()
        self._text = SurrogateJoiner()
        self._reasoning = SurrogateJoiner()
        self._details: dict[tuple[Any, Any], JsonObject] = {}

    def event(self, name: str, data: str) -> Iterable[StreamDelta]:
        """Decode one ``data:`` line."""
        if data == "[DONE]":
            self.is_done = True
            return self._end()
        try:
            chunk = loads(data)
        except ValueError:
            # Two objects without a blank line between them arrive as one event.
            if "\n" not in data:
                raise
            return [delta for line in data.split("\n") for delta in self.event(name, line)]
        if chunk is None:
            return ()
        choices = chunk.get("choices")
        if name == "error" or (not choices and _error_in(chunk)):
            self._fail(chunk)
        deltas: list[StreamDelta] = []
        if choices:
            choice = choices[0]
            if choice.get("error"):
                self._fail(choice)
            message = choice.get("delta") or choice.get("message")
            if message:
                self._add(message, deltas)
            if reason := choice.get("finish_reason"):
                self._finished(reason, chunk)
        usage = chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage")
        if usage:
            deltas.append(UsageReport(read_usage(usage)))
        return deltas

    def whole(self, body: Any) -> Iterable[StreamDelta]:
        """Decode an answer that came in one piece."""
        choice = body["choices"][0]
        deltas: list[StreamDelta] = []
        self._add(choice.get("message") or choice.get("delta") or {}, deltas)
        self._finished(choice.get("finish_reason") or "stop", body)
        if usage := body.get("usage"):
            deltas.append(UsageReport(read_usage(usage)))
        return [*deltas, *self._end()]

    def close(self) -> Iterable[StreamDelta]:
        """Finish at the end of the stream."""
        if self._ended:
            return ()
        if self._finish:
            return self._end()
        if self._calls:
            raise StreamBroken(
                f"{self._endpoint.provider} broke off in the middle of the tool call {self._calls.last_name}.",
                hint="It was not run.",
            )
        raise StreamBroken(f"{self._endpoint.provider} broke off before the end of its answer.")

    def _add(self, message: Mapping[str, Any], deltas: list[StreamDelta]) -> None:
        content = message.get("content")
        if content:
            if content.__class__ is str:
                self._add_text(content, deltas)
            else:
                self._add_parts(content, deltas)
        if len(message) == 1 and content:
            return
        thought = message.get("reasoning_content") or message.get("reasoning")
        if thought and isinstance(thought, str) and (thought := self._reasoning.feed(thought)):
            deltas.append(ReasoningPiece(thought))
        if refusal := message.get("refusal"):
            self._finish = "content_filter"
            self._add_text(refusal, deltas)
        for detail in message.get("reasoning_details") or ():
            self._add_detail(detail)
        for fragment in message.get("tool_calls") or ():
            deltas += self._calls.add(fragment)
        if legacy := message.get("function_call"):
            deltas += self._calls.add({"index": 0, "function": legacy})

    def _add_text(self, content: str, deltas: list[StreamDelta]) -> None:
        content = self._text.feed(content)
        if self._think.is_plain:
            if content:
                deltas.append(TextPiece(content))
            return
        reasoning, text = self._think.feed(content)
        if reasoning:
            deltas.append(ReasoningPiece(reasoning))
        if text:
            deltas.append(TextPiece(text))

    def _add_parts(self, parts: Iterable[Any], deltas: list[StreamDelta]) -> None:
        """Mistral sends content as a list of parts; ``thinking`` ones hold a list of their own."""
        for part in parts:
            if part.get("type") == "thinking":
                inner = part.get("thinking") or ()
                words = inner if isinstance(inner, str) else "".join(item.get("text", "") for item in inner)
                if words:
                    deltas.append(ReasoningPiece(words))
            elif text := part.get("text"):
                self._add_text(text, deltas)

    def _add_detail(self, detail: JsonObject) -> None:
        """Join the pieces of an opaque reasoning block, which come under one index and type."""
        key = (detail.get("index"), detail.get("type"))
        block = self._details.setdefault(key, {})
        for name, value in detail.items():
            known = block.get(name)
            if name in ("text", "summary", "data") and isinstance(known, str) and isinstance(value, str):
                block[name] = known + value
            elif value is not None or name not in block:
                block[name] = value

    def _finished(self, reason: str, chunk: Any) -> None:
        if reason in _FAILED:
            self._fail(chunk)
        self.is_finishing = True
        # A refusal has no finish reason of its own.
        self._finish = self._finish or _FINISH.get(reason, "stop")

    def _end(self) -> list[StreamDelta]:
        if self._ended:
            return []
        self._ended = True
        deltas: list[StreamDelta] = []
        self._add_text(self._text.close(), deltas)
        reasoning, text = self._think.close()
        deltas += [ReasoningPiece(reasoning)] if reasoning else []
        deltas += [TextPiece(text)] if text else []
        deltas += [ReasoningBlock(block) for block in self._details.values()]
        deltas += self._calls.flush()
        reason = self._finish or "stop"
        deltas.append(Finish("tool_calls" if self._calls and reason == "stop" else reason))
        return deltas

    def _fail(self, chunk: Any) -> None:
        from .classify import from_answer

        raise from_answer(0, {}, chunk, self._endpoint)


def _error_in(chunk: Mapping[str, Any]) -> bool:
    return bool(chunk.get("error")) or chunk.get("object") == "error" or chunk.get("type") == "error"


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Return token counts in disjoint buckets; all the names that servers use for the cache are known."""
    prompt = usage.get("prompt_tokens") or 0
    details = usage.get("prompt_tokens_details") or {}
    read = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    written = details.get("cache_write_tokens") or 0
    return Usage(
        input_tokens=max(0, prompt - read - written),
        output_tokens=usage.get("completion_tokens") or 0,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=(usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0,
    )
