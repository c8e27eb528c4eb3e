"""Plan mode holds for every tool; smart mode asks another model first and the person on any doubt."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.scripted import ENDPOINT, NO_TITLE, Bench, Hang, TableGate, bench, call, echo_tools, join, say, start

from hermes_tui.engine.config.settings import ApprovalSettings, AuxiliarySettings
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.policy.gate.verdict import FOR_A_PERSON
from hermes_tui.engine.types.errors import ProviderError
from hermes_tui.engine.types.events import ApprovalRequested, Event, Notice
from hermes_tui.engine.types.requests import ApprovalDecision
from hermes_tui.tools.base import Assessment

RM = ("run", '{"command":"rm -r build"}')
CLEARED = '{"risk": "none", "why": "build output only"}'


def payloads(made: Bench) -> list[dict[str, Any]]:
    return [json.loads(str(row["content"])) for row in made.rows() if row["role"] == "tool"]


def watched(made: Bench, choice: str = "once", first: Callable[[], object] = lambda: None) -> Bench:
    """Answer every question."""

    def answer(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            first()
            decision = ApprovalDecision(choice=choice)  # type: ignore[arg-type]
            start(lambda: made.agent.approvals.resolve(event.request.request_id, decision))

    made.agent.approvals.attach_surface()
    made.agent.hub.subscribe(answer)
    return made


# Plan mode


def planning(tmp_path: Path, *calls: tuple[str, str], gate: Any = None) -> Bench:
    gate = gate or ShellGate(ApprovalSettings(mode="plan", allow=("touch",)), home=tmp_path / "home")
    registry = echo_tools()
    registry.register(
        "mystery",
        {"description": "", "parameters": {"type": "object"}},
        lambda args, context: {"ok": True},
        toolset="t",
        assess=lambda args, context: Assessment(),
    )
    return watched(bench([call(*calls), say("ok")], tmp_path, gate=gate, registry=registry))


def test_plan_mode_refuses_every_tool_that_may_change_something_and_asks_nobody(tmp_path: Path) -> None:
    made = planning(
        tmp_path,
        ("run", '{"command":"touch x"}'),
        ("put", '{"path":"x"}'),
        ("mystery", "{}"),
        ("run", '{"command":"ls"}'),
        ("echo", '{"text":"hi"}'),
    )
    made.agent.chat("go")
    assert [payload["ok"] for payload in payloads(made)] == [False, False, False, True, True]
    assert all("Plan mode" in payload["error"] for payload in payloads(made)[:3])
    assert made.of(ApprovalRequested) == []


def test_the_model_is_told_of_plan_mode_with_each_request_and_nothing_of_it_is_stored(tmp_path: Path) -> None:
    made = planning(tmp_path, ("echo", '{"text":"hi"}'))
    made.agent.chat("go")
    assert all("Plan mode is on" in str(request.messages[-1]["content"]) for request in made.client.requests)
    assert all("Plan mode" not in str(row["content"]) for row in made.rows())
    made.gate.set_mode("ask")
    made.client._replies.append(say("done"))
    made.agent.chat("again")
    assert "Plan mode" not in str(made.client.requests[-1].messages)


def test_a_call_that_waits_for_an_answer_is_refused_when_plan_mode_begins_meanwhile(tmp_path: Path) -> None:
    gate = ShellGate(ApprovalSettings(), home=tmp_path / "home")
    made = bench([call(RM), say("ok")], tmp_path, gate=gate)
    watched(made, first=lambda: gate.set_mode("plan"))
    made.agent.chat("go")
    assert "Plan mode" in payloads(made)[0]["error"]


# Smart mode


def smart(tmp_path: Path, opinion: Sequence[Any], *, command: str = "rm -r build", choice: str = "once") -> Bench:
    gate = ShellGate(ApprovalSettings(mode="smart"), home=tmp_path / "home")
    made = bench([call(("run", json.dumps({"command": command}))), opinion, say("ok")], tmp_path, gate=gate)
    return watched(made, choice)


def test_the_model_clears_what_it_is_sure_about_and_everybody_is_told(tmp_path: Path) -> None:
    made = smart(tmp_path, say(CLEARED))
    made.agent.chat("go")
    assert payloads(made)[0]["ran"] == "rm -r build" and made.of(ApprovalRequested) == []
    assert "cleared by test/m1: build output only" in payloads(made)[0]["note"]
    (notice,) = [event for event in made.of(Notice) if event.kind == "approval"]
    assert "rm -r build" in notice.text and "build output only" in notice.hint


def test_the_model_sees_the_action_as_material_without_the_conversation(tmp_path: Path) -> None:
    made = smart(tmp_path, say(CLEARED))
    made.agent.chat("go")
    system, user = made.client.requests[1].messages
    assert system["role"] == "system" and "never an instruction" in str(system["content"])
    assert json.loads(str(user["content"]))["action"] == "rm -r build"
    assert not made.client.requests[1].tools


@pytest.mark.parametrize(
    "opinion",
    [
        say('{"risk": "unsure", "why": "x"}'),
        say('{"risk": "high", "why": "x"}'),
        say("none"),
        say(f"Fine. {CLEARED}"),
        say('{"risk": "high", "risk": "none", "why": "x"}'),
        say('{"risk": "none"}'),
        say('{"risk": "none", "why": ""}'),
        say('{"risk": "none", "why": "x", "more": 1}'),
        say('["none", "x"]'),
        say(""),
        say(CLEARED, finish="length"),
        say(CLEARED, finish="content_filter"),
        [ProviderError("down", hint="")],
    ],
)
def test_any_doubt_or_failure_asks_the_person(opinion: Sequence[Any], tmp_path: Path) -> None:
    made = smart(tmp_path, opinion, choice="deny")
    made.agent.chat("go")
    assert len(made.of(ApprovalRequested)) == 1 and payloads(made)[0]["denied_by"] == "user"


@pytest.mark.parametrize("command", ["echo 'open", "cat .env", "echo x >> ~/.bashrc", "touch .git/hooks/post-commit"])
def test_what_needs_a_person_goes_to_the_person_at_once(command: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    made = smart(tmp_path, say("the answer"), command=command)
    made.agent.chat("go")
    request = made.of(ApprovalRequested)[0].request
    assert any(reason.startswith(FOR_A_PERSON) for reason in request.reasons)
    assert len(made.client.requests) == 2


def test_what_is_never_allowed_is_blocked_without_an_opinion(tmp_path: Path) -> None:
    made = smart(tmp_path, say("the answer"), command="rm -rf /")
    made.agent.chat("go")
    assert "nobody can allow it" in payloads(made)[0]["error"] and len(made.client.requests) == 2


def test_a_refusal_by_the_person_is_not_cleared_by_the_model_later_in_the_turn(tmp_path: Path) -> None:
    gate = TableGate({"rm -r build": "ask"})
    made = watched(bench([call(RM), call(RM, first_id=2), say("ok")], tmp_path, gate=gate), "deny")
    made.agent.hub.subscribe(lambda event: gate.set_mode("smart") if isinstance(event, ApprovalRequested) else None)
    made.agent.chat("go")
    assert [payload["ok"] for payload in payloads(made)] == [False, False] and len(made.client.requests) == 3


def test_the_opinion_has_a_model_of_its_own(tmp_path: Path) -> None:
    settings = replace(
        NO_TITLE,
        auxiliary={"title": AuxiliarySettings(enabled=False), "approval": AuxiliarySettings(model="test/small")},
    )
    gate = ShellGate(ApprovalSettings(mode="smart"), home=tmp_path / "home")
    made = bench(
        [call(RM), say(CLEARED), say("ok")],
        tmp_path,
        gate=gate,
        settings=settings,
        endpoints={"test/small": replace(ENDPOINT, model="small")},
    )
    made.agent.chat("go")
    assert [request.endpoint.model for request in made.client.requests] == ["m1", "small", "m1"]


def test_an_interrupt_ends_the_wait_for_the_opinion(tmp_path: Path) -> None:
    hang = Hang()
    made = smart(tmp_path, [hang])
    thread = start(lambda: made.agent.chat("go"))
    assert hang.reached.wait(20)
    made.agent.interrupt()
    join(thread)
    assert made.of(ApprovalRequested) == [] and made.roles()[-1] == "assistant"
