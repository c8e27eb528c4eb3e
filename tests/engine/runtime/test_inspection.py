"""What the inspector gets: the exact JSON, differences, times, counts, retries; bounded, frozen, without secrets."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.model_server import Call, ModelServer, Turn
from support.scripted import GUARD_S, NO_TITLE, Bench, Hang, bench, call, echo_tools, join, say, start

from hermes_tui.engine.config.settings import AuxiliarySettings, CompressionSettings
from hermes_tui.engine.providers.base import ApiMode, Endpoint
from hermes_tui.engine.providers.clients import ProviderClients
from hermes_tui.engine.runtime.request_log import MAX_RAW_BYTES, MAX_REQUESTS, RawAnswer
from hermes_tui.engine.types.errors import HermesError, Overloaded
from hermes_tui.engine.types.events import UsageUpdated
from hermes_tui.engine.types.inspection import RequestRow
from hermes_tui.engine.types.usage import Usage
from hermes_tui.tools import delegate

KEY = "the-key-of-the-provider"
QUIET = {"title": AuxiliarySettings(enabled=False)}


class Wired:
    """A scripted client that knows a wire form."""

    def __init__(self, made: Bench) -> None:
        self._made = made

    def stream(self, request: Any, control: Any) -> Any:
        return self._made.client.stream(request, control)

    def wire(self, request: Any) -> Any:
        return "http://x/v1", {"messages": [dict(message) for message in request.messages]}


def wired(replies: Any, folder: Path, **more: Any) -> Bench:
    clients: list[Wired] = []
    made = bench(replies, folder, parts={"client_for": lambda mode: clients[0]} | more.pop("parts", {}), **more)
    clients.append(Wired(made))
    return made


def rows(made: Bench) -> list[RequestRow]:
    return made.agent.inspector.rows()


@pytest.mark.parametrize("mode", ["chat_completions", "codex_responses", "anthropic_messages"])
def test_the_json_is_what_the_server_got(mode: ApiMode, tmp_path: Path) -> None:
    clients = ProviderClients({})
    with ModelServer([Turn(tool_calls=(Call(name="echo", args={"text": "a"}),)), Turn(text="done")]) as server:
        url = server.root_url if mode == "anthropic_messages" else server.base_url
        endpoint = Endpoint(provider="test", model="m1", api_mode=mode, base_url=url, api_key=KEY)
        parts = {"client_for": clients.client_for, "secrets": lambda: {KEY}}
        made = bench([], tmp_path, endpoints={"test/m1": endpoint}, parts=parts)
        made.agent.chat("hello")
        details = [made.agent.inspector.detail(row.number) for row in rows(made)]
        assert [detail.body for detail in details] == [request.body for request in server.requests]
        assert all(detail.url.startswith(url) for detail in details)
        last = details[-1]
        assert last.row.first_token_s is not None and last.row.total_s >= last.row.first_token_s
        assert "done" in last.raw and last.raw_bytes == len(last.raw.encode())
        assert last.answer["content"] == "done" and last.answer["usage"]["output_tokens"]  # type: ignore[index,call-overload]
    clients.close()


def test_each_request_says_where_it_belongs_and_how_it_went(tmp_path: Path) -> None:
    script = [[Overloaded("busy")], call(("echo", '{"text":"a"}')), say("ok", usage=Usage(
        input_tokens=20, cache_read_tokens=80, output_tokens=4)), say("later")]  # fmt: skip
    made = wired(script, tmp_path)
    made.agent.chat("one")
    made.agent.chat("two")
    found = rows(made)
    assert [(row.number, row.turn, row.step, row.attempt) for row in found] == [
        (1, 1, 1, 1), (2, 1, 1, 2), (3, 1, 2, 1), (4, 2, 1, 1),
    ]  # fmt: skip
    assert [row.outcome for row in found] == ["error", "ok", "ok", "ok"]
    assert found[0].problem == "busy" and found[0].usage is None and found[0].cached_share is None
    assert found[2].cached_share == 0.8 and found[2].cost_usd == pytest.approx(0.004)
    assert (found[2].provider, found[2].model, found[2].context_window) == ("test", "m1", 128_000)


def test_what_differs_is_told_for_each_request_also_after_the_history_went_on(tmp_path: Path) -> None:
    made = wired([call(("echo", '{"text":"a"}')), say("ok")], tmp_path)
    made.gate.mode = "plan"
    made.agent.chat("hello")
    made.client._replies = [say("fine")]
    made.agent.chat("more")
    first, second = (made.agent.inspector.detail(number) for number in (1, 2))
    assert [pair.role for pair in first.pairs] == ["system", "user"]
    assert first.pairs[1].change == "changed" and first.pairs[1].stored == "hello"
    assert [pair.role for pair in second.pairs] == ["system", "user", "assistant", "tool", "user"]
    assert second.pairs[-1].change == "added"
    assert [part.name for part in first.parts][-1] == "Only in this request"


def test_nothing_shown_holds_a_secret(tmp_path: Path) -> None:
    leaky = [[Overloaded(f"bad key {KEY}")], say(f"it is {KEY}")]
    made = wired(leaky, tmp_path, parts={"secrets": lambda: {KEY}})
    made.agent.chat(f"use {KEY}")
    details = [made.agent.inspector.detail(row.number) for row in rows(made)]
    assert KEY not in repr(details) and "[redacted" in repr(details[0].body) and "[redacted" in details[0].row.problem


def test_only_the_newest_requests_are_kept(tmp_path: Path) -> None:
    made = wired([say("ok")], tmp_path, repeat=True)
    for _ in range(MAX_REQUESTS + 5):
        made.agent.chat("again")
    numbers = [row.number for row in rows(made)]
    assert numbers == list(range(6, MAX_REQUESTS + 6))
    with pytest.raises(HermesError, match="not kept any more"):
        made.agent.inspector.detail(1)


def test_of_a_long_answer_the_beginning_is_kept() -> None:
    raw = RawAnswer()
    for _ in range(MAX_RAW_BYTES // 1_000 + 50):
        raw.add(b"x" * 999 + b"\n")
    assert len(raw.text()) == MAX_RAW_BYTES and raw.size > MAX_RAW_BYTES + 40_000
    assert sum(map(len, raw.chunks)) <= MAX_RAW_BYTES + 1_000


def test_a_request_that_runs_can_be_looked_at(tmp_path: Path) -> None:
    hang = Hang()
    made = wired([[hang]], tmp_path)
    thread = start(lambda: made.agent.chat("go"))
    assert hang.reached.wait(GUARD_S)
    (row,) = rows(made)
    assert row.outcome == "running" and row.total_s >= 0
    assert made.agent.inspector.detail(1).answer is None
    made.agent.interrupt()
    join(thread)
    assert rows(made)[0].outcome == "interrupted"


def test_summaries_and_subagents_are_among_them(tmp_path: Path) -> None:
    registry = echo_tools()
    registry.register("delegate_task", delegate.SCHEMA, delegate.run, toolset="delegate", needs="delegation")
    made = wired([call(("delegate_task", '{"goal": "count"}')), say("three"), say("ok")], tmp_path, registry=registry)
    made.agent.chat("go")
    assert [row.agent for row in rows(made)] == ["", "1 count", ""]
    settings = replace(NO_TITLE, auxiliary=QUIET, compression=CompressionSettings(protect_last_n=1))
    long = wired([say("word " * 400)] * 3 + [say("A summary.")] * 3, tmp_path, settings=settings)
    for _ in range(3):
        long.agent.chat("lorem " * 300)
    assert "summarised" in long.agent.compress()
    assert [row.purpose for row in rows(long)] == ["turn"] * 3 + ["compression"] * 3
    assert long.agent.inspector.detail(4).pairs[1].change == "added"
    long.client._replies = [say("fine")]
    long.agent.chat("next")
    detail = long.agent.inspector.detail(7)
    assert any(pair.summary_tokens and "compressed" in pair.notes[1] for pair in detail.pairs)
    assert {"Summaries", "Your messages"} <= {part.name for part in detail.parts}


def test_the_context_adds_up_to_what_the_provider_counted(tmp_path: Path) -> None:
    made = wired([call(("echo", '{"text":"a"}')), say("word " * 50)], tmp_path)
    assert made.agent.context().window == 128_000
    made.agent.chat("hello " * 200)
    report = made.agent.context()
    names = {part.name: part.tokens for part in report.parts}
    assert {"Identity", "Tool guidance", "Environment", "Tool definitions", "Your messages", "Answers"} <= set(names)
    factor = made.agent.conversation.factor
    built = made.agent.conversation.request_messages("")
    assert built and report.total == pytest.approx(made.agent.conversation.estimate(
        made.agent.conversation.fixed_tokens), abs=12 * factor + 12)  # fmt: skip
    assert report.limit == 64_000


def test_looking_at_the_context_while_a_turn_runs_harms_nothing(tmp_path: Path) -> None:
    made = wired([*(call(("echo", f'{{"text":"{n}"}}'), first_id=n) for n in range(20)), say("ok")], tmp_path)
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            made.agent.context()
            for row in rows(made):
                made.agent.inspector.detail(row.number)

    thread = start(look)
    assert made.agent.chat("go") == "ok"
    stop.set()
    join(thread)
    assert made.of(UsageUpdated)[-1].context_tokens
