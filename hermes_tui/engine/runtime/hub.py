"""The hub: takes every event of one agent and hands it to whoever listens."""

from __future__ import annotations

import copy
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from ..types.events import Event

log = logging.getLogger(__name__)

Sink: TypeAlias = Callable[[Event], None]

_stamp = object.__setattr__


class Hub:
    """Numbers events and delivers them, in order, on the emitting thread.

    ``emit`` may be called from any thread, never blocks on anything but a running sink, and never raises. A sink that
    raises is logged and dropped from that delivery on; the others still get the event.

    Args:
        session_id: Stamped on each event; may be changed when the session is created.
        agent_id: Empty for the main agent.
    """

    def __init__(self, session_id: str = "", agent_id: str = "") -> None:
        self.session_id = session_id
        self.agent_id = agent_id
        self.turn_id = ""
        self._sinks: tuple[Sink, ...] = ()
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()
        self._pending: deque[Event] = deque()
        self._delivering = False

    def subscribe(self, sink: Sink) -> Callable[[], None]:
        """Send every later event to ``sink``; returns the function that stops it."""
        with self._lock:
            self._sinks = (*self._sinks, sink)
        return lambda: self._remove(sink)

    def emit(self, event: Event) -> None:
        """Stamp and deliver an event. The event must be fresh: it is completed in place, then never changed.

        An event that a sink emits while it handles another one is delivered after it, so that all sinks see one order.
        """
        with self._lock:
            _stamp(event, "seq", next(self._numbers))
            _stamp(event, "session_id", self.session_id)
            _stamp(event, "turn_id", self.turn_id)
            _stamp(event, "agent_id", self.agent_id)
            _stamp(event, "at", time.time())
            self._deliver(event)

    def relay(self, event: Event) -> None:
        """Deliver a copy of a subagent's event under this hub's numbering; whose it is stays on it. Any thread."""
        relayed = copy.copy(event)
        with self._lock:
            _stamp(relayed, "seq", next(self._numbers))
            _stamp(relayed, "turn_id", self.turn_id)
            self._deliver(relayed)

    def _deliver(self, event: Event) -> None:
        self._pending.append(event)
        if self._delivering:
            return
        self._delivering = True
        try:
            self._drain()
        finally:
            self._delivering = False

    def _drain(self) -> None:
        while self._pending:
            event = self._pending.popleft()
            for sink in self._sinks:
                try:
                    sink(event)
                except Exception:
                    log.exception("an event sink failed on %s and is dropped", type(event).__name__)
                    self._remove(sink)

    def _remove(self, sink: Sink) -> None:
        with self._lock:
            self._sinks = tuple(kept for kept in self._sinks if kept is not sink)
