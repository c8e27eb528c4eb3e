"""An agent without network, disk or people: a scripted provider, a store in memory, a gate by table."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hermes_tui.engine.config.settings import Settings
from hermes_tui.engine.policy.gate.verdict import Verdict
from hermes_tui.engine.providers.base import Endpoint, ModelRequest, StreamControl
from hermes_tui.engine.runtime.agent import Agent, AgentOptions, AgentParts
from hermes_tui.engine.runtime.interrupt import CancelToken
from hermes_tui.engine.types.deltas import (
    Finish,
    ReasoningPiece,
    StreamDelta,
    TextPiece,
    ToolCallArgs,
    ToolCallStart,
    UsageReport,
)
from hermes_tui.engine.types.errors import ConfigError, StreamBroken
from hermes_tui.engine.types.events import Event
from hermes_tui.engine.types.messages import Message, text_of
from hermes_tui.engine.types.requests import VerdictName
from hermes_tui.engine.types.sessions import StoredMessage
from hermes_tui.engine.types.usage import Usage
from hermes_tui.tools.base import Assessment, PathUse, Result
from hermes_tui.tools.registry import ToolRegistry

GUARD_S = 20.0
"""A wait that takes this long means that something hangs."""


class Hang:
    """A place in a script where the server falls silent until the connection is closed."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.closed = threading.Event()


@dataclass
class Do:
    """A place in a script where something happens on the API thread."""

    action: Callable[[], object]


Step = StreamDelta | Exception | Hang | Do
Reply = Sequence[Step]


def say(text: str, *, usage: Usage | None = None, finish: str = "stop") -> list[Step]:
    """A plain answer, word by word."""
    words = [TextPiece(word if i == 0 else f" {word}") for i, word in enumerate(text.split(" "))]
    return [*words, UsageReport(usage or Usage(input_tokens=10, output_tokens=len(words))), Finish(finish)]


def think(text: str) -> list[Step]:
    """Reasoning without an end."""
    return [ReasoningPiece(text)]


def call(*calls: tuple[str, str], first_id: int = 1, finish: str = "tool_calls", text: str = "") -> list[Step]:
    """An answer that calls tools, each given as ``(name, JSON arguments)``."""
    steps: list[Step] = [TextPiece(text)] if text else []
    for index, (name, arguments) in enumerate(calls):
        half = len(arguments) // 2
        steps.append(ToolCallStart(index, f"c{first_id + index}", name))
        steps += [ToolCallArgs(index, arguments[:half]), ToolCallArgs(index, arguments[half:])]
    return [*steps, UsageReport(Usage(input_tokens=10, output_tokens=5)), Finish(finish)]


class ScriptedClient:
    """Plays one reply per request and keeps the requests. The last reply repeats when ``repeat`` is set."""

    def __init__(self, replies: Sequence[Reply], *, repeat: bool = False) -> None:
        self._replies = list(replies)
        self._repeat = repeat
        self.requests: list[ModelRequest] = []
        self.closed = 0

    def stream(self, request: ModelRequest, control: StreamControl) -> Iterator[StreamDelta]:
        self.requests.append(request)
        if not self._replies:
            raise AssertionError("the script has no reply left")
        reply = self._replies[0] if self._repeat and len(self._replies) == 1 else self._replies.pop(0)
        hang = next((step for step in reply if isinstance(step, Hang)), None)
        control.on_open(lambda: self._close(hang))
        for step in reply:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, Hang):
                step.reached.set()
                assert step.closed.wait(GUARD_S), "nobody closed the connection"
                raise StreamBroken("closed")
            if isinstance(step, Do):
                step.action()
                continue
            yield step

    def _close(self, hang: Hang | None) -> None:
        self.closed += 1
        if hang is not None:
            hang.closed.set()


