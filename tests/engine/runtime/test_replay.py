"""A stored session shows what its live turns showed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.scripted import Bench, Do, Hang, bench, call, echo_tools, say, think

from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.types import events as ev
from hermes_tui.engine.types.deltas import TextPiece
from hermes_tui.engine.types.errors import BadRequest, Overloaded
from hermes_tui.engine.types.sessions import StoredMessage


def entries(events: Sequence[ev.Event]) -> list[list[Any]]:
    """Reduce events to what a screen shows: one list per entry."""
    shown: list[list[Any]] = []
    tools: dict[str, list[Any]] = {}
    ids: dict[str, Any] = {}
    step_start = 0

    def add(kind: str, text: str) -> None:
        if shown and shown[-1][0] == kind and len(shown) > step_start:
            shown[-1][1] += text
        else:
            shown.append([kind, text])

    def tool(call_id: str, name: str) -> list[Any]:
        if call_id not in tools:
            tools[call_id] = ["tool", call_id, name, {}, "", "", {}]
            shown.append(tools[call_id])
        return tools[call_id]

    for event in events:
        match event:
            case ev.TurnStarted(text=text):
                shown.append(["user", text])
            case ev.StepStarted():
                step_start = len(shown)
            case ev.TextDelta(text=text):
                add("text", text)
            case ev.ReasoningDelta(text=text):
                add("reasoning", text)
            case ev.ToolDrafted(call_id=call_id, name=name):
                tool(call_id, name)
            case ev.ToolStarted(call_id=call_id, name=name, args=args):
                tool(call_id, name)[3] = dict(args)
            case ev.ToolFinished(call_id=call_id, name=name, outcome=outcome, result=result, display=display):
                tool(call_id, name)[4:] = [outcome, result, dict(display)]
            case ev.RequestRetrying(withdrawn=True):
                del shown[step_start:]
            case ev.SteerChanged(text=text, state="delivered"):
                shown.append(["steer", text])
            case ev.TurnInterrupted():
                shown.append(["interrupted"])
            case ev.TurnFinished(exit_reason=reason):
                shown.append(["end", reason])
            case ev.MessageCommitted(message_id=message_id, message=message):
                ids[f"{message_id}"] = message
    return [*shown, [ids]]


def _steer(made: Bench) -> None:
    made.client._replies = [[Do(lambda: made.agent.steer("use tabs")), *call(("echo", '{"text":"a"}'))], say("ok")]


def _interrupt(made: Bench) -> None:
    made.client._replies = [[*think("so"), TextPiece("half an ans"), Do(made.agent.interrupt), Hang()]]


SCRIPTS: dict[str, tuple[list[Any], Callable[[Bench], None]]] = {
    "plain": ([say("hello there")], lambda made: None),
    "thinks and uses tools": (
        [
            [*think("hm"), *call(("echo", '{"text":"a"}'), ("run", '{"command":"ls"}'), text="Looking.")],
            [*think("so"), *say("done now")],
        ],
        lambda made: None,
    ),
    "failing and unknown tools": (
        [call(("nope", "{}"), ("echo", '{"times":"x"}')), say("ok")],
        lambda made: None,
    ),
    "retry": ([[TextPiece("wrong"), Overloaded("busy")], say("right")], lambda made: None),
    "steered": ([], _steer),
    "interrupted": ([], _interrupt),
    "failed": ([[BadRequest("no")]], lambda made: None),
}


@pytest.mark.parametrize(("replies", "prepare"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_replayed_rows_show_what_the_live_turn_showed(
    replies: list[Any], prepare: Callable[[Bench], None], tmp_path: Path
) -> None:
    made = bench(replies, tmp_path)
    prepare(made)
    made.agent.chat("go")
    made.client._replies = [say("a second turn")]
    made.agent.chat("again")
    replayed = replay(made.store.messages(made.agent.session_id), made.registry)
    assert entries(replayed) == entries(made.events)


def test_a_call_without_a_stored_result_is_shown_as_interrupted() -> None:
    rows: list[Any] = [
        {"role": "user", "content": "ls"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "echo", "arguments": "{}"}}],
        },
        {"role": "user", "content": "hello?"},
    ]
    stored = [StoredMessage(id=i, message=row) for i, row in enumerate(rows)]
    finished = [event for event in replay(stored, echo_tools()) if isinstance(event, ev.ToolFinished)]
    assert [(event.call_id, event.outcome) for event in finished] == [("c1", "interrupted")]


def test_damaged_rows_are_shown_as_well_as_they_can_be() -> None:
    rows: list[Any] = [
        {"role": "tool", "content": "not json", "tool_call_id": "zz"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "run", "arguments": "None"}}],
        },
        {"role": "tool", "content": json.dumps([1]), "tool_call_id": "c"},
        {"role": "system", "content": "s"},
    ]
    events = replay([StoredMessage(id=i, message=row) for i, row in enumerate(rows)], echo_tools())
    assert [type(event) for event in events if isinstance(event, ev.ToolFinished)] == [ev.ToolFinished] * 2


def test_replay_is_pure(tmp_path: Path) -> None:
    made = bench([call(("echo", '{"text":"a"}')), say("ok")], tmp_path)
    made.agent.chat("go")
    rows = made.store.messages(made.agent.session_id)
    before = repr(rows)
    assert replay(rows, made.registry) == replay(rows, made.registry) and repr(rows) == before
