"""Stops a turn from going in circles with its tools."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

WARN_SAME_FAILURE = 3
BLOCK_SAME_FAILURE = 5
STOP_TOOL_FAILURES = 8
WARN_SAME_READ = 3
BLOCK_SAME_READ = 5
MAX_UNUSABLE_STEPS = 3
"""Steps in a row whose calls could all not be run (unreadable, unknown) before the turn ends."""


@dataclass(slots=True)
class Guardrails:
    """Counters of one turn. Not locked; the executor guards it."""

    stop_reason: str = ""
    """Why the turn must end; empty while it may go on."""
    _same_failures: Counter[str] = field(default_factory=Counter)
    _tool_failures: Counter[str] = field(default_factory=Counter)
    _reads: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Call -> (hash of its last result, how often in a row it came back)."""
    _unusable_steps: int = 0

    def block(self, tool: str, arguments: str) -> str:
        """Say why this call must not run again, or return an empty text.

        Args:
            tool: The tool's name.
            arguments: Canonical JSON.
        """
        key = f"{tool} {arguments}"
        if self._same_failures[key] >= BLOCK_SAME_FAILURE:
            return f"This exact call failed {self._same_failures[key]} times. Try something else."
        if self._reads.get(key, (0, 0))[1] >= BLOCK_SAME_READ:
            return f"This exact call gave the same result {self._reads[key][1]} times. Use that result."
        return ""

    def record(self, tool: str, arguments: str, *, ok: bool, result: str, read_only: bool) -> str:
        """Count a finished call; returns a warning for the model, or an empty text."""
        key = f"{tool} {arguments}"
        if not ok:
            return self._record_failure(tool, key)
        self._same_failures.pop(key, None)
        self._tool_failures.pop(tool, None)
        if not read_only:
            self._reads.clear()
            return ""
        digest = hash(result)
        last, count = self._reads.get(key, (digest, 0))
        self._reads[key] = (digest, count + 1 if last == digest else 1)
        if self._reads[key][1] >= WARN_SAME_READ:
            return "You made this call several times with the same result; it will be blocked soon."
        return ""

    def record_step(self, *, usable: bool) -> None:
        """Count a step by whether any of its calls could be run at all."""
        self._unusable_steps = 0 if usable else self._unusable_steps + 1
        if self._unusable_steps >= MAX_UNUSABLE_STEPS:
            self.stop_reason = f"The model asked for tools that cannot be run {MAX_UNUSABLE_STEPS} times in a row."

    def _record_failure(self, tool: str, key: str) -> str:
        self._same_failures[key] += 1
        self._tool_failures[tool] += 1
        if self._tool_failures[tool] >= STOP_TOOL_FAILURES:
            self.stop_reason = f"The tool {tool} failed {STOP_TOOL_FAILURES} times in a row."
        if self._same_failures[key] >= WARN_SAME_FAILURE:
            return "This exact call keeps failing; it will be blocked soon. Change the arguments or the approach."
        return ""
