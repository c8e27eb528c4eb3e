"""Play bytes to a decoder without a network, and fold what comes out into something comparable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_tui.engine.providers.base import Endpoint
from hermes_tui.engine.providers.decoding import Decoder, decode
from hermes_tui.engine.types.deltas import (
    Finish,
    ReasoningBlock,
    ReasoningPiece,
    TextPiece,
    ToolCallArgs,
    ToolCallStart,
    UsageReport,
)
from hermes_tui.engine.types.usage import Usage

LOCAL = Endpoint(
    provider="local", model="m", api_mode="chat_completions", base_url="http://127.0.0.1:1/v1", api_key="sk-SECRET"
)


class PlayedReply:
    """A reply whose body is given."""

    end_error: Exception | None = None

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.headers: Mapping[str, str] = {}

    def chunks(self) -> Iterator[bytes]:
        yield from self._chunks

    def expect_end(self, within_s: float) -> None:
        pass


@dataclass
class Answer:
    """A folded stream."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    """Id, name, arguments."""
    blocks: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage | None = None
    finish: str = ""

    def without_ids(self) -> Answer:
        """The same without call ids, which are random where the server gave none."""
        return replace(self, calls=[("", name, args) for _, name, args in self.calls])


def fold(deltas: Iterable[object]) -> Answer:
    """Fold deltas as the loop would, checking that indexes are dense and the finish comes once, last."""
    answer = Answer()
    for delta in deltas:
        assert not answer.finish or isinstance(delta, UsageReport), f"{delta} after the finish"
        match delta:
            case TextPiece(text):
                assert text
                answer.text += text
            case ReasoningPiece(text):
                assert text
                answer.reasoning += text
            case ReasoningBlock(block):
                answer.blocks.append(block)
            case ToolCallStart(index, call_id, name):
                assert index == len(answer.calls)
                answer.calls.append((call_id, name, ""))
            case ToolCallArgs(index, fragment):
                call_id, name, args = answer.calls[index]
                answer.calls[index] = (call_id, name, args + fragment)
            case UsageReport(usage):
                answer.usage = usage
            case Finish(reason):
                answer.finish = reason
            case _:
                raise AssertionError(delta)
    return answer


def play(make: Callable[[Endpoint], Decoder], *chunks: bytes, endpoint: Endpoint = LOCAL) -> Answer:
    """Decode a body that arrives in these chunks."""
    return fold(decode(PlayedReply(chunks), make(endpoint), endpoint))  # type: ignore[arg-type]


def everywhere(make: Callable[[Endpoint], Decoder], body: bytes, endpoint: Endpoint = LOCAL) -> Answer:
    """Decode a body whole, cut in two at every byte, and byte by byte; all must say the same."""
    whole = play(make, body, endpoint=endpoint)
    splits = [(body[:cut], body[cut:]) for cut in range(1, len(body))]
    for chunks in (*splits, tuple(body[at : at + 1] for at in range(len(body)))):
        assert play(make, *chunks, endpoint=endpoint).without_ids() == whole.without_ids(), chunks[0]
    return whole


def data(*events: object) -> bytes:
    """Return events as ``data:`` lines; a string goes as it is."""
    lines = [event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events]
    return "".join(f"data: {line}\n\n" for line in lines).encode("utf-8", "surrogatepass")


def named(*events: Mapping[str, Any]) -> bytes:
    """Return events with an ``event:`` line that repeats their type."""
    return b"".join(f"event: {event['type']}\n".encode() + data(event) for event in events)


class Control:
    """Remembers how to close a request."""

    def __init__(self) -> None:
        self.close: Callable[[], None] = lambda: None
        self.bytes = b""

    def received(self, data: bytes) -> None:
        self.bytes += data

    def on_open(self, close: Callable[[], None]) -> None:
        self.close = close
