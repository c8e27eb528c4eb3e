"""Responses answers; each stream whole and cut at every byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.streams import everywhere, named, play

from hermes_tui.engine.providers.responses import ResponsesDecoder
from hermes_tui.engine.types.errors import RateLimited, StreamBroken
from hermes_tui.engine.types.usage import Usage

CREATED: dict[str, Any] = {"type": "response.created", "response": {"id": "r", "status": "in_progress"}}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "list_dir", "arguments": '{"p": 1}'}
SEALED = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "why"}],
    "encrypted_content": "E",
}
MESSAGE = {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Hi 🌍"}]}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def end(status: str = "completed", **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 10,
        "output_tokens": 4,
        "input_tokens_details": {"cached_tokens": 6},
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    return event(status, response={"status": status, "usage": usage, **more})


def test_reasoning_text_and_a_call_in_one_answer() -> None:
    body = named(
        CREATED,
        event("output_item.added", output_index=0, item={"type": "reasoning", "id": "rs_1"}),
        event("reasoning_summary_part.added", output_index=0, summary_index=0),
        event("reasoning_summary_text.delta", output_index=0, delta="why"),
        event("output_item.done", output_index=0, item=SEALED),
        event("output_item.added", output_index=1, item={"type": "message", "id": "msg_1"}),
        event("output_text.delta", output_index=1, delta="Hi "),
        event("output_text.delta", output_index=1, delta="🌍"),
        event("output_item.done", output_index=1, item=MESSAGE),
        event("output_item.added", output_index=2, item={**CALL, "arguments": ""}),
        event("function_call_arguments.delta", output_index=2, delta='{"p":'),
        event("function_call_arguments.delta", output_index=2, delta=" 1}"),
        event("output_item.done", output_index=2, item=CALL),
        end(),
    )
    answer = everywhere(ResponsesDecoder, body)
    assert (answer.reasoning, answer.text, answer.finish) == ("why", "Hi 🌍", "tool_calls")
    assert answer.calls == [("call_1", "list_dir", '{"p": 1}')]
    assert answer.blocks == [{key: SEALED[key] for key in ("type", "summary", "encrypted_content")}]
    assert answer.usage == Usage(input_tokens=4, output_tokens=4, cache_read_tokens=6, reasoning_tokens=3)


def test_items_that_were_not_streamed_are_taken_when_done() -> None:
    done = [event("output_item.done", output_index=at, item=item) for at, item in enumerate((SEALED, MESSAGE, CALL))]
    answer = play(ResponsesDecoder, named(CREATED, *done, end()))
    assert (answer.reasoning, answer.text) == ("why", "Hi 🌍")
    assert answer.calls == [("call_1", "list_dir", '{"p": 1}')]


@pytest.mark.parametrize(("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "content_filter")])
def test_an_incomplete_answer_keeps_text_usage_and_reason(reason: str, finish: str) -> None:
    cut = end("incomplete", incomplete_details={"reason": reason})
    answer = play(ResponsesDecoder, named(CREATED, event("output_text.delta", output_index=0, delta="par"), cut))
    assert (answer.text, answer.finish) == ("par", finish)
    assert answer.usage is not None


def test_a_refusal_counts_as_filtered() -> None:
    body = named(CREATED, event("refusal.delta", output_index=0, delta="I can't."), end())
    answer = play(ResponsesDecoder, body)
    assert (answer.text, answer.finish) == ("I can't.", "content_filter")


def test_a_failed_answer_says_what_the_provider_said() -> None:
    error = {"code": "rate_limit_exceeded", "message": "slow down"}
    failed = event("failed", response={"status": "failed", "error": error})
    with pytest.raises(RateLimited, match="slow down"):
        play(ResponsesDecoder, named(CREATED, failed))
    with pytest.raises(RateLimited, match="slow down"):
        play(ResponsesDecoder, named(CREATED, {"type": "error", **error}))


def test_a_stream_without_its_last_event_is_broken_and_its_call_not_confirmed() -> None:
    body = named(CREATED, event("output_item.done", output_index=0, item=CALL))
    with pytest.raises(StreamBroken, match="list_dir"):
        play(ResponsesDecoder, body)
    with pytest.raises(StreamBroken, match="before the end"):
        play(ResponsesDecoder, named(CREATED))


def test_a_whole_answer_works_like_a_stream() -> None:
    body = {"status": "completed", "output": [SEALED, MESSAGE, CALL], "usage": {"input_tokens": 1, "output_tokens": 2}}
    answer = everywhere(ResponsesDecoder, json.dumps(body).encode())
    assert (answer.reasoning, answer.text, answer.finish) == ("why", "Hi 🌍", "tool_calls")
    assert answer.usage == Usage(input_tokens=1, output_tokens=2)
