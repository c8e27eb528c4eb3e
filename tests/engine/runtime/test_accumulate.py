"""Deltas become an answer whose names, ids and arguments every API accepts."""

from __future__ import annotations

import pytest

from hermes_tui.engine.runtime.accumulate import Accumulator, Answer
from hermes_tui.engine.types.deltas import (
    Finish,
    ReasoningBlock,
    ReasoningPiece,
    StreamDelta,
    TextPiece,
    ToolCallArgs,
    ToolCallStart,
    UsageReport,
)
from hermes_tui.engine.types.events import TextDelta, ToolDelta, ToolDrafted
from hermes_tui.engine.types.usage import Usage


def fold(*deltas: StreamDelta, used: frozenset[str] = frozenset()) -> Answer:
    accumulator = Accumulator("p", "chat_completions", used.__contains__)
    for delta in deltas:
        accumulator.feed(delta)
    return accumulator.answer()


def test_text_reasoning_usage_and_end_are_kept() -> None:
    answer = fold(
        ReasoningPiece("be"),
        ReasoningPiece("cause"),
        TextPiece("Hel"),
        TextPiece("lo"),
        UsageReport(Usage(input_tokens=1)),
        UsageReport(Usage(input_tokens=2)),
        Finish("stop"),
    )
    assert (answer.text, answer.reasoning, answer.finish_reason) == ("Hello", "because", "stop")
    assert answer.usage == Usage(input_tokens=2)
    assert answer.as_message() == {
        "role": "assistant",
        "content": "Hello",
        "reasoning": "because",
        "finish_reason": "stop",
    }


def test_interleaved_fragments_reach_their_own_call() -> None:
    answer = fold(
        ToolCallStart(0, "a", "read_file"),
        ToolCallArgs(0, '{"pa'),
        ToolCallStart(1, "b", "read_file"),
        ToolCallArgs(1, '{"pa'),
        ToolCallArgs(0, 'th":"x"}'),
        ToolCallArgs(1, 'th":"y"}'),
        Finish("tool_calls"),
    )
    assert [call["function"]["arguments"] for call in answer.calls] == ['{"path":"x"}', '{"path":"y"}']


def test_stop_with_calls_means_tool_calls_but_length_stays_length() -> None:
    calls = (ToolCallStart(0, "a", "x"), ToolCallArgs(0, "{}"))
    assert fold(*calls, Finish("stop")).finish_reason == "tool_calls"
    assert fold(*calls, Finish("length")).finish_reason == "length"


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ("read_file", "read_file"),
        ("read_file<|channel|>commentary", "read_file"),
        ("functions.read_file", "read_file"),
        ("read_file</arg_value>", "read_file"),
        (" read_file\n", "read_file"),
        ("", "unnamed_tool"),
        ("  ", "unnamed_tool"),
    ],
)
def test_tool_names_are_freed_of_template_debris(given: str, clean: str) -> None:
    assert fold(ToolCallStart(0, "a", given)).calls[0]["function"]["name"] == clean


def test_ids_are_unique_in_the_answer_and_the_history_and_known_to_the_events() -> None:
    accumulator = Accumulator("p", "chat_completions", {"dup"}.__contains__)
    drafted = [
        accumulator.feed(ToolCallStart(i, call_id, "x")) for i, call_id in enumerate(["dup", "a", "a", "b!c", ""])
    ]
    ids = [call["id"] for call in accumulator.answer().calls]
    assert [event.call_id for event in drafted if isinstance(event, ToolDrafted)] == ids
    assert len(set(ids)) == 5 and "dup" not in ids and ids[1] == "a" and ids[3] == "bc"


@pytest.mark.parametrize(
    ("fragments", "arguments", "repaired", "broken"),
    [
        (['{"a":1}'], '{"a":1}', False, False),
        ([], "{}", False, False),
        (
            ['{"s":"\\u00', "e9 \\ud83d", "\\ude00 \\", '"q\\', '""}'],
            '{"s":"\\u00e9 \\ud83d\\ude00 \\"q\\""}',
            False,
            False,
        ),
        (['{"a":1,}'], '{"a": 1}', True, False),
        (['{"path":"x"'], '{"path": "x"}', True, False),
        (['"{\\"a\\": 1}"'], '{"a": 1}', True, False),
        (['{"text":"a\nb"}'], '{"text": "a\\nb"}', True, False),
        (['{"path":"a.py","content":"prin'], "{}", False, True),
        (["{"], "{}", False, True),
        (["not json"], "{}", False, True),
        (["[1]"], "{}", False, True),
    ],
)
def test_arguments_are_kept_mended_or_called_broken(
    fragments: list[str], arguments: str, repaired: bool, broken: bool
) -> None:
    answer = fold(ToolCallStart(0, "a", "x"), *(ToolCallArgs(0, piece) for piece in fragments))
    assert answer.calls[0]["function"]["arguments"] == arguments
    assert ("a" in answer.repaired, "a" in answer.broken) == (repaired, broken)


def test_opaque_blocks_remember_their_place_between_text_and_calls() -> None:
    answer = fold(
        ReasoningBlock({"n": 1}),
        TextPiece("a"),
        TextPiece("b"),
        ReasoningBlock({"n": 2}),
        ToolCallStart(0, "c", "x"),
        ReasoningBlock({"n": 3}),
    )
    assert [(detail["position"], detail["block"]["n"]) for detail in answer.details] == [(0, 1), (2, 2), (4, 3)]


def test_text_loses_nul_and_lone_surrogates_only() -> None:
    assert fold(TextPiece("a\0b"), TextPiece("\ud83d"), TextPiece("\ude00 \ud800 é")).text == "ab😀 � é"


def test_each_delta_is_worth_one_event_and_empty_ones_none() -> None:
    accumulator = Accumulator("p", "chat_completions")
    assert accumulator.feed(TextPiece("")) is None and not accumulator.has_shown
    assert accumulator.feed(TextPiece("a")) == TextDelta(text="a")
    accumulator.feed(ToolCallStart(0, "c", "x"))
    assert accumulator.feed(ToolCallArgs(0, "{}")) == ToolDelta(call_id="c", fragment="{}")
    assert accumulator.feed(ToolCallArgs(7, "{}")) is None
