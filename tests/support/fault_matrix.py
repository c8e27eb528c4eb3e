"""Every way in which a model server fails, in every API mode, with and without a fallback: what the turn must come to.

Each cell runs a real turn with the real SDK clients against a loopback server. ``python tests/support/fault_matrix.py``
(``make matrix``) prints the table; ``tests/engine/runtime/test_fault_matrix.py`` holds the suite to it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run as a program: the tests' root is not on the path
    sys.path.insert(0, str(Path(__file__).parents[1]))

from support.histories import check_invariants
from support.model_server import Call, ModelServer, Turn
from support.scripted import NO_TITLE, Bench, bench

from hermes_tui.engine.config.settings import AuxiliarySettings
from hermes_tui.engine.providers.base import ApiMode, Endpoint, ModelRequest, StreamControl
from hermes_tui.engine.providers.clients import ProviderClients
from hermes_tui.engine.types.deltas import StreamDelta
from hermes_tui.engine.types.events import (
    ContextCompressed,
    Event,
    FallbackUsed,
    Notice,
    RequestRetrying,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from hermes_tui.engine.types.messages import Message

MODES: tuple[ApiMode, ...] = ("chat_completions", "codex_responses", "anthropic_messages")
STALL_S = 0.1
TITLE_S = 20.0
"""The session is named on a thread of its own, which a turn cancels: nothing of that may fall into the failing turn."""
FOR_EVER = 1_000
"""More often than any turn asks."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One row: what the server does, and what the turn must come to."""

    name: str
    turn: Turn | Callable[[ApiMode], Turn]
    times: int = FOR_EVER
    """How many requests fail; then the server is well again."""
    ending: str = "error"
    """Exit reason without a fallback; with one, ``done`` where ``falls_back``."""
    asked: int = 1
    """Requests that the first model gets in the failing turn, summaries not counted."""
    falls_back: bool = False
    """Whether the fallback takes over."""
    words: str = ""
    """What the error or the events must say (a pattern)."""
    waits: tuple[float, ...] | None = None
    """Seconds waited between attempts, where the provider says."""
    answer: str = ""
    """What the final text must hold; empty when any will do."""
    long_past: bool = False
    """Whether there is enough history to be compressed."""
    stalls: bool = False


@dataclass
class Cell:
    """What happened in one cell."""

    ending: str = ""
    asked: int = 0
    fell_back: bool = False
    waits: tuple[float, ...] = ()
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


def error(status: int, message: str, *, code: str = "", kind: str = "invalid_request_error", **headers: str) -> Any:
    """An error answer in each API's own form."""

    def make(mode: ApiMode) -> Turn:
        fields: dict[str, Any] = {"type": kind, "message": message}
        body: dict[str, Any] = {"error": fields if mode == "anthropic_messages" else {**fields, "code": code or None}}
        if mode == "anthropic_messages":
            body["type"] = "error"
        return Turn(status=status, body=json.dumps(body), headers=dict(headers))

    return make


def _soon() -> str:
    return formatdate(time.time() + 30, usegmt=True)


def _transient(name: str, turn: Any, words: str = "", asked: int = 3, **more: Any) -> list[Fault]:
    """A failure that may pass: once it is survived, for ever it ends the turn or hands it on."""
    return [
        Fault(name=f"{name}, once", turn=turn, times=1, ending="done", asked=2, **more),
        Fault(name=f"{name}, for ever", turn=turn, asked=asked, falls_back=True, words=words, **more),
    ]


def _limited(name: str, wait: float | None, headers: dict[str, str], body: str = "") -> Fault:
    def turn(mode: ApiMode) -> Turn:
        return Turn(status=429, headers={key: value or _soon() for key, value in headers.items()}, body=body)

    waits = None if wait is None else (wait,)
    return Fault(name=f"429 {name}", turn=turn, times=1, ending="done", asked=2, waits=waits)


