"""Arbitrary scripts with faults and interrupts: every invariant holds, nothing hangs."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import check_invariants
from support.scripted import GUARD_S, Bench, Do, Hang, TableGate, bench, call, echo_tools, join, say, start, think

from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.types.deltas import Finish, TextPiece, ToolCallArgs, ToolCallStart
from hermes_tui.engine.types.errors import AuthError, ContextOverflow, Overloaded, StreamBroken
from hermes_tui.engine.types.events import ToolFinished, TurnFinished, TurnStarted
from hermes_tui.tools.registry import ToolRegistry


def _raise(*_args: object) -> Any:
    raise RuntimeError("a bug of somebody else")


def tools() -> ToolRegistry:
    """The usual tools, and one that has a bug."""
    registry = echo_tools()
    registry.register("boom", {"description": "", "parameters": {"type": "object"}}, _raise, toolset="t")
    return registry


REPLIES: dict[str, Any] = {
    "text": lambda made: say("an answer"),
    "one call": lambda made: call(("echo", '{"text":"a"}'), text="Looking."),
    "many calls": lambda made: call(("echo", '{"text":"a"}'), ("run", '{"command":"ls"}'), ("put", '{"path":"x"}')),
    "same calls": lambda made: call(("echo", '{"text":"a"}'), ("echo", '{"text":"a"}')),
    "denied call": lambda made: call(("run", '{"command":"rm x"}')),
    "bad call": lambda made: call(("echo", '{"text": "a'), ("nope", "{}"), ("", "")),
    "cut call": lambda made: [ToolCallStart(0, "c1", "run"), ToolCallArgs(0, '{"comm'), Finish("length")],
    "cut text": lambda made: [TextPiece("half"), Finish("length")],
    "thoughts": lambda made: think("hm"),
    "empty": lambda made: [],
    "busy": lambda made: [TextPiece("Let"), Overloaded("busy")],
    "broken": lambda made: [*call(("echo", '{"text":"a"}'))[:2], StreamBroken("dropped")],
    "no key": lambda made: [AuthError("no")],
    "overflow": lambda made: [ContextOverflow("too long")],
    "bug": lambda made: [KeyError("x")],
    "tool bug": lambda made: call(("boom", "{}"), ("echo", '{"text":"b"}')),
    "deep call": lambda made: call(("echo", '{"text":"a","x":' + "[" * 300 + "]" * 300 + "}")),
    "listener bug": lambda made: [Do(lambda: made.agent.hub.subscribe(_raise)), *say("heard")],
    "interrupt": lambda made: [*think("so"), TextPiece("half"), Do(made.agent.interrupt), Hang()],
    "interrupt then calls": lambda made: [Do(made.agent.interrupt), *call(("echo", '{"text":"a"}'))],
    "steer": lambda made: [Do(lambda: made.agent.steer("words")), *call(("echo", '{"text":"s"}'))],
}


def check(made: Bench, turns: int) -> None:
    """What holds after any number of turns, however they went."""
    started, finished = made.of(TurnStarted), made.of(TurnFinished)
    assert len(started) == len(finished) >= turns
    assert [event.seq for event in made.events] == list(range(1, len(made.events) + 1))
    for request in made.client.requests:
        check_invariants(request.messages)
    calls = [item["id"] for row in made.rows() for item in row.get("tool_calls", ())]
    answers = [row["tool_call_id"] for row in made.rows() if row["role"] == "tool"]
    assert calls == answers and len(set(calls)) == len(calls)
    assert sorted(event.call_id for event in made.of(ToolFinished)) == sorted(calls)
    assert made.rows()[-1]["role"] == "assistant", "every turn ends with a row of the assistant"
    replay(made.store.messages(made.agent.session_id), made.registry)


@given(st.lists(st.lists(st.sampled_from(sorted(REPLIES)), min_size=1, max_size=6), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_script_of_answers_faults_and_interrupts_keeps_every_invariant(turns: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = bench([], Path(folder), registry=tools(), gate=TableGate({"rm x": "ask"}), max_iterations=8)
        for names in turns:
            made.client._replies = [*(REPLIES[name](made) for name in names), *[say("the end")] * 20]
            result = made.agent.run_conversation("go")
            assert result["exit_reason"] in ("done", "interrupted", "budget", "error")
        check(made, len(turns))


@given(st.integers(0, 60), st.sampled_from(["one call", "many calls", "text", "thoughts", "busy"]))
@settings(max_examples=60, deadline=None)
def test_an_interrupt_at_any_event_keeps_every_invariant(place: int, first: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = bench([], Path(folder))
        made.client._replies = [REPLIES[first](made), *[REPLIES["many calls"](made)], *[say("the end")] * 9]
        stop = made.agent.hub.subscribe(lambda event: made.agent.interrupt() if event.seq == place else None)
        thread = start(lambda: made.agent.run_conversation("go"))
        join(thread)
        stop()
        made.client._replies = [say("fine")]
        assert made.agent.run_conversation("next")["completed"]
        check(made, 2)


def test_no_thread_is_left_behind_after_turns_and_interrupts(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    made = bench([], tmp_path)
    for name in ("many calls", "interrupt", "busy"):
        made.client._replies = [REPLIES[name](made), *[say("end")] * 3]
        made.agent.chat("go")
    made.agent.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(GUARD_S)
        assert not thread.is_alive(), thread.name
