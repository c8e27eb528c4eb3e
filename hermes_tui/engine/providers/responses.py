"""The ``codex_responses`` API mode: OpenAI's Responses API, stateless (``store: false``). Translates, nothing more.

Source: https://platform.openai.com/docs/api-reference/responses and .../responses-streaming
"""

from __future__ import annotations

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
from ..types.ids import new_call_id
from ..types.messages import ApiMessage, JsonObject, JsonValue, text_of
from ..types.usage import Usage
from .base import Endpoint, ModelRequest, StreamControl
from .decoding import decode, loads
from .surrogates import SurrogateJoiner
from .tool_calls import clean_name
from .transport import Transport

_MODE = "codex_responses"
_PATH = "/responses"
_INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}
_ID_LIMIT = 64
"""Longest call id that the API accepts."""


class Responses:
    """Asks Responses endpoints through the ``openai`` SDK client."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def wire(self, request: ModelRequest) -> tuple[str, JsonObject]:
        """Return the URL and the exact JSON; see ``base.ProviderClient``."""
        return f"{request.endpoint.base_url}{_PATH}", build_body(request)

    def stream(self, request: ModelRequest, control: StreamControl) -> Iterator[StreamDelta]:
        """Send the request and yield its deltas; see ``base.ProviderClient``."""
        endpoint, body = request.endpoint, build_body(request)
        with self._transport.send("openai", endpoint, _PATH, body, control) as reply:
            yield from decode(reply, ResponsesDecoder(endpoint), endpoint)


# ------------------------------------------------------------------------------------------------------ the request


def build_body(request: ModelRequest) -> JsonObject:
    """Return the exact JSON of a request."""
    body: JsonObject = {"model": request.endpoint.model}
    system = "\n\n".join(text_of(message) for message in request.messages if message["role"] == "system")
    if system:
        body["instructions"] = system
    body["input"] = [item for message in request.messages for item in _items(message, request.endpoint)]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.max_tokens:
        body["max_output_tokens"] = request.max_tokens
    if request.reasoning_effort:
        body["reasoning"] = {"effort": request.reasoning_effort, "summary": "auto"}
    body["store"] = False
    body["include"] = ["reasoning.encrypted_content"]
    if request.session_id and "no_cache_key" not in request.endpoint.quirks:
        body["prompt_cache_key"] = request.session_id[:_ID_LIMIT]
    if request.stream:
        body["stream"] = True
    return body


def _tool(tool: JsonObject) -> JsonObject:
    function: Any = tool["function"]
    return {
        "type": "function",
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters": function.get("parameters") or {"type": "object", "properties": {}},
        "strict": False,
    }


def _items(message: ApiMessage, endpoint: Endpoint) -> list[JsonObject]:
    role = message["role"]
    if role == "system":
        return []
    if role == "tool":
        call_id = message.get("tool_call_id", "")[:_ID_LIMIT]
        return [{"type": "function_call_output", "call_id": call_id, "output": text_of(message)}]
    if role == "user":
        content = message.get("content")
        parts: list[JsonObject] = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        return [{"role": "user", "content": [_part(part) for part in parts]}]
    return _assistant(message, endpoint)


def _part(part: JsonObject) -> JsonValue:
    if part.get("type") != "image_url":
        return {"type": "input_text", "text": part.get("text", "")}
    image: Any = part["image_url"]
    return {"type": "input_image", "image_url": image["url"] if isinstance(image, dict) else image}


def _assistant(message: ApiMessage, endpoint: Endpoint) -> list[JsonObject]:
    items: list[JsonObject] = []
    if text := text_of(message):
        items.append({"role": "assistant", "content": [{"type": "output_text", "text": text}]})
    for call in message.get("tool_calls", ()):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        items.append({"type": "function_call", "call_id": call["id"][:_ID_LIMIT], "name": name, "arguments": arguments})
    # A reasoning item must be followed by the item that it led to, so one at the end is left out.
    for detail in sorted(message.get("reasoning_details", ()), key=lambda detail: detail["position"]):
        is_ours = detail["provider"] == endpoint.provider and detail["api_mode"] == _MODE
        if is_ours and detail["position"] < len(items):
            items.insert(detail["position"], detail["block"])
    return items


# ------------------------------------------------------------------------------------------------------- the answer


class ResponsesDecoder:
    """Decodes one answer, streamed or whole.

    Args:
        endpoint: Where it comes from, for messages.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.is_done = False
        self.is_finishing = False
        self._endpoint = endpoint
        self._calls: dict[Any, int] = {}
        self._open_call = ""
        self._is_refused = False
        self._streamed: set[Any] = set()
        self._text = SurrogateJoiner()

    def event(self, name: str, data: str) -> Iterable[StreamDelta]:
        """Decode one event."""
        body = loads(data)
        if body is None:
            return ()
        kind = body.get("type") or name
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            self._is_refused |= kind == "response.refusal.delta"
            self._streamed.add(body.get("output_index"))
            text = self._text.feed(body["delta"])
            return (TextPiece(text),) if text else ()
        handler = _HANDLERS.get(kind)
        return handler(self, body) if handler else ()

    def whole(self, body: Any) -> Iterable[StreamDelta]:
        """Decode an answer that came in one piece."""
        deltas: list[StreamDelta] = []
        for index, item in enumerate(body["output"]):
            deltas += self._item_done({"output_index": index, "item": item})
        return [*deltas, *self._ended({"response": body})]

    def close(self) -> Iterable[StreamDelta]:
        """Finish at the end of the stream."""
        if self.is_done:
            return ()
        if self._open_call or self._calls:
            raise StreamBroken(
                f"{self._endpoint.provider} broke off after the tool call {self._open_call}.", hint="It was not run."
            )
        raise StreamBroken(f"{self._endpoint.provider} broke off before the end of its answer.")

    def _reasoning(self, body: Mapping[str, Any]) -> Iterable[StreamDelta]:
        self._streamed.add(body.get("output_index"))
        return (ReasoningPiece(body["delta"]),) if body["delta"] else ()

    def _reasoning_part(self, body: Mapping[str, Any]) -> Iterable[StreamDelta]:
        return (ReasoningPiece("\n\n"),) if body.get("summary_index") else ()

    def _item_added(self, body: Mapping[str, Any]) -> Iterable[StreamDelta]:
        item = body["item"]
        return self._start(body.get("output_index"), item) if item["type"] == "function_call" else ()

    def _start(self, index: Any, item: Mapping[str, Any]) -> list[StreamDelta]:
        number = self._calls[index] = len(self._calls)
        self._open_call = clean_name(item["name"])
        return [ToolCallStart(number, item.get("call_id") or new_call_id(), self._open_call)]

    def _args(self, body: Mapping[str, Any]) -> Iterable[StreamDelta]:
        index = body.get("output_index")
        self._streamed.add(index)
        return (ToolCallArgs(self._calls[index], body["delta"]),) if body["delta"] else ()

    def _item_done(self, body: Mapping[str, Any]) -> list[StreamDelta]:
        """Take a finished item; what was not streamed before is taken from it."""
        item, index = body["item"], body.get("output_index")
        fresh = index not in self._streamed
        kind = item["type"]
        if kind == "function_call":
            deltas = [] if index in self._calls else self._start(index, item)
            arguments = item.get("arguments") or ""
            return [*deltas, ToolCallArgs(self._calls[index], arguments)] if fresh and arguments else deltas
        if kind == "message" and fresh:
            texts = [part.get("text") or part.get("refusal") or "" for part in item.get("content") or ()]
            return [TextPiece(text) for text in texts if text]
        if kind == "reasoning":
            words = "\n\n".join(part.get("text", "") for part in item.get("summary") or ())
            shown: list[StreamDelta] = [ReasoningPiece(words)] if fresh and words else []
            return [*shown, ReasoningBlock(_sealed(item))] if item.get("encrypted_content") else shown
        return []

    def _ended(self, body: Mapping[str, Any]) -> list[StreamDelta]:
        response = body["response"]
        if response.get("status") == "failed" or response.get("error"):
            self._failed(body)
        self.is_done = self.is_finishing = True
        deltas: list[StreamDelta] = []
        if tail := self._text.close():
            deltas.append(TextPiece(tail))
        if usage := response.get("usage"):
            deltas.append(UsageReport(read_usage(usage)))
        reason = "content_filter" if self._is_refused else "stop"
        if response.get("status") == "incomplete":
            reason = _INCOMPLETE.get(str((response.get("incomplete_details") or {}).get("reason")), "length")
        deltas.append(Finish("tool_calls" if self._calls and reason == "stop" else reason))
        return deltas

    def _failed(self, body: Mapping[str, Any]) -> Iterable[StreamDelta]:
        from .classify import from_answer

        raise from_answer(0, {}, body.get("response") or body, self._endpoint)