OVERFLOWS: dict[str, tuple[int, str, str]] = {
    "openai": (
        400,
        "This model's maximum context length is 16385 tokens. However, your messages resulted in 20000 tokens.",
        "context_length_exceeded",
    ),
    "anthropic": (400, "prompt is too long: 210000 tokens > 200000 maximum", ""),
    "gemini": (400, "The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).", ""),
    "llama.cpp": (400, "the request exceeds the available context size (4096 tokens), try increasing it", ""),
    "vllm": (400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.", ""),
    "ollama": (400, "input length exceeds the context length", ""),
    "lm studio": (500, "Context size has been exceeded.", ""),
    "groq": (413, "Request too large for model: Limit 6000, Requested 9000", ""),
    "mistral": (422, "Prompt contains 40000 tokens and is too large for model with 32768 maximum context length", ""),
    "codex gateway": (400, "Your input exceeds the context window of this model.", "invalid_request_body"),
}
"""Source: error pages and public issue threads of the vendors, in our own sentences where they vary."""


def _faults() -> Iterator[Fault]:
    yield Fault(name="401", turn=Turn(status=401), falls_back=True, words="401.*TEST_KEY")
    yield Fault(name="403", turn=Turn(status=403), falls_back=True, words="403.*TEST_KEY")
    yield Fault(name="402", turn=error(402, "Insufficient credits"), falls_back=True, words="Insufficient credits")
    yield Fault(name="404 model", turn=error(404, "no model m1"), falls_back=True, words="does not know the model m1")
    yield Fault(name="404 path", turn=Turn(status=404, body='{"detail":"Not Found"}'), words="base_url")
    yield Fault(name="400 other", turn=error(400, "messages: odd"), words="messages: odd")
    yield Fault(name="200 HTML page", turn=Turn(body="<html>sign in</html>"), words="HTML page")
    yield _limited("without a time", None, {})
    yield _limited("seconds", 7.0, {"Retry-After": "7"})
    yield _limited("fraction", 1.5, {"Retry-After": "1.5"})
    yield _limited("milliseconds", 0.8, {"retry-after-ms": "800", "Retry-After": "1"})
    yield _limited("date", 30.0, {"Retry-After": ""})
    yield _limited("too long", 600.0, {"Retry-After": "86400"})
    yield _limited("in the body", 21.0, {}, '{"error":{"message":"m","code":429,"details":[{"retryDelay":"21s"}]}}')
    yield Fault(name="429 for ever", turn=Turn(status=429), asked=4, falls_back=True, words="429")
    for status in (500, 503, 529):
        yield from _transient(str(status), Turn(status=status), words=str(status))
    yield from _transient("502 HTML page", Turn(status=502, body="<html>" + "x" * 8_000), words=r"502 from .*HTML")
    yield from _transient("reset", Turn(text="a b c", fault="reset", after=1), words="broke off")
    yield from _transient("reset before the answer", Turn(text="a", fault="reset"), words="broke off")
    yield from _transient("clean close without end", Turn(text="a b c", fault="eof", after=2), words="broke off")
    yield from _transient("stall", Turn(text="a b c", fault="stall", after=1), words="sent nothing", stalls=True)
    yield from _transient("silence", Turn(text="a", first_delay_s=3600), words="sent nothing", stalls=True)
    yield from _transient("broken SSE line", Turn(text="a b c", fault="malformed", after=1), words="unreadable")
    yield from _transient("error inside a stream", Turn(text="a b", fault="error_event", after=1), words="Overloaded")
    cut = Turn(tool_calls=(Call(name="echo", args={"text": "a" * 90}),), fault="eof", after=2)
    yield from _transient("close inside a tool call", cut, words="tool call echo")
    for vendor, (status, message, code) in OVERFLOWS.items():
        yield Fault(
            name=f"overflow, {vendor}",
            turn=error(status, message, code=code),
            times=1,
            ending="done",
            asked=2,
            long_past=True,
        )
    vendor_status, vendor_words, vendor_code = OVERFLOWS["openai"]
    lasting = error(vendor_status, vendor_words, code=vendor_code)
    yield Fault(name="overflow, nothing to compress", turn=lasting, falls_back=True, words="maximum context length")
    yield Fault(
        name="overflow, for ever", turn=lasting, asked=4, falls_back=True, words="maximum context", long_past=True
    )
    yield Fault(
        name="output cap too large",
        turn=error(400, "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m1"),
        times=1,
        ending="done",
        asked=2,
    )
    yield Fault(
        name="unsupported parameter",
        turn=error(400, "Unsupported parameter: 'reasoning_effort' is not supported", code="unsupported_parameter"),
        times=1,
        ending="done",
        asked=2,
    )
    yield Fault(name="truncated", turn=Turn(text="half an ", finish="length"), ending="done", asked=2, answer="half an")
    yield Fault(name="empty", turn=Turn(text=""), asked=4, falls_back=True, words="empty answer")
    yield Fault(name="empty, once", turn=Turn(text=""), times=1, ending="done", asked=2)
    yield Fault(name="reasoning only", turn=Turn(reasoning="hm hm"), asked=3, words="only reasoning")
    yield Fault(name="filtered", turn=Turn(finish="content_filter"), words="safety")
    bad = Call(name="echo", arguments='{"text": "ab')
    yield Fault(name="bad tool JSON", turn=Turn(tool_calls=(bad,)), ending="done", asked=2, answer="ok")
    mended = Call(name="echo", arguments='{"text": "ab",}')
    yield Fault(name="tool JSON to mend", turn=Turn(tool_calls=(mended,)), ending="done", asked=2, answer="ok")
    unknown = Call(name="nope")
    yield Fault(name="unknown tool", turn=Turn(tool_calls=(unknown,)), ending="done", asked=2, answer="ok")
    twins = tuple(Call(name="echo", args={"text": text}, id="dup_1") for text in "ab")
    yield Fault(name="duplicate ids", turn=Turn(tool_calls=twins), ending="done", asked=2, answer="ok")
    huge = Turn(pieces=("word " * 13_107,) * 160)
    yield Fault(name="10 MB answer", turn=huge, ending="done", answer="word word")


FAULTS: tuple[Fault, ...] = tuple(_faults())


class _Recorder:
    """Hands requests on to the real clients and keeps them."""

    def __init__(self, clients: ProviderClients) -> None:
        self._clients = clients
        self.requests: list[ModelRequest] = []

    def client_for(self, mode: str) -> Any:
        inner, requests = self._clients.client_for(mode), self.requests

        class Client:
            def stream(self, request: ModelRequest, control: StreamControl) -> Iterator[StreamDelta]:
                requests.append(request)
                return inner.stream(request, control)

        return Client()


def run_cell(fault: Fault, mode: ApiMode, folder: Path, *, spare: bool) -> Cell:
    """Run a good turn, the failing turn and a good turn again, and say what was not as it must be."""
    clients = ProviderClients({})
    try:
        return _run_cell(fault, mode, clients, folder, spare=spare)
    finally:
        clients.close()


def _run_cell(fault: Fault, mode: ApiMode, clients: ProviderClients, folder: Path, *, spare: bool) -> Cell:
    started = time.monotonic()
    turn = fault.turn(mode) if callable(fault.turn) else fault.turn
    greeting = [Turn(tool_calls=(Call(name="echo", args={"text": "x"}),)), Turn(text="ready")]
    if fault.times == FOR_EVER:
        server = ModelServer([*greeting, replace(turn, match="FAULT")], aux="A summary of it all.")
    else:
        server = ModelServer([*greeting, replace(turn, times=fault.times)], aux="A summary of it all.")
    with server, ModelServer(fallback="ok from the spare") as second:
        recorder = _Recorder(clients)
        made = _agent(fault, mode, recorder, folder, (server, second), spare=spare)
        past = _long_past() if fault.long_past else None
        first = made.agent.run_conversation("hello", conversation_history=past)
        made.agent.wait_for_title(TITLE_S)
        before = len(recorder.requests)
        made.waits.clear()
        result = made.agent.run_conversation("FAULT", task_id="fault")
        requests = recorder.requests[before:]
        events = [event for event in made.events if event.turn_id == "fault"]
        cell = Cell(
            ending=result["exit_reason"],
            asked=sum(1 for request in requests if request.endpoint.provider == "first" and request.tools),
            fell_back=any(isinstance(event, FallbackUsed) for event in events),
            waits=tuple(made.waits),
        )
        cell.problems += [] if first["completed"] else [f"the turn before did not complete: {first['errors']}"]
        cell.problems += [*_wrong_story(events, result), *_wrong_ending(fault, cell, result, spare)]
        server.forget()
        if not made.agent.run_conversation("next")["completed"]:
            cell.problems.append("the turn after did not complete")
        cell.problems += [*_wrong_history(made, recorder.requests)]
    for thread in threading.enumerate():
        if thread.name == "model-request":
            thread.join(5)
            cell.problems += [f"{thread.name} is left"] if thread.is_alive() else []
    cell.seconds = time.monotonic() - started
    return cell


def _agent(
    fault: Fault,
    mode: ApiMode,
    recorder: _Recorder,
    folder: Path,
    servers: tuple[ModelServer, ModelServer],
    *,
    spare: bool,
) -> Bench:
    """An agent whose fallback, if any, speaks another API."""
    other = MODES[(MODES.index(mode) + 1) % len(MODES)]
    endpoints = {
        name: Endpoint(
            provider=name.partition("/")[0],
            model="m1",
            api_mode=kind,
            base_url=server.root_url if kind == "anthropic_messages" else server.base_url,
            api_key="k-1234567890",
            key_source="TEST_KEY",
            timeout_s=STALL_S if fault.stalls else 20.0,
        )
        for name, kind, server in (("first/m1", mode, servers[0]), ("spare/m1", other, servers[1]))
    }
    settings = replace(
        NO_TITLE,
        agent=replace(NO_TITLE.agent, reasoning_effort="low"),
        fallback_providers=("spare/m1",) if spare else (),
        auxiliary={"title": AuxiliarySettings(enabled=False)},
    )
    parts = {"client_for": recorder.client_for}
    return bench([], folder, settings=settings, endpoints=endpoints, parts=parts, model="first/m1")


def _long_past() -> list[Message]:
    rows: list[Message] = []
    for number in range(30):
        rows.append({"role": "user", "content": f"question {number} " + "lorem ipsum " * 60})
        rows.append({"role": "assistant", "content": f"answer {number} " + "dolor sit " * 60, "finish_reason": "stop"})
    return rows


def _wrong_ending(fault: Fault, cell: Cell, result: dict[str, Any], spare: bool) -> Iterator[str]:
    handed_on = spare and fault.falls_back
    ending = "done" if handed_on else fault.ending
    if cell.ending != ending:
        yield f"ended {cell.ending} instead of {ending}: {result['errors']}"
    if cell.fell_back != handed_on:
        yield "the fallback took over" if cell.fell_back else "the fallback did not take over"
    if cell.asked != fault.asked:
        yield f"{cell.asked} requests instead of {fault.asked}"
    if fault.waits is not None and [abs(a - b) < 2 for a, b in zip(cell.waits, fault.waits, strict=False)] != [True]:
        yield f"waited {cell.waits} instead of {fault.waits}"
    if ending == "done" and fault.answer not in result["final_response"]:
        yield f"the answer is {result['final_response'][:80]!r}"
    if ending == "error" and not re.search(fault.words, " ".join(result["errors"]), re.S):
        yield f"the error says {result['errors']}"


def _wrong_story(events: Sequence[Event], result: dict[str, Any]) -> Iterator[str]:
    """Every request after the first of a step is explained; what stays on the screen is the answer."""
    kinds = [type(event) for event in events]
    if kinds.count(TurnStarted) != 1 or kinds.count(TurnFinished) != 1 or kinds[-1] is not TurnFinished:
        yield f"the turn does not begin and end once: {' '.join(kind.__name__ for kind in kinds)}"
    told = [e for e in events if isinstance(e, StepStarted | RequestRetrying | FallbackUsed | ContextCompressed)]
    repairs = [e for e in events if isinstance(e, Notice) and e.kind == "repair"]
    if result["api_calls"] > len(told) + len(repairs):
        yield f"{result['api_calls']} requests, {len(told) + len(repairs)} of them told"
    failures = [e for e in events if isinstance(e, Notice) and e.level == "error"]
    if (result["exit_reason"] == "error") != bool(failures):
        yield f"error notices: {[notice.text for notice in failures]}"
    for text in [*(f"{e.text} {e.hint}" for e in failures), *result["errors"]]:
        if "<html" in text or "Traceback" in text or "k-1234567890" in text or len(text) > 900:
            yield f"an unreadable error: {text[:200]}"
    shown = ""
    for event in events:
        if isinstance(event, StepStarted) or (isinstance(event, RequestRetrying) and event.withdrawn):
            shown = ""
        elif isinstance(event, TextDelta):
            shown += event.text
    if result["exit_reason"] == "done" and shown != result["final_response"]:
        yield f"the screen shows {shown[:80]!r}, the answer is {result['final_response'][:80]!r}"


def _wrong_history(made: Bench, requests: Sequence[ModelRequest]) -> Iterator[str]:
    for number, request in enumerate(requests, start=1):
        try:
            check_invariants(request.messages)
        except AssertionError as broken:
            yield f"request {number} breaks an invariant: {broken}"
    calls = [call["id"] for row in made.agent.conversation.history for call in row.get("tool_calls", ())]
    answers = [row.get("tool_call_id") for row in made.agent.conversation.history if row["role"] == "tool"]
    if calls != answers:
        yield f"calls {calls} have the results {answers}"


def main() -> int:
    """Run every cell and print the table; 1 when one of them is wrong."""
    print("| fault | " + " | ".join(f"{mode}, {kind}" for mode in MODES for kind in ("alone", "fallback")) + " |")
    print("|---|" + "---|" * (2 * len(MODES)))
    started, cells, wrong = time.monotonic(), 0, []
    for fault in FAULTS:
        shown = []
        for mode in MODES:
            for spare in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    cell = run_cell(fault, mode, Path(folder), spare=spare)
                cells += 1
                wrong += [f"{fault.name}, {mode}, {'fallback' if spare else 'alone'}: {p}" for p in cell.problems]
                how = "fallback" if cell.fell_back else cell.ending
                shown.append(f"{'WRONG ' if cell.problems else ''}{how} after {cell.asked}")
        print(f"| {fault.name} | " + " | ".join(shown) + " |", flush=True)
    print(f"\n{cells} cells in {time.monotonic() - started:.1f} s, {len(wrong)} problems")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
