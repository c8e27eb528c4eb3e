"""Compression within conversations: when it happens, what is said about it, and that nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.histories import check_invariants
from support.scripted import (
    ENDPOINT,
    GUARD_S,
    NO_TITLE,
    Bench,
    Do,
    Hang,
    MemoryStore,
    ScriptedClient,
    bench,
    call,
    echo_tools,
    join,
    say,
    schema,
    start,
)

from hermes_tui.engine.config.settings import AuxiliarySettings, CompressionSettings, Settings
from hermes_tui.engine.context.compression import OPENING
from hermes_tui.engine.runtime.assembly import make_compressor
from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.runtime.tool_context import pinned_by
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.deltas import Finish, TextPiece, UsageReport
from hermes_tui.engine.types.errors import ContextOverflow, Overloaded, StoreReadOnly
from hermes_tui.engine.types.events import (
    ContextCompressed,
    FallbackUsed,
    MessageCommitted,
    Notice,
    RequestRetrying,
    TurnStarted,
    UsageUpdated,
)
from hermes_tui.engine.types.messages import Message
from hermes_tui.engine.types.usage import Usage
from hermes_tui.tools.registry import ToolRegistry
from hermes_tui.tools.todo import SCHEMA, pin, run

WINDOW = 8_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionDB]:
    with SessionDB(tmp_path / "state.db") as opened:
        yield opened


def past(turns: int = 30) -> list[Message]:
    rows: list[Message] = []
    for number in range(turns):
        rows.append({"role": "user", "content": f"question {number} " + "lorem " * 60})
        rows.append({"role": "assistant", "content": f"answer {number} " + "ipsum " * 60, "finish_reason": "stop"})
    return rows


NOTES = (say("Notes on it."),)


class Writer(ScriptedClient):
    """Plays the script for the conversation, and ``summaries`` (the last one repeats) for requests without tools.

    Counts no tokens: what it would say must not disturb the estimates.
    """

    def __init__(self, replies: Any, summaries: Any) -> None:
        super().__init__(replies)
        self.summaries = list(summaries)
        self.asides: list[Any] = []

    def stream(self, request: Any, control: Any) -> Iterator[Any]:
        if request.tools:
            yield from (delta for delta in super().stream(request, control) if not isinstance(delta, UsageReport))
            return
        self.asides.append(request)
        one = ScriptedClient([self.summaries[0] if len(self.summaries) == 1 else self.summaries.pop(0)])
        yield from one.stream(request, control)


def small(
    replies: Any,
    folder: Path,
    *,
    window: int = WINDOW,
    auxiliary: Any = None,
    summaries: Any = NOTES,
    **more: Any,
) -> Bench:
    """An agent whose model has a small window."""
    client = Writer(replies, summaries)
    settings = replace(
        NO_TITLE,
        auxiliary={"title": AuxiliarySettings(enabled=False), **(auxiliary or {})},
        compression=more.pop("compression", CompressionSettings()),
        fallback_providers=more.pop("fallback", ()),
    )
    endpoints = {
        "test/m1": replace(ENDPOINT, context_window=window),
        "aux/a": replace(ENDPOINT, provider="aux", model="a"),
        "aux/b": replace(ENDPOINT, provider="aux", model="b"),
    }
    parts = {"client_for": lambda mode: client}
    made = bench([], folder, settings=settings, endpoints=endpoints, parts=parts, **more)
    made.client = client
    return made


def test_a_full_window_is_compressed_before_the_request_and_the_turn_goes_on(tmp_path: Path, store: SessionDB) -> None:
    made = small([say("ok")], tmp_path, store=store)
    assert made.agent.run_conversation("now this", conversation_history=past())["final_response"] == "ok"
    (request,) = made.client.requests
    assert "question 1 " in str(made.client.asides[0].messages[1]["content"])
    texts = [str(message["content"]) for message in request.messages]
    assert (
        "question 0 " in texts[1]
        and any("Notes on it." in text for text in texts[2:4])
        and texts[-1].endswith("now this")
    )
    check_invariants(request.messages)
    (event,) = made.of(ContextCompressed)
    assert event.after_tokens < event.before_tokens / 2 and event.summarised_count > 20
    assert event.child_session_id == made.agent.session_id == made.events[-1].session_id
    row = store.row(made.agent.session_id)
    assert (row.parent_reason, row.message_count) == ("compression", 63)
    shown = [str(stored.message["content"]) for stored in store.messages(made.agent.session_id, limit=1_000)]
    assert [text.split(" lorem")[0] for text in shown[:60:2]] == [f"question {n}" for n in range(30)]


def test_a_resumed_session_sends_the_same_bytes(tmp_path: Path, store: SessionDB) -> None:
    registry = echo_tools()
    text = "start " + "y" * 30_000 + " end"
    registry.register("dump", schema(), lambda args, context: {"ok": True, "text": text}, toolset="t")
    script = [call(("dump", "{}")), say("ok"), say("more")]
    made = small(script, tmp_path, store=store, registry=registry)
    made.agent.run_conversation("now", conversation_history=past(10))
    made.agent.chat("again")
    resumed = small([say("x")], tmp_path, store=store, session_id=made.agent.session_id)
    resumed.agent.chat("after")
    before, after = made.client.requests[-1].messages, resumed.client.requests[0].messages
    assert list(after[: len(before)]) == list(before)
    assert any("characters left out" in str(message["content"]) for message in before if message["role"] == "tool")


def test_a_stored_compression_is_shown_as_it_was_live(tmp_path: Path, store: SessionDB) -> None:
    made = small([say("ok")], tmp_path, store=store)
    made.agent.run_conversation("now", conversation_history=past())
    events = replay(store.messages(made.agent.session_id, limit=1_000), made.registry)
    (live,), (again,) = made.of(ContextCompressed), [e for e in events if isinstance(e, ContextCompressed)]
    assert (again.before_tokens, again.after_tokens, again.summarised_count) == (
        live.before_tokens,
        live.after_tokens,
        live.summarised_count,
    )
    assert not any(isinstance(e, TurnStarted) and OPENING in e.text for e in events)


def test_a_provider_that_says_the_window_is_smaller_is_believed(tmp_path: Path) -> None:
    overflow = ContextOverflow("too long", window_tokens=4_096)
    made = small([[overflow], say("ok")], tmp_path, window=128_000)
    assert made.agent.run_conversation("now", conversation_history=past())["final_response"] == "ok"
    assert made.agent.route.endpoint.context_window == 4_096
    made.agent.route.start_turn()
    assert made.of(ContextCompressed)[0].after_tokens < 4_096


def test_an_overflow_that_the_estimates_do_not_explain_still_makes_the_request_smaller(tmp_path: Path) -> None:
    made = small([[ContextOverflow("too long")], say("ok")], tmp_path, window=1_000_000)
    assert made.agent.run_conversation("now", conversation_history=past())["completed"]
    first, last = made.client.requests
    assert len(str(last.messages)) < len(str(first.messages)) / 2


def test_three_overflows_in_a_turn_are_enough(tmp_path: Path) -> None:
    made = small([[ContextOverflow("too long")]] * 9, tmp_path, window=1_000_000)
    result = made.agent.run_conversation("now", conversation_history=past(60))
    assert result["exit_reason"] == "error" and len(made.of(ContextCompressed)) == 3
    assert "too long" in result["errors"][0]


def test_an_overflow_that_nothing_helps_against_goes_to_a_model_with_more_room(tmp_path: Path) -> None:
    made = small([[ContextOverflow("too long")], say("ok")], tmp_path, fallback=("aux/b",))
    assert made.agent.chat("hi") == "ok"
    assert made.of(FallbackUsed)[0].model == "b"


def test_calls_and_results_stay_together_when_it_happens_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    texts = [f'{{"text":"{letter * 6_000}"}}' for letter in "abcdef"]
    script = [call(*(("echo", text) for text in texts[:3])), call(*(("echo", text) for text in texts[3:]), first_id=4)]
    made = small([script[0], script[1], say("ok")], tmp_path)
    result = made.agent.run_conversation("echo much", conversation_history=past(3))
    assert result["final_response"] == "ok" and result["tool_calls_made"] == 6
    check_invariants(made.client.requests[-1].messages)
    assert "echo much" in str(made.client.requests[-1].messages)


def test_a_summary_that_cannot_be_had_leaves_everything_and_is_told(tmp_path: Path) -> None:
    made = small([say("ok")], tmp_path, summaries=[[Overloaded("busy")]])
    assert made.agent.run_conversation("now", conversation_history=past())["final_response"] == "ok"
    assert len(made.client.requests[-1].messages) == 62
    notice = next(event for event in made.of(Notice) if event.kind == "compression")
    assert "nothing was changed" in notice.text and "busy" in notice.text
    assert not made.of(ContextCompressed) and len(made.of(RequestRetrying)) == 2


def test_it_is_tried_again_once_the_conversation_has_grown_and_then_left_to_the_person(tmp_path: Path) -> None:
    made = small([say("fine")] * 6, tmp_path, summaries=[[TextPiece(" "), Finish("stop")]])
    made.agent.run_conversation("now", conversation_history=past())
    made.agent.chat("too little has changed")
    assert len(made.client.asides) == 1
    made.agent.chat("much more " * 3_000)
    assert len(made.client.asides) == 2
    for _ in range(3):
        made.agent.chat("more and more " * 3_000)
    assert len(made.client.asides) == 2, "left to the person"
    notices = [event for event in made.of(Notice) if event.kind == "compression"]
    assert len(notices) == 2 and "/compress" in notices[1].hint


def test_results_that_fill_the_window_by_themselves_do_not_make_it_compress_every_turn(tmp_path: Path) -> None:
    made = small([], tmp_path)
    for number in range(10):
        made.client._replies = [call(("echo", f'{{"text":"{"r" * 24_000}"}}'), first_id=number), say("ok")]
        made.agent.chat(f"turn {number}")
    assert len(made.client.asides) <= 40 and len(made.client.requests) == 20


def test_an_interrupt_during_the_summary_keeps_the_old_history(tmp_path: Path) -> None:
    hang = Hang()
    made = small([], tmp_path, summaries=[[hang], say("Notes.")])
    results: list[Any] = []
    thread = start(lambda: results.append(made.agent.run_conversation("now", conversation_history=past())))
    assert hang.reached.wait(GUARD_S)
    made.agent.interrupt()
    join(thread)
    assert hang.closed.wait(GUARD_S)
    assert results[0]["interrupted"] and not made.of(ContextCompressed)
    assert len(made.agent.conversation.history) == 62
    made.client._replies = [say("ok")]
    assert made.agent.chat("next") == "ok" and made.of(ContextCompressed)


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    made = small([say("ok")], tmp_path, compression=CompressionSettings(enabled=False))
    assert made.agent.run_conversation("now", conversation_history=past())["completed"]
    assert len(made.client.requests) == 1


def test_the_side_tasks_model_writes_the_summary_and_its_fallbacks_follow(tmp_path: Path) -> None:
    auxiliary = {"compression": AuxiliarySettings(model="aux/a", fallbacks=("aux/none", "aux/b"))}
    made = small([say("ok")], tmp_path, auxiliary=auxiliary, summaries=[*[[Overloaded("busy")]] * 3, say("Notes.")])
    result = made.agent.run_conversation("now", conversation_history=past())
    assert [request.endpoint.model for request in made.client.asides[:5]] == ["a", "a", "a", "b", "a"]
    assert (result["model"], result["api_calls"]) == ("m1", 1), "the turn itself asked once"
    assert not made.of(FallbackUsed), "the conversation's own model did not change"
    assert made.agent.conversation.bill.usage.output_tokens > result["usage"]["output_tokens"]


def test_the_todo_list_is_carried_word_for_word(tmp_path: Path) -> None:
    registry = ToolRegistry()
    registry.register("todo", SCHEMA, run, toolset="todo", pin=pin)
    todos = '{"todos":[{"id":"1","content":"keep the blue door shut","status":"in_progress"}]}'
    made = small([], tmp_path, registry=registry)
    made.client._replies = [call(("todo", todos)), say("noted")]
    made.agent.chat("plan it")
    for number in range(40):
        made.client._replies = [say("said " * 60)]
        made.agent.chat(f"{number} " + "word " * 120)
    assert made.of(ContextCompressed)
    assert "[in_progress] keep the blue door shut (id 1)" in str(made.client.requests[-1].messages)


# On demand


def test_a_person_may_compress_at_any_time_and_say_what_matters(tmp_path: Path) -> None:
    made = small([say("hello")], tmp_path, window=1_000_000)
    made.agent.run_conversation("hi", conversation_history=past(20))
    words = made.agent.compress("the blue door")
    assert "messages are summarised" in words and "/undo-compress" in words
    assert "the blue door" in str(made.client.asides[-1].messages[0]["content"])
    assert made.of(ContextCompressed)[0].after_tokens < made.of(ContextCompressed)[0].before_tokens / 2


def test_asked_for_during_a_turn_it_happens_once_after_it(tmp_path: Path) -> None:
    words: list[str] = []
    made = small([], tmp_path, window=1_000_000)
    ask = Do(lambda: words.append(made.agent.compress()))
    made.client._replies = [[ask, ask, *say("hello")]]
    made.agent.run_conversation("hi", conversation_history=past(20))
    assert words == ["The conversation is compressed after this turn.", "It is planned already."]
    assert len(made.of(ContextCompressed)) == 1


def test_nothing_to_compress_and_failures_are_told(tmp_path: Path) -> None:
    made = small([say("hello")], tmp_path)
    made.agent.chat("hi")
    assert made.agent.compress().startswith("Nothing was changed. There is nothing to compress")


def test_an_interrupt_ends_a_compression_on_demand(tmp_path: Path) -> None:
    hang = Hang()
    made = small([say("hello")], tmp_path, window=1_000_000, summaries=[[hang]])
    made.agent.run_conversation("hi", conversation_history=past(20))
    words: list[str] = []
    thread = start(lambda: words.append(made.agent.compress()))
    assert hang.reached.wait(GUARD_S)
    made.agent.interrupt()
    join(thread)
    assert words == ["Stopped; the conversation is as it was."]


def test_taking_it_back_sends_everything_again_and_does_not_compress_at_once(tmp_path: Path, store: SessionDB) -> None:
    made = small([say("ok"), say("fine")], tmp_path, store=store)
    made.agent.run_conversation("now", conversation_history=past())
    assert "whole conversation" in made.agent.undo_compression()
    assert made.of(ContextCompressed)[-1].undone
    assert made.agent.chat("more") == "fine"
    texts = [str(message["content"]) for message in made.client.requests[-1].messages]
    assert [text.split(" lorem")[0] for text in texts[1:60:2]] == [f"question {n}" for n in range(30)]
    assert "no compression" in made.agent.undo_compression()
    resumed = small([say("x")], tmp_path, store=store, session_id=made.agent.session_id, window=1_000_000)
    resumed.agent.chat("again")
    assert len(resumed.client.requests[0].messages) == len(texts) + 2


def test_a_store_that_fails_ends_the_turn_with_the_old_session_whole(tmp_path: Path) -> None:
    from hermes_tui.engine.types.errors import StoreBusy

    store = MemoryStore()

    def refuse(session_id: str, summary: Message) -> Any:
        raise StoreBusy("Another process holds the database.")

    store.continue_compressed = refuse  # type: ignore[method-assign]
    made = small([], tmp_path, store=store)
    result = made.agent.run_conversation("now", conversation_history=past())
    assert result["exit_reason"] == "error" and len(result["messages"]) == 61


# The long run


@pytest.mark.parametrize("seed", [1])
def test_three_hundred_turns_in_a_small_window_lose_nothing(seed: int, tmp_path: Path, store: SessionDB) -> None:
    """Compresses as often as needed; pinned items are in every request; every message is found and reached."""
    registry = echo_tools()
    registry.register("todo", SCHEMA, run, toolset="todo", pin=pin)
    settings = Settings(auxiliary={"title": AuxiliarySettings(enabled=False)})
    endpoints = {"test/m1": replace(ENDPOINT, context_window=32_000)}
    made = bench([], tmp_path, store=store, registry=registry, settings=settings, endpoints=endpoints)

    class Model:
        """Answers by what it is asked; counts tokens a little differently than we do."""

        def __init__(self) -> None:
            self.requests: list[Any] = []

        def stream(self, request: Any, control: Any) -> Iterator[Any]:
            self.requests.append(request)
            control.on_open(lambda: None)
            sent = len(str(request.messages)) // 3
            usage = Usage(input_tokens=sent, output_tokens=50)
            if not request.tools:
                yield from say("Notes: work goes on. " + "detail " * 200, usage=usage)
                return
            last = request.messages[-1]
            asked = str(last["content"])
            if last["role"] == "user" and "turn 0 " in asked:
                yield from call(("todo", '{"todos":[{"id":"7","content":"guard the gate","status":"pending"}]}'))
            elif last["role"] == "user" and int(asked.rpartition("turn ")[2].split()[0]) % 5 == 0:
                number = asked.rpartition("turn ")[2].split()[0]
                yield from call(("echo", f'{{"text":"result{number}mark {"r" * 4_000}"}}'), first_id=int(number) * 10)
            else:
                yield from say("reply " + "z " * 150, usage=usage)

    model = Model()
    made.agent._parts = replace(made.agent._parts, client_for=lambda mode: model)
    made.agent._compressor = make_compressor(
        made.agent._parts,
        made.agent.conversation,
        made.agent.route,
        emit=made.agent.hub.emit,
        on_usage=made.agent._count_aside,
        pinned=lambda: pinned_by(made.agent._tools(), made.agent._objects),
    )
    for number in range(300):
        result = made.agent.run_conversation(f"turn {number} word{number}mark " + "q " * 150)
        assert result["completed"], result["errors"]
    rounds = len(made.of(ContextCompressed))
    assert 5 <= rounds <= 60
    assert not [event for event in made.of(Notice) if event.kind == "compression"]
    for request in model.requests:
        check_invariants(request.messages)
        assert len(str(request.messages)) // 3 < 32_000
        if request.tools and len(request.messages) > 4:
            assert "guard the gate" in str(request.messages)
    session_id = made.agent.session_id
    reached: list[Any] = []
    before: int | None = None
    while page := store.messages(session_id, before, 50):
        reached = [*page, *reached]
        before = page[0].id
    committed = {event.message_id for event in made.of(MessageCommitted)}
    assert [stored.id for stored in reached] == sorted(committed)
    for number in range(300):
        (hit,) = store.search(f"word{number}mark").hits
        assert hit.session.id == session_id
        assert any(f"word{number}mark" in snippet.text and "turn" in snippet.text for snippet in hit.snippets)
    for number in range(5, 300, 5):
        assert store.search(f"result{number}mark").hits


def test_a_server_that_reads_the_end_only_is_told_of_once_and_its_counts_are_not_believed(tmp_path: Path) -> None:
    usage = Usage(input_tokens=2_051, output_tokens=5)
    made = bench([say("a", usage=usage), say("b", usage=usage)], tmp_path, settings=NO_TITLE)
    made.agent.chat("lorem ipsum dolor sit " * 2_800)
    notices = [event for event in made.of(Notice) if event.kind == "context"]
    assert "2,051 of about 15," in notices[0].text and "context_window" in notices[0].hint
    assert made.of(UsageUpdated)[-1].context_tokens > 15_000
    made.agent.chat("and now?")
    assert len([event for event in made.of(Notice) if event.kind == "context"]) == 1
    assert made.agent.conversation.factor == 1.0


def test_a_count_that_falls_away_from_those_before_is_not_believed_either(tmp_path: Path) -> None:
    long = "lorem ipsum dolor sit " * 1_000
    script = [say("a", usage=Usage(input_tokens=6_500)), say("b", usage=Usage(input_tokens=4_096))]
    made = bench(script, tmp_path, settings=NO_TITLE)
    made.agent.chat(long)
    assert not [event for event in made.of(Notice) if event.kind == "context"]
    made.agent.chat(long)
    assert [event for event in made.of(Notice) if event.kind == "context"]


def test_long_arguments_of_a_kept_call_stay_whole_and_valid(tmp_path: Path) -> None:
    written = json.dumps({"path": "a.py", "content": "print('x')\n" * 640})
    made = bench([*[say("old " * 900)] * 9, call(("put", written)), say("done"), *[say("notes")] * 4], tmp_path)
    for text in [*["earlier " * 400] * 9, "write it"]:
        made.agent.chat(text)
    assert "summarised" in made.agent.compress()
    made.client._replies = [say("next")]
    made.agent.chat("go on")
    sent = made.client.requests[-1].messages
    check_invariants(sent)
    assert [call["function"]["arguments"] for row in sent for call in row.get("tool_calls", ())] == [written]


def test_what_a_compression_in_the_middle_of_a_turn_interrupts_is_not_done_twice(tmp_path: Path) -> None:
    done: list[str] = []
    registry = echo_tools()

    def append(args: Any, context: Any) -> Any:
        done.append(args["text"])
        return {"ok": True}

    registry.register("append", echo_tools().get("echo").schema, append, toolset="t")  # type: ignore[union-attr]
    long = "z" * 9_000
    calls = [call(("append", f'{{"text":"{n} {long}"}}'), first_id=n) for n in range(4)]
    script = [*calls, say("notes"), say("notes"), say("notes"), say("all four")]
    uncounted = [[step for step in reply if not isinstance(step, UsageReport)] for reply in script]
    endpoints = {"test/m1": replace(ENDPOINT, context_window=16_000)}
    made = bench(uncounted, tmp_path, registry=registry, settings=NO_TITLE, endpoints=endpoints)
    made.agent.chat("append four lines")
    assert made.of(ContextCompressed) and [text[0] for text in done] == ["0", "1", "2", "3"]
    for request in made.client.requests:
        check_invariants(request.messages)


def test_a_server_that_does_not_count_at_all_is_no_reason_to_warn(tmp_path: Path) -> None:
    made = bench([say("a", usage=Usage(input_tokens=10, output_tokens=5))], tmp_path, settings=NO_TITLE)
    made.agent.chat("lorem ipsum dolor sit " * 2_800)
    assert not [event for event in made.of(Notice) if event.kind == "context"]
    assert made.of(UsageUpdated)[-1].context_tokens > 15_000


def test_a_compression_after_the_turn_that_fails_costs_a_notice_not_the_answer(tmp_path: Path) -> None:
    made = bench([], tmp_path, store=FailsToGoOn(), settings=NO_TITLE)
    made.client._replies = [say("old " * 900)] * 9
    for _ in range(9):
        made.agent.chat("earlier " * 400)
    made.client._replies = [[Do(made.agent.compress), *say("the answer")], *[say("notes")] * 4]
    result = made.agent.run_conversation("go")
    assert (result["completed"], result["final_response"]) == (True, "the answer")
    assert [event.text for event in made.of(Notice) if event.level == "error"] == ["The disk is full."]
    assert not made.agent.is_running


class FailsToGoOn(MemoryStore):
    """A store that cannot make the session that goes on."""

    def continue_compressed(self, session_id: str, summary: Message) -> tuple[str, int]:
        raise StoreReadOnly("The disk is full.")
