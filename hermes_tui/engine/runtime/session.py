"""One conversation as a front end sees it: ``api.AgentSession`` over an agent and its stored rows."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...tools.registry import ToolRegistry
from ..api import EventSink, UndoScope
from ..types.changes import FileChange, Undone, UndoPlan
from ..types.errors import HermesError, StoreError
from ..types.events import (
    Event,
    FallbackUsed,
    ModelChanged,
    Notice,
    SessionOpened,
    SessionTitled,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
)
from ..types.inspection import ContextReport, RequestDetail, RequestRow
from ..types.requests import ApprovalDecision, ClarifyAnswer
from ..types.sessions import SessionState, StoredMessage
from .agent import Agent
from .attachments import message_with
from .jobs import SessionJobs
from .ports import Gate, MessageStore
from .replay import replay

_FOLLOWED = frozenset({UsageUpdated, TurnStarted, TurnFinished, SessionTitled, ModelChanged, FallbackUsed})

log = logging.getLogger(__name__)


class LiveSession:
    """An open conversation. Implements :class:`~hermes_tui.engine.api.AgentSession`.

    Args:
        agent: Runs the turns.
        store: Holds the rows.
        registry: Describes calls for their cards.
        gate: Its approval mode is this session's.
        state: What is known when it opens: title, cwd, branch, model.
        resumed: Whether it has a past.
        warm_up: Loads what the first request needs; called in a thread once somebody listens.
        on_close: Called once at the end (release of the session's claim).
    """

    def __init__(
        self,
        agent: Agent,
        store: MessageStore,
        registry: ToolRegistry,
        gate: Gate,
        state: SessionState,
        *,
        resumed: bool = False,
        warm_up: Callable[[], None] = lambda: None,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self._agent = agent
        self._store = store
        self._registry = registry
        self._gate = gate
        self._state = state
        self._resumed = resumed
        self._warm_up = warm_up
        self._on_close = on_close
        self._has_announced = False
        self._lock = threading.Lock()
        agent.hub.subscribe(self._follow)

    @property
    def state(self) -> SessionState:
        """The present state. Any thread, never blocks."""
        return replace(self._state, session_id=self._agent.session_id, approval_mode=self._gate.mode)

    @property
    def jobs(self) -> SessionJobs:
        """Its background jobs."""
        return self._agent.jobs

    def subscribe(self, sink: EventSink) -> Callable[[], None]:
        """Send every later event to ``sink``. Never blocks.

        The first subscriber hears ``SessionOpened``: at once for a new session, else as soon as its past is read.
        On a screen the subscriber also counts as somebody who answers approvals; without one they are denied.
        """
        stop = self._agent.hub.subscribe(sink)
        detach = self._agent.approvals.attach_surface() if self._agent.is_interactive else lambda: None
        with self._lock:
            is_first, self._has_announced = not self._has_announced, True
        if is_first and not self._resumed:
            self._announce()
        if is_first:
            threading.Thread(target=self._get_ready, name="get-ready", daemon=True).start()

        def unsubscribe() -> None:
            stop()
            detach()

        return unsubscribe

    def run_turn(self, text: str, images: Sequence[str] = ()) -> Mapping[str, Any]:
        """Run one turn on the calling thread and return the library's result keys.

        Raises:
            HermesError: Another process has the session open.
        """
        self._check_writable()
        folder = Path(self._state.cwd or Path.cwd())
        return self._agent.run_message(message_with(text, images, folder, self._may_read))

    def run_command(self, command: str) -> Mapping[str, Any]:
        """Run a command of the person's own in the session's shell, as a turn without a model.

        Raises:
            HermesError: Another process has the session open, a turn is running, or there is no shell.
        """
        self._check_writable()
        return self._agent.run_command(command)

    def interrupt(self, reason: str = "user") -> None:
        """Stop the running turn. Any thread, returns at once."""
        self._agent.interrupt(reason)

    def steer(self, text: str) -> None:
        """Add text to the running turn. Any thread, returns at once."""
        self._agent.steer(text)

    def answer_approval(self, request_id: str, decision: ApprovalDecision) -> bool:
        """Answer a waiting approval; False when it was answered already. Any thread, returns at once."""
        return self._agent.approvals.resolve(request_id, decision)

    def answer_clarify(self, request_id: str, answer: ClarifyAnswer) -> bool:
        """Answer a waiting question; False when it was answered already. Any thread, returns at once."""
        return self._agent.approvals.answer(request_id, answer)

    def history(self, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        """Return up to ``limit`` messages before ``before_id`` (the newest when None), oldest first."""
        return self._store.messages(self._agent.session_id, before_id, limit)

    def replay(self, messages: Sequence[StoredMessage]) -> list[Event]:
        """Turn stored messages into the events that showed them live. Pure."""
        return replay(messages, self._registry)

    def set_model(self, model: str) -> None:
        """Send later requests to ``provider/model``."""
        self._agent.set_model(model)

    def set_approval_mode(self, mode: str) -> None:
        """Change the approval mode for this session."""
        self._gate.set_mode(mode)

    def rename(self, title: str) -> str:
        """Set the title and return the one stored (numbered when taken)."""
        stored = self._store.rename(self._agent.session_id, self._agent.conversation.redact(title))
        self._agent.hub.emit(SessionTitled(title=stored))
        return stored

    def changes(self, message_id: int = 0) -> tuple[FileChange, ...]:
        """What the agent did to files and nobody took back: in the turn of a message, in the whole session when 0."""
        return self._agent.undoing.changes(message_id)

    def last_message_id(self) -> int:
        """The message that :meth:`undo` would take back; 0 when there is none."""
        return self._agent.undoing.last_message_id()

    def plan_undo(self, since_id: int = 0) -> UndoPlan:
        """Say what :meth:`undo` would do; with ``since_id``, what going back to before that message would."""
        return self._agent.undoing.plan(since_id)

    def undo(self, scope: UndoScope = "message") -> Undone:
        """Take back the last exchange, what its turn did to files, or both. Files that changed since stay."""
        return self._agent.undoing.undo(scope)

    def redo(self) -> Undone:
        """Take back the last undo, unless something was said since. Files that changed since stay."""
        return self._agent.undoing.redo()

    def compress(self, focus: str = "") -> str:
        """Summarise older messages now, or after the running turn; returns in words what came of it."""
        return self._agent.compress(focus)

    def undo_compression(self) -> str:
        """Send again what the last summary stands for; returns in words what came of it."""
        return self._agent.undo_compression()

    def requests(self) -> Sequence[RequestRow]:
        """Return the last model requests, oldest first. Any thread, never blocks."""
        return self._agent.inspector.rows()

    def request(self, number: int) -> RequestDetail:
        """Return everything about one of them."""
        return self._agent.inspector.detail(number)

    def context(self) -> ContextReport:
        """Return what the next request would carry, by category. Any thread, never blocks."""
        return self._agent.context()

    def close(self) -> None:
        """End the session's processes and flush its rows."""
        self._agent.close()
        self._on_close()

    def _may_read(self, path: str) -> str:
        """Say why a file that was named with ``@`` is not read; links count by where they lead."""
        spellings = [(spelling, "read") for spelling in dict.fromkeys((path, os.path.realpath(path)))]
        verdict = self._gate.judge_paths(spellings, cwd=self._state.cwd, workspace=self._state.cwd)
        return "" if verdict.verdict == "allow" else "; ".join(verdict.reasons) or "a rule forbids it"

    def _check_writable(self) -> None:
        if self._state.read_only:
            raise HermesError("This session is open in another window.", hint="Go on there, or fork it.")

    def _get_ready(self) -> None:
        """Read the past, say that the session is open, and load what the first request needs."""
        try:
            if self._resumed:
                self._agent.load()
                self._announce()
                self._tell_damage()
                self._agent.undoing.tell_files()
            self._warm_up()
        except StoreError as error:
            self._agent.hub.emit(Notice(level="error", text=error.message, hint=error.hint, kind="store"))
        except HermesError as error:  # said again, with its hint, when the first request is made
            log.info("warm-up: %s", error)

    def _tell_damage(self) -> None:
        count = sum("damaged" in row for row in self._agent.conversation.history)
        if count:
            text = f"{count} stored message{'s' * (count != 1)} could be read in part only; what could not is left out."
            self._agent.hub.emit(Notice(level="warning", text=text, kind="store"))

    def _announce(self) -> None:
        conversation = self._agent.conversation
        state = self._state
        self._agent.hub.emit(
            SessionOpened(
                title=state.title,
                resumed=self._resumed,
                message_count=len(conversation.history),
                compaction_count=state.compaction_count,
                context_tokens=conversation.estimate(0),
                model=state.model,
                provider=state.provider,
                cwd=state.cwd,
            )
        )

    def _follow(self, event: Event) -> None:
        """Keep the snapshot up to date; called on the emitting thread, for every streamed token too."""
        if type(event) not in _FOLLOWED or event.agent_id:
            return
        match event:
            case UsageUpdated():
                self._state = replace(
                    self._state,
                    cost_usd=event.cost_usd,
                    cost_cap_usd=event.cost_cap_usd,
                    context_tokens=event.context_tokens,
                    context_window=event.context_window,
                )
            case TurnStarted():
                self._state = replace(self._state, running=True)
            case TurnFinished():
                self._state = replace(self._state, running=False)
            case SessionTitled():
                self._state = replace(self._state, title=event.title)
            case ModelChanged():
                self._state = replace(
                    self._state, model=event.model, provider=event.provider, context_window=event.context_window
                )
            case FallbackUsed():
                self._state = replace(self._state, model=event.model, provider=event.provider)
            case _:
                pass
