"""Ctrl+C for tests: a signal to the main thread, sent until it shows effect."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

PATIENCE_S = 2.0
"""A signal that arrives just before a lock is waited for wakes nobody (CPython); people press again."""
MOST = 10


def press_ctrl_c(has_effect: Callable[[float], bool]) -> threading.Thread:
    """Press on a thread, again whenever ``has_effect(seconds)`` waited in vain; returns the thread."""

    def press() -> None:
        for _ in range(MOST):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            if has_effect(PATIENCE_S):
                return

    thread = threading.Thread(target=press)
    thread.start()
    return thread
