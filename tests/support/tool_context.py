"""A plain tool context for tests: real folders, a cancel token that tests pull, everything emitted is kept."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_tui.tools.base import Tool, ToolFailure
from hermes_tui.tools.registry import load_builtin_tools
from hermes_tui.tools.signal import Signal

_call_numbers = itertools.count(1)


class PlainCancel(Signal):
    """A cancel token that a test cancels itself."""

    def cancel(self, reason: str = "user") -> None:
        self.reason = reason
        super().cancel()


class PlainState:
    """Session objects in a dict; ``close`` closes them."""

    def __init__(self) -> None:
        self._items: dict[str, Any] = {}
        self._lock = threading.RLock()

    def get(self, key: str, factory: Callable[[], Any]) -> Any:
        with self._lock:
            if key not in self._items:
                self._items[key] = factory()
            return self._items[key]

    def close(self) -> None:
        with self._lock:
            items, self._items = list(self._items.values()), {}
        for item in items:
            if hasattr(item, "close"):
                item.close()


@dataclass
class PlainContext:
    """What a handler gets. ``with plain_context(tmp_path) as context`` closes it."""

    workspace: Path
    spill_dir: Path
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    call_id: str = "call_1"
    session_id: str = "session_1"
    is_scripted: bool = False
    timeout_s: float = 30.0
    cancel: PlainCancel = field(default_factory=PlainCancel)
    state: PlainState = field(default_factory=PlainState)
    answer: str = ""
    """What ``ask`` returns."""
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    published: list[list[dict[str, str]]] = field(default_factory=list)
    emitted: list[str] = field(default_factory=list)
    screens: list[str] = field(default_factory=list)
    on_output: Callable[[str], None] = lambda text: None
    services: dict[str, Any] = field(default_factory=dict)

    def service(self, name: str) -> Any:
        return self.services[name]

    def redact(self, text: str) -> str:
        return text.replace("PLANTED-SECRET", "[redacted:test]")

    def emit_output(self, text: str) -> None:
        self.emitted.append(text)
        self.on_output(text)

    def emit_screen(self, text: str) -> None:
        self.screens.append(text)
        self.on_output(text)

    def ask(self, question: str, choices: Sequence[str]) -> str:
        self.asked.append((question, tuple(choices)))
        return self.answer

    def publish_todos(self, items: Sequence[Mapping[str, str]]) -> None:
        self.published.append([dict(item) for item in items])


@contextmanager
def plain_context(tmp_path: Path, **changes: Any) -> Iterator[PlainContext]:
    """A context whose workspace is ``tmp_path/work``; closed at the end."""
    workspace = tmp_path / "work"
    spill_dir = tmp_path / "spill"
    workspace.mkdir(exist_ok=True)
    spill_dir.mkdir(exist_ok=True, mode=0o700)
    context = PlainContext(workspace=workspace, spill_dir=spill_dir, **changes)
    try:
        yield context
    finally:
        context.state.close()


def call_tool(context: PlainContext, name: str, /, **args: Any) -> dict[str, Any]:
    """Assess and run a call the way the engine does, each with an id of its own."""
    tool = load_builtin_tools().get(name)
    assert tool is not None
    context.call_id = f"call_{next(_call_numbers)}"
    tool.assess(args, context)
    return run_tool(context, tool, args)


def run_tool(context: PlainContext, tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """Run a call that was assessed, or not, and check that card and result hold together."""
    assert set(tool.display(args, None)) >= {"kind", "verb", "target", "summary"}
    try:
        result = tool.handler(args, context)
    except ToolFailure as failure:
        result = {"ok": False, "error": failure.message, **failure.details}
    stored = json.loads(json.dumps(result))
    assert stored == result
    assert tool.display(args, stored) == tool.display(args, result)
    return result
