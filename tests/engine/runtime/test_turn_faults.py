"""An internal error anywhere in a turn: the turn still ends, says so, and leaves a history the next one can use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.histories import check_invariants
from support.scripted import Bench, MemoryStore, bench, call, echo_tools, say

from hermes_tui.engine.context.window import OUTCOME_UNKNOWN
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import StoreReadOnly
from hermes_tui.engine.types.events import Notice, TurnFinished
from hermes_tui.engine.types.messages import Message


class Fault(Exception):
    """Not one of ours."""


def _raise(*_args: Any, **_options: Any) -> Any:
    raise Fault("sk-ant-0123456789abcdef0123 lies about")


class BadEngine:
    """A context engine with a bug."""

    is_due = shorten = _raise


def _break_store(name: str) -> Callable[[Bench], None]:
    def prepare(made: Bench) -> None:
        setattr(made.store, name, _raise)

    return prepare


def _break_third_row(made: Bench) -> None:
    made.store.fail_after, made.store.failure = 2, Fault("row 3")


def _nothing(made: Bench) -> None:
    pass


PLACES: dict[str, tuple[dict[str, Any], Callable[[Bench], None]]] = {
    "the model cannot be looked up": ({"resolve": _raise}, _nothing),
    "the price cannot be told": ({"cost_usd": _raise}, _nothing),
    "the adapter cannot be loaded": ({"client_for": _raise}, _nothing),
    "the context engine fails": ({"context_engine": BadEngine()}, _nothing),
    "the prompt cannot be kept": ({}, _break_store("set_system_prompt")),
    "usage cannot be kept": ({}, _break_store("add_usage")),
    "the row cannot be made": ({}, _break_store("create")),
    "a result cannot be kept": ({}, _break_third_row),
}


@pytest.mark.parametrize(("parts", "prepare"), PLACES.values(), ids=PLACES.keys())
def test_the_turn_ends_says_so_and_keeps_the_traceback(
    parts: dict[str, Any], prepare: Callable[[Bench], None], tmp_path: Path
) -> None:
    crashes: list[BaseException] = []

    def report(error: BaseException) -> str:
        crashes.append(error)
        return "/logs/crash.log"

    script = [call(("echo", '{"text":"a"}')), say("ok")]
    made = bench(script, tmp_path, parts={**parts, "report_crash": report})
    prepare(made)
    result = made.agent.run_conversation("go")
    assert (result["exit_reason"], result["completed"]) == ("error", False)
    assert type(made.events[-1]) is TurnFinished and not made.agent.is_running
    notice = made.of(Notice)[0]
    assert notice.level == "error" and "Fault" in notice.text and "/logs/crash.log" in notice.hint
    assert all(isinstance(error, Fault) for error in crashes) and crashes
    assert "sk-ant" not in notice.text
    made.store.failure = None
    healthy = bench([say("fine")], tmp_path, store=_healed(made.store), session_id=_session(made))
    assert healthy.agent.run_conversation("next")["completed"]
    check_invariants(healthy.client.requests[0].messages)


def _session(made: Bench) -> str:
    return made.agent.session_id if made.agent.session_id in made.store.rows else ""


def _healed(store: MemoryStore) -> MemoryStore:
    whole = MemoryStore()
    whole.rows, whole.prompts, whole._next_id = store.rows, store.prompts, store._next_id
    return whole


def test_calls_that_were_being_run_get_their_result_when_the_turn_breaks(tmp_path: Path) -> None:
    made = bench([call(("echo", '{"text":"a"}'), ("echo", '{"text":"b"}'))], tmp_path)
    append, failed = made.store.append, []

    def fail_once(session_id: str, message: Message) -> int:
        if message["role"] == "tool" and not failed:
            failed.append(message)
            raise Fault("once")
        return append(session_id, message)

    made.store.append = fail_once  # type: ignore[method-assign]
    assert made.agent.run_conversation("go")["exit_reason"] == "error"
    assert made.roles() == ["user", "assistant", "tool", "tool", "assistant"]
    assert [row["content"] for row in made.rows()[2:4]] == [OUTCOME_UNKNOWN] * 2
    assert all(row["synthetic"] for row in made.rows()[2:])


def test_calls_of_a_process_that_was_killed_are_answered_for_good_when_its_session_goes_on(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "state.db") as db:
        session = db.create()
        db.append_many(session, [{"role": "user", "content": "write"}, _calls("c1", "c2", "c3"), _result("c2", "ok")])
        made = bench([say("It may have been written.")], tmp_path, store=db, session_id=session)
        assert made.agent.run_conversation("continue")["completed"]
        rows = [row.message for row in db.history(session)]
        assert [row["role"] for row in rows] == ["user", "assistant", "tool", "tool", "tool", "user", "assistant"]
        results = {row["tool_call_id"]: row["content"] for row in rows if row["role"] == "tool"}
        assert results == {"c1": OUTCOME_UNKNOWN, "c2": "ok", "c3": OUTCOME_UNKNOWN}
        sent = made.client.requests[0].messages
        assert [row.get("tool_call_id") for row in sent[3:6]] == ["c1", "c2", "c3"]
        again = bench([say("yes")], tmp_path, store=db, session_id=session)
        again.agent.chat("and?")
        assert len(db.history(session)) == len(rows) + 2, "nothing is left to mend"
        assert list(again.client.requests[0].messages[: len(sent)]) == list(sent)


def _calls(*ids: str) -> Message:
    function = {"name": "put", "arguments": '{"path": "a"}'}
    calls = [{"id": name, "type": "function", "function": function} for name in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}  # type: ignore[typeddict-item]


def _result(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "tool_name": "put", "content": text}


PAST: list[Message] = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]


def test_a_history_that_cannot_be_taken_over_leaves_nothing_behind_and_the_conversation_as_it_was(
    tmp_path: Path,
) -> None:
    made = bench([say("one"), say("two")], tmp_path)
    made.agent.chat("hello")
    session, rows = made.agent.session_id, made.rows()
    made.store.fail_after, made.store.failure = 3, StoreReadOnly("The disk is full.", hint="Make room.")
    result = made.agent.run_conversation("next", conversation_history=PAST)
    assert result["exit_reason"] == "error" and "disk is full" in result["errors"][0]
    assert (made.agent.session_id, made.rows(), list(made.store.rows)) == (session, rows, [session])
    made.store.failure = None
    assert made.agent.run_conversation("go on")["completed"]
    assert [row["content"] for row in made.rows()] == ["hello", "one", "go on", "two"]


def test_a_history_is_taken_over_in_one_transaction(tmp_path: Path) -> None:
    bad: Any = {"role": "user", "content": "x", "tool_calls": [object()]}
    with SessionDB(tmp_path / "state.db") as db:
        made = bench([say("ok")], tmp_path, store=db)
        assert made.agent.run_conversation("go", conversation_history=[*PAST, bad])["exit_reason"] == "error"
        assert db.list_sessions() == []
        assert made.agent.run_conversation("go", conversation_history=PAST)["completed"]
        assert [row.message["content"] for row in db.history(made.agent.session_id)] == ["a", "b", "go", "ok"]


def test_a_tool_sees_the_session_that_a_history_began(tmp_path: Path) -> None:
    seen: list[str] = []
    registry = echo_tools()
    registry.register(
        "where",
        {"description": "", "parameters": {"type": "object"}},
        lambda args, context: seen.append(context.session_id) or {"ok": True},  # type: ignore[func-returns-value]
        toolset="t",
    )
    made = bench([say("one"), call(("where", "{}")), say("two")], tmp_path, registry=registry)
    made.agent.chat("hello")
    made.agent.run_conversation("next", conversation_history=PAST)
    assert seen == [made.agent.session_id]
