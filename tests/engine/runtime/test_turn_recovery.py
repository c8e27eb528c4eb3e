"""When requests go wrong: retries, withdrawn text, fallback, continuation, bad calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.scripted import ENDPOINT, NO_TITLE, Bench, bench, call, say, think

from hermes_tui.engine.config.settings import AuxiliarySettings
from hermes_tui.engine.providers.base import Endpoint
from hermes_tui.engine.types.deltas import Finish, TextPiece, ToolCallArgs, ToolCallStart
from hermes_tui.engine.types.errors import (
    AuthError,
    BadRequest,
    BillingError,
    ConfigError,
    ConnectionFailed,
    ContextOverflow,
    HermesError,
    OutputCapTooLarge,
    Overloaded,
    PartRejected,
    ProviderError,
    RateLimited,
    StreamBroken,
)
from hermes_tui.engine.types.events import FallbackUsed, Notice, RequestRetrying, TextDelta


@pytest.mark.parametrize("error", [Overloaded, StreamBroken, ConnectionFailed, RateLimited])
def test_a_passing_failure_is_retried_and_the_turn_completes(error: type[ProviderError], tmp_path: Path) -> None:
    made = bench([[error("busy")], say("ok")], tmp_path)
    assert made.agent.run_conversation("hi")["completed"]
    retry = made.of(RequestRetrying)[0]
    assert (retry.attempt, retry.reason, retry.withdrawn) == (2, "busy", False)
    assert made.waits == [retry.wait_s] and 2.0 <= retry.wait_s <= 2.5


def test_backoff_doubles_and_gives_up_after_three_attempts(tmp_path: Path) -> None:
    made = bench([[Overloaded("busy")]], tmp_path, repeat=True)
    result = made.agent.run_conversation("hi")
    assert result["exit_reason"] == "error" and result["api_calls"] == 3
    assert [round(wait // 2) for wait in made.waits] == [1, 2]


def test_what_the_provider_asks_to_wait_is_waited(tmp_path: Path) -> None:
    made = bench([[RateLimited("slow down", retry_after_s=7.5)], say("ok")], tmp_path)
    made.agent.chat("hi")
    assert made.waits == [7.5]


def test_text_shown_before_a_failure_is_withdrawn_and_not_in_the_answer(tmp_path: Path) -> None:
    made = bench([[TextPiece("Let me"), Overloaded("busy")], say("Fine")], tmp_path)
    assert made.agent.chat("hi") == "Fine"
    assert made.of(RequestRetrying)[0].withdrawn
    assert made.rows()[-1]["content"] == "Fine"


@pytest.mark.parametrize("error", [AuthError, BadRequest, BillingError, ContextOverflow])
def test_a_lasting_failure_is_not_retried(error: type[ProviderError], tmp_path: Path) -> None:
    made = bench([[error("no")]], tmp_path)
    result = made.agent.run_conversation("hi")
    assert result["api_calls"] == 1 and result["errors"][0].startswith("no")


def test_a_rejected_key_names_where_it_came_from(tmp_path: Path) -> None:
    endpoints = {"test/m1": replace(ENDPOINT, api_key="k", key_source="TEST_KEY")}
    made = bench([[AuthError("The key was rejected.")]], tmp_path, endpoints=endpoints)
    made.agent.chat("hi")
    notice = made.of(Notice)[0]
    assert notice.kind == "auth" and "TEST_KEY" in notice.hint


def test_a_key_that_changed_meanwhile_is_tried_once(tmp_path: Path) -> None:
    keys = iter(["old", "new", "newer"])
    parts = {"resolve": lambda model: replace(ENDPOINT, api_key=next(keys))}
    made = bench([[AuthError("no")], say("ok")], tmp_path, parts=parts)
    assert made.agent.chat("hi") == "ok"
    assert [request.endpoint.api_key for request in made.client.requests] == ["old", "new"]


def test_a_refused_key_is_forgotten_before_it_is_looked_for_again(tmp_path: Path) -> None:
    forgotten: list[str] = []
    made = bench([[AuthError("no")], say("ok")], tmp_path, parts={"forget_key": forgotten.append})
    made.agent.chat("hi")
    assert forgotten == ["test"]


@pytest.mark.parametrize("problem", [ConfigError("api_key_command pass failed."), AuthError("There is no key.")])
def test_a_key_that_cannot_be_read_again_leaves_the_first_refusal(problem: HermesError, tmp_path: Path) -> None:
    first = iter([replace(ENDPOINT, api_key="old", key_source="TEST_KEY")])

    def resolve(model: str) -> Endpoint:
        if model == "spare/m":
            return replace(ENDPOINT, provider="spare")
        for endpoint in first:
            return endpoint
        raise problem

    made = bench([[AuthError("The key was rejected.")]], tmp_path, parts={"resolve": resolve})
    result = made.agent.run_conversation("hi")
    assert result["errors"][0].startswith("The key was rejected.") and "TEST_KEY" in result["errors"][0]
    first = iter([replace(ENDPOINT, api_key="old")])
    settings = replace(NO_TITLE, fallback_providers=("spare/m",))
    spared = bench([[AuthError("no")], say("ok")], tmp_path, parts={"resolve": resolve}, settings=settings)
    assert spared.agent.chat("hi") == "ok" and spared.of(FallbackUsed)[0].provider == "spare"


@pytest.mark.parametrize(("error", "asked"), [(RateLimited("slow"), 4), (BillingError("no"), 1), (AuthError("no"), 1)])
def test_the_next_key_of_the_provider_is_tried_before_another_model(
    error: ProviderError, asked: int, tmp_path: Path
) -> None:
    endpoints = {"test/m1": replace(ENDPOINT, api_key="a", spare_keys=("b", "c"))}
    made = bench([*[[error]] * asked, say("ok"), say("still b"), say("a again")], tmp_path, endpoints=endpoints)
    assert made.agent.chat("hi") == "ok"
    assert made.of(RequestRetrying)[-1].reason.endswith("Trying the next key.")
    made.agent.chat("again")
    made.agent.route._clock = lambda: 1e12
    made.agent.chat("later")
    assert [request.endpoint.api_key for request in made.client.requests] == ["a"] * asked + ["b", "b", "a"]


def test_an_output_cap_that_the_provider_states_is_taken_for_the_rest_of_the_turn(tmp_path: Path) -> None:
    script = [[OutputCapTooLarge("too many", max_tokens=8_192)], call(("echo", '{"text":"a"}')), say("ok")]
    made = bench(script, tmp_path)
    assert made.agent.chat("hi") == "ok"
    assert [request.max_tokens for request in made.client.requests] == [None, 8_192, 8_192]
    assert "at most 8,192 tokens" in made.of(RequestRetrying)[0].reason


def test_an_output_cap_that_does_not_get_smaller_ends_the_turn(tmp_path: Path) -> None:
    made = bench([[OutputCapTooLarge("too many", max_tokens=8_192)]], tmp_path, repeat=True)
    assert made.agent.run_conversation("hi")["api_calls"] == 2


IMAGE: list[Any] = [
    {"type": "text", "text": "see"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
]


@pytest.mark.parametrize(
    ("quirk", "is_gone"),
    [
        ("no_images", lambda request: "image_url" not in repr(request.messages)),
        ("no_tools", lambda request: not request.tools),
        ("no_reasoning", lambda request: not request.reasoning_effort),
        ("no_stream", lambda request: not request.stream),
        ("no_reasoning_blocks", lambda request: "reasoning_details" not in repr(request.messages)),
        ("no_stream_options", lambda request: "no_stream_options" in request.endpoint.quirks),
    ],
)
def test_exactly_the_rejected_part_is_left_out_once_and_remembered(quirk: str, is_gone: Any, tmp_path: Path) -> None:
    detail = {"provider": "test", "api_mode": "chat_completions", "position": 0, "block": {"x": 1}}
    past: list[Any] = [
        {"role": "user", "content": IMAGE},
        {"role": "assistant", "content": "a", "reasoning_details": [detail]},
    ]
    settings = replace(
        NO_TITLE,
        agent=replace(NO_TITLE.agent, reasoning_effort="low"),
        auxiliary={"title": AuxiliarySettings(enabled=False)},
    )
    made = bench([[PartRejected("no", quirk=quirk)], say("ok"), say("fine")], tmp_path, settings=settings)
    assert made.agent.run_conversation("hi", conversation_history=past)["final_response"] == "ok"
    made.agent.chat("again")
    first, *later = made.client.requests
    assert not is_gone(first) and all(is_gone(request) for request in later)
    assert made.of(RequestRetrying)[0].reason.startswith("no Trying again without")


def test_a_part_that_is_rejected_again_although_it_was_left_out_ends_the_turn(tmp_path: Path) -> None:
    made = bench([[PartRejected("no", quirk="no_tools")]], tmp_path, repeat=True)
    assert made.agent.run_conversation("hi")["api_calls"] == 2


def _with_fallback(replies: list[Any], tmp_path: Path) -> Bench:
    settings = replace(
        NO_TITLE,
        fallback_providers=("nowhere/x", "other/m2"),
        auxiliary={"title": AuxiliarySettings(enabled=False)},
    )
    endpoints = {"other/m2": replace(ENDPOINT, provider="other", model="m2")}
    return bench(replies, tmp_path, settings=settings, endpoints=endpoints)


def test_the_next_usable_model_takes_over_and_keeps_the_conversation(tmp_path: Path) -> None:
    made = _with_fallback([[BillingError("no credit")], say("ok"), say("later")], tmp_path)
    result = made.agent.run_conversation("hi")
    assert (result["final_response"], result["provider"], result["model"]) == ("ok", "other", "m2")
    used = made.of(FallbackUsed)[0]
    assert (used.provider, used.reason) == ("other", "no credit")
    made.agent.chat("again")
    assert made.client.requests[-1].endpoint.provider == "other", "the first model still cools down"


def test_the_chosen_model_returns_after_its_cooldown(tmp_path: Path) -> None:
    made = _with_fallback([[BillingError("no credit")], say("ok"), say("back")], tmp_path)
    made.agent.chat("hi")
    made.agent.route._clock = lambda: 1e12
    made.agent.chat("again")
    assert made.client.requests[-1].endpoint.provider == "test"


def test_an_adapter_bug_is_told_as_such_and_the_turn_ends(tmp_path: Path) -> None:
    made = bench([[KeyError("choices")]], tmp_path)
    assert "KeyError" in made.agent.run_conversation("hi")["errors"][0]


def test_an_adapter_that_cannot_be_loaded_ends_the_turn(tmp_path: Path) -> None:
    def client_for(mode: str) -> Any:
        raise ConfigError("The SDK is not installed.", hint="Install it.")

    made = bench([], tmp_path, parts={"client_for": client_for})
    assert made.agent.run_conversation("hi")["errors"] == ["The SDK is not installed. Install it."]


def test_an_empty_answer_is_asked_for_again(tmp_path: Path) -> None:
    made = bench([[], [TextPiece("  "), Finish("stop")], say("ok")], tmp_path)
    assert made.agent.chat("hi") == "ok"
    assert [event.attempt for event in made.of(RequestRetrying)] == [2, 3]


def test_empty_answers_end_with_a_clear_word(tmp_path: Path) -> None:
    made = bench([[Finish("stop")]], tmp_path, repeat=True)
    result = made.agent.run_conversation("hi")
    assert result["api_calls"] == 4 and "empty answer" in result["errors"][0]


def test_a_model_that_only_thought_is_asked_to_answer(tmp_path: Path) -> None:
    made = bench([think("hm"), [*think("so"), *say("42")]], tmp_path)
    result = made.agent.run_conversation("hi")
    assert result["final_response"] == "42" and result["reasoning"] == "hm\n\nso"
    assert "answer now" in str(made.client.requests[1].messages[-1]["content"])
    assert [row["content"] for row in made.rows()] == ["hi", "42"], "the nudge is not stored"


def test_thoughts_without_an_answer_are_kept_and_said(tmp_path: Path) -> None:
    made = bench([think("hm")], tmp_path, repeat=True)
    result = made.agent.run_conversation("hi")
    assert result["api_calls"] == 3 and "only reasoning" in result["errors"][0]
    assert str(made.rows()[-1]["reasoning"]).startswith("hm")


def test_a_cut_answer_is_continued_without_a_seam(tmp_path: Path) -> None:
    made = bench([[TextPiece("one tw"), Finish("length")], [TextPiece("o three"), Finish("stop")]], tmp_path)
    assert made.agent.chat("count") == "one two three"
    assert made.rows()[-1]["content"] == "one two three"
    assert "".join(event.text for event in made.of(TextDelta)) == "one two three"
    roles = [message["role"] for message in made.client.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_text_before_a_failed_continuation_stays_on_the_screen(tmp_path: Path) -> None:
    script = [[TextPiece("one tw"), Finish("length")], [TextPiece("xx"), Overloaded("busy")], say("o")]
    made = bench(script, tmp_path)
    assert made.agent.chat("count") == "one two"
    place = next(i for i, event in enumerate(made.events) if isinstance(event, RequestRetrying))
    assert [e.text for e in made.events[place:] if isinstance(e, TextDelta)] == ["one tw", "o"]


def test_an_answer_that_never_ends_is_kept_and_called_incomplete(tmp_path: Path) -> None:
    made = bench([[TextPiece("la "), Finish("length")]], tmp_path, repeat=True)
    result = made.agent.run_conversation("sing")
    assert result["final_response"] == "la la la la " and "not complete" in result["errors"][0]


def test_half_a_tool_call_is_never_run_but_asked_for_with_more_room(tmp_path: Path) -> None:
    half = [ToolCallStart(0, "c1", "run"), ToolCallArgs(0, '{"command":"rm'), Finish("length")]
    made = bench([half, call(("run", '{"command":"ls"}')), say("ok")], tmp_path)
    assert made.agent.chat("hi") == "ok"
    assert made.client.requests[0].max_tokens is None and made.client.requests[1].max_tokens == 8_192
    assert "rm" not in repr(made.rows())


def test_a_call_that_never_fits_ends_the_turn_and_nothing_ran(tmp_path: Path) -> None:
    half = [TextPiece("Writing."), ToolCallStart(0, "c1", "run"), ToolCallArgs(0, '{"command":"rm'), Finish("length")]
    made = bench([half], tmp_path, repeat=True)
    result = made.agent.run_conversation("hi")
    assert result["tool_calls_made"] == 0 and "output limit" in result["errors"][0]
    assert made.rows()[-1]["content"] == "Writing." and "tool_calls" not in made.rows()[-1]


def test_a_filtered_answer_says_so(tmp_path: Path) -> None:
    made = bench([[Finish("content_filter")]], tmp_path)
    assert "safety" in made.agent.run_conversation("hi")["errors"][0]


def test_unreadable_arguments_get_an_error_result_and_three_such_steps_end_the_turn(tmp_path: Path) -> None:
    made = bench([call(("echo", '{"text": "ab'))], tmp_path, repeat=True)
    result = made.agent.run_conversation("hi")
    assert result["api_calls"] == 3 and result["exit_reason"] == "error"
    assert "Send the call again" in str(made.rows()[2]["content"])


def test_an_unknown_tool_lists_the_names_once_and_a_blank_one_never(tmp_path: Path) -> None:
    script = [call(("nope", "{}"), ("also", "{}")), call(("", "{}"), first_id=5), say("ok")]
    made = bench(script, tmp_path)
    assert made.agent.chat("hi") == "ok"
    results = [str(row["content"]) for row in made.rows() if row["role"] == "tool"]
    assert "echo, put, run" in results[0]
    assert "echo" not in results[1] and "echo" not in results[2]


def test_a_name_that_differs_only_in_case_or_dashes_is_understood(tmp_path: Path) -> None:
    made = bench([call(("ECHO", '{"text":"a"}')), say("ok")], tmp_path)
    made.agent.chat("hi")
    assert '"ok": true' in str(made.rows()[2]["content"])


def test_mended_arguments_are_run_and_mentioned(tmp_path: Path) -> None:
    made = bench([call(("echo", '{"text":"a",}')), say("ok")], tmp_path)
    made.agent.chat("hi")
    assert '"text": "a"' in str(made.rows()[2]["content"])
    assert made.of(Notice)[0].kind == "repair"


@pytest.mark.parametrize("name", ["", "  "])
def test_a_model_that_keeps_calling_nothing_is_stopped_after_a_few_steps(name: str, tmp_path: Path) -> None:
    made = bench([call((name, "{}"))], tmp_path, repeat=True)
    result = made.agent.run_conversation("hi")
    assert result["exit_reason"] == "error" and result["api_calls"] == 3
    results = [str(row["content"]) for row in made.rows() if row["role"] == "tool"]
    assert all("no tool name" in text and len(text) < 200 for text in results)