class MemoryStore:
    """``MessageStore`` in memory. ``fail_after`` rows, appending raises ``failure``."""

    def __init__(self) -> None:
        self.rows: dict[str, list[StoredMessage]] = {}
        self.prompts: dict[str, str] = {}
        self.titles: dict[str, str] = {}
        self.created: list[dict[str, Any]] = []
        self.parents: dict[str, str] = {}
        self.totals: dict[str, tuple[Usage, float | None]] = {}
        self.fail_after: int | None = None
        self.failure: Exception | None = None
        self._next_id = 1

    def create(
        self,
        *,
        source: str = "library",
        cwd: str | None = None,
        model: str | None = None,
        provider: str | None = None,
        session_id: str | None = None,
        parent: str | None = None,
        branch: str = "",
        claim: bool = False,
        messages: Sequence[Message] = (),
    ) -> str:
        name = session_id or f"s{len(self.rows)}"
        self.created.append(
            {"id": name, "source": source, "cwd": cwd, "model": model, "provider": provider, "parent": parent}
        )
        self.rows[name] = []
        try:
            self.append_many(name, messages)
        except Exception:
            del self.rows[name]
            raise
        return name

    def append_many(self, session_id: str, messages: Sequence[Message]) -> list[int]:
        before = len(self.rows[session_id])
        try:
            return [self.append(session_id, message) for message in messages]
        except Exception:
            del self.rows[session_id][before:]
            raise

    def append(self, session_id: str, message: Message) -> int:
        if self.failure is not None and self.fail_after is not None and self._next_id > self.fail_after:
            raise self.failure
        stored = StoredMessage(id=self._next_id, message=message.copy(), session_id=session_id)
        self.rows[session_id].append(stored)
        self._next_id += 1
        return stored.id

    def history(self, session_id: str) -> list[StoredMessage]:
        return list(self.rows[session_id])

    def messages(self, session_id: str, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        lineage = list(self.rows.get(session_id, []))
        while session_id in self.parents:
            session_id = self.parents[session_id]
            lineage = [*self.rows[session_id], *lineage]
        return [row for row in lineage if before_id is None or row.id < before_id][-limit:]

    def system_prompt(self, session_id: str) -> str:
        return self.prompts.get(session_id, "")

    def set_system_prompt(self, session_id: str, text: str) -> None:
        self.prompts[session_id] = text

    def add_usage(self, session_id: str, usage: Usage, cost_usd: float | None) -> None:
        old, cost = self.usage(session_id)
        self.totals[session_id] = (old + usage, None if cost is None or cost_usd is None else cost + cost_usd)

    def usage(self, session_id: str) -> tuple[Usage, float | None]:
        return self.totals.get(session_id, (Usage(), 0.0))

    def set_model(self, session_id: str, model: str, provider: str) -> None:
        self.created.append({"id": session_id, "model": model, "provider": provider})

    def set_auto_title(self, session_id: str, title: str) -> str:
        self.titles[session_id] = title
        return title

    def rename(self, session_id: str, title: str) -> str:
        self.titles[session_id] = title
        return title

    def continue_compressed(self, session_id: str, summary: Message) -> tuple[str, int]:
        child = f"{session_id}+"
        self.rows[child], self.parents[child] = [], session_id
        self.prompts[child], self.totals[child] = self.prompts.get(session_id, ""), self.usage(session_id)
        return child, self.append(child, summary)

    def undo_compression(self, session_id: str) -> bool:
        raise AssertionError("use the real database")

    def last_exchange(self, session_id: str) -> StoredMessage | None:
        return next((row for row in reversed(self.rows[session_id]) if row.message["role"] == "user"), None)

    def redo_last(self, session_id: str) -> list[StoredMessage]:
        raise AssertionError("use the real database")

    def lineage_of(self, session_id: str) -> list[tuple[str, int]]:
        return [(session_id, self._next_id)]

    def undo_last(self, session_id: str) -> str:
        rows = self.rows[session_id]
        last = max(i for i, row in enumerate(rows) if row.message["role"] == "user")
        text = text_of(rows[last].message)
        del rows[last:]
        return text


class TableGate:
    """A gate that knows its verdicts by command or path; all else is allowed."""

    def __init__(self, verdicts: Mapping[str, VerdictName] | None = None) -> None:
        self._verdicts = dict(verdicts or {})
        self.mode = "ask"
        self.remembered: list[tuple[tuple[str, ...], str, str]] = []

    def set_mode(self, mode: str) -> None:
        self.mode = mode

    def judge_command(self, command: str, *, cwd: str, workspace: str) -> Verdict:
        return self._verdict(command)

    def judge_paths(self, paths: Sequence[tuple[str, str]], *, cwd: str, workspace: str, diff: str = "") -> Verdict:
        return self._verdict(paths[0][0])

    def judge_code(self, code: str, *, cwd: str, workspace: str) -> Verdict:
        return self._verdict(code)

    def remember(self, rules: Sequence[str], scope: str, cwd: str) -> None:
        self.remembered.append((tuple(rules), scope, cwd))
        for rule in rules:
            self._verdicts[rule] = "allow"

    def _verdict(self, text: str) -> Verdict:
        name = self._verdicts.get(text, "allow")
        reasons = () if name == "allow" else (f"{text} is dangerous",)
        return Verdict(verdict=name, always=name == "ask", reasons=reasons, always_rules=(text,))


@dataclass
class Bench:
    """A scripted agent and everything that can be seen of it."""

    agent: Agent
    client: ScriptedClient
    store: MemoryStore
    gate: TableGate
    registry: ToolRegistry
    workspace: Path
    events: list[Event] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def of(self, kind: type[Event]) -> list[Any]:
        """All events of one kind so far."""
        return [event for event in self.events if type(event) is kind]

    def rows(self) -> list[Message]:
        """The stored rows, compressed ones included, summaries not."""
        rows = [row.message for row in self.store.messages(self.agent.session_id, limit=1_000_000)]
        return [row for row in rows if "compressed" not in row]

    def roles(self) -> list[str]:
        """Roles of the stored rows."""
        return [row["role"] for row in self.rows()]


ENDPOINT = Endpoint(provider="test", model="m1", api_mode="chat_completions", base_url="http://127.0.0.1:9/v1")
NO_TITLE = Settings()


def bench(
    replies: Sequence[Reply],
    workspace: Path,
    *,
    registry: ToolRegistry | None = None,
    gate: TableGate | None = None,
    store: Any = None,
    settings: Settings = NO_TITLE,
    repeat: bool = False,
    endpoints: Mapping[str, Endpoint] | None = None,
    parts: Mapping[str, Any] | None = None,
    **options: Any,
) -> Bench:
    """Build an agent over a script. Title calls are off unless the settings say otherwise."""
    client = ScriptedClient(replies, repeat=repeat)
    store = MemoryStore() if store is None else store
    gate = gate or TableGate()
    registry = registry or echo_tools()
    known = {"test/m1": ENDPOINT, **(endpoints or {})}
    waits: list[float] = []

    def resolve(model: str) -> Endpoint:
        if model not in known:
            raise ConfigError(f"There is no model {model}.", hint="Choose one of the configured models.")
        return known[model]

    def sleep(token: CancelToken, seconds: float) -> bool:
        waits.append(seconds)
        return token.cancelled

    if settings is NO_TITLE:
        from hermes_tui.engine.config.settings import AuxiliarySettings

        settings = replace(settings, auxiliary={"title": AuxiliarySettings(enabled=False)})
    agent_parts: dict[str, Any] = {
        "settings": settings,
        "store": store,
        "registry": registry,
        "resolve": resolve,
        "client_for": lambda mode: client,
        "gate": gate,
        "spill_dir": workspace / "spill",
        "sleep": sleep,
        "cost_usd": lambda endpoint, usage: usage.output_tokens / 1_000,
    }
    agent = Agent(
        AgentOptions(**{"model": "test/m1", "workspace": workspace, **options}),
        AgentParts(**{**agent_parts, **(parts or {})}),
    )
    made = Bench(agent, client, store, gate, registry, workspace, waits=waits)
    agent.hub.subscribe(made.events.append)
    return made


def schema(*required: str, **properties: str) -> dict[str, Any]:
    """A tool schema from ``name="type"`` pairs."""
    return {
        "description": "For tests.",
        "parameters": {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in properties.items()},
            "required": list(required),
        },
    }


