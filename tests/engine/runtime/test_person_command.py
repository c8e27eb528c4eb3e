"""``!command``: the session's own shell, the gate, one row for the model, no request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.scripted import Bench, bench, call, join, say, start

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.providers import anthropic_messages, chat_completions, responses
from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.events import (
    ApprovalRequested,
    Event,
    SteerChanged,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_tui.engine.types.messages import text_of, typed_text
from hermes_tui.engine.types.requests import ApprovalDecision
from hermes_tui.tools.registry import ToolRegistry, load_builtin_tools

Make = Callable[..., Bench]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Build agents with real tools, the real gate and a real database, in ``tmp_path``."""
    made: list[Bench] = []
    store = SessionDB(tmp_path / "state.db")

    def build(*replies: Any, mode: str = "ask", deny: tuple[str, ...] = (), **options: Any) -> Bench:
        gate: Any = ShellGate(ApprovalSettings(mode=mode, deny=deny), home=tmp_path)  # type: ignore[arg-type]
        options = {"store": store, "registry": load_builtin_tools(), "platform": "tui", **options}
        parts = {"env": {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}}
        made.append(bench(list(replies), tmp_path, gate=gate, parts=parts, **options))
        return made[-1]

    yield build
    for one in made:
        one.agent.close()
    store.close()


