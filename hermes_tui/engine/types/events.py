"""Everything an engine says about a turn while it happens.

Events are frozen plain data: no futures, exceptions, classes or widgets, so that the same feed serves the screen, a
JSON log, a protocol server and a replay. ``type_name(event)`` is the name used in JSON (`turn_started`, ...).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from .jobs import JobRow
from .messages import JsonObject, Message
from .requests import ApprovalDecision, ApprovalRequest, ClarifyAnswer, ClarifyRequest
from .usage import Usage

Outcome: TypeAlias = Literal["ok", "error", "denied", "timeout", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Fields that every event carries. The hub fills the first five."""

    seq: int = 0
    """1, 2, 3, ... within one hub; strictly increasing."""
    session_id: str = ""
    turn_id: str = ""
    agent_id: str = ""
    """Empty for the main agent."""
    at: float = 0.0
    """Unix seconds, for display only; durations come from a monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened(Event):
    """A session is ready: new, resumed or forked."""

    title: str = ""
    resumed: bool = False
    message_count: int = 0
    """Messages the model gets."""
    compaction_count: int = 0
    context_tokens: int = 0
    """Estimate of what the next request carries."""
    model: str = ""
    provider: str = ""
    cwd: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTitled(Event):
    """The session got a title."""

    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChanged(Event):
    """Later requests go to another model."""

    model: str
    provider: str
    context_window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Event):
    """A user message was accepted."""

    text: str
    """As typed."""
    attached: tuple[str, ...] = ()
    """What goes along with it, in words."""
    is_command: bool = False
    """A command of the person's own: it runs, and no model is asked."""
    model: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted(Event):
    """A model request is about to be sent."""

    step: int
    """1-based within the turn."""
    context_tokens: int = 0
    """Estimated prompt size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(Event):
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta(Event):
    """A piece of reasoning."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDrafted(Event):
    """The model began to write a tool call."""

    call_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDelta(Event):
    """A fragment of a tool call's arguments."""

    call_id: str
    fragment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(Event):
    """A call was accepted and is about to be judged and run."""

    call_id: str
    name: str
    args: JsonObject
    display: JsonObject = field(default_factory=dict)
    """``{"kind", "verb", "target", ...}`` from the tool's own ``display``."""
    within: str = ""
    """Id of the call whose script makes this one; empty for a call of the model itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput(Event):
    """Live output of a running call, already inert text."""

    call_id: str
    text: str
    is_screen: bool = False
    """The text is all of a terminal's screen, and takes the place of what was shown live before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(Event):
    """A call has its one result."""

    call_id: str
    name: str
    outcome: Outcome
    result: str
    """The JSON text that the model gets."""
    duration_s: float = 0.0
    display: JsonObject = field(default_factory=dict)
    """``{"kind", "verb", "target", "summary", ...}``; may hold ``diff``, ``added``, ``removed``, ``exit_code``."""
    within: str = ""
    """As in ``ToolStarted``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(Event):
    """A call waits for a person."""

    request: ApprovalRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(Event):
    """A waiting call was answered; closes the dialog."""

    request_id: str
    call_ids: tuple[str, ...]
    decision: ApprovalDecision


@dataclass(frozen=True, slots=True, kw_only=True)
class ClarifyRequested(Event):
    """The model asks a question."""

    request: ClarifyRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ClarifyResolved(Event):
    """The question was answered; closes the dialog."""

    request_id: str
    answer: ClarifyAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRetrying(Event):
    """A request failed and is tried again; text it had streamed is withdrawn."""

    attempt: int
    """The attempt that comes next, 2-based."""
    max_attempts: int
    wait_s: float
    reason: str
    withdrawn: bool = False
    """True when text or reasoning of the failed attempt was already shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackUsed(Event):
    """The turn goes on with another model."""

    model: str
    provider: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCommitted(Event):
    """A row is in the database."""

    message_id: int
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageUpdated(Event):
    """Counts after a request."""

    turn: Usage
    """This turn so far."""
    session: Usage
    """The whole session."""
    cost_usd: float | None = None
    """Of the session; None when a price is unknown."""
    cost_cap_usd: float = 0.0
    """What the session may cost; 0 without a limit."""
    context_tokens: int = 0
    context_window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCompressing(Event):
    """Older messages are being summarised; an interrupt stops that and changes nothing."""

    step: int
    """1-based."""
    steps: int
    """Requests that it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCompressed(Event):
    """Older messages were summarised; the session goes on in a child session."""

    before_tokens: int
    after_tokens: int
    child_session_id: str = ""
    summarised_count: int = 0
    """Messages that the summary stands for; they stay stored."""
    undone: bool = False
    """True when a compression was taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TodosChanged(Event):
    """The todo list is now this."""

    items: tuple[Mapping[str, str], ...]
    """``{"id", "content", "status"}`` with status ``pending``, ``in_progress`` or ``done``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsChanged(Event):
    """A background job began or ended; these are all that are known now, oldest first."""

    jobs: tuple[JobRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesChanged(Event):
    """What the agent did to files in this session, and nobody took back, is now this."""

    files: tuple[Mapping[str, str | int], ...]
    """``{"path", "kind", "added", "removed"}`` with kind ``created``, ``changed`` or ``deleted``; the first 200."""
    count: int
    """Of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteerChanged(Event):
    """Text for the running turn was accepted, delivered, or handed back."""

    text: str
    state: Literal["accepted", "delivered", "returned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Event):
    """Something a person should know; a status line, never assistant text."""

    level: Literal["info", "warning", "error"]
    text: str
    hint: str = ""
    kind: str = ""
    """Machine name such as ``repair``, ``budget``, ``store``, ``auth``, ``interrupted``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInterrupted(Event):
    """The turn was stopped; ``TurnFinished`` follows."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished(Event):
    """The turn is over, whatever ended it. Always the last event of a turn."""

    exit_reason: str
    """``done``, ``interrupted``, ``budget``, ``error``."""
    duration_s: float
    result: Mapping[str, Any]
    """The library's result keys."""


_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


def type_name(event: Event) -> str:
    """Return the event's name in JSON, its class in snake_case."""
    return _WORD_START.sub("_", type(event).__name__).lower()


def as_json(event: Event) -> dict[str, Any]:
    """Return the event as one JSON object, ``type`` first; ready for ``json.dumps``."""
    return {"type": type_name(event), **asdict(event)}
