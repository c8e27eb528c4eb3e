"""What a tool needs from the engine, as narrow Protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from .abort import Abort
    from .web_fetch import Fetched

CALLS = "calls"
"""Name of the service that a turn's executor gives to every call: :class:`InnerCalls`."""
StateT = TypeVar("StateT")


class CancelToken(Protocol):
    """Says that the call is to stop. One per call, child of the turn's token."""

    @property
    def cancelled(self) -> bool:
        """True once the call is to stop. Any thread."""
        ...

    @property
    def reason(self) -> str:
        """Why, e.g. ``user`` or ``timeout``."""
        ...

    def on_cancel(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Run ``hook`` on cancellation (at once when already cancelled); returns the function that removes it."""
        ...

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until cancelled or the time is over; returns ``cancelled``."""
        ...


class SessionState(Protocol):
    """Objects that live as long as the session: the shell, the table of files read, the todo list."""

    def get(self, key: str, factory: Callable[[], StateT]) -> StateT:
        """Return the object under ``key``, made by ``factory`` the first time. Thread-safe.

        An object with a ``close()`` method is closed when the session ends.
        """
        ...


class Memory(Protocol):
    """The service ``memory``: notes that later sessions start with."""

    def change(self, target: str, actions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Apply all actions to ``memory`` or ``user``, or none; returns entries and sizes."""
        ...


class Recall(Protocol):
    """The service ``recall``: everything that was ever said."""

    def search(self, query: str, limit: int, cursor: str) -> dict[str, Any]:
        """Return matching sessions with their best places."""
        ...

    def read(self, session_id: str, around_id: int | None, window: int) -> dict[str, Any]:
        """Return messages around one, or a session's last ones."""
        ...

    def recent(self, limit: int) -> dict[str, Any]:
        """Return the latest sessions."""
        ...


class Delegation(Protocol):
    """The service ``delegation``: other agents that do a part of the work."""

    def run(self, tasks: Sequence[Mapping[str, Any]], context: ToolContext) -> list[dict[str, Any]]:
        """Run each task with an agent of its own, several at once; returns what became of each, in order. Blocks."""
        ...


class WebAccess(Protocol):
    """The service ``web``: the way to pages."""

    def fetch(self, url: str, abort: Abort) -> Fetched:
        """Return what a server answers. Blocks until then, or until ``abort`` is set; raises ``ToolFailure``."""
        ...


class WebSearch(Protocol):
    """The service ``search``: a search engine that can be used here."""

    @property
    def title(self) -> str:
        """Its name for people."""
        ...

    def search(self, query: str, count: int, context: ToolContext) -> list[dict[str, str]]:
        """Return ``{"title", "url", "snippet"}`` for each hit. Blocks; raises ``ToolFailure``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerResult:
    """What became of a call that a tool's script made."""

    result: dict[str, Any]
    """As the model would get it."""
    line: str
    """What was done and how it went, for the card."""
    waited_s: float = 0.0
    """How long it waited for permission."""


class InnerCalls(Protocol):
    """The service ``calls``: the other tools of the turn, for a script, with all checks of a call by the model."""

    @property
    def signatures(self) -> Mapping[str, Sequence[str]]:
        """Names of the tools on offer, with their parameters in order."""
        ...

    def call(self, name: str, args: Mapping[str, Any], context: ToolContext, limit_s: float, *, by: str) -> InnerResult:
        """Check, judge and run one call within the call of ``context``; never raises. Blocks, also for a person.

        Args:
            name: The tool.
            args: Its arguments.
            context: Of the call whose script asks.
            limit_s: Seconds that it may run, once it is permitted.
            by: Name of the tool whose script asks.
        """
        ...


class ToolContext(Protocol):
    """Handed to every handler."""

    @property
    def call_id(self) -> str:
        """Id of this call."""
        ...

    @property
    def session_id(self) -> str:
        """Id of the session."""
        ...

    @property
    def is_scripted(self) -> bool:
        """Whether a script makes the call: what it gets is for a program, and the model sees none of it."""
        ...

    @property
    def workspace(self) -> Path:
        """The folder the session works in; relative paths start at the shell's cwd when there is one, else here."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """Environment for child processes; provider keys are left out."""
        ...

    @property
    def spill_dir(self) -> Path:
        """Private folder (0700) for full logs of long output."""
        ...

    @property
    def cancel(self) -> CancelToken:
        """This call's cancel token."""
        ...

    @property
    def state(self) -> SessionState:
        """Objects that live as long as the session."""
        ...

    @property
    def timeout_s(self) -> float:
        """Default time limit of the call."""
        ...

    def service(self, name: str) -> object:
        """Return what ``Tool.needs`` names: one of the services of this module."""
        ...

    def redact(self, text: str) -> str:
        """Return a text without secrets: for whatever a tool writes to ``spill_dir``."""
        ...

    def emit_output(self, text: str) -> None:
        """Show live output in the call's card. Never blocks."""
        ...

    def emit_screen(self, text: str) -> None:
        """Show a terminal's screen in the call's card, in place of what was shown live before. Never blocks."""
        ...

    def ask(self, question: str, choices: Sequence[str]) -> str:
        """Ask the person; blocks; empty when declined or nobody is there."""
        ...

    def publish_todos(self, items: Sequence[Mapping[str, str]]) -> None:
        """Show the todo list in the side panel."""
        ...
