"""All that a front end may call, as Protocols; the plain rows that they return are in ``types/``.

Every method may block on disk or network unless its docstring says otherwise, so a screen calls them from a worker
thread. Errors are :class:`~hermes_tui.engine.types.errors.HermesError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from .types.changes import FileChange, Undone, UndoPlan
from .types.choices import AllowRuleRow, KeptNote, NoteTarget, SettingRow, TrustRequest
from .types.events import Event
from .types.inspection import ContextReport, RequestDetail, RequestRow
from .types.jobs import JobLog, JobRow
from .types.models import ConnectionCheck, ModelRow, ProviderRow
from .types.requests import ApprovalDecision, ClarifyAnswer
from .types.sessions import SearchPage, SessionRow, SessionState, StoredMessage, UsageReport

EventSink: TypeAlias = Callable[[Event], None]
"""Called on the emitting thread; must not block."""

SessionSort: TypeAlias = Literal["updated", "created", "title", "cost"]


TrustAnswer: TypeAlias = Literal["trust", "once", "later", "never"]
"""``trust`` holds until the content changes, ``once`` until the process ends; ``later`` asks again at the next start,
``never`` when the content changes."""


UndoScope: TypeAlias = Literal["both", "files", "message"]
"""What is taken back: the exchange and what its turn did to files, or one of them."""


class SessionJobs(Protocol):
    """The background jobs of one conversation."""

    def rows(self) -> Sequence[JobRow]:
        """Every job, oldest first. Any thread, never blocks for long."""
        ...

    def log(self, number: int, cursor: int = 0, max_bytes: int = 64_000) -> JobLog:
        """Output from a cursor on; a negative one counts from the end."""
        ...

    def answer(self, number: int, line: str) -> None:
        """Send a line that the person typed."""
        ...

    def end_input(self, number: int) -> None:
        """Let a job read the end of its input."""
        ...

    def kill(self, number: int) -> None:
        """End a job with all it started, and wait until it is gone."""
        ...

    def promote(self) -> bool:
        """Let the commands of the running turn go on as jobs; False when none runs. Returns at once."""
        ...


class StoredSession(Protocol):
    """A session that can be read; nobody need be able to go on with it."""

    @property
    def state(self) -> SessionState:
        """The present state. Any thread, never blocks."""
        ...

    def history(self, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        """Return up to ``limit`` messages before ``before_id`` (the newest when None), oldest first."""
        ...

    def replay(self, messages: Sequence[StoredMessage]) -> list[Event]:
        """Turn stored messages into the events that showed them live. Pure."""
        ...


class AgentSession(StoredSession, Protocol):
    """One conversation."""

    @property
    def jobs(self) -> SessionJobs:
        """Its background jobs."""
        ...

    def subscribe(self, sink: EventSink) -> Callable[[], None]:
        """Send every later event to ``sink``; returns the function that stops it. Any thread."""
        ...

    def run_turn(self, text: str, images: Sequence[str] = ()) -> Mapping[str, Any]:
        """Run one turn on the calling thread and return the library's result keys.

        Args:
            text: The user's message, sent exactly as given; files and folders named in it with ``@`` go along.
            images: Paths of image files to attach.
        """
        ...

    def run_command(self, command: str) -> Mapping[str, Any]:
        """Run the person's own shell command on the calling thread: a turn of its own, in which no model is asked.

        It passes the gate like a call of the model; the command and what came of it go with the next request.
        """
        ...

    def interrupt(self, reason: str = "user") -> None:
        """Stop the running turn. Any thread, returns at once."""
        ...

    def steer(self, text: str) -> None:
        """Add text to the running turn after its next tool result. Any thread, returns at once."""
        ...

    def answer_approval(self, request_id: str, decision: ApprovalDecision) -> bool:
        """Answer a waiting approval; False when it was answered already. Any thread, returns at once."""
        ...

    def answer_clarify(self, request_id: str, answer: ClarifyAnswer) -> bool:
        """Answer a waiting question; False when it was answered already. Any thread, returns at once."""
        ...

    def set_model(self, model: str) -> None:
        """Send later requests to ``provider/model``."""
        ...

    def set_approval_mode(self, mode: str) -> None:
        """Change the approval mode for this session."""
        ...

    def rename(self, title: str) -> str:
        """Set the title and return the one stored (numbered when taken)."""
        ...

    def changes(self, message_id: int = 0) -> tuple[FileChange, ...]:
        """What the agent did to files and nobody took back: in the turn of a message, in the whole session when 0."""
        ...

    def last_message_id(self) -> int:
        """The message that :meth:`undo` would take back; 0 when there is none."""
        ...

    def plan_undo(self, since_id: int = 0) -> UndoPlan:
        """Say what :meth:`undo` would do; with ``since_id``, what going back to before that message would."""
        ...

    def undo(self, scope: UndoScope = "message") -> Undone:
        """Take back the last exchange, what its turn did to files, or both. Files that changed since stay."""
        ...

    def redo(self) -> Undone:
        """Take back the last undo, unless something was said since. Files that changed since stay."""
        ...

    def compress(self, focus: str = "") -> str:
        """Summarise older messages now, or after the running turn; returns in words what came of it.

        Args:
            focus: What the summary must keep in mind.
        """
        ...

    def undo_compression(self) -> str:
        """Send again what the last summary stands for; returns in words what came of it."""
        ...

    def requests(self) -> Sequence[RequestRow]:
        """The last model requests of this session, oldest first. Any thread, never blocks."""
        ...

    def request(self, number: int) -> RequestDetail:
        """Everything about one of them: messages stored and sent, the exact JSON, the answer."""
        ...

    def context(self) -> ContextReport:
        """What the next request would carry, by category. Any thread, never blocks."""
        ...

    def close(self) -> None:
        """End the session's processes and flush its rows."""
        ...


