"""One match per event: event -> widget call. Live turns and stored sessions take the same path.

:class:`EntryPresenter` writes the transcript; :class:`Presenter` adds what surrounds it (status, dialogs,
title). Neither knows a screen: both talk to narrow protocols, so that a list can stand in for a transcript.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from .engine.types import events as ev
from .engine.types.jobs import JobRow
from .engine.types.requests import ApprovalDecision, ApprovalRequest, ClarifyAnswer, ClarifyRequest
from .widgets.entries import AssistantEntry, DividerEntry, Entry, NoticeEntry, ReasoningEntry, ToolEntry, UserEntry
from .widgets.entries.subagents import Subagent

IGNORED: frozenset[type[ev.Event]] = frozenset()
"""Events that the screen deliberately does not show."""


class Log(Protocol):
    """Where entries go: a transcript, or a list that becomes the older part of one."""

    def append(self, entry: Entry) -> None:
        """Add an entry at the end."""

    def changed(self, entry: Entry) -> None:
        """Draw an entry again."""

    def remove(self, entry: Entry) -> None:
        """Take an entry out."""


class Shell(Protocol):
    """What surrounds the transcript."""

    def show_activity(self, text: str) -> None:
        """Say what the turn is doing now; empty when nothing."""

    def show_session(self, event: ev.SessionOpened) -> None:
        """Show whose session this is."""

    def show_title(self, title: str) -> None:
        """Show the session's title."""

    def show_model(self, event: ev.ModelChanged | ev.FallbackUsed) -> None:
        """Show the model that answers from now on."""

    def show_usage(self, event: ev.UsageUpdated) -> None:
        """Show tokens, window and cost."""

    def show_todos(self, items: Sequence[Mapping[str, str]]) -> None:
        """Show the todo list."""

    def show_jobs(self, jobs: Sequence[JobRow]) -> None:
        """Show the background jobs."""

    def show_subagent(self, name: str, state: str) -> None:
        """Show how a subagent does: ``running``, ``done`` or ``failed``."""

    def show_files(self, event: ev.FilesChanged) -> None:
        """Show the files that the agent changed."""

    def open_approval(self, request: ApprovalRequest) -> None:
        """Ask the person."""

    def close_approval(self, request_id: str, decision: ApprovalDecision) -> None:
        """Close the dialog of an answered request."""

    def open_clarify(self, request: ClarifyRequest) -> None:
        """Ask the model's question."""

    def close_clarify(self, request_id: str, answer: ClarifyAnswer) -> None:
        """Close the dialog of an answered question."""

    def steer_changed(self, event: ev.SteerChanged) -> None:
        """Follow text that steers the turn."""

    def message_stored(self) -> None:
        """The row of the user's message is there."""

    def turn_started(self, event: ev.TurnStarted) -> None:
        """A turn runs."""

    def turn_finished(self, event: ev.TurnFinished) -> None:
        """The turn is over."""


_APPROVAL_WORDS = {
    ("once", "user"): "allowed once",
    ("session", "user"): "allowed for this session",
    ("always", "user"): "always allowed from now on",
    ("edit", "user"): "allowed after an edit",
    ("deny", "user"): "denied",
    ("deny", "timeout"): "no answer in time",
    ("deny", "interrupt"): "interrupted before an answer",
    ("deny", "no_surface"): "denied, nobody to ask",
}


def approval_words(decision: ApprovalDecision) -> str:
    """Say in words how an approval ended; a timeout is never told as a denial."""
    words = _APPROVAL_WORDS.get((decision.choice, decision.by), f"{decision.choice} ({decision.by})")
    return f"{words}: {decision.message}" if decision.choice == "deny" and decision.message else words


def compression_words(event: ev.ContextCompressed) -> str:
    """Say in words what a compression did."""
    sizes = f"about {event.before_tokens:,} tokens became {event.after_tokens:,}"
    if event.undone:
        return f"compression taken back: {sizes}"
    return f"{event.summarised_count} messages above are summarised for the model: {sizes}"