def answer(made: Bench, choice: Any) -> list[str]:
    """Answer every question; returns what was asked about."""
    asked: list[str] = []

    def sink(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            asked.append(event.request.text)
            decision = ApprovalDecision(choice=choice)
            start(lambda: made.agent.approvals.resolve(event.request.request_id, decision))

    made.agent.approvals.attach_surface()
    made.agent.hub.subscribe(sink)
    return asked


def finished(made: Bench) -> Any:
    return made.of(ToolFinished)[-1]


def test_it_is_a_turn_with_a_card_and_without_a_request(make: Make) -> None:
    made = make()
    assert made.agent.run_command("echo hello")["exit_reason"] == "done"
    started = made.of(TurnStarted)[0]
    assert (started.text, started.is_command) == ("!echo hello", True)
    assert [type(event) for event in made.events if isinstance(event, ToolStarted | ToolOutput | ToolFinished)] == [
        ToolStarted,
        ToolOutput,
        ToolFinished,
    ]
    assert finished(made).display["output"] == "hello\n" and finished(made).outcome == "ok"
    assert type(made.events[-1]) is TurnFinished and made.client.requests == []


def test_it_shares_the_shell_with_the_model(make: Make, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    made = make(call(("terminal", '{"command":"pwd; echo $WORD"}')), say("ok"))
    made.agent.run_command("cd sub; export WORD=fish")
    made.agent.chat("where are you?")
    assert finished(made).display["output"] == f"{tmp_path}/sub\nfish\n"


def test_the_next_request_holds_command_and_output_before_the_question(make: Make) -> None:
    made = make(say("It failed."))
    made.agent.run_command("echo broken; exit 3")
    made.agent.chat("why?")
    row = made.client.requests[0].messages[1]
    assert row["role"] == "user" and isinstance(row["content"], str)
    command, words, rest = row["content"].split("\n", 2)
    assert command == "!echo broken; exit 3" and "Exit code 3" in words and "The person ran this" in words
    assert rest == "broken\n\n\nwhy?"


@pytest.mark.parametrize("build", [chat_completions, responses, anthropic_messages])
def test_later_requests_repeat_it_byte_for_byte_also_after_a_resume(make: Make, build: Any) -> None:
    made = make(say("a"), say("b"))
    made.agent.run_command("echo one")
    made.agent.chat("first")
    made.agent.run_command("echo two")
    made.agent.run_command("true")
    made.agent.chat("second")
    resumed = make(say("c"), session_id=made.agent.session_id)
    resumed.agent.chat("third")
    requests = [build.build_body(request) for request in (*made.client.requests, *resumed.client.requests)]
    rows = [
        str(body.get("messages") or body["input"]).replace(", 'cache_control': {'type': 'ephemeral'}", "")
        for body in requests
    ]
    for before, after in pairwise(rows):
        assert after.startswith(before[:-1])
    assert "echo two" in rows[1] and rows[1].index("one") < rows[1].index("two")


def test_a_resumed_session_shows_the_same_cards(make: Make) -> None:
    made = make(say("a"))
    made.agent.run_command("echo one; exit 2")
    made.agent.chat("hi")
    shown = replay(made.store.messages(made.agent.session_id), made.registry)
    card = next(event for event in shown if isinstance(event, ToolFinished))
    live = finished(made)
    assert (card.display, card.outcome, card.duration_s) == (live.display, live.outcome, live.duration_s)
    assert [(event.text, event.is_command) for event in shown if isinstance(event, TurnStarted)] == [
        ("!echo one; exit 2", True),
        ("hi", False),
    ]


def test_search_title_undo_and_rewind_know_it(make: Make) -> None:
    made = make()
    made.agent.run_command("printf 'zebra%s' crossing")
    store, session_id = made.store, made.agent.session_id
    assert [hit.session.id for hit in store.search("zebracrossing").hits] == [session_id]
    assert [hit.session.id for hit in store.search("printf").hits] == [session_id]
    assert store.row(session_id).title == "!printf 'zebra%s' crossing"
    assert [typed_text(row.message) for row in store.user_messages(session_id)] == ["!printf 'zebra%s' crossing"]
    assert made.agent.conversation.undo() == "!printf 'zebra%s' crossing"
    assert made.agent.conversation.history == []


def test_exports_hold_command_and_output(make: Make) -> None:
    made = make()
    made.agent.run_command("printf '```\\n<b>'")
    text = made.store.export(made.agent.session_id, "md")
    assert "!printf" in text and "````\n```\n<b>\n````" in text
    assert "&lt;b&gt;" in made.store.export(made.agent.session_id, "html")


@pytest.mark.parametrize(("choice", "outcome", "is_there"), [("once", "ok", False), ("deny", "denied", True)])
def test_danger_asks_once_like_any(make: Make, tmp_path: Path, choice: str, outcome: str, is_there: bool) -> None:
    (tmp_path / "build").mkdir()
    made = make(say("ok"))
    asked = answer(made, choice)
    made.agent.run_command("rm -rf build")
    assert asked == ["rm -rf build"] and finished(made).outcome == outcome
    assert (tmp_path / "build").exists() is is_there
    made.agent.chat("and?")
    assert ("did not run" in str(made.client.requests[0].messages[1]["content"])) is is_there


@pytest.mark.parametrize(
    ("options", "command", "words"),
    [
        ({"mode": "off"}, "rm -rf /", "nobody can allow it"),
        ({"deny": ("git push",)}, "git push origin", "Your rules refuse it"),
        ({"mode": "plan"}, "touch x", "Plan mode is on"),
    ],
)
def test_what_nobody_may_run_is_refused_in_words_for_a_person(
    make: Make, tmp_path: Path, options: dict[str, Any], command: str, words: str
) -> None:
    made = make(**options)
    asked = answer(made, "once")
    made.agent.run_command(command)
    assert finished(made).outcome == "denied" and words in finished(made).result
    assert asked == [] and not (tmp_path / "x").exists()


def test_smart_mode_asks_the_person_and_no_model(make: Make, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    made = make(mode="smart")
    asked = answer(made, "once")
    made.agent.run_command("rm -rf build")
    assert asked == ["rm -rf build"] and made.client.requests == []


def test_an_interrupt_ends_the_command_and_what_steered_comes_back(make: Make) -> None:
    made = make(say("ok"))
    going = start(lambda: made.agent.run_command("echo begun; sleep 60"))
    made.agent.hub.subscribe(lambda event: made.agent.interrupt() if isinstance(event, ToolOutput) else None)
    join(going)
    assert finished(made).outcome == "interrupted" and made.of(TurnFinished)[-1].exit_reason == "interrupted"
    made.agent.chat("what happened?")
    assert "They stopped it." in str(made.client.requests[0].messages[1]["content"])


def test_text_that_steers_a_command_comes_back_as_a_message(make: Make) -> None:
    made = make()
    made.agent.hub.subscribe(lambda event: made.agent.steer("hurry") if isinstance(event, ToolStarted) else None)
    made.agent.run_command("true")
    states = [(event.text, event.state) for event in made.of(SteerChanged)]
    assert states == [("hurry", "accepted"), ("hurry", "returned")]
    assert made.events.index(made.of(SteerChanged)[-1]) < made.events.index(made.of(TurnFinished)[0])


def test_long_output_is_kept_cut_and_said_to_be(make: Make) -> None:
    made = make()
    made.agent.run_command("seq 1 200000")
    content = text_of(made.rows()[0])
    assert len(content) < 60_000 and "The full output is in" in content and content.endswith("200000\n")


def test_only_one_thing_runs_at_a_time(make: Make) -> None:
    made = make()
    going = start(lambda: made.agent.run_command("echo begun; sleep 60"))
    while not made.of(ToolOutput):
        going.join(0.005)
    with pytest.raises(HermesError, match="running"):
        made.agent.run_command("true")
    made.agent.interrupt()
    join(going)


def test_without_a_shell_it_says_so(make: Make) -> None:
    with pytest.raises(HermesError, match="No command can run here"):
        make(registry=ToolRegistry()).agent.run_command("ls")


def test_no_model_need_be_configured(make: Make) -> None:
    made = make(model="nobody/nothing")
    assert made.agent.run_command("echo hi")["exit_reason"] == "done"
    assert finished(made).outcome == "ok"
