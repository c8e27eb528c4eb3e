"""When a key may answer a dialog. A pure state machine over times; the screen feeds it keys and asks it.

A dialog that pops up while somebody types must not take their keys for an answer. It is armed once it was painted and
then left alone for a while; an armed answer counts only when no other key follows it at once, as in a paste or a key
held down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pacing:
    """How long is long enough."""

    arm_s: float = 0.4
    """Quiet seconds after the first paint until keys may answer. Source: the pause between bursts of typing."""
    burst_s: float = 0.06
    """Keys closer than this come from a paste or a held key. Source: key repeat is 25 to 40 a second."""
    clock: Callable[[], float] | None = None
    """Monotonic clock for tests; None uses the time at which each event arrived."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """What became of a key."""

    waits: bool = False
    """It will answer unless another key follows at once."""
    early: str = ""
    """Text that was typed, not answered, and goes to the draft."""


class ApprovalGuard:
    """Decides whether keys answer. Times are monotonic seconds."""

    def __init__(self, pacing: Pacing) -> None:
        self._pacing = pacing
        self._quiet_since: float | None = None
        self._last_key = float("-inf")
        self._waiting: tuple[str, str, float] | None = None

    def painted(self, now: float) -> None:
        """The dialog is on the screen."""
        self._quiet_since = now

    def disturb(self, now: float) -> None:
        """Something happened that an answer must not come close to: start waiting again."""
        self._waiting = None
        if self._quiet_since is not None:
            self._quiet_since = max(self._quiet_since, now)

    def is_armed(self, now: float) -> bool:
        """Return whether a key pressed now may answer."""
        return self._quiet_since is not None and now - self._quiet_since >= self._pacing.arm_s

    def press(self, key: str, text: str, now: float, *, answers: bool) -> Pressed:
        """Take a key.

        Args:
            key: Its name.
            text: What it types, if anything.
            now: When it was pressed.
            answers: Whether it is one of the dialog's answer keys.
        """
        is_burst = now - self._last_key < self._pacing.burst_s
        self._last_key = now
        if answers and self.is_armed(now) and not is_burst:
            self._waiting = (key, text, now)
            return Pressed(waits=True)
        held_back = self._waiting[1] if self._waiting else ""
        self.disturb(now)
        return Pressed(early=held_back + text)

    def touch(self, now: float) -> None:
        """Note a key that moves or scrolls; an answer right after it is part of a burst."""
        self._last_key = now
        self._waiting = None

    def take_answer(self, now: float) -> str:
        """Return the key that has now stood alone long enough, or an empty string."""
        if self._waiting is None or now - self._waiting[2] < self._pacing.burst_s:
            return ""
        key = self._waiting[0]
        self._waiting = None
        return key

    def next_change_s(self, now: float) -> float | None:
        """Return the seconds until it arms or a waiting answer counts; None when nothing will change by itself."""
        if self._waiting is not None:
            return max(0.0, self._waiting[2] + self._pacing.burst_s - now)
        if self._quiet_since is None or self.is_armed(now):
            return None
        return self._quiet_since + self._pacing.arm_s - now
