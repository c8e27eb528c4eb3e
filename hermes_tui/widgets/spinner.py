"""One clock for all that moves: it ticks only while somebody needs it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from textual.timer import Timer
from textual.widget import Widget

RATE_HZ: Final = 8
"""Source: design/performance.md 4."""
FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧"
PLAIN_FRAMES: Final = "|/-\\"
STILL: Final = "●"
PLAIN_STILL: Final = "*"


class Ticker:
    """A shared timer. The first subscriber starts it, the last one that leaves stops it.

    Args:
        owner: The widget whose timer it is; it must be mounted when somebody subscribes.
        rate_hz: Ticks a second.
    """

    def __init__(self, owner: Widget, rate_hz: float = RATE_HZ) -> None:
        self._owner = owner
        self._rate_hz = rate_hz
        self._timer: Timer | None = None
        self._callbacks: list[Callable[[int], None]] = []
        self._tick = 0

    @property
    def is_running(self) -> bool:
        """Whether it wakes the app up at all."""
        return self._timer is not None

    def subscribe(self, callback: Callable[[int], None]) -> None:
        """Call ``callback`` with a growing number on every tick. Subscribing twice is once."""
        if callback not in self._callbacks:
            self._callbacks.append(callback)
        if self._timer is None:
            self._timer = self._owner.set_interval(1 / self._rate_hz, self._on_tick, name="ticker")

    def unsubscribe(self, callback: Callable[[int], None]) -> None:
        """Stop calling it."""
        if callback in self._callbacks:
            self._callbacks.remove(callback)
        if not self._callbacks and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _on_tick(self) -> None:
        self._tick += 1
        for callback in tuple(self._callbacks):
            callback(self._tick)


def spinner_frame(tick: int, *, animated: bool = True, plain: bool = False) -> str:
    """Return the mark of running work, always one cell."""
    if not animated:
        return PLAIN_STILL if plain else STILL
    frames = PLAIN_FRAMES if plain else FRAMES
    return frames[tick % len(frames)]


def clock_text(seconds: float) -> str:
    """Return a duration in five cells or more: ``00:42``, ``12:05``, ``1:02:03``. Never negative."""
    whole = max(0, int(seconds))
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes:02}:{whole % 60:02}"


class Stopwatch:
    """Elapsed time on a clock that a sleeping laptop or a changed wall clock cannot turn back.

    Args:
        clock: Monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        """Monotonic seconds."""
        self._started_s: float | None = None
        self._kept_s = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start, or those that were kept at the stop."""
        return self._kept_s if self._started_s is None else max(0.0, self.clock() - self._started_s)

    def start(self) -> None:
        """Count from zero."""
        self._started_s = self.clock()

    def stop(self) -> None:
        """Keep what was counted."""
        self._kept_s, self._started_s = self.elapsed_s, None
