"""Blocking work on threads of its own, so that an interrupt or a time limit never waits for a network."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from .base import ToolFailure
from .ports import CancelToken

T = TypeVar("T")


class Stopped(ToolFailure):
    """The work was ended from outside."""

    def __init__(self) -> None:
        super().__init__("Stopped before it was done.")


class Abort:
    """Ends work from another thread, whatever connection it waits for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_set = False

    def hold(self, connection: socket.socket) -> None:
        """Remember the connection in use.

        Raises:
            Stopped: The work was ended meanwhile.
        """
        with self._lock:
            self._socket = connection
        self.check()

    def check(self) -> None:
        """Stop here when the work was ended.

        Raises:
            Stopped: It was.
        """
        if self._is_set:
            raise Stopped

    def set(self) -> None:
        """End the work. Never blocks."""
        with self._lock:
            self._is_set = True
            if self._socket is not None:
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def side_by_side(works: Sequence[Callable[[Abort], T]], cancel: CancelToken, limit_s: float) -> list[T | ToolFailure]:
    """Do all works at once; returns each one's result or why there is none, in order.

    Args:
        works: Get an abort that they check and give their connections to.
        cancel: Ends all that are not done.
        limit_s: Seconds after which those that are not done are ended.
    """
    late = ToolFailure(f"It took longer than {limit_s:g} s.")
    results: list[T | ToolFailure] = [late] * len(works)
    aborts = [Abort() for _ in works]
    done = threading.Semaphore(0)

    def work(number: int) -> None:
        try:
            results[number] = works[number](aborts[number])
        except ToolFailure as failure:
            results[number] = failure
        except Exception as error:  # noqa: BLE001 - the end of a thread: its result says what happened
            results[number] = ToolFailure(f"It failed ({type(error).__name__}: {error})"[:500])
        finally:
            done.release()

    remove = cancel.on_cancel(lambda: done.release(len(works)))
    deadline = time.monotonic() + limit_s
    for number in range(len(works)):
        threading.Thread(target=work, args=(number,), name="tool-work", daemon=True).start()
    for _ in works:
        done.acquire(timeout=max(0.0, deadline - time.monotonic()))
    remove()
    found = list(results)
    for abort in aborts:
        abort.set()
    return [Stopped() if result is late and cancel.cancelled else result for result in found]
