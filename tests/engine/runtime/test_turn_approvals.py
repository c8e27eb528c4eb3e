"""From the gate's verdict to a run or a refusal that tells the model what happened."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.scripted import GUARD_S, Bench, TableGate, bench, call, join, say, start

from hermes_tui.engine.types.errors import ConfigError
from hermes_tui.engine.types.events import ApprovalRequested, ApprovalResolved, Event, Notice, ToolFinished
from hermes_tui.engine.types.requests import ApprovalDecision, ApprovalRequest
from hermes_tui.tools.base import Assessment, PathUse
from hermes_tui.tools.registry import ToolRegistry

RM = ("run", '{"command":"rm x"}')


def answered(made: Bench, decide: Callable[[ApprovalRequest], ApprovalDecision | None]) -> None:
    """Attach a surface that answers each request as it appears."""

    def answer(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            decision = decide(event.request)
            if decision is not None:
                start(lambda: made.agent.approvals.resolve(event.request.request_id, decision))

    made.agent.approvals.attach_surface()
    made.agent.hub.subscribe(answer)


def payloads(made: Bench) -> list[dict[str, Any]]:
    return [json.loads(str(row["content"])) for row in made.rows() if row["role"] == "tool"]


def asking(replies: list[Any], tmp_path: Path, **kwargs: Any) -> Bench:
    return bench([*replies, say("ok")], tmp_path, gate=TableGate({"rm x": "ask", "rm y": "ask"}), **kwargs)


def test_once_runs_it_and_asks_again_next_time(tmp_path: Path) -> None:
    made = asking([call(RM), call(RM, first_id=2)], tmp_path)
    answered(made, lambda request: ApprovalDecision(choice="once"))
    made.agent.chat("go")
    assert [payload["ran"] for payload in payloads(made)] == ["rm x", "rm x"]
    assert len(made.of(ApprovalRequested)) == len(made.of(ApprovalResolved)) == 2


def test_the_request_holds_all_that_a_person_needs(tmp_path: Path) -> None:
    made = asking([call(RM)], tmp_path)
    answered(made, lambda request: ApprovalDecision(choice="deny"))
    made.agent.chat("go")
    request = made.of(ApprovalRequested)[0].request
    assert (request.tool, request.action, request.text) == ("run", "command", "rm x")
    assert (request.reasons, request.always_rules) == (("rm x is dangerous",), ("rm x",))
    assert (request.cwd, request.call_ids, request.deadline_s) == (str(tmp_path), ("c1",), 0.0)


def test_session_holds_for_this_very_action_until_the_session_ends(tmp_path: Path) -> None:
    made = asking([call(RM), call(RM, first_id=2), call(("run", '{"command":"rm y"}'), first_id=3)], tmp_path)
    answered(made, lambda request: ApprovalDecision(choice="session"))
    made.agent.chat("go")
    assert [event.request.text for event in made.of(ApprovalRequested)] == ["rm x", "rm y"]


def test_always_stores_the_rules_that_were_shown(tmp_path: Path) -> None:
    made = asking([call(RM), call(RM, first_id=2)], tmp_path)
    answered(made, lambda request: ApprovalDecision(choice="always", scope="everywhere"))
    made.agent.chat("go")
    assert made.gate.remembered == [(("rm x",), "everywhere", str(tmp_path))]
    assert len(made.of(ApprovalRequested)) == 1


def test_a_refusal_reaches_the_model_with_the_persons_words(tmp_path: Path) -> None:
    made = asking([call(RM)], tmp_path)
    answered(made, lambda request: ApprovalDecision(choice="deny", message="Use trash instead."))
    made.agent.chat("go")
    payload = payloads(made)[0]
    assert payload["ok"] is False and "person refused" in payload["error"] and "Use trash instead." in payload["error"]
    assert made.of(ToolFinished)[0].outcome == "denied"


def test_a_refusal_holds_for_the_turn_and_is_asked_again_in_the_next(tmp_path: Path) -> None:
    made = asking([call(RM), call(RM, first_id=2), say("done"), call(RM, first_id=3)], tmp_path)
    answered(made, lambda request: ApprovalDecision(choice="deny"))
    made.agent.chat("go")
    assert len(made.of(ApprovalRequested)) == 1 and "before in this turn" in payloads(made)[1]["error"]
    made.agent.chat("again")
    assert len(made.of(ApprovalRequested)) == 2


def test_an_edited_command_is_judged_again_and_the_model_is_told(tmp_path: Path) -> None:
    made = asking([call(RM)], tmp_path)
    edits = iter(["rm y", "ls"])
    answered(made, lambda request: ApprovalDecision(choice="edit", message=next(edits)))
    made.agent.chat("go")
    assert [event.request.text for event in made.of(ApprovalRequested)] == ["rm x", "rm y"]
    assert payloads(made)[0]["ran"] == "ls" and "changed the command" in payloads(made)[0]["note"]


def test_the_command_is_what_is_edited_also_when_another_argument_says_the_same(tmp_path: Path) -> None:
    made = asking([call(("run", '{"description":"rm x","command":"rm x"}'))], tmp_path)
    answered(made, lambda request: ApprovalDecision(choice="edit", message="ls"))
    made.agent.chat("go")
    assert payloads(made)[0]["ran"] == "ls" and len(made.of(ApprovalRequested)) == 1


def test_a_rule_that_cannot_be_stored_costs_a_notice_not_the_call(tmp_path: Path) -> None:
    class FullDisk(TableGate):
        def remember(self, rules: Any, scope: Any = "session", cwd: str = "") -> None:
            raise ConfigError("settings.toml cannot be written.", hint="Free space.")

    made = bench([call(RM), say("ok")], tmp_path, gate=FullDisk({"rm x": "ask"}))
    answered(made, lambda request: ApprovalDecision(choice="always"))
    made.agent.chat("go")
    assert payloads(made)[0]["ran"] == "rm x"
    assert [(event.hint, "this session only" in event.text) for event in made.of(Notice)] == [("Free space.", True)]


def test_without_anybody_to_ask_it_is_denied_with_the_reason(tmp_path: Path) -> None:
    made = asking([call(RM)], tmp_path)
    made.agent.chat("go")
    assert "nobody is there" in payloads(made)[0]["error"] and made.of(ApprovalRequested) == []


def test_a_timeout_is_never_told_as_a_refusal(tmp_path: Path) -> None:
    from dataclasses import replace

    from support.scripted import NO_TITLE

    from hermes_tui.engine.config.settings import ApprovalSettings

    made = asking([call(RM)], tmp_path, settings=replace(NO_TITLE, approvals=ApprovalSettings(timeout_s=0.02)))
    made.agent.approvals.attach_surface()
    made.agent.chat("go")
    payload = payloads(made)[0]
    assert "Nobody answered" in payload["error"] and "not a refusal" in payload["error"]
    assert made.of(ApprovalResolved)[0].decision.by == "timeout"


@pytest.mark.parametrize(("verdict", "words"), [("deny", "person's rules"), ("never", "nobody can allow it")])
def test_a_rule_refuses_without_asking(verdict: Any, words: str, tmp_path: Path) -> None:
    made = bench([call(RM), say("ok")], tmp_path, gate=TableGate({"rm x": verdict}))
    answered(made, lambda request: ApprovalDecision(choice="once"))
    made.agent.chat("go")
    assert words in payloads(made)[0]["error"] and made.of(ApprovalRequested) == []


def test_an_edit_whose_diff_changed_meanwhile_is_shown_again(tmp_path: Path) -> None:
    diffs = iter(["one", "two", "two", "two"])
    registry = ToolRegistry()
    registry.register(
        "put",
        {"description": "", "parameters": {"type": "object"}},
        lambda args, context: {"ok": True},
        toolset="t",
        assess=lambda args, context: Assessment(paths=(PathUse("f"),), diff=next(diffs)),
    )
    made = bench([call(("put", "{}")), say("ok")], tmp_path, registry=registry, gate=TableGate({"f": "ask"}))
    answered(made, lambda request: ApprovalDecision(choice="once"))
    made.agent.chat("go")
    assert [event.request.diff for event in made.of(ApprovalRequested)] == ["one", "two"]
    assert payloads(made)[0]["ok"]


def test_a_tool_that_says_nothing_about_its_effects_asks_unless_the_mode_is_off(tmp_path: Path) -> None:
    registry = ToolRegistry()
    registry.register(
        "mystery",
        {"description": "", "parameters": {"type": "object"}},
        lambda args, context: {"ok": True},
        toolset="t",
        assess=lambda args, context: Assessment(),
    )
    made = bench([call(("mystery", "{}")), say("a"), call(("mystery", "{}")), say("b")], tmp_path, registry=registry)
    made.agent.chat("go")
    made.gate.set_mode("off")
    made.agent.chat("go")
    assert [payload["ok"] for payload in payloads(made)] == [False, True]


def test_parallel_asks_are_bound_to_their_own_answers(tmp_path: Path) -> None:
    gate = TableGate(dict.fromkeys(("a", "b", "c"), "ask"))
    made = bench([call(*(("put", f'{{"path":"{n}"}}') for n in "abc")), say("ok")], tmp_path, gate=gate)
    waiting: dict[str, str] = {}
    ready = threading.Event()

    def collect(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            waiting[event.request.text] = event.request.request_id
            if len(waiting) == 3:
                ready.set()

    made.agent.approvals.attach_surface()
    made.agent.hub.subscribe(collect)
    thread = start(lambda: made.agent.chat("go"))
    assert ready.wait(GUARD_S)
    for name, choice in (("c", "once"), ("a", "deny"), ("b", "once")):
        assert made.agent.approvals.resolve(waiting[name], ApprovalDecision(choice=choice))  # type: ignore[arg-type]
    join(thread)
    assert [payload["ok"] for payload in payloads(made)] == [False, True, True]
