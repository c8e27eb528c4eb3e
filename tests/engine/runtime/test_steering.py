"""Words added to a running turn: after the next tool result, else as the next message, never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.scripted import GUARD_S, Do, Hang, bench, call, echo_tools, join, say, schema, start

from hermes_tui.engine.runtime.steering import attach, detach
from hermes_tui.engine.types.errors import BadRequest
from hermes_tui.engine.types.events import SteerChanged, TurnFinished, TurnStarted
from hermes_tui.tools.base import Result


def test_it_joins_after_the_next_tool_result_in_a_marked_block(tmp_path: Path) -> None:
    made = bench([], tmp_path)
    made.client._replies = [
        [Do(lambda: made.agent.steer("use tabs")), *call(("echo", '{"text":"a"}'), ("echo", '{"text":"b"}'))],
        say("ok"),
    ]
    made.agent.chat("go")
    tools = [row for row in made.rows() if row["role"] == "tool"]
    assert "api_content" not in tools[0] and "use tabs" not in str(tools[1]["content"])
    sent = made.client.requests[1].messages
    assert "use tabs" in str(sent[-1]["content"]) and sent[-1]["role"] == "tool"
    assert [event.state for event in made.of(SteerChanged)] == ["accepted", "delivered"]


def test_it_is_sent_again_byte_for_byte_in_later_requests_and_after_resume(tmp_path: Path) -> None:
    made = bench([], tmp_path)
    made.client._replies = [
        [Do(lambda: made.agent.steer("use tabs")), *call(("echo", '{"text":"a"}'))],
        say("ok"),
    ]
    made.agent.chat("go")
    resumed = bench([say("x")], tmp_path, store=made.store, session_id=made.agent.session_id)
    resumed.agent.chat("next")
    before = made.client.requests[-1].messages
    assert list(resumed.client.requests[0].messages[: len(before)]) == list(before)


def test_without_a_tool_it_becomes_the_next_user_message(tmp_path: Path) -> None:
    made = bench([], tmp_path)
    made.client._replies = [[Do(lambda: made.agent.steer("and in French")), *say("hello")], say("bonjour")]
    result = made.agent.run_conversation("greet")
    assert result["final_response"] == "bonjour"
    assert [row["content"] for row in made.rows()] == ["greet", "hello", "and in French", "bonjour"]
    assert [event.text for event in made.of(TurnStarted)] == ["greet", "and in French"]
    assert len(made.of(TurnFinished)) == 2


def test_after_an_interrupt_it_is_handed_back(tmp_path: Path) -> None:
    hang = Hang()
    made = bench([[hang]], tmp_path)
    thread = start(lambda: made.agent.chat("go"))
    assert hang.reached.wait(GUARD_S)
    made.agent.steer("one")
    made.agent.steer("two")
    made.agent.interrupt()
    join(thread)
    assert made.of(SteerChanged)[-1].text == "one\n\ntwo" and made.of(SteerChanged)[-1].state == "returned"


def test_an_interrupt_during_tools_hands_it_back_instead_of_attaching_it(tmp_path: Path) -> None:
    registry = echo_tools()

    def handler(args: Any, context: Any) -> Result:
        made.agent.steer("words")
        made.agent.interrupt()
        return {"ok": True}

    registry.register("stop", schema(), handler, toolset="t")
    made = bench([call(("stop", "{}"))], tmp_path, registry=registry)
    made.agent.chat("go")
    assert made.of(SteerChanged)[-1].state == "returned" and "words" not in repr(made.rows())


def test_after_an_error_it_is_handed_back(tmp_path: Path) -> None:
    made = bench([], tmp_path)
    made.client._replies = [[Do(lambda: made.agent.steer("words")), BadRequest("no")]]
    made.agent.chat("go")
    assert [event.state for event in made.of(SteerChanged)] == ["accepted", "returned"]


def test_blank_words_are_no_steering(tmp_path: Path) -> None:
    made = bench([], tmp_path)
    made.agent.steer("  \n")
    assert made.events == []


def test_what_was_attached_can_be_detached() -> None:
    assert detach("result", attach("result", "text\nmore")) == "text\nmore"
    assert detach("result", "result") == detach("result", "") == ""
