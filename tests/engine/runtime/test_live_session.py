"""The session as a front end sees it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from support.scripted import GUARD_S, Hang, TableGate, bench, call, join, say, start

from hermes_tui.engine.api import AgentSession
from hermes_tui.engine.runtime.session import LiveSession
from hermes_tui.engine.types.errors import ConfigError, HermesError
from hermes_tui.engine.types.events import ApprovalRequested, Event, ModelChanged, SessionOpened, SessionTitled
from hermes_tui.engine.types.requests import ApprovalDecision, ClarifyAnswer
from hermes_tui.engine.types.sessions import SessionState


def live(replies: list[Any], tmp_path: Path, platform: str = "tui", **kwargs: Any) -> tuple[Any, LiveSession]:
    made = bench(replies, tmp_path, platform=platform, **kwargs)
    state = SessionState(session_id="", title="T", model="m1", provider="test", cwd=str(tmp_path))
    return made, LiveSession(made.agent, made.store, made.registry, made.gate, state)


def test_it_is_what_a_front_end_expects(tmp_path: Path) -> None:
    session: AgentSession = live([], tmp_path)[1]
    assert session.state.title == "T"


def test_the_first_subscriber_hears_that_it_is_open_and_later_ones_do_not(tmp_path: Path) -> None:
    _, session = live([], tmp_path)
    first: list[Event] = []
    second: list[Event] = []
    stop = session.subscribe(first.append)
    session.subscribe(second.append)
    assert [type(event) for event in first] == [SessionOpened] and second == []
    stop()
    session.rename("New")
    assert [type(event) for event in second] == [SessionTitled] and len(first) == 1


def test_a_resumed_session_says_what_the_model_gets(tmp_path: Path) -> None:
    first, _ = live([say("a")], tmp_path)
    first.agent.chat("one")
    made = bench([], tmp_path, platform="tui", store=first.store, session_id=first.agent.session_id)
    state = SessionState(session_id="", title="T", compaction_count=3)
    session = LiveSession(made.agent, made.store, made.registry, made.gate, state, resumed=True)
    heard: list[Event] = []
    opened = threading.Event()
    session.subscribe(lambda event: (heard.append(event), opened.set()))  # type: ignore[arg-type, return-value, func-returns-value]
    assert opened.wait(GUARD_S)
    assert isinstance(heard[0], SessionOpened) and (heard[0].message_count, heard[0].resumed) == (2, True)
    assert heard[0].context_tokens > 0 and heard[0].compaction_count == 3


def test_the_state_follows_the_turn(tmp_path: Path) -> None:
    hang = Hang()
    _, session = live([say("ok"), [hang]], tmp_path)
    result = session.run_turn("hi")
    state = session.state
    assert (state.session_id, state.running) == (result["session_id"], False)
    assert state.cost_usd and state.context_tokens == 11 and state.context_window == 128_000
    thread = start(lambda: session.run_turn("more"))
    assert hang.reached.wait(GUARD_S) and session.state.running
    session.interrupt()
    join(thread)
    assert not session.state.running


def test_approvals_are_answered_through_it(tmp_path: Path) -> None:
    made, session = live([call(("run", '{"command":"rm"}')), say("ok")], tmp_path, gate=TableGate({"rm": "ask"}))

    def answer(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            start(lambda: session.answer_approval(event.request.request_id, ApprovalDecision(choice="once")))

    session.subscribe(answer)
    session.run_turn("go")
    assert '"ran"' in str(made.rows()[2]["content"])
    assert not session.answer_clarify("none", ClarifyAnswer(text=""))


@pytest.mark.parametrize("platform", ["run", "library", ""])
def test_a_log_that_listens_without_a_screen_does_not_count_as_a_person(platform: str, tmp_path: Path) -> None:
    gate = TableGate({"rm": "ask"})
    made, session = live([call(("run", '{"command":"rm"}')), say("ok")], tmp_path, platform=platform, gate=gate)
    session.subscribe(lambda event: None)
    session.run_turn("go")
    assert "nobody is there" in str(made.rows()[2]["content"])


def test_history_pages_backwards_and_replays(tmp_path: Path) -> None:
    _, session = live([say("a"), say("b")], tmp_path)
    session.run_turn("one")
    session.run_turn("two")
    page = session.history(limit=3)
    assert [row.message["content"] for row in page] == ["a", "two", "b"]
    assert [row.message["content"] for row in session.history(page[0].id)] == ["one"]
    assert session.replay(page)


def test_the_model_and_the_approval_mode_can_be_changed(tmp_path: Path) -> None:
    from dataclasses import replace

    from support.scripted import ENDPOINT

    made, session = live([say("x")], tmp_path, endpoints={"other/m2": replace(ENDPOINT, provider="other", model="m2")})
    session.set_model("other/m2")
    session.set_approval_mode("strict")
    assert (session.state.model, session.state.provider, session.state.approval_mode) == ("m2", "other", "strict")
    assert made.of(ModelChanged)
    with pytest.raises(ConfigError):
        session.set_model("nowhere/x")
    session.run_turn("hi")
    assert made.client.requests[0].endpoint.model == "m2"


def test_undo_takes_back_the_last_exchange_from_store_and_requests(tmp_path: Path) -> None:
    made, session = live([say("a"), say("b"), say("c")], tmp_path)
    session.run_turn("one")
    session.run_turn("two")
    assert session.undo().text == "two"
    session.run_turn("three")
    sent = [message["content"] for message in made.client.requests[-1].messages[1:]]
    assert sent == ["one", "a", "three"]


def test_undo_is_refused_while_a_turn_runs(tmp_path: Path) -> None:
    hang = Hang()
    _, session = live([[hang]], tmp_path)
    thread = start(lambda: session.run_turn("hi"))
    assert hang.reached.wait(GUARD_S)
    with pytest.raises(HermesError, match="running"):
        session.undo()
    session.close()
    join(thread)


def test_a_text_only_model_gets_a_note_in_place_of_an_image_and_the_store_keeps_it(tmp_path: Path) -> None:
    from dataclasses import replace

    from support.scripted import ENDPOINT

    endpoints = {"test/m1": replace(ENDPOINT, quirks=frozenset({"no_images"}))}
    made, session = live([say("ok")], tmp_path, endpoints=endpoints)
    (tmp_path / "cat.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    session.run_turn("look", [str(tmp_path / "cat.png")])
    assert "text only" in str(made.client.requests[0].messages[-1]["content"])
    assert made.rows()[0]["content"][1]["type"] == "image_url"
