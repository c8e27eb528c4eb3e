"""Tool calls out of the fragments that servers send, in all the forms that occur."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from ..types.deltas import StreamDelta, ToolCallArgs, ToolCallStart
from ..types.ids import new_call_id
from .surrogates import SurrogateJoiner

_NAMESPACE = re.compile(r"^(?:functions?|tools?|default_api)[.:]")
_ODD = re.compile(r"[^a-zA-Z0-9_-]+")


def clean_name(name: str) -> str:
    """Return a tool name without the template debris that models leave around it: ``functions.x``, ``x<|channel|>``."""
    bare = _NAMESPACE.sub("", name.strip().partition("<")[0].strip())
    return _ODD.sub("_", bare)[:64]


@dataclass
class _Call:
    index: int
    wire_id: str
    """As the server gave it; may be empty."""
    call_id: str
    name: str = ""
    args: str = ""
    started: bool = False
    joiner: SurrogateJoiner = field(default_factory=SurrogateJoiner)


class ToolCallFragments:
    """Folds fragments into calls.

    A fragment finds its call by id, by index, or is the last call's; a new id, or a name after complete arguments,
    begins a new one. ``ToolCallStart`` waits for the first argument, since some servers send names in pieces.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_wire_index: dict[Any, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def last_name(self) -> str:
        """Name of the call that was written last."""
        return clean_name(self._calls[-1].name) if self._calls else ""

    def add(self, fragment: dict[str, Any]) -> list[StreamDelta]:
        """Take one element of ``tool_calls``."""
        function = fragment.get("function") or {}
        name = function.get("name") or ""
        args = function.get("arguments")
        if args is None:
            args = ""
        elif not isinstance(args, str):
            args = json.dumps(args, ensure_ascii=False)
        wire_index, call_id = fragment.get("index"), fragment.get("id") or ""
        deltas: list[StreamDelta] = []
        call = self._find(wire_index, call_id, name)
        if call is None:
            deltas += self.flush()
            taken = not call_id or self._by_id(call_id) is not None
            call = _Call(len(self._calls), call_id, new_call_id() if taken else call_id)
            self._calls.append(call)
            if wire_index is not None:
                self._by_wire_index[wire_index] = call
        if name and not call.started:
            call.name = _merge_names(call.name, name)
        if args and (args := call.joiner.feed(args)):
            deltas += self._start(call)
            call.args += args
            deltas.append(ToolCallArgs(call.index, args))
        return deltas

    def flush(self) -> list[StreamDelta]:
        """Announce the calls that have no arguments."""
        return [delta for call in self._calls for delta in self._start(call)]

    def _start(self, call: _Call) -> list[StreamDelta]:
        if call.started:
            return []
        call.started = True
        return [ToolCallStart(call.index, call.call_id, clean_name(call.name))]

    def _find(self, wire_index: Any, call_id: str, name: str) -> _Call | None:
        at_index = self._by_wire_index.get(wire_index)
        if call_id:
            if at_index is not None and at_index.wire_id in ("", call_id):
                return at_index
            # Equal ids at two indexes are two calls; two ids at one index are, too.
            return self._by_id(call_id) if wire_index is None or at_index is not None else None
        last = at_index if wire_index is not None else (self._calls[-1] if self._calls else None)
        if last is not None and name and last.started and _is_complete(last.args):
            return None
        return last

    def _by_id(self, call_id: str) -> _Call | None:
        return next((call for call in self._calls if call.wire_id == call_id), None)


def _merge_names(known: str, piece: str) -> str:
    if piece == known or known.endswith(piece):
        return known
    return piece if piece.startswith(known) else known + piece


def _is_complete(args: str) -> bool:
    try:
        return isinstance(json.loads(args), dict)
    except ValueError:
        return False