def echo_tools() -> ToolRegistry:
    """A registry with ``echo`` (parallel, harmless), ``run`` (a command) and ``put`` (writes a path)."""
    registry = ToolRegistry()

    def echo(args: Mapping[str, Any], context: Any) -> Result:
        return {"ok": True, "text": args["text"]}

    def run(args: Mapping[str, Any], context: Any) -> Result:
        context.emit_output(f"$ {args['command']}\n")
        return {"ok": True, "ran": args["command"]}

    def put(args: Mapping[str, Any], context: Any) -> Result:
        return {"ok": True, "path": args["path"]}

    registry.register("echo", schema("text", text="string", times="integer"), echo, toolset="t", parallel=True)
    registry.register(
        "run",
        schema("command", command="string"),
        run,
        toolset="t",
        assess=lambda args, context: Assessment(command=args["command"]),
    )
    registry.register(
        "put",
        schema("path", path="string"),
        put,
        toolset="t",
        parallel=True,
        assess=lambda args, context: Assessment(paths=(PathUse(args["path"]),)),
    )
    return registry


def start(work: Callable[[], object]) -> threading.Thread:
    """Run something on a thread."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def join(thread: threading.Thread) -> None:
    """Wait for a thread; fail instead of hanging."""
    thread.join(GUARD_S)
    assert not thread.is_alive(), "hangs"
