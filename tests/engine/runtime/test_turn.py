"""A turn from the user's message to the answer: rows, events, result keys."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.scripted import ENDPOINT, NO_TITLE, Bench, Do, Hang, bench, call, echo_tools, join, say, start, think

from hermes_tui.engine.config.settings import AgentSettings, BudgetSettings
from hermes_tui.engine.types.errors import AuthError, HermesError, StoreReadOnly
from hermes_tui.engine.types.events import (
    MessageCommitted,
    Notice,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
)
from hermes_tui.engine.types.usage import Usage

RESULT_KEYS = {
    "final_response",
    "messages",
    "usage",
    "cost_usd",
    "tool_calls_made",
    "api_calls",
    "reasoning",
    "errors",
    "completed",
    "interrupted",
    "exit_reason",
    "session_id",
    "model",
    "provider",
}
USAGE_KEYS = {"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"}


def test_a_plain_answer_is_streamed_stored_and_returned(tmp_path: Path) -> None:
    made = bench([think("hm") + say("hello you")], tmp_path)
    result = made.agent.run_conversation("hi")
    assert result["final_response"] == "hello you" and result["reasoning"] == "hm"
    assert [event.text for event in made.of(TextDelta)] == ["hello", " you"]
    assert made.roles() == ["user", "assistant"]
    assert made.agent.chat.__doc__ and made.events[-2].__class__ is TurnFinished


def test_chat_returns_the_text_only(tmp_path: Path) -> None:
    assert bench([say("yes")], tmp_path).agent.chat("well?") == "yes"


def test_the_user_row_is_committed_before_the_first_request(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    made = bench([], tmp_path)
    made.client._replies = [[Do(lambda: seen.append(made.roles())), *say("ok")]]
    made.agent.chat("hi")
    assert seen == [["user"]]


def test_every_row_is_committed_when_it_exists_not_at_the_end(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    made = bench([], tmp_path)
    made.client._replies = [call(("echo", '{"text":"a"}')), [Do(lambda: seen.append(made.roles())), *say("ok")]]
    made.agent.chat("hi")
    assert seen == [["user", "assistant", "tool"]]
    assert [event.message["role"] for event in made.of(MessageCommitted)] == made.roles()


def test_a_tool_result_goes_back_to_the_model(tmp_path: Path) -> None:
    made = bench([call(("echo", '{"text":"a"}'), text="Looking."), say("done")], tmp_path)
    result = made.agent.run_conversation("hi")
    second = made.client.requests[1].messages
    assert [message["role"] for message in second] == ["system", "user", "assistant", "tool"]
    assert second[3]["content"] == '{"ok": true, "text": "a"}' and second[3]["tool_call_id"] == "c1"
    assert (result["tool_calls_made"], result["api_calls"]) == (1, 2)
    assert [event.step for event in made.of(StepStarted)] == [1, 2]


def _broken_store(made: Bench) -> None:
    made.store.fail_after, made.store.failure = 0, StoreReadOnly("The disk is full.", hint="Make room.")


def _interrupt_in_stream(made: Bench) -> None:
    made.client._replies = [[Do(made.agent.interrupt), Hang()]]


ENDINGS: list[tuple[str, list[Any], Callable[[Bench], None], dict[str, Any], str]] = [
    ("done", [say("ok")], lambda made: None, {}, "done"),
    ("interrupted", [], _interrupt_in_stream, {}, "interrupted"),
    ("provider error", [[AuthError("The key was rejected.")]], lambda made: None, {}, "error"),
    ("unknown model", [], lambda made: None, {"model": "nowhere/x"}, "error"),
    ("disk full", [say("ok")], _broken_store, {}, "error"),
    ("only thoughts", [think("hm")] * 3, lambda made: None, {}, "error"),
    ("empty", [[]] * 4, lambda made: None, {}, "error"),
    ("adapter bug", [[ValueError("bug")]], lambda made: None, {}, "error"),
    ("budget", [call(("echo", '{"text":"a"}')), say("summary")], lambda made: None, {"max_iterations": 1}, "budget"),
]


@pytest.mark.parametrize(
    ("replies", "prepare", "options", "reason"), [e[1:] for e in ENDINGS], ids=[e[0] for e in ENDINGS]
)
def test_the_result_has_the_same_keys_whatever_ended_the_turn(
    replies: list[Any], prepare: Callable[[Bench], None], options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    made = bench(replies, tmp_path, **options)
    prepare(made)
    result = made.agent.run_conversation("hi")
    assert set(result) == RESULT_KEYS and set(result["usage"]) == USAGE_KEYS
    assert result["exit_reason"] == reason
    assert (result["completed"], result["interrupted"]) == (reason == "done", reason == "interrupted")
    assert bool(result["errors"]) is (reason == "error")
    finished = made.of(TurnFinished)
    assert len(finished) == 1 and set(finished[0].result) == RESULT_KEYS
    assert made.of(TurnStarted)[0].text == "hi"
    if reason == "error":
        assert any(event.level == "error" for event in made.of(Notice))


@pytest.mark.parametrize(
    ("replies", "prepare", "options", "reason"), [e[1:] for e in ENDINGS], ids=[e[0] for e in ENDINGS]
)
def test_after_any_ending_the_next_turn_starts_from_a_valid_history(
    replies: list[Any], prepare: Callable[[Bench], None], options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    made = bench(replies, tmp_path, endpoints={"nowhere/y": ENDPOINT}, **options)
    prepare(made)
    made.agent.run_conversation("one")
    made.store.failure = None
    made.client._replies = [say("fine")]
    made.agent.set_model("test/m1")
    assert made.agent.run_conversation("two")["completed"]
    roles = [message["role"] for message in made.client.requests[-1].messages]
    assert roles[0] == "system" and roles[-1] == "user"
    assert all(a != b or a == "tool" for a, b in itertools.pairwise(roles))


def test_a_failed_turn_leaves_a_row_that_says_so(tmp_path: Path) -> None:
    made = bench([[AuthError("The key was rejected.")]], tmp_path)
    made.agent.run_conversation("hi")
    last = made.rows()[-1]
    assert last["synthetic"] and last["finish_reason"] == "error" and "The key was rejected." in str(last["content"])


def test_an_unknown_model_keeps_what_the_user_wrote_and_says_what_to_do(tmp_path: Path) -> None:
    made = bench([], tmp_path, model="nowhere/x")
    result = made.agent.run_conversation("my words")
    assert made.rows()[0]["content"] == "my words"
    notice = made.of(Notice)[0]
    assert (notice.kind, notice.level) == ("config", "error") and "nowhere/x" in notice.text and notice.hint
    assert result["model"] == "nowhere/x"


def test_a_full_disk_ends_the_turn_with_a_clear_notice(tmp_path: Path) -> None:
    made = bench([call(("echo", '{"text":"a"}'))], tmp_path)
    made.store.fail_after, made.store.failure = 2, StoreReadOnly("The disk is full.", hint="Make room.")
    result = made.agent.run_conversation("hi")
    notice = made.of(Notice)[0]
    assert (notice.kind, notice.text, notice.hint) == ("store", "The disk is full.", "Make room.")
    assert result["exit_reason"] == "error" and made.roles() == ["user", "assistant"]


def test_the_system_prompt_is_built_once_and_reused_byte_for_byte(tmp_path: Path) -> None:
    made = bench([say("a"), say("b")], tmp_path, parts={"is_trusted": lambda path, digest: True})
    made.agent.run_conversation("one", system_message="Speak Latin.")
    (tmp_path / "AGENTS.md").write_text("new rules")
    made.agent.run_conversation("two")
    first, second = (request.messages[0]["content"] for request in made.client.requests)
    assert first == second == made.store.prompts[made.agent.session_id] and "Speak Latin." in str(first)


def test_a_resumed_session_sends_the_same_prefix(tmp_path: Path) -> None:
    made = bench([call(("echo", '{"text":"a"}')), say("b")], tmp_path)
    made.agent.chat("one")
    resumed = bench([say("c")], tmp_path, store=made.store, session_id=made.agent.session_id)
    resumed.agent.chat("two")
    before, after = made.client.requests[-1].messages, resumed.client.requests[0].messages
    assert list(after[: len(before)]) == list(before)
    assert resumed.agent.conversation.bill.usage.output_tokens > 0


def test_usage_and_cost_are_added_up_and_announced(tmp_path: Path) -> None:
    usage = Usage(input_tokens=100, output_tokens=10, cache_read_tokens=50)
    made = bench([call(("echo", '{"text":"a"}')), say("x", usage=usage)], tmp_path)
    result = made.agent.run_conversation("hi")
    assert result["usage"]["output_tokens"] == 15 and result["usage"]["cache_read_tokens"] == 50
    last = made.of(UsageUpdated)[-1]
    assert (last.context_tokens, last.context_window) == (160, 128_000)
    assert last.cost_usd == result["cost_usd"] == pytest.approx(0.015)
    assert made.store.usage(made.agent.session_id) == (last.session, pytest.approx(0.015))


def test_an_unknown_price_is_none_never_zero(tmp_path: Path) -> None:
    made = bench([say("x")], tmp_path, parts={"cost_usd": lambda endpoint, usage: None})
    assert made.agent.run_conversation("hi")["cost_usd"] is None


def test_at_the_end_of_the_budget_one_call_without_tools_sums_up(tmp_path: Path) -> None:
    made = bench([call(("echo", '{"text":"a"}')), say("what I did")], tmp_path, max_iterations=1)
    result = made.agent.run_conversation("hi")
    assert (result["exit_reason"], result["final_response"]) == ("budget", "what I did")
    assert made.client.requests[1].tools == () and made.rows()[-1]["content"] == "what I did"


def test_the_turn_limit_of_the_settings_holds(tmp_path: Path) -> None:
    settings = replace(NO_TITLE, agent=AgentSettings(max_turns=2))
    calls = [call(("echo", f'{{"text":"{i}"}}'), first_id=i) for i in range(2)]
    made = bench([*calls, say("sum")], tmp_path, settings=settings)
    assert made.agent.run_conversation("hi")["exit_reason"] == "budget"


def test_a_token_cap_warns_and_stops_when_nobody_can_extend_it(tmp_path: Path) -> None:
    settings = replace(NO_TITLE, budget=BudgetSettings(max_tokens_per_turn=40))
    calls = [call(("echo", f'{{"text":"{i}"}}'), first_id=i) for i in range(3)]
    made = bench([*calls, say("sum")], tmp_path, settings=settings)
    assert made.agent.run_conversation("hi")["exit_reason"] == "budget"
    assert made.of(Notice)[0].kind == "budget"


def test_a_token_cap_is_extended_when_the_person_says_so(tmp_path: Path) -> None:
    settings = replace(NO_TITLE, budget=BudgetSettings(max_tokens_per_turn=20))
    calls = [call(("echo", f'{{"text":"{i}"}}'), first_id=i) for i in range(2)]
    made = bench([*calls, say("done")], tmp_path, settings=settings, callbacks={"on_clarify_needed": lambda q: "Go on"})
    assert made.agent.run_conversation("hi")["exit_reason"] == "done"


def test_a_second_turn_at_the_same_time_is_refused(tmp_path: Path) -> None:
    hang = Hang()
    made = bench([[hang]], tmp_path)
    thread = start(lambda: made.agent.chat("one"))
    assert hang.reached.wait(20)
    with pytest.raises(HermesError, match="running already"):
        made.agent.chat("two")
    made.agent.interrupt()
    join(thread)


def test_a_callers_history_is_adopted_into_the_session(tmp_path: Path) -> None:
    made = bench([say("c"), say("d"), say("e")], tmp_path)
    past = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    first = made.agent.run_conversation("next", conversation_history=past)
    session = first["session_id"]
    assert [row["content"] for row in made.rows()] == ["a", "b", "next", "c"]
    second = made.agent.run_conversation("more", conversation_history=first["messages"])
    assert second["session_id"] == session and len(second["messages"]) == 6
    third = made.agent.run_conversation("other", conversation_history=past)
    assert third["session_id"] != session and len(third["messages"]) == 4


def test_secrets_are_not_stored_but_the_model_gets_what_was_said(tmp_path: Path) -> None:
    key = "-".join(("sk", "test", "SECRET1234567890"))
    made = bench([say(f"your key is {key}")], tmp_path, parts={"secrets": lambda: ("hunter2-hunter2",)})
    made.agent.chat(f"use {key} and hunter2-hunter2")
    stored = repr(made.store.rows) + repr(made.of(MessageCommitted)) + repr(made.of(TurnFinished))
    assert key not in stored and "hunter2-hunter2" not in stored and "[redacted:api_key]" in stored
    assert key in str(made.client.requests[0].messages[-1]["content"])


def test_tool_calls_with_repeated_ids_each_run_once_and_the_history_stays_valid(tmp_path: Path) -> None:
    reply = call(("echo", '{"text":"a"}'))
    other = call(("echo", '{"text":"b"}'))
    made = bench([reply, other, say("ok")], tmp_path)
    made.agent.chat("go")
    ids = [row["tool_call_id"] for row in made.rows() if row["role"] == "tool"]
    assert len(ids) == len(set(ids)) == 2


def test_the_model_is_told_when_its_calls_are_nearly_used_up_and_nothing_of_it_is_stored(tmp_path: Path) -> None:
    calls = [call(("echo", f'{{"text":"{i}"}}'), first_id=i) for i in range(12)]
    made = bench([*calls, say("sum")], tmp_path, max_iterations=12)
    made.agent.chat("go")
    ends = [str(request.messages[-1]["content"]) for request in made.client.requests]
    told = [number for number, text in enumerate(ends, start=1) if "more are left in this turn" in text]
    assert told == [8, 9, 10, 11, 12] and "After this call 0 more" in ends[11]
    assert "are left in this turn" not in repr(made.rows())


def test_a_tool_whose_check_has_a_bug_is_not_offered_and_the_others_are(tmp_path: Path) -> None:
    registry = echo_tools()

    def check() -> str:
        raise OSError("no such device")

    registry.register(
        "odd", {"description": "", "parameters": {}}, lambda args, context: {"ok": True}, toolset="t", check=check
    )
    made = bench([say("ok")], tmp_path, registry=registry)
    assert made.agent.chat("hi") == "ok"
    names = [tool["function"]["name"] for tool in made.client.requests[0].tools]  # type: ignore[index,call-overload]
    assert names == ["echo", "put", "run"] and "OSError" in registry.unavailable("odd")
