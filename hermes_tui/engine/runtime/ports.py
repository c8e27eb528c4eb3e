"""What the runtime needs from the store, the gate and the composition root, as narrow Protocols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias, TypedDict, Unpack

from ..policy.gate.verdict import Verdict
from ..providers.base import Endpoint, ProviderClient
from ..types.messages import Message
from ..types.sessions import SearchPage, SessionRow, StoredMessage
from ..types.usage import Usage


class SessionFields(TypedDict):
    """What a new session's row says."""

    source: str
    cwd: str
    model: str
    provider: str
    session_id: str
    branch: str
    parent: str | None
    """Makes it a subagent's."""
    claim: bool
    """Marks it as open in this process."""


class MessageStore(Protocol):
    """The part of ``SessionDB`` that a conversation uses. Usable from any thread; raises ``StoreError``."""

    def create(self, *, messages: Sequence[Message] = (), **fields: Unpack[SessionFields]) -> str:
        """Create a session that begins with these messages, all of it or nothing, and return its id."""
        ...

    def append_many(self, session_id: str, messages: Sequence[Message]) -> list[int]:
        """Commit several messages, all or none, and return their row ids."""
        ...

    def append(self, session_id: str, message: Message) -> int:
        """Commit a message and return its row id."""
        ...

    def history(self, session_id: str) -> list[StoredMessage]:
        """Return the rows the model gets, oldest first."""
        ...

    def messages(self, session_id: str, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        """Return up to ``limit`` rows before an id, oldest first."""
        ...

    def system_prompt(self, session_id: str) -> str:
        """Return the stored system prompt, or an empty text."""
        ...

    def set_system_prompt(self, session_id: str, text: str) -> None:
        """Store the system prompt."""
        ...

    def add_usage(self, session_id: str, usage: Usage, cost_usd: float | None) -> None:
        """Add one request's tokens and cost (None when unknown)."""
        ...

    def usage(self, session_id: str) -> tuple[Usage, float | None]:
        """Return the session's totals; the cost is None when any part of it is unknown."""
        ...

    def set_model(self, session_id: str, model: str, provider: str) -> None:
        """Record the model of later requests."""
        ...

    def set_auto_title(self, session_id: str, title: str) -> str:
        """Set a title unless the user has set one; returns the one stored."""
        ...

    def rename(self, session_id: str, title: str) -> str:
        """Set the user's title and return the one stored."""
        ...

    def continue_compressed(self, session_id: str, summary: Message) -> tuple[str, int]:
        """Make the session that goes on with a summary; return its id and the summary's row id."""
        ...

    def undo_compression(self, session_id: str) -> bool:
        """Send again what the newest summary stands for; False when there is none."""
        ...

    def last_exchange(self, session_id: str) -> StoredMessage | None:
        """Return the message that :meth:`undo_last` would take back."""
        ...

    def undo_last(self, session_id: str) -> str:
        """Hide the last exchange and return its user text."""
        ...

    def redo_last(self, session_id: str) -> list[StoredMessage]:
        """Show again what was hidden last, unless something was said since; returns its rows."""
        ...

    def lineage_of(self, session_id: str) -> Sequence[tuple[str, int]]:
        """Return the sessions that a session's past consists of, each with its last row that belongs."""
        ...


class SessionArchive(Protocol):
    """The part of ``SessionDB`` that finds what was said. Usable from any thread; raises ``StoreError``."""

    def search(self, query: str, *, limit: int = 50, cursor: str = "") -> SearchPage:
        """Search everything ever said."""
        ...

    def resolve(self, text: str) -> str:
        """Return the id of the session with this id or title."""
        ...

    def row(self, session_id: str) -> SessionRow:
        """Return a session as lists show it."""
        ...

    def messages(self, session_id: str, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        """Return up to ``limit`` rows before an id, oldest first."""
        ...

    def history(self, session_id: str) -> list[StoredMessage]:
        """Return the rows the model gets, oldest first."""
        ...

    def around(self, session_id: str, message_id: int, limit: int = 40) -> list[StoredMessage]:
        """Return rows with one of them in the middle, oldest first."""
        ...

    def list_sessions(self, *, limit: int = 200) -> list[SessionRow]:
        """Return the latest sessions, subagents hidden."""
        ...


class Gate(Protocol):
    """Judges what a call would do. Usable from any thread, never blocks on a person."""

    @property
    def mode(self) -> str:
        """The approval mode in force."""
        ...

    def set_mode(self, mode: str) -> None:
        """Change the approval mode of this session."""
        ...

    def judge_command(self, command: str, *, cwd: str, workspace: str) -> Verdict:
        """Judge shell text."""
        ...

    def judge_paths(self, paths: Sequence[tuple[str, str]], *, cwd: str, workspace: str, diff: str = "") -> Verdict:
        """Judge file accesses, each ``(path, "read" | "write" | "delete")``."""
        ...

    def judge_code(self, code: str, *, cwd: str, workspace: str) -> Verdict:
        """Judge a Python script that calls tools."""
        ...

    def remember(self, rules: Sequence[str], scope: Literal["project", "everywhere"], cwd: str) -> None:
        """Store allow rules."""
        ...


Resolve: TypeAlias = Callable[[str], Endpoint]
"""``provider/model`` -> where and how to reach it. Raises ``ConfigError``."""
ClientFor: TypeAlias = Callable[[str], ProviderClient]
"""API mode -> its adapter; may import an SDK on first use."""
Cost: TypeAlias = Callable[[Endpoint, Usage], float | None]
"""The price of one request, None when unknown."""
