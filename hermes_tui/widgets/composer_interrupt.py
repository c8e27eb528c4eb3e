"""What ctrl+c does: copy a selection, else clear the prompt, else quit on the second press. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

QUIT_WINDOW_S: Final = 2.0
"""Source: design/ui.md 2."""

InterruptStep: TypeAlias = Literal["copy", "clear", "arm", "quit"]


class InterruptLadder:
    """Decides from what is there and when the key came last.

    Args:
        clock: Monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._armed_s = float("-inf")

    def press(self, *, has_selection: bool, has_text: bool) -> InterruptStep:
        """Return what this press does. Copying or clearing starts the count anew."""
        now = self._clock()
        if has_selection or has_text:
            self._armed_s = float("-inf")
            return "copy" if has_selection else "clear"
        if now - self._armed_s <= QUIT_WINDOW_S:
            return "quit"
        self._armed_s = now
        return "arm"
