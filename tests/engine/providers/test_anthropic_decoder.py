"""Anthropic answers; each stream whole and cut at every byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.streams import everywhere, named, play

from hermes_tui.engine.providers.anthropic_messages import AnthropicDecoder
from hermes_tui.engine.types.errors import Overloaded, RateLimited, StreamBroken
from hermes_tui.engine.types.usage import Usage

_COUNTS = {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 1}
START: dict[str, Any] = {"type": "message_start", "message": {"usage": _COUNTS}}
STOP: dict[str, Any] = {"type": "message_stop"}
PING: dict[str, Any] = {"type": "ping"}


def opened(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def closed(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def end(reason: str) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}


THINKING = [
    opened(0, type="thinking", thinking="", signature=""),
    delta(0, type="thinking_delta", thinking="because "),
    delta(0, type="thinking_delta", thinking="so"),
    delta(0, type="signature_delta", signature="S1"),
    closed(0),
]


def test_thinking_text_and_a_call_in_one_answer() -> None:
    body = named(
        START,
        PING,
        *THINKING,
        opened(1, type="text", text=""),
        delta(1, type="text_delta", text="Hi 🌍"),
        closed(1),
        opened(2, type="tool_use", id="t1", name="ls", input={}),
        delta(2, type="input_json_delta", partial_json=""),
        delta(2, type="input_json_delta", partial_json='{"path":'),
        delta(2, type="input_json_delta", partial_json=' "é"}'),
        closed(2),
        end("tool_use"),
        STOP,
    )
    answer = everywhere(AnthropicDecoder, body)
    assert (answer.reasoning, answer.text, answer.finish) == ("because so", "Hi 🌍", "tool_calls")
    assert answer.calls == [("t1", "ls", '{"path": "é"}')]
    assert answer.blocks == [{"type": "thinking", "thinking": "because so", "signature": "S1"}]
    assert answer.usage == Usage(input_tokens=10, output_tokens=7, cache_read_tokens=5, cache_write_tokens=3)


def test_a_redacted_block_is_kept_as_it_is() -> None:
    block = {"type": "redacted_thinking", "data": "opaque"}
    answer = play(AnthropicDecoder, named(START, opened(0, **block), closed(0), end("end_turn"), STOP))
    assert answer.blocks == [block]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("something new", "stop"),
    ],
)
def test_stop_reasons_are_normalised(reason: str, finish: str) -> None:
    assert play(AnthropicDecoder, named(START, end(reason), STOP)).finish == finish


def test_an_overload_after_status_200_is_an_overload() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    body = named(START, opened(0, type="text", text=""), delta(0, type="text_delta", text="Let me"), error)
    with pytest.raises(Overloaded, match="Overloaded"):
        play(AnthropicDecoder, body)
    limited = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    with pytest.raises(RateLimited, match="slow down"):
        play(AnthropicDecoder, named(START, limited))


def test_a_stream_that_ends_too_early_is_broken() -> None:
    with pytest.raises(StreamBroken, match="before the end"):
        play(AnthropicDecoder, named(START, *THINKING))
    call = opened(0, type="tool_use", id="t1", name="write_file", input={})
    with pytest.raises(StreamBroken, match="tool call write_file"):
        play(AnthropicDecoder, named(START, call))


def test_the_stop_reason_is_an_end_mark_too() -> None:
    body = named(START, opened(0, type="text", text="Hi"), closed(0), end("end_turn"))
    assert play(AnthropicDecoder, body).finish == "stop"


def test_a_whole_answer_works_like_a_stream() -> None:
    body = {
        "content": [
            {"type": "thinking", "thinking": "why", "signature": "S"},
            {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    answer = everywhere(AnthropicDecoder, json.dumps(body).encode())
    assert (answer.reasoning, answer.text, answer.finish) == ("why", "Hi", "tool_calls")
    assert answer.calls == [("t", "f", '{"a": 1}')]
    assert answer.blocks == [body["content"][0]]  # type: ignore[index]
    assert answer.usage == Usage(input_tokens=1, output_tokens=2)