class EntryPresenter:
    """Turns events into transcript entries.

    Args:
        log: Where the entries go.
        level: How reasoning starts out; the transcript may change it later.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._answer: AssistantEntry | None = None
        self._reasoning: ReasoningEntry | None = None
        self._reasoning_since = 0.0
        self._tools: dict[str, ToolEntry] = {}
        self._subagents: dict[str, tuple[ToolEntry, Subagent]] = {}
        self._pending_user: UserEntry | None = None
        self._step_entries: list[Entry] = []
        self._is_command = False
        """The present turn is a command of the person's own."""

    def expect_user(self, entry: UserEntry) -> None:
        """The screen showed this message already; the turn that starts with its text takes it over."""
        self._pending_user = entry

    def forget(self, entry: Entry) -> None:
        """An entry was taken out of the log; a later call may have the same id."""
        if isinstance(entry, ToolEntry):
            self._tools.pop(entry.call_id, None)

    def present(self, event: ev.Event) -> None:
        """Show one event."""
        match event:
            case ev.TextDelta(text=text):
                self._add_text(text, event.at)
            case ev.ReasoningDelta(text=text):
                self._add_reasoning(text, event.at)
            case ev.ToolDrafted(call_id=call_id, name=name):
                self._close_text(event.at)
                self._tool(call_id, name)
            case ev.ToolDelta(call_id=call_id, fragment=fragment):
                self._update_tool(call_id, lambda tool: tool.draft(fragment))
            case ev.ToolStarted():
                self._close_text(event.at)
                tool = self._tool(event.call_id, event.name)
                tool.start(event.args, event.display)
                self._log.changed(tool)
            case ev.ToolOutput(call_id=call_id, text=text, is_screen=is_screen):
                self._update_tool(
                    call_id, lambda tool: tool.show_screen(text) if is_screen else tool.append_output(text)
                )
            case ev.ToolFinished():
                tool = self._tool(event.call_id, event.name)
                tool.finish(event.outcome, event.display, event.result, event.duration_s)
                self._log.changed(tool)
            case ev.ApprovalRequested(request=request):
                for call_id in request.call_ids:
                    self._update_tool(call_id, lambda tool: tool.waiting(True))
                self._asks(request.agent_id)
            case ev.ApprovalResolved(call_ids=call_ids, decision=decision):
                for call_id in call_ids:
                    self._update_tool(call_id, lambda tool: self._resolve(tool, decision))
            case _:
                self._present_rest(event)

    def present_subagent(self, event: ev.Event) -> None:
        """Show in its row what a subagent does."""
        entry, agent = self._subagent(event.agent_id)
        if entry is None or agent is None:
            return
        match event:
            case ev.ToolStarted(call_id=call_id, name=name, display=display):
                agent.call_started(call_id, f"{display.get('verb') or name}  {display.get('target') or ''}")
            case ev.ToolFinished(call_id=call_id, outcome=outcome):
                agent.call_finished(call_id, outcome)
            case ev.StepStarted():
                agent.activity = "waiting for the model"
            case ev.ReasoningDelta():
                agent.activity = "thinking"
            case ev.TextDelta():
                agent.activity = "writing"
            case ev.RequestRetrying(attempt=attempt, max_attempts=most):
                agent.activity = f"retry {attempt}/{most}"
            case ev.TurnFinished(exit_reason=exit_reason, duration_s=duration_s):
                agent.status, agent.activity, agent.duration_s = exit_reason, "", duration_s
            case _:
                return
        self._log.changed(entry)

    def _subagent(self, agent_id: str) -> tuple[ToolEntry | None, Subagent | None]:
        """Return an agent's card and row. Its id is a number and the first words of its goal."""
        if agent_id not in self._subagents:
            words = agent_id.partition(" ")[2]
            taken = {id(agent) for _, agent in self._subagents.values()}
            for entry in reversed(self._tools.values()):
                for agent in entry.agents if not entry.outcome else ():
                    if id(agent) not in taken and " ".join(agent.goal.split()).startswith(words):
                        self._subagents[agent_id] = (entry, agent)
                        return entry, agent
        return self._subagents.get(agent_id, (None, None))

    def _present_rest(self, event: ev.Event) -> None:
        match event:
            case ev.TurnStarted(text=text, attached=attached, is_command=is_command):
                self._start_turn(text, attached, event.at)
                self._is_command = is_command
            case ev.StepStarted():
                self._close_text(event.at)
                self._step_entries = []
            case ev.RequestRetrying():
                self._retry(event)
            case ev.FallbackUsed(model=model, provider=provider, reason=reason):
                self._note("warning", f"Going on with {provider}/{model}: {reason}", kind="fallback")
            case ev.Notice(level=level, text=text, hint=hint, kind=kind):
                self._close_text(event.at)
                self._note(level, text, hint, kind)
            case ev.TurnInterrupted():
                self._close_text(event.at)
                self._note("info", "Interrupted", kind="interrupted")
            case ev.TurnFinished():
                self._close_text(event.at)
                self._pending_user = None
            case ev.ContextCompressed():
                self._close_text(event.at)
                self._log.append(DividerEntry(compression_words(event)))
            case ev.MessageCommitted(message_id=message_id, message=message) if "compressed" not in message:
                self._committed(message_id, message["role"], message.get("tool_call_id", ""))

    def _asks(self, agent_id: str) -> None:
        entry, agent = self._subagent(agent_id) if agent_id else (None, None)
        if entry is not None and agent is not None:
            agent.activity = "waiting for you"
            self._log.changed(entry)

    @staticmethod
    def _resolve(tool: ToolEntry, decision: ApprovalDecision) -> None:
        tool.waiting(False)
        tool.note(approval_words(decision))

    def _start_turn(self, text: str, attached: Sequence[str], at: float) -> None:
        entry, self._pending_user = self._pending_user, None
        if entry is None or entry.text != text:
            entry = UserEntry(text, at=at, attached=attached)
            self._log.append(entry)
        else:
            entry.at, entry.attached = at, attached
            self._log.changed(entry)
        self._user = entry

    def _add(self, entry: Entry) -> None:
        self._step_entries.append(entry)
        self._log.append(entry)

    def _add_text(self, text: str, at: float) -> None:
        self._close_reasoning(at)
        if self._answer is None:
            if not text.strip():
                return  # models like to open with blank lines
            self._answer = AssistantEntry()
            self._add(self._answer)
        self._answer.append(text)
        self._log.changed(self._answer)

    def _add_reasoning(self, text: str, at: float) -> None:
        if self._reasoning is None:
            if not text.strip():
                return
            self._close_answer()
            self._reasoning = ReasoningEntry()
            self._reasoning_since = at
            self._add(self._reasoning)
        self._reasoning.append(text)
        self._log.changed(self._reasoning)

    def _close_reasoning(self, at: float) -> None:
        if self._reasoning is not None:
            self._reasoning.finish(max(0.0, at - self._reasoning_since))
            self._log.changed(self._reasoning)
            self._reasoning = None

    def _close_answer(self) -> None:
        if self._answer is not None:
            self._answer.finish(None)
            self._log.changed(self._answer)
            self._answer = None

    def _close_text(self, at: float) -> None:
        self._close_reasoning(at)
        self._close_answer()

    def _tool(self, call_id: str, name: str) -> ToolEntry:
        if call_id not in self._tools:
            self._tools[call_id] = ToolEntry(call_id, name)
            self._tools[call_id].by_person = self._is_command
            self._add(self._tools[call_id])
        return self._tools[call_id]

    def _update_tool(self, call_id: str, change: _Change) -> None:
        if (tool := self._tools.get(call_id)) is not None:
            change(tool)
            self._log.changed(tool)

    def _note(self, level: str, text: str, hint: str = "", kind: str = "") -> None:
        self._log.append(NoticeEntry(level, text, hint, kind))

    def _retry(self, event: ev.RequestRetrying) -> None:
        """Withdraw what the failed attempt showed, and say what happens next."""
        if event.withdrawn:
            for entry in self._step_entries:
                self._log.remove(entry)
                self.forget(entry)
            self._answer = self._reasoning = None
        self._step_entries = []
        wait = f" in {event.wait_s:.0f} s" if event.wait_s >= 1 else ""
        reason = event.reason.rstrip(".")
        self._note("warning", f"{reason}; attempt {event.attempt} of {event.max_attempts}{wait}", kind="retry")

    def _committed(self, message_id: int, role: str, call_id: str) -> None:
        """Give entries the row they came from, so that they can be forked and found."""
        if role == "user" and self._user is not None:
            self._user.message_id = message_id
        elif role == "tool" and call_id in self._tools:
            self._tools[call_id].message_id = message_id
        elif role == "assistant":
            for entry in self._step_entries:
                if entry.message_id is None and not isinstance(entry, ToolEntry):
                    entry.message_id = message_id

    _user: UserEntry | None = None


