"""The agent: one conversation with a model and its tools. Knows no screen and no concrete store, gate or provider."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from ...tools.base import Tool
from ...tools.ports import CALLS
from ...tools.session import JOBS
from ..checkpoints.tracker import Tracker
from ..policy.approvals import Approvals
from ..policy.budget import Spent
from ..policy.guardrails import Guardrails
from ..policy.redaction import Redactor
from ..providers.base import Endpoint, ModelRequest
from ..types.errors import HermesError
from ..types.events import ModelChanged, Notice
from ..types.ids import new_turn_id
from ..types.inspection import ContextReport
from ..types.messages import JsonObject, Message
from ..types.usage import Usage
from .arguments import ArgumentChecker
from .assembly import (
    ask_person,
    conversation_parts,
    make_compressor,
    make_services,
    make_undoing,
    side_endpoint,
    title_asker,
    web_services,
)
from .callbacks import adapt_callbacks
from .conversation import Conversation
from .delegation import BLOCKED_TOOLSETS, Parent
from .executor import Executor
from .hub import Hub
from .inspector import Inspector, context_report
from .interrupt import CancelToken
from .jobs import SessionJobs
from .judge import MODEL_WORDS, PERSON_WORDS, PLAN_MODE, Judge
from .loop import Turn, TurnParts
from .options import AgentOptions, AgentParts
from .person_command import TOOL, run_command
from .plan import Planner
from .request_log import RequestLog, RequestRecord
from .route import Route
from .second_opinion import SecondOpinion
from .spending import Spending
from .steering import Steering
from .title import Titler
from .tool_context import ContextParts, SessionObjects, pinned_by, restore_tools, scrub_env

log = logging.getLogger(__name__)

__all__ = ["Agent", "AgentOptions", "AgentParts"]

INTERACTIVE_PLATFORMS = frozenset({"tui"})
"""Surfaces with a person in front of them; elsewhere approvals are denied unless a callback answers."""
_CLOSE_WAIT_S = 1.0
_UNDO_WAIT_S = 5.0
"""How long a turn waits for an undo that is being carried out."""


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
        self._requests = options.parent.requests if options.parent is not None else RequestLog()
        self.route = Route(parts.resolve, options.model, parts.settings.fallback_providers, forget_key=parts.forget_key)
        self.conversation = Conversation(conversation_parts(options, parts, self.hub))
        self._tracker = options.parent.tracker if options.parent else self._new_tracker()
        self.undoing = make_undoing(
            options, parts, self.conversation, self.hub.emit, self._between_turns, self._tracker
        )
        self._objects = SessionObjects()
        self.jobs = SessionJobs(self.hub.emit, Redactor(parts.secrets).text, options.platform)
        self._objects.get(JOBS, lambda: self.jobs.table)
        self._services = make_services(options, parts, lambda: self.session_id, self._spawn)
        self._checker = ArgumentChecker()
        self._token: CancelToken | None = None
        self._turn: Turn | None = None
        self._turn_lock = threading.Lock()
        self._load_lock = threading.Lock()
        self._is_loaded = False
        self._titler = Titler(
            self.conversation,
            parts.store,
            title_asker(parts, self.route),
            emit=self.hub.emit,
            is_wanted=not (options.session_id or options.agent_id),
        )
        self._compressor = make_compressor(
            parts,
            self.conversation,
            self.route,
            emit=self.hub.emit,
            on_usage=self._count_aside,
            pinned=lambda: pinned_by(self._tools(), self._objects),
            record=lambda request, tokens: self._record(request, estimated_tokens=tokens, purpose="compression"),
        )
        self._compress_after = False
        self._spending = Spending(parts.settings.budget, self.hub.emit, self._spent)

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
        return self.run_message(
            {"role": "user", "content": user_message}, system_message or "", conversation_history, task_id
        )

    def run_message(
        self,
        message: Message,
        system_message: str = "",
        conversation_history: Sequence[Message] | None = None,
        task_id: str | None = None,
    ) -> dict[str, Any]:
        """Run the turn that a whole user row begins; see :meth:`run_conversation`."""
        if not self._take_turn():
            raise HermesError("A turn is running already.", hint="Wait for it, steer it, or interrupt it.")
        parent = self._options.parent
        token = self._token = CancelToken() if parent is None else parent.token.child()
        try:
            self._titler.stop()
            prepare = self.load if conversation_history is None else partial(self._adopt, conversation_history)
            result = self._run_turn(token, message, system_message, task_id, prepare)
            while result["completed"] and not token.cancelled and (addition := self.steering.deliver()):
                result = self._run_turn(token, {"role": "user", "content": addition}, "", None, self.load)
            self.steering.hand_back()
            if self._compress_after:
                self._compress_later()
        finally:
            self._compress_after, self._token = False, None
            self._turn_lock.release()
        if result["completed"]:
            self._titler.start()
        return result

    def run_command(self, command: str) -> dict[str, Any]:
        """Run a person's command in the session's shell and keep the result for the model. Blocks.

        Raises:
            HermesError: A turn of this agent is running, or there is no shell.
        """
        tool = self._parts.registry.get(TOOL)
        problem = self._parts.registry.unavailable(TOOL) if tool is not None else "There is no terminal tool."
        if tool is None or problem:
            raise HermesError(f"No command can run here. {problem}")
        if not self._take_turn():
            raise HermesError("A turn is running already.", hint="Wait for it, or interrupt it.")
        try:
            self._token = CancelToken()
            self.hub.turn_id = new_turn_id()
            self.approvals.start_turn()
            self.load()
            executor = self._executor([tool], Guardrails(), by_person=True)
            return run_command(
                command,
                conversation=self.conversation,
                executor=executor,
                names=self.route.names(),
                emit=self.hub.emit,
                token=self._token,
                on_end=self.steering.hand_back,
            )
        finally:
            self._token = None
            self.hub.turn_id = ""
            if self._compress_after:
                self._compress_later()
            self._compress_after = False
            self._turn_lock.release()

    def _take_turn(self) -> bool:
        """Take the lock of turns; False when a turn has it. What undo does meanwhile is waited for."""
        return self._turn_lock.acquire(timeout=0 if self.is_running else _UNDO_WAIT_S)

    @contextmanager
    def _between_turns(self) -> Iterator[None]:
        if not self._take_turn():
            raise HermesError("A turn is running.", hint="Interrupt it first, then undo.")
        try:
            yield
        finally:
            self._turn_lock.release()

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

    def _compress_later(self) -> None:
        """Do what was asked for during the turn; a failure must not cost the turn's result."""
        try:
            self._compress_now("")
        except HermesError as error:
            self.hub.emit(Notice(level="error", text=error.message, hint=error.hint, kind="compression"))

    def _compress_now(self, focus: str) -> str:
        self._token = CancelToken()
        try:
            return self._compressor.on_demand(focus, self._token)
        finally:
            self._token = None

    def interrupt(self, reason: str = "user") -> None:
        """Stop the running turn, also one that only begins; does nothing when none runs. Any thread, at once."""
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
        if self._tracker is not None and self._options.parent is None:
            self._tracker.close()

    def _adopt(self, history: Sequence[Message]) -> None:
        self.load()
        if self.conversation.adopt(history, *self.route.names()):
            self._spending.start_session()

    def _run_turn(
        self,
        token: CancelToken,
        message: Message,
        system_message: str,
        task_id: str | None,
        prepare: Callable[[], None],
    ) -> dict[str, Any]:
        self.hub.turn_id = task_id or new_turn_id()
        if self._options.parent is None:
            self.approvals.start_turn()
            self._spending.start_turn()
            self._requests.start_turn()
        try:
            self._turn = Turn(self._turn_parts(token, system_message, prepare))
            return self._turn.run(message)
        finally:
            self._turn = None
            self.hub.turn_id = ""

    def _turn_parts(self, token: CancelToken, system_message: str, prepare: Callable[[], None]) -> TurnParts:
        tools = self._tools()
        guardrails = Guardrails()
        return TurnParts(
            settings=self._parts.settings,
            conversation=self.conversation,
            load=prepare,
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
            no_budget=lambda: self._no_budget(token),
            session_cap_usd=lambda: self._spending.session_usd,
            record=self._record,
            report_crash=self._parts.report_crash,
            system_message=system_message,
            max_iterations=self._options.max_iterations or self._parts.settings.agent.max_turns,
            mode_note=lambda: PLAN_MODE if self._parts.gate.mode == "plan" else "",
            news=self._news,
            on_begin=self._watch_files,
        )

    def _services_now(self) -> dict[str, object]:
        """Return what tools may need; the web depends on the model, because the demo stays on this machine."""
        return {**self._services, **web_services(self._parts, self.route.models_left[0])}

    def _record(self, request: ModelRequest, **facts: Any) -> RequestRecord:
        return self._requests.add(request, agent=self._options.agent_id, **facts)

    @property
    def inspector(self) -> Inspector:
        """Looks at the last requests."""
        parts = self._parts
        return Inspector(
            self._requests,
            parts.client_for,
            parts.cost_usd,
            Redactor(parts.secrets),
            lambda: self.conversation.factor,
        )

    def context(self) -> ContextReport:
        """Return what the next request would carry, by category. Any thread, never blocks."""
        definitions = [_definition(tool) for tool in self._tools()]
        return context_report(self.conversation, definitions, self.route, self._compressor)

    def _new_tracker(self) -> Tracker | None:
        if self._parts.checkpoints is None:
            return None
        return Tracker(
            self._parts.checkpoints,
            self._options.workspace,
            on_edit=lambda paths: self.undoing.tell_files(),
            on_problem=lambda text: self.hub.emit(Notice(level="warning", text=text, kind="undo")),
        )

    def _news(self) -> str:
        """Return, once, what the model should know of files that were taken back, and of its jobs."""
        return self.undoing.take_news() + self.jobs.take_news()

    def _watch_files(self, message_id: int) -> None:
        """Count what happens to files from now on to the turn of a message."""
        self.undoing.close_redo()
        if self._tracker is not None and self._options.parent is None:
            self._tracker.begin_turn(self.session_id, message_id)
            if any(tool.name == "terminal" for tool in self._tools()):
                self._tracker.prepare()

    def _tools(self) -> list[Tool]:
        """Return the tools of this turn, sorted by name; those that need a person only when one can be asked."""
        enabled = self._options.enabled_toolsets
        if enabled is None:
            enabled = self._parts.settings.agent.toolsets or None
        services = (CALLS, *self._services_now())
        tools = self._parts.registry.select(enabled, without=self._options.disabled_toolsets)
        return [
            tool
            for tool in tools
            if (not tool.interactive or self.approvals.can_clarify) and (not tool.needs or tool.needs in services)
        ]

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
                requests=self._requests,
                no_budget=self._spending.refusal,
                tracker=self._tracker,
            ),
        )
        return Agent(options, self._parts)

    def _count_child(self, usage: Usage, cost_usd: float | None) -> None:
        """Count what a subagent used: in this session, and in the running turn. Any thread."""
        self.conversation.add_usage(usage, cost_usd)
        if (turn := self._turn) is not None:
            turn.bill.add(usage, cost_usd)

    def _no_budget(self, token: CancelToken) -> str:
        """Say why no further request may be made, empty when it may; a subagent spends from its parent's limits."""
        refusal = self._options.parent.no_budget if self._options.parent else self._spending.refusal
        return refusal(partial(ask_person, self.approvals, self._options.agent_id, token))

    def _spent(self) -> tuple[Spent, Spent, bool]:
        turn, session = self._turn, self.conversation.bill
        return turn.bill.spent if turn is not None else Spent(), session.spent, session.is_partly_unknown

    def _executor(self, tools: Sequence[Tool], guardrails: Guardrails, *, by_person: bool = False) -> Executor:
        parts, settings = self._parts, self._parts.settings
        opinion = SecondOpinion(lambda: side_endpoint("approval", parts, self.route), parts.client_for)
        judge = Judge(
            parts.gate,
            self.approvals,
            deadline_s=lambda: settings.approvals.timeout_s,
            agent_id=self._options.agent_id,
            second_opinion=None if by_person else opinion,
            emit=self.hub.emit,
            words=PERSON_WORDS if by_person else MODEL_WORDS,
        )
        context = ContextParts(
            session_id=lambda: self.session_id,
            workspace=self._options.workspace,
            env=lambda: scrub_env(parts.env, parts.key_names, parts.secrets()),
            spill_dir=parts.spill_dir,
            state=self._objects,
            timeout_s=settings.tools.terminal_timeout_s,
            emit=self.hub.emit,
            approvals=self.approvals,
            redact=Redactor(parts.secrets).text,
            agent_id=self._options.agent_id,
            services=self._services_now(),
        )
        planner = Planner({tool.name: tool for tool in tools}, self._checker)
        return Executor(
            parts.registry,
            planner,
            judge,
            guardrails,
            context,
            Redactor(parts.secrets),
            tracker=None if by_person else self._tracker,
        )

    def _count_aside(self, endpoint: Endpoint, usage: Usage | None, is_whole: bool) -> None:
        """Count what a side task used towards the session."""
        if usage is not None or is_whole:
            cost = self._parts.cost_usd(endpoint, usage) if usage is not None else None
            self.conversation.add_usage(usage or Usage(), cost)


def _definition(tool: Tool) -> JsonObject:
    function = {"name": tool.name, **tool.schema}
    return cast(JsonObject, {"type": "function", "function": function})
