"""The provider ``demo``: a scripted model, offline, that drives the real loop. Stateless: it reads the request only."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator

from ..types.deltas import (
    Finish,
    ReasoningPiece,
    StreamDelta,
    TextPiece,
    ToolCallArgs,
    ToolCallStart,
    UsageReport,
)
from ..types.errors import StreamBroken
from ..types.ids import new_call_id
from ..types.usage import Usage
from .base import ModelRequest, StreamControl
from .demo_chapters import TITLE, Step
from .demo_script import next_step

TOKENS_PER_S = 150.0
_TOKEN = re.compile(r"\s*\S{1,6}|\s+$")


class DemoClient:
    """Plays the script at a readable pace.

    Args:
        wait: Waits until the event is set, at most so many seconds; returns whether it is. For tests.
    """

    def __init__(self, wait: Callable[[threading.Event, float], bool] = threading.Event.wait) -> None:
        self._wait = wait

    def wire(self, request: ModelRequest) -> None:
        """Nothing goes over a wire."""

    def stream(self, request: ModelRequest, control: StreamControl) -> Iterator[StreamDelta]:
        """Yield the next step of the script; see ``base.ProviderClient``."""
        closed = threading.Event()
        control.on_open(closed.set)
        tools = frozenset(_name_of(tool) for tool in request.tools)
        step = next_step(request.messages, tools) if tools else Step(text=TITLE)
        spent = 0
        for delta in _deltas(step):
            if self._wait(closed, 1 / TOKENS_PER_S):
                raise StreamBroken("The request was closed.", code="closed")
            spent += 1
            yield delta
        sent = json.dumps([*request.messages, *request.tools], ensure_ascii=False, default=str)
        yield UsageReport(Usage(input_tokens=len(sent) // 4, output_tokens=spent))
        yield Finish("tool_calls" if step.calls else "stop")


def _name_of(tool: object) -> str:
    function = tool.get("function") if isinstance(tool, dict) else None
    return str(function.get("name", "")) if isinstance(function, dict) else ""


def _deltas(step: Step) -> Iterator[StreamDelta]:
    for piece in _TOKEN.findall(step.reasoning):
        yield ReasoningPiece(piece)
    for piece in _TOKEN.findall(str(step.text)):
        yield TextPiece(piece)
    for index, (name, args) in enumerate(step.calls):
        yield ToolCallStart(index, new_call_id(), name)
        for piece in _TOKEN.findall(json.dumps(args, ensure_ascii=False)):
            yield ToolCallArgs(index, piece)
