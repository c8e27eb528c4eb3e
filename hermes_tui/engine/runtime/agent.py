"""The agent: one conversation with a model and its tools. Knows no screen and no concrete store, gate or provider."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ...tools.base import Tool
from ...tools.registry import ToolRegistry
from ..config.settings import AuxiliarySettings, Settings
from ..context.compression import ContextEngine, SummaryEngine
from ..context.memory import MemoryBook
from ..policy.approvals import Approvals
from ..policy.guardrails import Guardrails
from ..policy.redaction import Redactor
from ..providers.base import Endpoint
from ..types.errors import HermesError
from ..types.events import ModelChanged
from ..types.ids import new_request_id, new_turn_id
from ..types.messages import JsonObject, Message
from ..types.requests import ClarifyRequest
from ..types.usage import Usage
from .arguments import ArgumentChecker
from .auxiliary import Auxiliary, AuxiliaryParts
from .callbacks import Callback, adapt_callbacks
from .compress import Compressor, CompressParts
from .conversation import Conversation, ConversationParts
from .delegation import BLOCKED_TOOLSETS, Parent, Subagents
from .executor import Executor
from .hub import Hub
from .interrupt import CancelToken
from .judge import PLAN_MODE, Judge
from .loop import Turn, TurnParts
from .plan import Planner
from .ports import ClientFor, Cost, Gate, MessageStore, Resolve, SessionArchive
from .recall import StoreRecall
from .route import Route
from .second_opinion import SecondOpinion
from .steering import Steering
from .title import Titler, ask_title
from .tool_context import ContextParts, SessionObjects, pinned_by, restore_tools, scrub_env

log = logging.getLogger(__name__)

INTERACTIVE_PLATFORMS = frozenset({"tui"})
"""Surfaces with a person in front of them; elsewhere approvals are denied unless a callback answers."""
_CLOSE_WAIT_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What a caller chooses."""

    model: str
    """``provider/model``."""
    workspace: Path
    max_iterations: int = 0
    """Model calls per turn; 0 takes ``agent.max_turns``."""
    enabled_toolsets: Collection[str] | None = None
    """None takes ``agent.toolsets``, all when that is empty."""
    disabled_toolsets: Collection[str] = ()
    platform: str = ""
    """``tui``, ``run``, ``library``, ...: the session's source and the prompt's hint."""
    session_id: str = ""
    """A stored session to go on with; empty starts a new one."""
    agent_id: str = ""
    """Empty for the main agent."""
    skip_context_files: bool = False
    parent: Parent | None = None
    """For a subagent: what ties it to the agent that started it."""
    skip_memory: bool = False
    """Leave the notes of earlier sessions out of the prompt, and the tool that changes them."""
    callbacks: Mapping[str, Callback] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParts:
    """What the composition root provides."""

    settings: Settings
    store: MessageStore
    registry: ToolRegistry
    resolve: Resolve
    client_for: ClientFor
    gate: Gate
    spill_dir: Path
    """Private folder for full copies of long results."""
    soul_file: Path | None = None
    """The user's own identity text."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment of child processes, before keys are taken out."""
    key_names: Collection[str] = ()
    """Variables that hold provider keys."""
    is_trusted: Callable[[str, str], bool] = lambda path, digest: False
    """Whether a project's file (path, content hash) may be used."""
    secrets: Callable[[], Collection[str]] = tuple
    """Values of the configured keys."""
    forget_key: Callable[[str], None] = lambda provider: None
    """Makes the next resolving of a provider look for its key anew, because it was refused."""
    memory: MemoryBook | None = None
    """Notes of earlier sessions."""
    archive: SessionArchive | None = None
    """Everything ever said, for the tool that searches it."""
    context_engine: ContextEngine | None = None
    """How histories are shortened; a summary of their middle when None."""
    cost_usd: Cost = lambda endpoint, usage: None
    sleep: Callable[[CancelToken, float], bool] = CancelToken.wait
    now: Callable[[], float] = time.time


