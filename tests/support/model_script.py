"""What the fake model server says: turns, and their bytes in each API's wire form.

Owns no socket. ``model_server.py`` plays what ``chunks_of`` and ``whole_answer`` make.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Api: TypeAlias = Literal["chat", "responses", "anthropic"]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call; ``arguments`` (exact text) wins over ``args``."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)
    arguments: str = ""
    id: str = ""

    @property
    def text(self) -> str:
        return self.arguments or json.dumps(self.args, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One answer."""

    match: str = ""
    """Taken whenever the last user message contains this; without it turns are taken in order, one per request."""
    times: int = 1
    """How many requests an ordered turn answers."""
    text: str = ""
    """The answer, streamed word by word."""
    pieces: tuple[str, ...] = ()
    """The answer in exactly these chunks, instead of ``text``."""
    tokens: int = 0
    """A generated Markdown answer of about this many words, instead of ``text``; the same for the same number."""
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    """Name of the chat delta; ``both`` sends it twice, as some servers do."""
    tool_calls: tuple[Call, ...] = ()
    finish: str = ""
    """``stop``, ``tool_calls``, ``length``, ``content_filter``; right for the content when empty."""
    usage: tuple[int, int] = (100, 10)
    """Prompt and completion tokens."""
    rate: float = 0.0
    """Chunks a second; 0 is as fast as the socket takes them."""
    first_delay_s: float = 0.0
    raw: tuple[str, ...] = ()
    """The exact body, one write each, instead of everything above. Sent as an event stream."""
    status: int = 200
    """Any other answers with ``body`` (by default an error in the API's own form) instead of a stream."""
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    """The whole answer as it is; ``Content-Type`` is guessed from its first character."""
    byte_wise: bool = False
    """One byte per write."""
    fault: Literal["", "reset", "eof", "stall", "malformed", "error_event", "linger"] = ""
    """After ``after`` content chunks: TCP reset, clean close, silence, a broken line, an error event. ``linger`` keeps
    the socket open after the last event."""
    after: int = 0
    seconds: float = 3600.0
    """Length of ``stall`` and ``linger``."""

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Turn:
        """Build a turn from its JSON form: the same names, lists instead of tuples."""
        known = dict(row)
        known["tool_calls"] = tuple(Call(**call) for call in row.get("tool_calls", ()))
        for name in ("pieces", "raw", "usage"):
            if name in known:
                known[name] = tuple(known[name])
        return cls(**known)

    @property
    def finish_reason(self) -> str:
        return self.finish or ("tool_calls" if self.tool_calls else "stop")

    @property
    def text_pieces(self) -> list[str]:
        text = generated(self.tokens) if self.tokens else self.text
        return list(self.pieces) or _words(text)


@dataclass(frozen=True)
class Chunk:
    """Bytes of one event; ``content`` ones are paced and counted."""

    body: bytes
    content: bool = False


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


_NOUNS = ["stream", "frame", "token", "window", "session", "message", "answer", "cache", "letter", "screen", "branch"]
_VERBS = ["keeps", "moves", "shows", "reads", "holds", "joins", "splits", "meets", "finds", "lifts"]


def generated(tokens: int) -> str:
    """Return Markdown of ``tokens`` words: paragraphs with lists, code and emphasis between them; deterministic."""
    dice = random.Random(tokens)
    blocks: list[str] = []
    used = 0
    while used < tokens:
        kind = dice.choice(("paragraph", "paragraph", "list", "code"))
        words = [dice.choice(_NOUNS if i % 2 else _VERBS) for i in range(min(tokens - used, dice.randint(12, 40)))]
        used += len(words)
        if kind == "list":
            blocks.append("\n".join("- " + " ".join(words[i : i + 6]) for i in range(0, len(words), 6)))
        elif kind == "code":
            lines = (f"{words[i]} = {' + '.join(words[i + 1 : i + 4]) or 0}" for i in range(0, len(words), 4))
            blocks.append("```python\n" + "\n".join(lines) + "\n```")
        else:
            blocks.append(" ".join(words).capitalize() + f", and **{words[0]}**.")
    return "\n\n".join(blocks)