class Engine(Protocol):
    """Everything outside one conversation."""

    @property
    def notices(self) -> Sequence[tuple[str, str]]:
        """``(level, text)`` of what went wrong while starting (bad settings, read-only home, missing programs)."""
        ...

    @property
    def default_model(self) -> str:
        """``provider/model``, or empty when none is configured."""
        ...

    def open_session(self, session_id: str | None = None, *, source: str = "tui") -> AgentSession:
        """Open a new session, or resume the one with this id or title."""
        ...

    def pending_trust(self, folder: str, *, again: bool = False) -> TrustRequest | None:
        """What this folder wants that nobody has answered yet; None when there is nothing to ask.

        Args:
            folder: Where a session would work.
            again: Ask also about what was refused.
        """
        ...

    def answer_trust(self, request: TrustRequest, answer: TrustAnswer) -> None:
        """Keep the answer; sessions that begin later follow it."""
        ...

    def latest_session_id(self, cwd: str | None = None) -> str | None:
        """The most recently used session, of this folder when given."""
        ...

    def list_sessions(
        self,
        *,
        cwd: str | None = None,
        sort: SessionSort = "updated",
        limit: int = 200,
        offset: int = 0,
        archived: bool = False,
    ) -> list[SessionRow]:
        """List sessions, pinned first, subagents hidden."""
        ...

    def search(self, query: str, *, cwd: str | None = None, limit: int = 50, cursor: str = "") -> SearchPage:
        """Search everything ever said; a newer call without a cursor supersedes an older one that still runs."""
        ...

    def preview(self, session_id: str, around_id: int | None = None, limit: int = 40) -> list[StoredMessage]:
        """Messages around a hit, or the last ones."""
        ...

    def rename_session(self, session_id: str, title: str) -> str:
        """Set a title; returns the one stored."""
        ...

    def delete_session(self, session_id: str) -> None:
        """Hide a session at once; it is erased for good after the undo time or at exit."""
        ...

    def undelete_session(self, session_id: str) -> None:
        """Bring back a session deleted a moment ago."""
        ...

    def pin_session(self, session_id: str, pinned: bool) -> None:
        """Pin or unpin."""
        ...

    def archive_session(self, session_id: str, archived: bool) -> None:
        """Archive or bring back."""
        ...

    def fork_session(self, session_id: str, message_id: int | None = None, *, before: bool = False) -> str:
        """Start a session that shares this one's past up to a message (without it if ``before``); returns its id."""
        ...

    def rewind(self, session_id: str, message_id: int, *, files: bool) -> tuple[str, Undone]:
        """Fork a session before a message, and take back what turns from there on did to files if ``files``.

        Returns:
            The fork's id, and the message's words and images with what became of the files; the fork can redo that.
        """
        ...

    def export_session(self, session_id: str, fmt: str = "md") -> str:
        """Return the session as ``md``, ``json`` or ``html`` text, secrets taken out."""
        ...

    def usage(self, since_day: str = "") -> UsageReport:
        """What was spent from a day on (``2026-10-01``, local time); all when empty."""
        ...

    def user_messages(self, session_id: str, limit: int = 500) -> list[StoredMessage]:
        """What the user wrote in a session, oldest first, what was compressed included."""
        ...

    def list_models(self) -> list[ModelRow]:
        """All providers' models, usable ones first."""
        ...

    def list_providers(self, *, probe: bool = True) -> list[ProviderRow]:
        """All providers with their key state; ``probe`` looks for local servers (300 ms at most)."""
        ...

    def check_model(self, model: str, api_key: str = "") -> ConnectionCheck:
        """Make a one-token call."""
        ...

    def save_choice(self, key: str, value: str) -> None:
        """Remember one of the app's own choices (``model``, ``ui.theme``, ...) in settings.toml."""
        ...

    def save_api_key(self, provider: str, api_key: str) -> str:
        """Store a key in the private credentials file and return where it went."""
        ...

    def list_settings(self, folder: str = "") -> list[SettingRow]:
        """Every setting as it holds in a folder, and where it comes from."""
        ...

    def change_setting(self, key: str, text: str | None) -> str:
        """Write a setting into the user's config.toml, or take it out (None), and return what came of it in words.

        Sessions that begin later follow it.

        Raises:
            ConfigError: No such setting, a value that does not fit, or a file that cannot be written.
        """
        ...

    def list_rules(self) -> list[AllowRuleRow]:
        """The stored approval rules."""
        ...

    def change_rule(self, rule: AllowRuleRow, text: str) -> None:
        """Put another text in a rule's place.

        Raises:
            ConfigError: The text is no rule, or the file cannot be written.
        """
        ...

    def delete_rule(self, rule: AllowRuleRow) -> None:
        """Forget a rule."""
        ...

    def keep_note(self, text: str, target: NoteTarget = "memory") -> KeptNote:
        """Add a note to the memory; sessions that begin later start with it."""
        ...

    def forget_note(self, part: str, target: NoteTarget | None = None) -> KeptNote:
        """Remove the only note that has these words in it, and return it."""
        ...

    def prompt_history(self, cwd: str, limit: int = 500) -> list[str]:
        """What was typed in this folder, oldest first."""
        ...

    def add_prompt_history(self, cwd: str, text: str) -> None:
        """Remember what was sent."""
        ...

    def save_draft(self, key: str, text: str) -> None:
        """Keep an unsent draft (key: a session id or folder); empty text forgets it."""
        ...

    def load_draft(self, key: str) -> str:
        """The kept draft, or empty."""
        ...

    def close(self) -> None:
        """Close every session and the database."""
        ...


PastReader: TypeAlias = Callable[[], StoredSession | None]
"""Finds the session that the start goes on with, to be shown while the engine is still built; None leaves it to the
engine. Called once, in a thread."""

EngineFactory: TypeAlias = Callable[[], Engine]
"""Builds the engine; called once, in a thread, after the first paint."""
