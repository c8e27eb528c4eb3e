"""Subagents: their own sessions and budgets, the parent's dialogs and totals, and no way to outlive the call."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.scripted import (
    ENDPOINT,
    GUARD_S,
    NO_TITLE,
    Bench,
    Hang,
    ScriptedClient,
    TableGate,
    bench,
    call,
    echo_tools,
    join,
    say,
    start,
)

from hermes_tui.engine.config.settings import AuxiliarySettings, DelegationSettings
from hermes_tui.engine.runtime.delegation import GUIDANCE
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.events import ApprovalRequested, ToolFinished, ToolOutput, TurnFinished
from hermes_tui.engine.types.requests import ApprovalDecision
from hermes_tui.tools import delegate
from hermes_tui.tools.registry import ToolRegistry


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionDB]:
    with SessionDB(tmp_path / "state.db") as opened:
        yield opened


def tools() -> ToolRegistry:
    registry = echo_tools()
    registry.register(
        "delegate_task",
        delegate.SCHEMA,
        delegate.run,
        toolset="delegate",
        display=delegate.display,
        needs="delegation",
        is_bounded=False,
    )
    return registry


class Family:
    """Plays one script to the parent, and to each subagent the one whose key is in its task."""

    def __init__(self, parent: Any, **children: Any) -> None:
        self.parent = ScriptedClient(parent)
        self.children = {key: ScriptedClient(replies) for key, replies in children.items()}

    def stream(self, request: Any, control: Any) -> Iterator[Any]:
        asked = str(request.messages[1]["content"])
        client = next((self.children[key] for key in self.children if f"task {key}" in asked), self.parent)
        yield from client.stream(request, control)


def family(folder: Path, store: Any, clients: Family, **more: Any) -> Bench:
    settings = replace(
        NO_TITLE,
        auxiliary={"title": AuxiliarySettings(enabled=False)},
        delegation=more.pop("delegation", DelegationSettings()),
    )
    parts = {"client_for": lambda mode: clients}
    return bench([], folder, store=store, registry=tools(), settings=settings, parts=parts, **more)


def task(*keys: str, **more: Any) -> Any:
    args = (
        {"tasks": [{"goal": f"task {key}", **more} for key in keys]} if len(keys) > 1 else {"goal": f"task {keys[0]}"}
    )
    return call(("delegate_task", json.dumps({**args, **(more if len(keys) == 1 else {})})))


def reports(made: Bench) -> list[dict[str, Any]]:
    row = next(row for row in made.rows() if row["role"] == "tool")
    found: list[dict[str, Any]] = json.loads(str(row["content"]))["reports"]
    return found


def test_a_subagent_works_in_a_session_of_its_own_and_reports(tmp_path: Path, store: SessionDB) -> None:
    clients = Family([task("a", context="the door is blue"), say("All done.")], a=[
        call(("echo", '{"text":"x"}')), say("It is open."),
    ])  # fmt: skip
    made = family(tmp_path, store, clients)
    assert made.agent.chat("go") == "All done."
    (report,) = reports(made)
    assert (report["status"], report["summary"], report["tool_calls"]) == ("done", "It is open.", 1)
    request = clients.children["a"].requests[0]
    assert request.messages[1]["content"] == "task a\n\nthe door is blue"
    assert GUIDANCE in str(request.messages[0]["content"])
    names = [tool["function"]["name"] for tool in request.tools]  # type: ignore[index,call-overload]
    assert names == ["echo", "put", "run"], "no delegation below a subagent"
    row = store.row(report["session_id"])
    assert (row.source, row.parent_id, row.parent_reason) == ("subagent", made.agent.session_id, "delegation")
    assert [listed.id for listed in store.list_sessions()] == [made.agent.session_id]


def test_three_work_at_once_and_their_reports_come_in_order(tmp_path: Path, store: SessionDB) -> None:
    barrier = threading.Barrier(3, timeout=GUARD_S)

    class Meeting(ScriptedClient):
        def stream(self, request: Any, control: Any) -> Iterator[Any]:
            barrier.wait()
            yield from super().stream(request, control)

    clients = Family([task("a", "b", "c"), say("ok")])
    clients.children = {key: Meeting([say(f"report {key}")]) for key in "abc"}
    made = family(tmp_path, store, clients)
    made.agent.chat("go")
    assert [report["summary"] for report in reports(made)] == ["report a", "report b", "report c"]


def test_what_they_use_counts_for_the_parent(tmp_path: Path, store: SessionDB) -> None:
    clients = Family([task("a", "b"), say("ok")], a=[say("one two three")], b=[say("four")])
    made = family(tmp_path, store, clients)
    result = made.agent.run_conversation("go")
    used, cost = store.usage(made.agent.session_id)
    assert result["usage"]["output_tokens"] == used.output_tokens == 5 + 1 + 3 + 1
    assert cost == pytest.approx(result["cost_usd"]) and cost == pytest.approx(0.010)
    assert result["api_calls"] == 2, "the parent's own"
    child_usage, _ = store.usage(reports(made)[0]["session_id"])
    assert child_usage.output_tokens == 0, "spending is counted once"


def test_their_events_carry_their_name_and_the_parents_numbers(tmp_path: Path, store: SessionDB) -> None:
    clients = Family([task("a"), say("ok")], a=[call(("echo", '{"text":"x"}')), say("yes")])
    made = family(tmp_path, store, clients)
    made.agent.chat("go")
    assert [event.seq for event in made.events] == list(range(1, len(made.events) + 1))
    nested = [event for event in made.events if event.agent_id]
    assert {event.agent_id for event in nested} == {"1 task a"}
    assert len([event for event in nested if isinstance(event, TurnFinished)]) == 1
    assert not made.of(TurnFinished)[-1].agent_id, "the parent's turn ends last"
    (line,) = [event.text for event in made.of(ToolOutput) if not event.agent_id]
    assert line == "[1 task a] echo: x\n"


def test_they_ask_through_the_parents_dialog_by_name(tmp_path: Path, store: SessionDB) -> None:
    clients = Family([task("a"), say("ok")], a=[call(("run", '{"command":"rm x"}')), say("it ran")])
    made = family(tmp_path, store, clients, gate=TableGate({"rm x": "ask"}), platform="tui")
    asked = threading.Event()
    made.agent.hub.subscribe(lambda event: asked.set() if isinstance(event, ApprovalRequested) else None)
    detach = made.agent.approvals.attach_surface()
    thread = start(lambda: made.agent.chat("go"))
    assert asked.wait(GUARD_S)
    (event,) = made.of(ApprovalRequested)
    assert event.request.agent_id == "1 task a" and not event.agent_id
    made.agent.approvals.resolve(event.request.request_id, ApprovalDecision(choice="once"))
    join(thread)
    detach()
    assert reports(made)[0]["summary"] == "it ran"


def test_an_interrupt_reaches_all_of_them(tmp_path: Path, store: SessionDB) -> None:
    hang, other = Hang(), Hang()
    clients = Family([task("a", "b")], a=[[hang]], b=[[other]])
    made = family(tmp_path, store, clients)
    results: list[dict[str, Any]] = []
    thread = start(lambda: results.append(made.agent.run_conversation("go")))
    assert hang.reached.wait(GUARD_S) and other.reached.wait(GUARD_S)
    made.agent.interrupt()
    join(thread)
    assert hang.closed.wait(GUARD_S) and other.closed.wait(GUARD_S)
    assert results[0]["interrupted"]
    assert made.of(ToolFinished)[-1].outcome == "interrupted"
    for thread in threading.enumerate():
        if thread.name.startswith("subagent"):
            thread.join(GUARD_S)
            assert not thread.is_alive()


def test_a_subagent_has_its_own_budget_and_says_when_it_is_used_up(tmp_path: Path, store: SessionDB) -> None:
    clients = Family([task("a"), say("ok")])
    clients.children["a"] = ScriptedClient([*[call(("echo", '{"text":"x"}'))] * 2, say("half done")])
    made = family(tmp_path, store, clients, delegation=DelegationSettings(max_iterations=2))
    made.agent.chat("go")
    (report,) = reports(made)
    assert (report["status"], report["summary"], report["api_calls"]) == ("budget", "half done", 3)


def test_one_that_fails_does_not_harm_the_others(tmp_path: Path, store: SessionDB) -> None:
    from hermes_tui.engine.types.errors import BadRequest

    clients = Family([task("a", "b"), say("ok")], a=[[BadRequest("no")]], b=[say("fine")])
    made = family(tmp_path, store, clients)
    assert made.agent.chat("go") == "ok"
    first, second = reports(made)
    assert (first["status"], first["error"]) == ("error", "no") and second["summary"] == "fine"


def test_their_model_can_be_another_one_and_the_tools_fewer(tmp_path: Path, store: SessionDB) -> None:
    clients = Family([task("a", toolsets=["none"]), say("ok")], a=[say("yes")])
    endpoints = {"small/s": replace(ENDPOINT, provider="small", model="s")}
    made = family(tmp_path, store, clients, delegation=DelegationSettings(model="small/s"), endpoints=endpoints)
    made.agent.chat("go")
    request = clients.children["a"].requests[0]
    assert request.endpoint.model == "s" and not request.tools


def test_reports_are_cut_to_a_size_the_parent_can_read(tmp_path: Path, store: SessionDB) -> None:
    clients = Family([task("a", "b"), say("ok")], a=[say("x" * 40_000)], b=[say("y" * 40_000)])
    made = family(tmp_path, store, clients)
    made.agent.chat("go")
    assert all(12_000 < len(report["summary"]) < 12_200 for report in reports(made))
    assert "session_search reads session" in reports(made)[0]["summary"]


@pytest.mark.parametrize("args", ["{}", '{"goal":"x","tasks":[{"goal":"y"}]}'])
def test_a_call_needs_a_goal_or_tasks(args: str, tmp_path: Path, store: SessionDB) -> None:
    made = family(tmp_path, store, Family([call(("delegate_task", args)), say("ok")]))
    assert made.agent.chat("go") == "ok"
    assert made.of(ToolFinished)[0].outcome == "error"