def _sse(body: dict[str, Any], event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


def _call_id(call: Call, index: int, prefix: str) -> str:
    return call.id or f"{prefix}{index + 1}"


# ------------------------------------------------------------------------------------------------ chat completions


def _chat(turn: Turn, model: str) -> Iterator[Chunk]:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def delta(part: dict[str, Any], finish: str | None = None, content: bool = False) -> Chunk:
        return Chunk(_sse({**base, "choices": [{"index": 0, "delta": part, "finish_reason": finish}]}), content)

    yield delta({"role": "assistant", "content": ""})
    names = ("reasoning", "reasoning_content") if turn.reasoning_field == "both" else (turn.reasoning_field,)
    for piece in _words(turn.reasoning):
        yield delta(dict.fromkeys(names, piece), content=True)
    for piece in turn.text_pieces:
        yield delta({"content": piece}, content=True)
    for index, call in enumerate(turn.tool_calls):
        head = {"index": index, "id": _call_id(call, index, "call_"), "type": "function"}
        yield delta({"tool_calls": [{**head, "function": {"name": call.name, "arguments": ""}}]}, content=True)
        for start in range(0, len(call.text), 24):
            function = {"arguments": call.text[start : start + 24]}
            yield delta({"tool_calls": [{"index": index, "function": function}]}, content=True)
    yield delta({}, turn.finish_reason)
    yield Chunk(_sse({**base, "choices": [], "usage": _chat_usage(turn)}))
    yield Chunk(b"data: [DONE]\n\n")


def _chat_usage(turn: Turn) -> dict[str, int]:
    prompt, completion = turn.usage
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _chat_whole(turn: Turn, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(turn.text_pieces) or None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.tool_calls:
        message["tool_calls"] = [
            {"id": _call_id(c, i, "call_"), "type": "function", "function": {"name": c.name, "arguments": c.text}}
            for i, c in enumerate(turn.tool_calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": turn.finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": model, "choices": [choice]} | {
        "usage": _chat_usage(turn)
    }


# ------------------------------------------------------------------------------------------------------- responses


def _response_items(turn: Turn) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if turn.reasoning:
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        items.append({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "sealed"})
    if turn.text_pieces:
        content = [{"type": "output_text", "text": "".join(turn.text_pieces), "annotations": []}]
        items.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content})
    for index, call in enumerate(turn.tool_calls):
        ids = {"id": f"fc_{index + 1}", "call_id": _call_id(call, index, "call_")}
        items.append({"type": "function_call", **ids, "name": call.name, "arguments": call.text, "status": "completed"})
    return items


def _response_whole(turn: Turn, model: str) -> dict[str, Any]:
    prompt, completion = turn.usage
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(turn.finish_reason)
    return {
        "id": "resp_1",
        "object": "response",
        "model": model,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": cut} if cut else None,
        "output": _response_items(turn),
        "usage": {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion},
    }


def _responses(turn: Turn, model: str) -> Iterator[Chunk]:
    def event(kind: str, content: bool = False, **fields: Any) -> Chunk:
        return Chunk(_sse({"type": kind, **fields}, kind), content)

    yield event("response.created", response={"id": "resp_1", "status": "in_progress", "model": model})
    for index, item in enumerate(_response_items(turn)):
        where = {"output_index": index, "item_id": item["id"]}
        opened = item | {"summary": [], "content": [], "arguments": ""}
        yield event("response.output_item.added", output_index=index, item={k: opened[k] for k in item})
        deltas = {
            "reasoning": ("response.reasoning_summary_text.delta", _words(turn.reasoning)),
            "message": ("response.output_text.delta", turn.text_pieces),
            "function_call": (
                "response.function_call_arguments.delta",
                re.findall(r"(?s).{1,24}", item.get("arguments", "")),
            ),
        }
        kind, pieces = deltas[item["type"]]
        for piece in pieces:
            yield event(kind, True, delta=piece, **where)
        yield event("response.output_item.done", output_index=index, item=item)
    whole = _response_whole(turn, model)
    yield event(f"response.{whole['status']}", response=whole)


# ------------------------------------------------------------------------------------------------------- anthropic

_ANTHROPIC_STOP = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


def _anthropic_blocks(turn: Turn) -> Iterator[tuple[dict[str, Any], str, list[str]]]:
    """Yield each block's opening form, its delta type with the field's name, and its pieces."""
    if turn.reasoning:
        yield {"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta:thinking", _words(turn.reasoning)
    if turn.text_pieces:
        yield {"type": "text", "text": ""}, "text_delta:text", turn.text_pieces
    for index, call in enumerate(turn.tool_calls):
        opened = {"type": "tool_use", "id": _call_id(call, index, "toolu_"), "name": call.name, "input": {}}
        yield opened, "input_json_delta:partial_json", re.findall(r"(?s).{1,24}", call.text)


def _anthropic(turn: Turn, model: str) -> Iterator[Chunk]:
    def event(kind: str, content: bool = False, **fields: Any) -> Chunk:
        return Chunk(_sse({"type": kind, **fields}, kind), content)

    prompt, completion = turn.usage
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None}
    yield event("message_start", message={**head, "usage": {"input_tokens": prompt, "output_tokens": 1}})
    for index, (opened, delta, pieces) in enumerate(_anthropic_blocks(turn)):
        yield event("content_block_start", index=index, content_block=opened)
        kind, name = delta.split(":")
        for piece in pieces:
            yield event("content_block_delta", True, index=index, delta={"type": kind, name: piece})
        if opened["type"] == "thinking":
            yield event("content_block_delta", index=index, delta={"type": "signature_delta", "signature": "sig"})
        yield event("content_block_stop", index=index)
    stop = {"stop_reason": _ANTHROPIC_STOP[turn.finish_reason], "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": completion})
    yield event("message_stop")


