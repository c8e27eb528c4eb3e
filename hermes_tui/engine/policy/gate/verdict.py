"""What the gate answers: one verdict with all that a person needs to decide."""

from __future__ import annotations

from dataclasses import dataclass

from ...types.requests import CommandPart, TouchedPath, VerdictName

UNREADABLE = "cannot be read safely"
PROTECTS = "changes a protected path"
"""What runs later on its own or steers the agent: asked in every mode when a file tool does it."""
SYSTEM = "changes a system path"
SECRETS = "touches keys or credentials"
RUNS_CODE = "runs Python code"
SHOWS_EDITS = "edits are shown before they are made"
FOR_A_PERSON = (UNREADABLE, PROTECTS, SYSTEM, SECRETS, SHOWS_EDITS)
"""How reasons begin that only a person may wave through: no other model clears them in mode ``smart``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer for one command text or one set of paths."""

    verdict: VerdictName
    """The strictest answer over all parts: ``never`` > ``deny`` > ``plan`` > ``ask`` > ``allow``."""
    always: bool = False
    """True when "always" may be offered."""
    reasons: tuple[str, ...] = ()
    """Why it is not simply allowed, worst first, for people."""
    parts: tuple[CommandPart, ...] = ()
    """Every simple command found, nested ones included, in reading order."""
    always_rules: tuple[str, ...] = ()
    """The allow rules that "always" would store; proven to turn this very command into ``allow``."""
    touched: tuple[TouchedPath, ...] = ()
    """Paths that it would change, or read in spite of a rule."""

    changes_nothing: bool = False
    """A command that provably only reads, or a script that reaches nothing but tools."""

    @property
    def needs_person(self) -> bool:
        """Whether only a person may wave it through."""
        return any(reason.startswith(FOR_A_PERSON) for reason in self.reasons)
