"""The cancel token: one object per run, with children for calls and subagents.

A token is never looked up by thread id and never global; whoever may stop something holds its token.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

Hook = Callable[[], None]


class CancelToken:
    """Says that a run is to stop. Implements ``tools.ports.CancelToken``; every method may be called from any thread.

    Args:
        parent: Cancelling it cancels this token too, with the same reason.
    """

    def __init__(self, parent: CancelToken | None = None) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._reason = ""
        self._hooks: dict[int, Hook] = {}
        self._children: set[CancelToken] = set()
        self._keys = itertools.count()
        self._parent = parent
        if parent is not None:
            parent._adopt(self)

    @property
    def cancelled(self) -> bool:
        """True once the run is to stop."""
        return self._event.is_set()

    @property
    def reason(self) -> str:
        """Why: ``user``, ``timeout``, ``close``, ...; empty while not cancelled."""
        return self._reason

    def child(self) -> CancelToken:
        """Return a token that this one cancels too."""
        return CancelToken(self)

    def close(self) -> None:
        """Leave the parent, once what the token stood for is over. Hooks that remain never run."""
        with self._lock:
            self._hooks.clear()
        if self._parent is not None:
            with self._parent._lock:
                self._parent._children.discard(self)

    def on_cancel(self, hook: Hook) -> Hook:
        """Run ``hook`` on cancellation (at once when already cancelled); returns the function that removes it."""
        with self._lock:
            if not self._event.is_set():
                key = next(self._keys)
                self._hooks[key] = hook
                return lambda: self._drop(key)
        _run([hook])
        return lambda: None

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until cancelled or the time is over; returns ``cancelled``."""
        return self._event.wait(timeout_s)

    def cancel(self, reason: str = "user") -> None:
        """Cancel this token and its children, running their hooks on this thread. Only the first reason counts."""
        _run(self._mark(reason))

    def cancel_soon(self, reason: str = "user") -> None:
        """Cancel at once but run the hooks on a thread of their own, so that the caller (a screen) never waits."""
        hooks = self._mark(reason)
        if hooks:
            threading.Thread(target=_run, args=(hooks,), name="cancel-hooks", daemon=True).start()

    def _adopt(self, token: CancelToken) -> None:
        with self._lock:
            if not self._event.is_set():
                self._children.add(token)
                return
        token.cancel(self._reason)

    def _drop(self, key: int) -> None:
        with self._lock:
            self._hooks.pop(key, None)

    def _mark(self, reason: str) -> list[Hook]:
        with self._lock:
            if self._event.is_set():
                return []
            self._reason = reason
            self._event.set()
            hooks = list(self._hooks.values())
            children = list(self._children)
            self._hooks.clear()
            self._children.clear()
        for child in children:
            hooks.extend(child._mark(reason))
        return hooks


def _run(hooks: list[Hook]) -> None:
    """Run every hook; one that fails must not keep the others from stopping their own work."""
    for hook in hooks:
        try:
            hook()
        except Exception:
            log.exception("a cancel hook failed")
