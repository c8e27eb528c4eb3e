"""Interrupts at every place a turn can wait: it ends at once, and the history stays valid."""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.ctrl_c import press_ctrl_c
from support.scripted import GUARD_S, Bench, Do, Hang, Step, TableGate, bench, call, echo_tools, join, say, start, think

from hermes_tui.engine.runtime.interrupt import CancelToken
from hermes_tui.engine.types.deltas import TextPiece, ToolCallArgs, ToolCallStart
from hermes_tui.engine.types.errors import Overloaded
from hermes_tui.engine.types.events import (
    ApprovalRequested,
    ApprovalResolved,
    ClarifyRequested,
    Event,
    SteerChanged,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolOutput,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from hermes_tui.tools.base import Result
from hermes_tui.tools.registry import ToolRegistry, load_builtin_tools


def interrupted(made: Bench, when: Callable[[], object]) -> dict[str, Any]:
    """Run a turn on a thread, interrupt it once ``when`` returns, and return its result."""
    results: list[dict[str, Any]] = []
    thread = start(lambda: results.append(made.agent.run_conversation("go")))
    when()
    made.agent.interrupt("user")
    join(thread)
    return results[0]


def check(made: Bench, result: Mapping[str, Any]) -> None:
    """What holds after every interrupt."""
    assert result["exit_reason"] == "interrupted" and result["interrupted"] and not result["errors"]
    tail = [type(event) for event in made.events[-2:]]
    assert tail == [TurnInterrupted, TurnFinished]
    assert made.of(TurnInterrupted)[0].reason == "user"
    calls = [call["id"] for row in made.rows() for call in row.get("tool_calls", ())]
    answers = [row["tool_call_id"] for row in made.rows() if row["role"] == "tool"]
    assert calls == answers, "exactly one result per call, in call order"
    assert made.rows()[-1]["finish_reason"] == "interrupted"
    made.client._replies = [say("fine")]
    assert made.agent.run_conversation("next")["completed"]


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Whatever was interrupted, nothing of it runs on."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(GUARD_S)
        assert not thread.is_alive(), f"{thread.name} is left"


PREFIXES: dict[str, list[Step]] = {
    "before the first byte": [],
    "mid text": [TextPiece("Hello wor")],
    "mid reasoning": think("let me"),
    "mid tool call": [TextPiece("I will "), ToolCallStart(0, "c1", "echo"), ToolCallArgs(0, '{"te')],
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES.keys())
def test_during_a_request_the_connection_is_closed_and_partial_text_kept(prefix: list[Step], tmp_path: Path) -> None:
    hang = Hang()
    made = bench([[*prefix, hang]], tmp_path)
    result = interrupted(made, lambda: hang.reached.wait(GUARD_S))
    assert hang.closed.wait(GUARD_S)
    text = "".join(step.text for step in prefix if isinstance(step, TextPiece))
    row = made.rows()[-1]
    assert row.get("partial", "") == text == result["final_response"] and row["content"] == "[interrupted]"
    check(made, result)
    if text:
        assert all(text not in str(message["content"]) for message in made.client.requests[-1].messages)


def test_a_provider_that_ignores_the_close_does_not_hold_the_turn_and_cannot_emit_later(tmp_path: Path) -> None:
    reached, release, done = threading.Event(), threading.Event(), threading.Event()

    class Stuck:
        def stream(self, request: Any, control: Any) -> Any:
            reached.set()
            release.wait(GUARD_S)
            yield TextPiece("too late")
            done.set()

    stuck = Stuck()
    made = bench([], tmp_path, parts={"client_for": lambda mode: stuck})
    result = interrupted(made, lambda: reached.wait(GUARD_S))
    assert result["interrupted"]
    release.set()
    assert not done.wait(0.05) and made.of(TextDelta) == []


def test_during_a_retry_wait(tmp_path: Path) -> None:
    waiting = threading.Event()

    def sleep(token: CancelToken, seconds: float) -> bool:
        waiting.set()
        return token.wait(GUARD_S)

    made = bench([[Overloaded("busy")]], tmp_path, parts={"sleep": sleep})
    check(made, interrupted(made, lambda: waiting.wait(GUARD_S)))


def _registry(handler: Callable[[Any, Any], Result], *, parallel: bool = False) -> ToolRegistry:
    registry = echo_tools()
    registry.register(
        "slow",
        {"description": "", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        handler,
        toolset="t",
        parallel=parallel,
    )
    return registry


def test_while_a_tool_runs_its_hooks_run_and_it_may_hand_over_what_it_has(tmp_path: Path) -> None:
    running, killed = threading.Event(), threading.Event()

    def handler(args: Any, context: Any) -> Result:
        context.cancel.on_cancel(killed.set)
        running.set()
        assert killed.wait(GUARD_S)
        return {"ok": False, "error": "killed", "output": "half"}

    script = [call(("slow", "{}"), ("echo", '{"text":"never"}'))]
    made = bench(script, tmp_path, registry=_registry(handler))
    result = interrupted(made, lambda: running.wait(GUARD_S))
    results = [str(row["content"]) for row in made.rows() if row["role"] == "tool"]
    assert '"half"' in results[0] and "before this call ran" in results[1]
    assert [event.outcome for event in made.of(ToolFinished)] == ["interrupted", "interrupted"]
    check(made, result)


@pytest.mark.parametrize("parallel", [False, True])
def test_a_tool_that_ignores_the_interrupt_is_left_behind_and_not_heard_again(parallel: bool, tmp_path: Path) -> None:
    running, release, over = threading.Semaphore(0), threading.Event(), threading.Semaphore(0)

    def handler(args: Any, context: Any) -> Result:
        running.release()
        release.wait(GUARD_S)
        context.emit_output("ghost")
        over.release()
        return {"ok": True}

    made = bench(
        [call(("slow", '{"n":1}'), ("slow", '{"n":2}'))], tmp_path, registry=_registry(handler, parallel=parallel)
    )
    started = 2 if parallel else 1
    result = interrupted(made, lambda: [running.acquire(timeout=GUARD_S) for _ in range(started)])
    count = len(made.events)
    release.set()
    assert all(over.acquire(timeout=GUARD_S) for _ in range(started))
    assert len(made.events) == count
    assert "outcome is unknown" in str(made.rows()[2]["content"])
    check(made, result)


def _seen(made: Bench, kind: type[Event]) -> Callable[[], bool]:
    flag = threading.Event()
    made.agent.hub.subscribe(lambda event: flag.set() if isinstance(event, kind) else None)
    return lambda: flag.wait(GUARD_S)


def test_while_an_approval_waits_it_is_denied_by_interrupt(tmp_path: Path) -> None:
    made = bench([call(("run", '{"command":"rm x"}'))], tmp_path, gate=TableGate({"rm x": "ask"}))
    made.agent.approvals.attach_surface()
    result = interrupted(made, _seen(made, ApprovalRequested))
    decision = made.of(ApprovalResolved)[0].decision
    assert (decision.choice, decision.by) == ("deny", "interrupt")
    check(made, result)


def test_while_a_question_waits(tmp_path: Path) -> None:
    registry = echo_tools()
    registry.register(
        "clarify",
        {"description": "", "parameters": {"type": "object"}},
        lambda args, context: {"ok": True, "answer": context.ask("Which?", ["a", "b"])},
        toolset="t",
        interactive=True,
    )
    made = bench([call(("clarify", "{}"))], tmp_path, registry=registry)
    made.agent.approvals.attach_surface()
    check(made, interrupted(made, _seen(made, ClarifyRequested)))


BEGINNINGS: dict[str, Callable[[Bench, Callable[[], None]], None]] = {
    "while the past is read": lambda made, stop: _before(made.store, "history", stop),
    "while the session is made": lambda made, stop: _before(made.store, "create", stop),
    "while the message is stored": lambda made, stop: _before(made.store, "append", stop),
    "while the prompt is built": lambda made, stop: _before(made.store, "set_system_prompt", stop),
    "as the turn is announced": lambda made, stop: _on(made, TurnStarted, stop),
    "as the request is announced": lambda made, stop: _on(made, StepStarted, stop),
}
"""Every wait between the call and the first request."""


def _before(store: Any, name: str, stop: Callable[[], None]) -> None:
    inner = getattr(store, name)

    def stopped(*args: Any, **options: Any) -> Any:
        setattr(store, name, inner)
        stop()
        return inner(*args, **options)

    setattr(store, name, stopped)


def _on(made: Bench, kind: type[Event], stop: Callable[[], None]) -> None:
    made.agent.hub.subscribe(lambda event: stop() if isinstance(event, kind) else None)


@pytest.mark.parametrize("prepare", BEGINNINGS.values(), ids=BEGINNINGS.keys())
def test_before_the_first_request_nothing_is_sent(
    prepare: Callable[[Bench, Callable[[], None]], None], tmp_path: Path
) -> None:
    made = bench([say("never")], tmp_path)
    made.store.create(session_id="s")
    if prepare is BEGINNINGS["while the past is read"]:
        made = bench([say("never")], tmp_path, store=made.store, session_id="s")
    pressed: list[None] = []

    def stop() -> None:
        if not pressed:
            pressed.append(made.agent.interrupt("user"))

    prepare(made, stop)
    result = made.agent.run_conversation("go")
    assert pressed and made.of(TextDelta) == []
    assert made.roles() == ["user", "assistant"] and made.rows()[0]["content"] == "go"
    check(made, result)


def test_between_two_turns_of_one_call_what_was_added_comes_back(tmp_path: Path) -> None:
    made = bench([[Do(lambda: made.agent.steer("and this")), *say("done")], say("never")], tmp_path)
    _on(made, TurnFinished, made.agent.interrupt)
    result = made.agent.run_conversation("go")
    assert result["completed"] and len(made.client.requests) == 1
    assert [(event.text, event.state) for event in made.of(SteerChanged)] == [
        ("and this", "accepted"),
        ("and this", "returned"),
    ]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux says that a process ended")
def test_the_processes_of_a_command_end_with_the_turn(tmp_path: Path) -> None:
    command = "sleep 300 & echo $!; sleep 300 | cat"
    script = [call(("terminal", json.dumps({"command": command})))]
    made = bench(script, tmp_path, registry=load_builtin_tools(), parts={"env": dict(os.environ)})
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    made.agent.hub.subscribe(lambda event: said.put(event.text) if isinstance(event, ToolOutput) else None)
    children: list[int] = []
    result = interrupted(made, lambda: children.append(os.pidfd_open(int(said.get(timeout=GUARD_S)))))
    check(made, result)
    made.agent.close()
    for child in children:
        assert select.select([child], [], [], GUARD_S)[0], "the process runs on"
        os.close(child)


def test_an_interrupt_without_a_turn_does_nothing(tmp_path: Path) -> None:
    made = bench([say("ok")], tmp_path)
    made.agent.interrupt()
    assert made.agent.chat("hi") == "ok"


def test_closing_the_agent_stops_its_turn_and_its_session_objects(tmp_path: Path) -> None:
    hang, closed = Hang(), threading.Event()

    class Shell:
        def close(self) -> None:
            closed.set()

    registry = echo_tools()

    def handler(args: Any, context: Any) -> Result:
        assert context.state.get("shell", Shell) is context.state.get("shell", Shell)
        return {"ok": True}

    registry.register("sh", {"description": "", "parameters": {"type": "object"}}, handler, toolset="t")
    made = bench([call(("sh", "{}")), [hang]], tmp_path, registry=registry)
    thread = start(lambda: made.agent.chat("go"))
    assert hang.reached.wait(GUARD_S)
    made.agent.close()
    join(thread)
    assert closed.is_set()


def test_a_stalled_stream_is_closed_and_retried(tmp_path: Path) -> None:
    from dataclasses import replace

    from support.scripted import ENDPOINT

    hang = Hang()
    made = bench([[hang], say("ok")], tmp_path, endpoints={"test/m1": replace(ENDPOINT, timeout_s=0.05)})
    assert made.agent.chat("hi") == "ok"
    assert hang.closed.is_set()


@pytest.fixture
def ctrl_c_raises() -> Iterator[None]:
    """Python's own handling of SIGINT, also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_raises")
def test_ctrl_c_in_a_script_closes_the_connection(tmp_path: Path) -> None:
    hang = Hang()
    press = Do(lambda: press_ctrl_c(hang.closed.wait))
    made = bench([[TextPiece("Hello"), press, hang], say("fine")], tmp_path)
    with pytest.raises(KeyboardInterrupt):
        made.agent.run_conversation("go")
    assert hang.closed.wait(GUARD_S) and not made.agent.is_running
    assert made.rows()[-1]["content"] == "[interrupted]" and type(made.events[-1]) is TurnFinished
    assert made.agent.run_conversation("next")["completed"]


@pytest.mark.usefixtures("ctrl_c_raises")
def test_ctrl_c_in_a_script_stops_the_tool_that_runs(tmp_path: Path) -> None:
    stopped = threading.Event()

    def handler(args: Mapping[str, Any], context: Any) -> Result:
        press_ctrl_c(stopped.wait)
        if context.cancel.wait(GUARD_S):
            stopped.set()
        return {"ok": True}

    registry = ToolRegistry()
    registry.register("t", echo_tools().get("echo").schema, handler, toolset="t")  # type: ignore[union-attr]
    made = bench([call(("t", '{"text": "a"}')), say("fine")], tmp_path, registry=registry)
    with pytest.raises(KeyboardInterrupt):
        made.agent.run_conversation("go")
    assert stopped.wait(GUARD_S)
    assert made.roles() == ["user", "assistant", "tool", "assistant"], "no call is left without its result"
    assert made.agent.run_conversation("next")["completed"]
