"""Questions the engine asks a person: approvals and clarifications.

A request is plain data with an id. The broker waits; the first answer from any surface wins; the ``...Resolved`` event,
not the key handler, closes the dialog.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

VerdictName: TypeAlias = Literal["allow", "ask", "plan", "deny", "never"]
"""From mild to strict; the strictest over all parts wins. ``plan`` is refused because plan mode only reads."""
STRICTNESS: tuple[VerdictName, ...] = ("allow", "ask", "plan", "deny", "never")
ApprovalChoice: TypeAlias = Literal["once", "session", "always", "deny", "edit"]
ResolvedBy: TypeAlias = Literal["user", "timeout", "interrupt", "no_surface", "rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPart:
    """One simple command found in a text, nested ones included."""

    argv: tuple[str, ...]
    """Decoded words."""
    danger_class: str
    """``safe``, ``writes``, ``unknown``, ``danger`` or ``never``."""
    reason: str = ""
    """Why it is not safe, for people."""
    rule: str = ""
    """The user's allow or deny rule that decided, as written."""
    start: int = 0
    """First character in the command text."""
    end: int = 0
    """One past the last character in the command text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedPath:
    """A path an action would change or read."""

    path: str
    kind: str = "write"
    """``read``, ``write`` or ``delete``."""
    note: str = ""
    """What makes it special: ``outside the workspace``, ``protected``, ``214 files, 3.1 MB, not tracked``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A tool call waits for a person."""

    request_id: str
    call_ids: tuple[str, ...]
    """The calls this answer covers; several when identical asks were merged."""
    tool: str
    action: Literal["command", "code", "edit", "read", "send", "tool"]
    text: str
    """What will run, be written or be sent, whole: the command, the code, the URLs, or the path for files."""
    reasons: tuple[str, ...]
    parts: tuple[CommandPart, ...] = ()
    touched: tuple[TouchedPath, ...] = ()
    diff: str = ""
    """Unified diff of an edit, empty otherwise."""
    cwd: str = ""
    agent_id: str = ""
    """Empty for the main agent, else the subagent's name."""
    within: str = ""
    """The tool whose script makes this call; empty for a call of the model itself."""
    always_rules: tuple[str, ...] = ()
    """The rules that "always" would store, as written; empty when "always" is not offered."""
    can_edit: bool = True
    """False when the text only describes what the call does."""
    deadline_s: float = 0.0
    """Seconds to wait before it counts as denied; 0 waits for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDecision:
    """A person's (or a rule's) answer."""

    choice: ApprovalChoice
    message: str = ""
    """With ``deny``: words for the model. With ``edit``: the new command."""
    scope: Literal["project", "everywhere"] = "project"
    """With ``always``: where the rule holds."""
    by: ResolvedBy = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClarifyRequest:
    """The model asks a question."""

    request_id: str
    call_id: str
    question: str
    choices: tuple[str, ...] = ()
    """Up to four; empty asks for free text."""
    agent_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClarifyAnswer:
    """A person's answer; empty text means that they declined."""

    text: str
    by: ResolvedBy = "user"
