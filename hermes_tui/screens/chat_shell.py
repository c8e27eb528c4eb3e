"""What surrounds the transcript while events arrive: header, status bar, side panel, dialogs. UI thread only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hermes_tui.engine.types import events as ev
from hermes_tui.engine.types.jobs import JobRow
from hermes_tui.engine.types.requests import ApprovalDecision, ApprovalRequest, ClarifyAnswer, ClarifyRequest
from hermes_tui.engine.types.sessions import SessionState
from hermes_tui.widgets.header_bar import short_folder
from hermes_tui.widgets.side_panel import ContextRow, FileRow, TaskRow
from hermes_tui.widgets.todo_list import TodoRow, TodoState

from .chat import COMMAND_RUNS

if TYPE_CHECKING:
    from .chat import ChatScreen


class ChatShell:
    """The presenter's view of everything but the transcript.

    Args:
        chat: The screen whose widgets it updates.
    """

    def __init__(self, chat: ChatScreen) -> None:
        self._chat = chat
        self._subagents: dict[str, TaskRow] = {}
        self.jobs: tuple[JobRow, ...] = ()
        """The session's background jobs."""

    def reset(self) -> None:
        """Forget what belonged to another session."""
        self._chat.panel.set_files(())
        self._chat.panel.set_context(())
        self.show_todos(())
        self.show_jobs(())
        self._subagents.clear()
        self._chat.panel.set_subagents(())

    def show_state(self, state: SessionState) -> None:
        """Show a session's snapshot."""
        header, status = self._chat.header, self._chat.status
        self.show_place(state)
        header.note = "demo" if state.provider == "demo" else ""
        status.model = state.model
        status.approval_mode = state.approval_mode
        self._set_usage(state)

    def show_place(self, state: SessionState) -> None:
        """Show what a session is called and where it works."""
        header = self._chat.header
        header.session_title = state.title
        header.folder = short_folder(state.cwd, str(Path.home()))
        header.branch = state.branch

    def _set_usage(self, counts: SessionState | ev.UsageUpdated) -> None:
        self._chat.status.set_usage(
            context_tokens=counts.context_tokens or None,
            context_window=counts.context_window or None,
            cost_usd=counts.cost_usd,
            cost_cap_usd=counts.cost_cap_usd or None,
        )

    def show_activity(self, text: str) -> None:
        """Say what the turn is doing now."""
        was_command = self._chat.status.activity == COMMAND_RUNS
        self._chat.status.activity = text
        if was_command or text == COMMAND_RUNS:
            self._chat.show_hints()

    def show_session(self, event: ev.SessionOpened) -> None:
        """Say what a resumed session brings."""
        if event.title:
            self.show_title(event.title)
        if not event.resumed:
            return
        parts = [f"{event.message_count} messages"]
        if event.compaction_count:
            parts.append(f"{event.compaction_count} compaction{'s' * (event.compaction_count != 1)}")
        parts.append(f"about {event.context_tokens:,} tokens")
        parts.append(f"model {event.model}" if event.model else "no model")
        self._chat.note("info", f"Resumed: {', '.join(parts)}", kind="resumed")

    def show_title(self, title: str) -> None:
        """Show the session's title."""
        self._chat.header.session_title = title

    def show_model(self, event: ev.ModelChanged | ev.FallbackUsed) -> None:
        """Show the model that answers from now on."""
        self._chat.status.model = event.model
        self._chat.header.note = "demo" if event.provider == "demo" else ""

    def show_usage(self, event: ev.UsageUpdated) -> None:
        """Show tokens, window and cost."""
        self._set_usage(event)
        self.show_context()

    def show_context(self) -> None:
        """Show by category what the next request would carry, where somebody looks."""
        session = self._chat.turns.session
        if session is not None and self._chat.panel.display:
            report = session.context()
            rows = [ContextRow(part.name, part.tokens) for part in report.parts]
            self._chat.panel.set_context(rows, report.window or None)

    def show_todos(self, items: Sequence[Mapping[str, str]]) -> None:
        """Show the todo list."""
        self._chat.header.open_todos = sum(item.get("status") != "done" for item in items)
        self._chat.panel.set_todos([TodoRow(item["content"], cast(TodoState, item["status"])) for item in items])

    def show_jobs(self, jobs: Sequence[JobRow]) -> None:
        """Show the background jobs, those that run first."""
        self.jobs = tuple(jobs)
        self._chat.header.running_jobs = sum(job.state == "running" for job in jobs)
        shown = sorted(jobs, key=lambda job: job.state != "running")
        self._chat.panel.set_jobs([TaskRow(f"{job.number} {job.command}", job.state) for job in shown])

    def show_subagent(self, name: str, state: str) -> None:
        """Show how a subagent does."""
        self._subagents[name] = TaskRow(name, state)
        self._chat.panel.set_subagents(list(self._subagents.values()))

    def show_files(self, event: ev.FilesChanged) -> None:
        """Show the files that the agent changed in this session, as far as nobody took it back."""
        rows = [
            FileRow(str(one["path"]), int(one["added"]), int(one["removed"]), str(one["kind"])) for one in event.files
        ]
        self._chat.panel.set_files(rows, event.count - len(rows))

    def open_approval(self, request: ApprovalRequest) -> None:
        """Ask the person."""
        self._chat.dialogs.ask(request)

    def close_approval(self, request_id: str, decision: ApprovalDecision) -> None:
        """Close the dialog of an answered request."""
        self._chat.dialogs.close(request_id, decision)

    def open_clarify(self, request: ClarifyRequest) -> None:
        """Ask the model's question."""
        self._chat.dialogs.ask(request)

    def close_clarify(self, request_id: str, answer: ClarifyAnswer) -> None:
        """Close the dialog of an answered question."""
        self._chat.dialogs.close(request_id, answer)

    def steer_changed(self, event: ev.SteerChanged) -> None:
        """Follow text that steers the turn; text that came too late is sent as a message of its own."""
        if event.state == "accepted":
            self._chat.note("info", f"Will be told after the next tool: {event.text}", kind="steer")
        elif event.state == "returned":
            self._chat.turns.steer_returned(event.text)

    def turn_started(self, event: ev.TurnStarted) -> None:
        """A turn runs."""
        del event
        self._chat.turns.started()
        self._chat.show_busy(True)

    def message_stored(self) -> None:
        """The row of the user's message is there."""
        self._chat.turns.stored()

    def turn_finished(self, event: ev.TurnFinished) -> None:
        """The turn is over: say so when nobody looks, and go on with the queue."""
        del event
        self._chat.turns.finished()
        self._chat.ring_if_unfocused("hermes-tui: the turn is over")
