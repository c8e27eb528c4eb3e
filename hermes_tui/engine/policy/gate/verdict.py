"""What the gate answers: one verdict with all that a person needs to decide."""

from __future__ import annotations

from dataclasses import dataclass

from ...types.requests import CommandPart, TouchedPath, VerdictName


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer for one command text or one set of paths."""

    verdict: VerdictName
    """The strictest answer over all parts: ``never`` > ``deny`` > ``ask`` > ``allow``."""
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
