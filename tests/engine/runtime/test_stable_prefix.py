"""Each request begins with the bytes of the one before: over steps, a steer, turns, and a resume, in every API mode."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.scripted import ENDPOINT, Bench, Do, Reply, bench, call, say, think

from hermes_tui.engine.providers import anthropic_messages, chat_completions, responses
from hermes_tui.engine.providers.base import ApiMode, ModelRequest
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.deltas import ReasoningBlock

BUILDERS: dict[ApiMode, Any] = {
    "chat_completions": chat_completions.build_body,
    "codex_responses": responses.build_body,
    "anthropic_messages": anthropic_messages.build_body,
}
BLOCKS: dict[ApiMode, Any] = {
    "chat_completions": {"type": "reasoning.encrypted", "data": "sealed"},
    "codex_responses": {"type": "reasoning", "summary": [], "encrypted_content": "sealed"},
    "anthropic_messages": {"type": "thinking", "thinking": "hm", "signature": "sig"},
}


def parts_of(mode: ApiMode, request: ModelRequest) -> tuple[str, str]:
    """What must stay the same, and what must only grow: the body without marks, as JSON text."""
    body = BUILDERS[mode](request)
    rows = _unmarked(body.pop("input" if mode == "codex_responses" else "messages"))
    return json.dumps(_unmarked(body)), json.dumps(rows)[:-1]


def _unmarked(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _unmarked(value) for key, value in node.items() if key != "cache_control"}
    return [_unmarked(value) for value in node] if isinstance(node, list) else node


def check(mode: ApiMode, requests: list[ModelRequest]) -> None:
    for number, (before, after) in enumerate(pairwise(requests), start=2):
        (fixed_before, rows_before), (fixed_after, rows_after) = parts_of(mode, before), parts_of(mode, after)
        assert fixed_after == fixed_before, f"request {number} changes what is fixed"
        assert rows_after.startswith(rows_before), f"request {number} changes its prefix"


def steps(made: Bench, mode: ApiMode) -> Iterator[Reply]:
    """Ten steps with reasoning, several calls, odd arguments, and a steer in the middle."""
    for number in range(10):
        arguments = '{ "text": "ä\\u00e9 N" }'.replace("N", str(number))
        reply: list[Any] = [*think(f"thought {number}"), ReasoningBlock(BLOCKS[mode])]
        if number == 4:
            reply.append(Do(lambda: made.agent.steer("use tabs")))
        yield [*reply, *call(("echo", arguments), ("run", '{"command":"ls"}'), first_id=number * 2, text="Looking. ")]
    yield [*think("done"), ReasoningBlock(BLOCKS[mode]), *say("All done. ")]


@pytest.mark.parametrize("mode", BUILDERS)
def test_the_prefix_is_stable_over_ten_steps_a_steer_a_second_turn_and_a_resume(mode: ApiMode, tmp_path: Path) -> None:
    endpoints = {"test/m1": replace(ENDPOINT, api_mode=mode, quirks=frozenset({"reasoning_details"}))}
    with SessionDB(tmp_path / "state.db") as store:
        made = bench([], tmp_path, store=store, endpoints=endpoints)
        made.client._replies = [*steps(made, mode), say("Yes.")]
        assert made.agent.run_conversation("do it")["completed"]
        assert made.agent.run_conversation("really?")["completed"]
        later = bench([say("Sure.")], tmp_path, store=store, endpoints=endpoints, session_id=made.agent.session_id)
        assert later.agent.run_conversation("sure?")["completed"]
    requests = [*made.client.requests, *later.client.requests]
    assert len(requests) == 13 and "use tabs" in str(requests[5].messages)
    check(mode, requests)
