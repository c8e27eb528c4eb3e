"""A request that one thread makes of another."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Signal:
    """A request that one thread makes of another. Implements the waiting half of ``ports.CancelToken``."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._hooks: list[Callable[[], None]] = []
        self.reason = ""

    @property
    def cancelled(self) -> bool:
        """Whether it was made."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Make it."""
        with self._lock:
            self._event.set()
            hooks, self._hooks = self._hooks, []
        for hook in hooks:
            hook()

    def on_cancel(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Run ``hook`` when it is made (at once when it was); returns the function that removes it."""
        with self._lock:
            if not self._event.is_set():
                self._hooks.append(hook)
                return lambda: self._remove(hook)
        hook()
        return lambda: None

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until it is made or the time is over."""
        return self._event.wait(timeout_s)

    def _remove(self, hook: Callable[[], None]) -> None:
        with self._lock:
            if hook in self._hooks:
                self._hooks.remove(hook)
