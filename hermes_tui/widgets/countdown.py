"""Seconds until a waiting question counts as denied."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from textual.content import Content
from textual.widget import Widget


class Countdown(Widget):
    """Shows the time left, in cells that never change width.

    Args:
        seconds: From ``started_at``; 0 shows nothing.
        started_at: Monotonic time at which the wait began.
        clock: Monotonic clock.
    """

    DEFAULT_CSS = """
    Countdown { width: 14; height: 1; color: $warning; text-align: right; }
    Countdown.-off { display: none; }
    """

    def __init__(self, seconds: float, started_at: float, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._ends_at = started_at + seconds
        self._clock = clock
        self.set_class(seconds <= 0, "-off")
        self._ticks = seconds > 0

    @property
    def left_s(self) -> int:
        """Whole seconds left, never negative."""
        return max(0, math.ceil(self._ends_at - self._clock()))

    def on_mount(self) -> None:
        """Count only when there is something to count."""
        if self._ticks:
            self.set_interval(1.0, lambda: self.refresh(layout=False))

    def render(self) -> Content:
        """Return ``denied in 0:57``."""
        minutes, seconds = divmod(self.left_s, 60)
        return Content(f"denied in {minutes}:{seconds:02}")