def _anthropic_whole(turn: Turn, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for opened, delta, pieces in _anthropic_blocks(turn):
        name = delta.split(":")[1]
        joined = "".join(pieces)
        content.append(opened | ({"input": json.loads(joined)} if name == "partial_json" else {name: joined}))
    prompt, completion = turn.usage
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": _ANTHROPIC_STOP[turn.finish_reason],
        "usage": {"input_tokens": prompt, "output_tokens": completion},
    }


_STREAMS = {"chat": _chat, "responses": _responses, "anthropic": _anthropic}
_WHOLES = {"chat": _chat_whole, "responses": _response_whole, "anthropic": _anthropic_whole}

MALFORMED = b'data: {"choices": [{"delta": \n\n'


def chunks_of(turn: Turn, api: Api, model: str) -> Iterator[Chunk]:
    """Yield the events of a streamed answer."""
    if turn.raw:
        yield from (Chunk(part.encode(), True) for part in turn.raw)
        return
    yield from _STREAMS[api](turn, model)


def whole_answer(turn: Turn, api: Api, model: str) -> bytes:
    """Return the body of an answer that is not streamed."""
    return json.dumps(_WHOLES[api](turn, model)).encode()


def error_body(api: Api, status: int) -> str:
    """Return an error in the API's own form."""
    kind = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
    error = {"type": kind.get(status, "api_error"), "message": f"scripted error {status}"}
    if api == "anthropic":
        return json.dumps({"type": "error", "error": error})
    return json.dumps({"error": error | {"code": kind.get(status, "error"), "param": None}})


def error_event(api: Api) -> bytes:
    """Return an error that arrives inside a stream."""
    error = {"type": "overloaded_error", "message": "Overloaded"}
    if api == "anthropic":
        return _sse({"type": "error", "error": error}, "error")
    if api == "responses":
        failed = {"status": "failed", "error": {"code": "server_is_overloaded", "message": "Overloaded"}}
        return _sse({"type": "response.failed", "response": failed}, "response.failed")
    return _sse({"error": error | {"code": 503}})