class Agent:
    """Runs turns, one at a time, on the calling thread. The constructor does no I/O.

    Args:
        options: The caller's choices.
        parts: Everything it works with.

    Raises:
        ConfigError: A callback's name is unknown.
    """

    def __init__(self, options: AgentOptions, parts: AgentParts) -> None:
        self._options = options
        self._parts = parts
        callbacks = adapt_callbacks(options.callbacks)
        self.hub = Hub(agent_id=options.agent_id)
        for sink in callbacks.sinks:
            self.hub.subscribe(sink)
        if options.parent is not None:
            self.hub.subscribe(options.parent.hub.relay)
            self.approvals = options.parent.approvals
        else:
            self.approvals = Approvals(self.hub.emit, approver=callbacks.approver, clarifier=callbacks.clarifier)
        self.steering = Steering(self.hub.emit)
        self.route = Route(parts.resolve, options.model, parts.settings.fallback_providers, forget_key=parts.forget_key)
        self.conversation = Conversation(self._conversation_parts())
        self._objects = SessionObjects()
        self._services = self._make_services()
        self._checker = ArgumentChecker()
        self._token: CancelToken | None = None
        self._turn: Turn | None = None
        self._turn_lock = threading.Lock()
        self._load_lock = threading.Lock()
        self._is_loaded = False
        self._titler = Titler(
            self.conversation,
            parts.store,
            self._title_model,
            emit=self.hub.emit,
            is_wanted=not (options.session_id or options.agent_id),
        )
        self._compressor = self._make_compressor()
        self._compress_after = False

    @property
    def session_id(self) -> str:
        """Id of the session."""
        return self.conversation.session_id

    @property
    def is_interactive(self) -> bool:
        """Whether its surface shows events to a person who can answer."""
        return self._options.platform in INTERACTIVE_PLATFORMS

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return self._token is not None

    def chat(self, message: str) -> str:
        """Run a turn and return the final answer's text."""
        return str(self.run_conversation(message)["final_response"])

    def run_conversation(
        self,
        user_message: str | list[JsonObject],
        system_message: str | None = None,
        conversation_history: Sequence[Message] | None = None,
        task_id: str | None = None,
    ) -> dict[str, Any]:
        """Run a turn and return the library's result keys. Blocks; failures are in the result, not raised.

        Args:
            user_message: Text, or content parts.
            system_message: Added to the system prompt of a new session.
            conversation_history: Earlier messages, OpenAI-style; this conversation's own go on with it, others start a
                new session.
            task_id: Used as the turn id of the events.

        Raises:
            HermesError: Another turn of this agent is running.
        """
        if not self._turn_lock.acquire(blocking=False):
            raise HermesError("A turn is running already.", hint="Wait for it, steer it, or interrupt it.")
        try:
            self._titler.stop()
            if conversation_history is not None:
                self.load()
                self.conversation.adopt(conversation_history, *self.route.names())
            result = self._run_turn(user_message, system_message or "", task_id)
            while result["completed"] and (addition := self.steering.deliver()):
                result = self._run_turn(addition, "", None)
            if self._compress_after:
                self._compress_now("")
        finally:
            self._compress_after = False
            self._turn_lock.release()
        if result["completed"]:
            self._titler.start()
        return result

    def compress(self, focus: str = "") -> str:
        """Summarise older messages now, or after the running turn; returns what came of it in words. Blocks.

        Args:
            focus: What the summary must keep in mind.
        """
        if not self._turn_lock.acquire(blocking=False):
            was_planned, self._compress_after = self._compress_after, True
            return "It is planned already." if was_planned else "The conversation is compressed after this turn."
        try:
            self.load()
            return self._compress_now(focus)
        finally:
            self._turn_lock.release()

    def undo_compression(self) -> str:
        """Send again what the last summary stands for; returns what came of it in words. Blocks.

        Raises:
            HermesError: A turn is running.
        """
        if not self._turn_lock.acquire(blocking=False):
            raise HermesError("A turn is running.", hint="Interrupt it first.")
        try:
            self.load()
            return self._compressor.take_back()
        finally:
            self._turn_lock.release()

    def _compress_now(self, focus: str) -> str:
        self._token = CancelToken()
        try:
            return self._compressor.on_demand(focus, self._token)
        finally:
            self._token = None

    def interrupt(self, reason: str = "user") -> None:
        """Stop the running turn. Any thread, returns at once."""
        if (token := self._token) is not None:
            token.cancel_soon(reason)

    def steer(self, text: str) -> None:
        """Add text to the running turn. Any thread, returns at once."""
        self.steering.add(text)

    def set_model(self, model: str) -> None:
        """Send later requests to another model.

        Raises:
            ConfigError: It cannot be resolved; the old one stays.
        """
        endpoint = self.route.set_model(model)
        self.conversation.record_model(endpoint.model, endpoint.provider)
        self._tell_model(endpoint)

    def set_window(self, tokens: int) -> None:
        """Correct the model's context window once it is known. Any thread, between requests."""
        self._tell_model(self.route.set_window(tokens))

    def _tell_model(self, endpoint: Endpoint) -> None:
        self.hub.emit(
            ModelChanged(model=endpoint.model, provider=endpoint.provider, context_window=endpoint.context_window)
        )

    def warm(self) -> None:
        """Load what the first turn needs: history, schema checker, JSON mender. For a thread after the first paint."""
        import json_repair
        import jsonschema

        log.debug("warm: %s %s", json_repair.__name__, jsonschema.__name__)
        self.load()

    def load(self) -> None:
        """Read a stored session, and give the tools back what they kept for it; once. Blocks on the disk."""
        with self._load_lock:
            if self._is_loaded:
                return
            self.conversation.load()
            self._is_loaded = True
            restore_tools(self._tools(), self.conversation.history, self._objects)

    def wait_for_title(self, timeout_s: float | None = None) -> None:
        """Block until the background title call, if any, is over."""
        self._titler.wait(timeout_s)

    def close(self) -> None:
        """Stop what runs and end the session's processes. The store stays open: it is not the agent's."""
        self.interrupt("close")
        self._titler.stop()
        self.wait_for_title(_CLOSE_WAIT_S)
        if self._turn_lock.acquire(timeout=_CLOSE_WAIT_S):
            self._turn_lock.release()
        self._objects.close()

    def _run_turn(self, content: str | list[JsonObject], system_message: str, task_id: str | None) -> dict[str, Any]:
        parent = self._options.parent
        self._token = CancelToken() if parent is None else parent.token.child()
        self.hub.turn_id = task_id or new_turn_id()
        if parent is None:
            self.approvals.start_turn()
        try:
            self._turn = Turn(self._turn_parts(self._token, system_message))
            return self._turn.run({"role": "user", "content": content}, _shown(content))
        finally:
            self._token = self._turn = None
            self.hub.turn_id = ""

    def _turn_parts(self, token: CancelToken, system_message: str) -> TurnParts:
        tools = self._tools()
        guardrails = Guardrails()
        return TurnParts(
            settings=self._parts.settings,
            conversation=self.conversation,
            load=self.load,
            route=self.route,
            client_for=self._parts.client_for,
            emit=self.hub.emit,
            token=token,
            steering=self.steering,
            compressor=self._compressor,
            guardrails=guardrails,
            executor=self._executor(tools, guardrails),
            tools=[_definition(tool) for tool in tools],
            tool_names=[tool.name for tool in tools],
            cost_usd=self._parts.cost_usd,
            sleep=self._parts.sleep,
            ask_user=lambda question, choices: self._ask_user(question, choices, token),
            system_message=system_message,
            max_iterations=self._options.max_iterations or self._parts.settings.agent.max_turns,
            mode_note=lambda: PLAN_MODE if self._parts.gate.mode == "plan" else "",
        )

    def _tools(self) -> list[Tool]:
        """Return the tools of this turn, sorted by name; those that need a person only when one can be asked."""
        enabled = self._options.enabled_toolsets
        if enabled is None:
            enabled = self._parts.settings.agent.toolsets or None
        tools = self._parts.registry.select(enabled, without=self._options.disabled_toolsets)
        return [
            tool
            for tool in tools
            if (not tool.interactive or self.approvals.can_clarify) and (not tool.needs or tool.needs in self._services)
        ]

    def _make_services(self) -> dict[str, object]:
        """Return what tools may need, by name."""
        services: dict[str, object] = {}
        if self._parts.memory is not None and not self._options.skip_memory:
            services["memory"] = self._parts.memory
        if self._parts.archive is not None:
            services["recall"] = StoreRecall(self._parts.archive, lambda: self.session_id)
        if self._options.parent is None:
            services["delegation"] = Subagents(self._spawn, self._parts.settings.delegation.max_children)
        return services

    def _spawn(self, name: str, token: CancelToken, toolsets: Sequence[str]) -> Agent:
        """Make a subagent."""
        own, settings = self._options, self._parts.settings
        options = AgentOptions(
            model=settings.delegation.model or self.route.models_left[0],
            workspace=own.workspace,
            max_iterations=settings.delegation.max_iterations,
            enabled_toolsets=tuple(toolsets) or own.enabled_toolsets,
            disabled_toolsets=(*own.disabled_toolsets, *BLOCKED_TOOLSETS),
            platform="subagent",
            agent_id=name,
            skip_context_files=own.skip_context_files,
            skip_memory=True,
            parent=Parent(
                session_id=self.session_id,
                hub=self.hub,
                approvals=self.approvals,
                token=token,
                add_usage=self._count_child,
            ),
        )
        return Agent(options, self._parts)

    def _count_child(self, usage: Usage, cost_usd: float | None) -> None:
        """Count what a subagent used: in this session, and in the running turn. Any thread."""
        self.conversation.add_usage(usage, cost_usd)
        if (turn := self._turn) is not None:
            turn.add_usage(usage, cost_usd)

    def _executor(self, tools: Sequence[Tool], guardrails: Guardrails) -> Executor:
        parts, settings = self._parts, self._parts.settings
        judge = Judge(
            parts.gate,
            self.approvals,
            deadline_s=lambda: settings.approvals.timeout_s,
            agent_id=self._options.agent_id,
            second_opinion=SecondOpinion(lambda: self._auxiliary("approval"), parts.client_for),
            emit=self.hub.emit,
        )
        context = ContextParts(
            session_id=self.session_id,
            workspace=self._options.workspace,
            env=scrub_env(parts.env, parts.key_names, parts.secrets()),
            spill_dir=parts.spill_dir,
            state=self._objects,
            timeout_s=settings.tools.terminal_timeout_s,
            emit=self.hub.emit,
            approvals=self.approvals,
            redact=Redactor(parts.secrets).text,
            agent_id=self._options.agent_id,
            services=self._services,
        )
        planner = Planner({tool.name: tool for tool in tools}, self._checker)
        return Executor(parts.registry, planner, judge, guardrails, context, Redactor(parts.secrets))

    def _conversation_parts(self) -> ConversationParts:
        options, parts = self._options, self._parts
        return ConversationParts(
            store=parts.store,
            hub=self.hub,
            redactor=Redactor(parts.secrets),
            workspace=options.workspace,
            source=options.platform or "library",
            session_id=options.session_id,
            soul_file=parts.soul_file,
            skip_context_files=options.skip_context_files,
            is_trusted=parts.is_trusted,
            platform=options.platform,
            memory=None if options.skip_memory else parts.memory,
            parent_id=options.parent.session_id if options.parent else "",
            add_usage=options.parent.add_usage if options.parent else None,
            now=parts.now,
        )

    def _ask_user(self, question: str, choices: Sequence[str], token: CancelToken) -> str:
        request = ClarifyRequest(
            request_id=new_request_id(),
            call_id="",
            question=question,
            choices=tuple(choices),
            agent_id=self._options.agent_id,
        )
        return self.approvals.ask(request, token).text

    def _make_compressor(self) -> Compressor:
        parts, settings = self._parts, self._parts.settings
        choice = settings.auxiliary.get("compression", AuxiliarySettings())
        asking = AuxiliaryParts(
            resolve=parts.resolve,
            client_for=parts.client_for,
            main=self.route,
            emit=self.hub.emit,
            sleep=parts.sleep,
            on_usage=self._count_aside,
        )
        return Compressor(
            CompressParts(
                engine=parts.context_engine or SummaryEngine(settings.compression.protect_last_n),
                conversation=self.conversation,
                route=self.route,
                auxiliary=Auxiliary("compression", choice, asking),
                emit=self.hub.emit,
                pinned=lambda: pinned_by(self._tools(), self._objects),
                threshold=settings.compression.threshold,
                is_enabled=settings.compression.enabled and choice.enabled,
            )
        )

    def _count_aside(self, endpoint: Endpoint, usage: Usage | None, is_whole: bool) -> None:
        """Count what a side task used towards the session."""
        if usage is not None or is_whole:
            cost = self._parts.cost_usd(endpoint, usage) if usage is not None else None
            self.conversation.add_usage(usage or Usage(), cost)

    def _title_model(self, token: CancelToken, user_text: str, answer: str) -> str:
        """Ask for a title; empty when none is wanted or no model gives one."""
        choice = self._parts.settings.auxiliary.get("title", AuxiliarySettings())
        if not choice.enabled:
            return ""
        for model in (*((choice.model,) if choice.model else ()), *choice.fallbacks, *self.route.models_left[:1]):
            title = ask_title(self._parts.resolve(model), self._parts.client_for, token, user_text, answer)
            if title or token.cancelled:
                return title
        return ""

    def _auxiliary(self, task: str) -> Endpoint:
        """Return where a side task asks: its own model, else the present one."""
        choice = self._parts.settings.auxiliary.get(task, AuxiliarySettings())
        return self._parts.resolve(choice.model) if choice.model else self.route.endpoint


def _definition(tool: Tool) -> JsonObject:
    function = {"name": tool.name, **tool.schema}
    return cast(JsonObject, {"type": "function", "function": function})


def _shown(content: str | list[JsonObject]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
