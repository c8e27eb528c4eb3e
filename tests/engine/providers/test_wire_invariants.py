"""Whatever a history looks like, the JSON of each API is one that the API accepts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import BROKEN_HISTORIES

from hermes_tui.engine.context.window import Window
from hermes_tui.engine.providers import anthropic_messages, chat_completions, responses
from hermes_tui.engine.providers.base import ApiMode, Endpoint, ModelRequest
from hermes_tui.engine.runtime.shape import shaped
from hermes_tui.engine.types.messages import JsonObject

TOOLS: list[JsonObject] = [
    {"type": "function", "function": {"name": "run", "parameters": {"type": "object", "properties": {}}}}
]
BLOCKS: dict[str, Any] = {
    "anthropic_messages": {"type": "thinking", "thinking": "hm", "signature": "S"},
    "codex_responses": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"},
    "chat_completions": {"type": "reasoning.encrypted", "data": "E"},
}
DETAILS = st.lists(
    st.builds(
        lambda mode, place: {"provider": "p", "api_mode": mode, "position": place, "block": BLOCKS[mode]},
        st.sampled_from(sorted(BLOCKS)),
        st.integers(0, 3),
    ),
    max_size=3,
)


def check_chat(body: Any) -> None:
    waiting: list[str] = []
    previous, seen = "", set()
    for place, row in enumerate(body["messages"]):
        role = row["role"]
        if role == "system":
            assert place == 0 and row["content"].strip()
            continue
        if role == "tool":
            assert row["tool_call_id"] == waiting.pop(0) and row["content"].strip()
        else:
            assert not waiting and role != previous
            calls = row.get("tool_calls", [])
            assert row["content"] or (role == "assistant" and calls)
            waiting = [call["id"] for call in calls]
            assert not seen & set(waiting) and len(set(waiting)) == len(waiting)
            seen |= set(waiting)
            assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)
        previous = role
    assert not waiting and previous in ("user", "tool")


def check_responses(body: Any) -> None:
    open_calls: list[str] = []
    seen: set[str] = set()
    items = body["input"]
    for place, item in enumerate(items):
        kind = item.get("type") or item["role"]
        if kind == "function_call":
            assert item["call_id"] not in seen and isinstance(json.loads(item["arguments"]), dict)
            seen.add(item["call_id"])
            open_calls.append(item["call_id"])
        elif kind == "function_call_output":
            assert item["call_id"] == open_calls.pop(0) and item["output"].strip()
        elif kind == "reasoning":
            assert place + 1 < len(items), "a reasoning item leads to what it belongs to"
            after = items[place + 1]
            assert after.get("type") in ("function_call", "reasoning") or after.get("role") == "assistant"
        else:
            assert item["role"] in ("user", "assistant") and (item["role"] == "assistant" or not open_calls)
            for part in item["content"]:
                assert part["type"] == "input_image" or part["text"].strip()
    assert not open_calls


def check_anthropic(body: Any) -> None:
    waiting: list[str] = []
    seen: set[str] = set()
    previous = ""
    assert body["messages"][0]["role"] == "user" and body["messages"][-1]["role"] == "user"
    for row in body["messages"]:
        assert row["role"] != previous and row["content"]
        previous = row["role"]
        results = [block["tool_use_id"] for block in row["content"] if block["type"] == "tool_result"]
        assert results == waiting, "all results of one answer come in the next message"
        kinds = [block["type"] for block in row["content"]]
        assert kinds[: len(results)] == ["tool_result"] * len(results), "results first, then words"
        waiting = [block["id"] for block in row["content"] if block["type"] == "tool_use"]
        assert not seen & set(waiting)
        seen |= set(waiting)
        for block in row["content"]:
            assert block["type"] != "text" or block["text"].strip()
            assert block["type"] != "tool_use" or isinstance(block["input"], dict)
    assert not waiting and json.dumps(body).count('"cache_control"') <= 4


MODES: dict[ApiMode, tuple[Callable[[ModelRequest], JsonObject], Callable[[Any], None]]] = {
    "chat_completions": (chat_completions.build_body, check_chat),
    "codex_responses": (responses.build_body, check_responses),
    "anthropic_messages": (anthropic_messages.build_body, check_anthropic),
}


@pytest.mark.parametrize("mode", MODES)
@given(st.lists(st.tuples(BROKEN_HISTORIES, DETAILS), max_size=2), st.booleans())
@settings(max_examples=80, deadline=None)
def test_any_broken_history_becomes_a_body_that_the_api_accepts(mode: ApiMode, runs: list[Any], marks: bool) -> None:
    build, check = MODES[mode]
    history: list[Any] = []
    for rows, details in runs:
        history += rows
        if details and history and history[-1].get("role") == "assistant":
            history[-1] = {**history[-1], "reasoning_details": details}
    messages = Window().build([*history, {"role": "user", "content": "go on"}], "You are.")
    endpoint = Endpoint(provider="p", model="m", api_mode=mode, base_url="http://x", quirks=frozenset({"short_ids"}))
    body = build(shaped(endpoint, messages, TOOLS, session_id="s", cache_ttl="5m" if marks else ""))
    check(body)
    json.dumps(body, ensure_ascii=False).encode()