def _sealed(item: Mapping[str, Any]) -> JsonObject:
    """Return a reasoning item as it may be sent back: its id means nothing when the answer was not stored."""
    return {name: item[name] for name in ("type", "summary", "encrypted_content") if name in item}


_HANDLERS: dict[str, Any] = {
    "response.reasoning_summary_text.delta": ResponsesDecoder._reasoning,
    "response.reasoning_text.delta": ResponsesDecoder._reasoning,
    "response.reasoning_summary_part.added": ResponsesDecoder._reasoning_part,
    "response.output_item.added": ResponsesDecoder._item_added,
    "response.function_call_arguments.delta": ResponsesDecoder._args,
    "response.output_item.done": ResponsesDecoder._item_done,
    "response.completed": ResponsesDecoder._ended,
    "response.incomplete": ResponsesDecoder._ended,
    "response.failed": ResponsesDecoder._failed,
    "error": ResponsesDecoder._failed,
}


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Return token counts in disjoint buckets."""
    read = (usage.get("input_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(
        input_tokens=max(0, (usage.get("input_tokens") or 0) - read),
        output_tokens=usage.get("output_tokens") or 0,
        cache_read_tokens=read,
        reasoning_tokens=(usage.get("output_tokens_details") or {}).get("reasoning_tokens") or 0,
    )