class _Change(Protocol):
    def __call__(self, tool: ToolEntry, /) -> object: ...


class Presenter:
    """Shows a session's events on the whole chat screen.

    Args:
        log: The transcript.
        shell: What surrounds it.
    """

    def __init__(self, log: Log, shell: Shell) -> None:
        self.entries = EntryPresenter(log)
        self._shell = shell
        self._waiting: dict[str, str] = {}
        """Open approvals: request id -> tool."""

    def present_all(self, events: Sequence[ev.Event]) -> None:
        """Show the events of one frame."""
        for event in events:
            self.present(event)

    def present(self, event: ev.Event) -> None:
        """Show one event. What a subagent or a script does is told by the card of the call that started it."""
        if event.agent_id:
            self.entries.present_subagent(event)
            self._present_subagent(event)
            return
        if isinstance(event, ev.ToolStarted | ev.ToolFinished) and event.within:
            return
        self.entries.present(event)
        shell = self._shell
        match event:
            case ev.TextDelta():
                shell.show_activity("writing")
            case ev.ReasoningDelta():
                shell.show_activity("thinking")
            case ev.StepStarted():
                shell.show_activity("waiting for the model")
            case ev.ContextCompressing(step=step, steps=steps):
                shell.show_activity("compressing" if steps == 1 else f"compressing {step}/{steps}")
            case ev.ToolDrafted(name=name):
                shell.show_activity(f"preparing {name}")
            case ev.ToolStarted(name=name):
                shell.show_activity(f"running {name}")
            case ev.RequestRetrying(attempt=attempt, max_attempts=most, wait_s=wait_s):
                shell.show_activity(f"retry {attempt}/{most}" + (f" in {wait_s:.0f} s" if wait_s >= 1 else ""))
            case ev.ApprovalRequested(request=request):
                self._waiting[request.request_id] = request.tool
                shell.show_activity("waiting for approval")
                shell.open_approval(request)
            case ev.ApprovalResolved(request_id=request_id, decision=decision):
                shell.close_approval(request_id, decision)
                self._go_on(request_id)
            case ev.ClarifyRequested(request=question):
                shell.show_activity("waiting for your answer")
                shell.open_clarify(question)
            case ev.ClarifyResolved(request_id=request_id, answer=answer):
                shell.close_clarify(request_id, answer)
            case _:
                self._present_state(event)

    def _present_subagent(self, event: ev.Event) -> None:
        match event:
            case ev.TurnStarted():
                self._shell.show_subagent(event.agent_id, "running")
            case ev.TurnFinished(exit_reason=exit_reason):
                self._shell.show_subagent(event.agent_id, "done" if exit_reason == "done" else "failed")

    def restore(self, event: ev.Event) -> None:
        """Take from a stored event what outlives its moment: the todo list."""
        if isinstance(event, ev.ToolFinished):
            items = event.display.get("items")
            if event.display.get("kind") == "todo" and isinstance(items, list):
                self._shell.show_todos([item for item in items if isinstance(item, dict)])  # type: ignore[misc]

    def _go_on(self, request_id: str) -> None:
        """Say what runs once the last approval is answered; the call began to be shown before it was asked about."""
        tool = self._waiting.pop(request_id, "")
        if tool and not self._waiting:
            self._shell.show_activity(f"running {tool}")

    def _present_state(self, event: ev.Event) -> None:
        shell = self._shell
        match event:
            case ev.TurnStarted():
                shell.turn_started(event)
            case ev.MessageCommitted(message={"role": "user"}):
                shell.message_stored()
            case ev.TurnFinished():
                shell.turn_finished(event)
            case ev.SessionOpened():
                shell.show_session(event)
            case ev.SessionTitled(title=title):
                shell.show_title(title)
            case ev.ModelChanged() | ev.FallbackUsed():
                shell.show_model(event)
            case ev.UsageUpdated():
                shell.show_usage(event)
            case ev.TodosChanged(items=items):
                shell.show_todos(items)
            case ev.JobsChanged(jobs=jobs):
                shell.show_jobs(jobs)
            case ev.FilesChanged():
                shell.show_files(event)
            case ev.SteerChanged():
                shell.steer_changed(event)
