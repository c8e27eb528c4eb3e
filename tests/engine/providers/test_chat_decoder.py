"""Chat-completions answers in all the forms that servers send; each stream whole and cut at every byte."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.streams import LOCAL, Answer, data, everywhere, play

from hermes_tui.engine.providers.chat_completions import ChatDecoder
from hermes_tui.engine.types.errors import (
    BadRequest,
    ContextOverflow,
    Overloaded,
    ProviderError,
    RateLimited,
    StreamBroken,
)
from hermes_tui.engine.types.usage import Usage

DONE = "[DONE]"


def c(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def fin(reason: str) -> dict[str, Any]:
    return c(reason)


def call(args: Any = None, *, index: Any = 0, id: Any = None, name: Any = None) -> dict[str, Any]:
    fragment: dict[str, Any] = {"function": {"arguments": args, "name": name}}
    if index is not None:
        fragment["index"] = index
    if id is not None:
        fragment["id"] = id
    return c(tool_calls=[fragment])


def made(answer: Answer) -> list[tuple[str, Any]]:
    return [(name, json.loads(args or "{}")) for _, name, args in answer.calls]


def test_text_streams_and_finishes_with_its_usage() -> None:
    body = data(c(role="assistant", content=""), c(content="Hel"), c(content="lo"), fin("stop"), DONE)
    answer = everywhere(ChatDecoder, body)
    assert (answer.text, answer.finish, answer.usage) == ("Hello", "stop", None)


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [
                c(tool_calls=[{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": ""}}]),
                c(tool_calls=[{"function": {"arguments": '{"path":'}}]),
                c(tool_calls=[{"function": {"arguments": '"a.txt"}'}}]),
            ],
            id="no index",
        ),
        pytest.param([call({"path": "a.txt"}, id="c1", name="read_file")], id="arguments as an object"),
        pytest.param(
            [call('{"path":', id="c1", name="read_file"), call('"a.txt"}', id="c1", name="read_file")],
            id="id and name repeated",
        ),
        pytest.param(
            [call("", id="c1", name="read"), call("", name="_file"), call('{"path":"a.txt"}')], id="name in pieces"
        ),
        pytest.param(
            [call("", id="c1", name="read"), call("", name="read_file"), call('{"path":"a.txt"}')],
            id="name grows",
        ),
        pytest.param([call('{"path":"a.txt"}', id="c1", name="read_file<|channel|>commentary")], id="harmony debris"),
        pytest.param([call('{"path":"a.txt"}', id="c1", name="functions.read_file")], id="namespace"),
        pytest.param([call('{"path":"a.txt"}', id="c1", name="read_file</arg_value>")], id="template debris"),
        pytest.param([call('{"path":"a.txt"}', id="c1", name=" read_file\n")], id="blanks"),
        pytest.param(
            [c(function_call={"name": "read_file"}), c(function_call={"arguments": '{"path":"a.txt"}'})],
            id="legacy function_call",
        ),
        pytest.param(
            [call(None, id="c1", name="read_file"), call(None), call('{"path":"a.txt"}')], id="null arguments"
        ),
    ],
)
def test_one_call_in_any_form_is_one_call(events: list[dict[str, Any]]) -> None:
    answer = everywhere(ChatDecoder, data(*events, fin("tool_calls"), DONE))
    assert made(answer) == [("read_file", {"path": "a.txt"})]
    assert answer.finish == "tool_calls"
    assert answer.calls[0][0]


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [
                call('{"pa', id="a", name="f"),
                call('{"pa', index=1, id="b", name="g"),
                call('th":"x"}'),
                call('th":"y"}', index=1),
            ],
            id="interleaved by index",
        ),
        pytest.param(
            [call('{"path":"x"}', id="a", name="f"), call('{"path":"y"}', id="b", name="g")], id="all at index 0"
        ),
        pytest.param(
            [
                call('{"path":', id="a", name="f"),
                call('{"path":', id="b", name="g"),
                call('"x"}', id="a"),
                call('"y"}', id="b"),
            ],
            id="index 0, interleaved by id",
        ),
        pytest.param(
            [call('{"path":"x"}', index=None, id="a", name="f"), call('{"path":"y"}', index=None, id="b", name="g")],
            id="no index",
        ),
        pytest.param(
            [call('{"path":"x"}', index=None, name="f"), call('{"path":"y"}', index=None, name="g")],
            id="neither index nor id",
        ),
        pytest.param(
            [call({"path": "x"}, name="f"), call({"path": "y"}, name="g")], id="index 0, no ids, whole objects"
        ),
        pytest.param(
            [call('{"path":"x"}', id="same", name="f"), call('{"path":"y"}', index=1, id="same", name="g")],
            id="one id for both",
        ),
        pytest.param(
            [c(tool_calls=[call({"path": "x"}, name="f")["choices"][0]["delta"]["tool_calls"][0],
                           call({"path": "y"}, index=1, name="g")["choices"][0]["delta"]["tool_calls"][0]])],
            id="both in one chunk",
        ),
    ],
)  # fmt: skip
def test_two_calls_stay_two_calls_with_ids_of_their_own(events: list[dict[str, Any]]) -> None:
    answer = play(ChatDecoder, data(*events, fin("tool_calls"), DONE))
    assert made(answer) == [("f", {"path": "x"}), ("g", {"path": "y"})]
    assert answer.calls[0][0] != answer.calls[1][0]


def test_arguments_cut_inside_an_escape_and_a_surrogate_pair_are_whole_again() -> None:
    fragments = ['{"s":"\\u00', "e9 \\ud83d", "\\ude00 \\", '"q\\', '""}']
    events = [call(fragments[0], id="c", name="f"), *(call(fragment) for fragment in fragments[1:])]
    assert made(play(ChatDecoder, data(*events, fin("tool_calls"), DONE))) == [("f", {"s": 'é 😀 "q"'})]


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_halves_of_one_character_in_two_chunks_are_one_character(field: str) -> None:
    lines = [json.dumps(c(**{field: half})) for half in ("a\ud83d", "\ude00b", "\ud83d", "x")]
    answer = play(ChatDecoder, data(*lines, fin("stop"), DONE))
    assert (answer.text or answer.reasoning) == "a😀b\ufffdx"


def test_arguments_of_a_server_that_cuts_between_surrogates() -> None:
    lines = [json.dumps(call('{"s":"\ud83d', id="c", name="f")), json.dumps(call('\ude00"}'))]
    assert made(play(ChatDecoder, data(*lines, fin("tool_calls"), DONE))) == [("f", {"s": "😀"})]


def test_calls_are_run_although_the_server_says_stop() -> None:
    answer = play(ChatDecoder, data(c(content="Looking."), call("{}", id="c", name="ls"), fin("stop"), DONE))
    assert (answer.text, answer.finish) == ("Looking.", "tool_calls")


def test_a_call_without_arguments_is_a_call() -> None:
    assert made(play(ChatDecoder, data(call("", id="c", name="ls"), fin("tool_calls"), DONE))) == [("ls", {})]


@pytest.mark.parametrize("name", ["", "  "])
def test_a_blank_name_arrives_blank(name: str) -> None:
    answer = play(ChatDecoder, data(call("{}", id="c", name=name), fin("tool_calls"), DONE))
    assert answer.calls == [("c", "", "{}")]


def test_a_call_cut_by_the_output_limit_keeps_its_reason() -> None:
    answer = play(ChatDecoder, data(call('{"path":"a.py","content":"prin', id="c", name="w"), fin("length"), DONE))
    assert answer.finish == "length"


def test_a_stream_that_ends_inside_a_call_is_broken_and_says_so() -> None:
    with pytest.raises(StreamBroken, match="in the middle of the tool call write_file"):
        play(ChatDecoder, data(call("{", id="c1", name="write_file")))


def test_a_stream_without_any_end_mark_is_broken_but_the_finish_reason_is_one() -> None:
    with pytest.raises(StreamBroken, match="before the end"):
        play(ChatDecoder, data(c(content="Hel")))
    assert play(ChatDecoder, data(c(content="Hello"), fin("stop"))).finish == "stop"
    assert play(ChatDecoder, data(c(content="Hello"), DONE)).finish == "stop"


@pytest.mark.parametrize(
    "first",
    [
        {"choices": [], "prompt_filter_results": [{}]},
        {"id": "x"},
        {"choices": None},
        {"choices": [{"delta": None}]},
        {"choices": [{"index": 0}]},
        "",
        "ping",
    ],
)
def test_chunks_without_content_are_passed_over(first: object) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}}
    answer = everywhere(ChatDecoder, data(first, c(content="Hi"), fin("stop"), usage, DONE))
    assert (answer.text, answer.usage) == ("Hi", Usage(input_tokens=10, output_tokens=2))


def test_comments_and_retry_lines_are_passed_over() -> None:
    body = b": OPENROUTER PROCESSING\n\n" * 5 + b"retry: 3000\n\n" + data(c(content="Hi"), fin("stop"), DONE)
    assert everywhere(ChatDecoder, body).text == "Hi"


def test_line_separators_inside_json_are_text() -> None:
    text = "A\u2028B\u0085C\u2029D"
    assert everywhere(ChatDecoder, data(c(content=text), fin("stop"), DONE)).text == text


def test_bytes_cut_inside_characters_leave_no_replacement_marks() -> None:
    text = "你好 🌍 Zürich"
    assert everywhere(ChatDecoder, data(c(content=text), fin("stop"), DONE)).text == text


def test_two_objects_without_a_blank_line_between_them_are_two_chunks() -> None:
    lines = b"".join(
        b"data: %s\n" % json.dumps(chunk).encode() for chunk in (c(content="a"), c(content="b"), fin("stop"))
    )
    assert play(ChatDecoder, lines + b"data: [DONE]\n\n").text == "ab"


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param(
            [{"content": piece} for piece in ("<thi", "nk>secret</th", "ink>Ans", "wer")], id="split tags"
        ),
        pytest.param([{"content": "\n <think>secret</think>\n\nAnswer"}], id="one piece"),
        pytest.param([{"content": "<thinking>secret</thinking>Answer"}], id="thinking"),
        pytest.param([{"reasoning": "sec"}, {"reasoning": "ret"}, {"content": "Answer"}], id="reasoning"),
        pytest.param([{"reasoning_content": "secret"}, {"content": "Answer"}], id="reasoning_content"),
        pytest.param(
            [{"reasoning": "secret", "reasoning_content": "secret", "content": ""}, {"content": "Answer"}], id="both"
        ),
        pytest.param(
            [
                {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "secret"}]}]},
                {"content": [{"type": "text", "text": "Answer"}]},
            ],
            id="parts",
        ),
    ],
)  # fmt: skip
def test_reasoning_is_told_from_the_answer_in_every_form(deltas: list[dict[str, Any]]) -> None:
    answer = everywhere(ChatDecoder, data(*(c(**delta) for delta in deltas), fin("stop"), DONE))
    assert (answer.reasoning, answer.text) == ("secret", "Answer")


@given(
    st.lists(st.integers(0, 60), max_size=8),
    st.sampled_from(["<think>why</think>\nSo: <b>", "a <think> b", "<thin", "<", "<think>open"]),
)
def test_tags_cut_anywhere_give_the_same_answer(cuts: list[int], text: str) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(edges)]
    whole = play(ChatDecoder, data(c(content=text), fin("stop"), DONE))
    assert play(ChatDecoder, data(*(c(content=piece) for piece in pieces), fin("stop"), DONE)) == whole


def test_tags_in_the_middle_of_an_answer_are_text() -> None:
    text = "Write `<think>` and `</think>` around it."
    assert play(ChatDecoder, data(c(content=text), fin("stop"), DONE)).text == text


def test_only_reasoning_is_an_answer_without_text() -> None:
    events = [c(reasoning_content="r") for _ in range(40)]
    answer = play(ChatDecoder, data(*events, fin("stop"), DONE))
    assert (answer.reasoning, answer.text, answer.finish) == ("r" * 40, "", "stop")


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("content_filter", "content_filter"),
        ("eos", "stop"),
    ],
)
def test_finish_reasons_are_normalised(reason: str, finish: str) -> None:
    assert play(ChatDecoder, data(c(content="x"), fin(reason), DONE)).finish == finish


def test_a_refusal_is_shown_and_counts_as_filtered() -> None:
    answer = play(ChatDecoder, data(c(refusal="I can't."), fin("stop"), DONE))
    assert (answer.text, answer.finish) == ("I can't.", "content_filter")


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"error": {"type": "overloaded_error", "message": "Overloaded"}}, Overloaded),
        ({"error": {"code": 429, "message": "slow down"}}, RateLimited),
        ({"error": {"code": 502, "message": "Provider returned error"}, "choices": [{"delta": {}}]}, ProviderError),
        ({"error": {"code": "context_length_exceeded", "message": "too long"}}, ContextOverflow),
        ({"object": "error", "message": "boom"}, ProviderError),
        ({"error": "boom"}, ProviderError),
        (c("error", content=""), ProviderError),
    ],
)
def test_an_error_inside_a_stream_is_an_error(event: dict[str, Any], kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        play(ChatDecoder, data(c(content="Let me"), event))


@pytest.mark.parametrize("broken", ['{"choices": [{"delta": ', '{"choices": 5}', '{"choices": ["x"]}'])
def test_an_unreadable_chunk_breaks_the_stream_instead_of_losing_text(broken: str) -> None:
    with pytest.raises(StreamBroken, match="unreadable"):
        play(ChatDecoder, data(c(content="a"), broken, c(content="b"), fin("stop"), DONE))


def test_what_follows_the_end_mark_means_nothing() -> None:
    assert play(ChatDecoder, data(c(content="a"), fin("stop"), DONE, c(content="b"), "{broken")).text == "a"


def test_a_whole_answer_works_like_a_stream() -> None:
    body = {
        "choices": [
            {
                "message": {
                    "content": "<think>why</think>Hi",
                    "tool_calls": [
                        {"id": "c1", "function": {"name": "f", "arguments": {"path": "a.txt", "limit": 5}}},
                        {"id": "c2", "function": {"name": "g", "arguments": "{}"}},
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    }
    answer = everywhere(ChatDecoder, json.dumps(body, indent=1).encode())
    assert (answer.reasoning, answer.text, answer.finish) == ("why", "Hi", "tool_calls")
    assert made(answer) == [("f", {"path": "a.txt", "limit": 5}), ("g", {})]
    assert answer.usage == Usage(input_tokens=3, output_tokens=4)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", r"200 from 127\.0\.0\.1:1 \(HTML page\)"),
        (b'{"error": {"message": "no such thing"}}', "no such thing"),
        (b'{"choices": [', "cut off"),
        (b"", "before the end"),
    ],
)
def test_a_body_that_is_no_answer_is_one_line(body: bytes, words: str) -> None:
    with pytest.raises(ProviderError, match=words) as caught:
        play(ChatDecoder, body)
    assert "<" not in str(caught.value)


def test_an_html_page_with_status_200_points_at_the_base_url() -> None:
    with pytest.raises(BadRequest, match="base_url"):
        play(ChatDecoder, b"<html></html>")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60},
             "completion_tokens_details": {"reasoning_tokens": 5}},
            Usage(input_tokens=40, output_tokens=20, cache_read_tokens=60, reasoning_tokens=5),
        ),
        ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 30}, Usage(input_tokens=70, cache_read_tokens=30)),
        (
            {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 20}},
            Usage(input_tokens=70, cache_read_tokens=10, cache_write_tokens=20),
        ),
        ({"prompt_tokens": None, "completion_tokens": 1, "prompt_tokens_details": None}, Usage(output_tokens=1)),
    ],
)  # fmt: skip
def test_usage_is_split_into_disjoint_buckets(usage: dict[str, Any], expected: Usage) -> None:
    assert play(ChatDecoder, data(c(content="x"), fin("stop"), {"choices": [], "usage": usage}, DONE)).usage == expected


def test_usage_of_groq_arrives_under_its_own_name() -> None:
    last = {"choices": [{"delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": {"prompt_tokens": 4}}}
    assert play(ChatDecoder, data(c(content="x"), last, DONE)).usage == Usage(input_tokens=4)


def test_opaque_reasoning_pieces_are_joined_per_block() -> None:
    piece = {"type": "reasoning.text", "index": 0, "format": "f"}
    events = [
        c(reasoning="a", reasoning_details=[{**piece, "text": "a"}]),
        c(reasoning="b", reasoning_details=[{**piece, "text": "b", "signature": "s"}]),
        c(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "data": "xyz"}]),
    ]
    answer = play(ChatDecoder, data(*events, fin("stop"), DONE))
    assert answer.reasoning == "ab"
    assert answer.blocks == [
        {**piece, "text": "ab", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "xyz"},
    ]


def test_no_key_appears_in_an_error() -> None:
    with pytest.raises(ProviderError) as caught:
        play(ChatDecoder, data({"error": {"message": "bad key sk-SECRET given"}}), endpoint=replace(LOCAL))
    assert "SECRET" not in str(caught.value)
