"""The thread boundary: engine events become coalesced frames, a person's intents become engine calls.

This is the only module of the screen that subscribes to an engine. Events may come from any thread; they are delivered
on the UI thread, at most once per frame, neighbouring deltas merged. Nothing wakes up while nothing happens.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from typing import TypeAlias

from .engine.types.events import Event, ReasoningDelta, TextDelta, ToolDelta, ToolOutput

FRAME_S = 1 / 30
"""Seconds between deliveries while events keep coming. Source: design/performance.md, 33 ms locally."""
SSH_FRAME_S = 1 / 10
"""The same over SSH."""

Deliver: TypeAlias = Callable[[list[Event]], None]


_TEXT_FIELD = {TextDelta: "text", ReasoningDelta: "text", ToolOutput: "text", ToolDelta: "fragment"}
"""Events that are merged, and the field that grows."""


def coalesce(events: Iterable[Event]) -> list[Event]:
    """Merge runs of deltas that belong to the same message or call; order is kept, no text is lost.

    Of a terminal's screens only the newest counts.
    """
    merged: list[Event] = []
    for key, run in groupby(events, _belonging):
        if key is None:
            merged.extend(run)
            continue
        *before, last = run
        if before and not getattr(last, "is_screen", False):
            field = _TEXT_FIELD[type(last)]
            text = "".join([getattr(event, field) for event in before]) + getattr(last, field)
            last = replace(last, **{field: text})
        merged.append(last)
    return merged


def _belonging(event: Event) -> tuple[type[Event], str, str, bool] | None:
    """What a delta may be merged with: its own kind, agent and call; None for everything else."""
    kind = type(event)
    if kind not in _TEXT_FIELD:
        return None
    return kind, event.agent_id, getattr(event, "call_id", ""), getattr(event, "is_screen", False)


class Bridge:
    """Carries events of one engine session to the UI thread.

    Args:
        loop: The UI's running event loop.
        deliver: Called on the UI thread with the merged events of one frame.
        frame_s: Shortest time between two deliveries.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, deliver: Deliver, frame_s: float = FRAME_S) -> None:
        self._loop = loop
        self._context = contextvars.copy_context()  # the UI's own: widgets find their app in it
        self._deliver = deliver
        self._frame_s = frame_s
        self._pending: deque[Event] = deque()
        self._lock = threading.Lock()
        self._armed = False
        self._closed = False
        self._last_s = 0.0

    def sink(self, event: Event) -> None:
        """Take an event from any thread. Never blocks, never raises."""
        with self._lock:
            self._pending.append(event)
            if self._armed or self._closed:
                return
            self._armed = True
        try:
            self._loop.call_soon_threadsafe(self._schedule, context=self._context)
        except RuntimeError:  # the loop is gone: the app is leaving
            self._closed = True

    def close(self) -> None:
        """Drop what is pending and deliver nothing more."""
        with self._lock:
            self._closed = True
            self._pending.clear()

    def _schedule(self) -> None:
        wait_s = self._last_s + self._frame_s - time.monotonic()
        if wait_s <= 0:
            self.drain()
        else:
            self._loop.call_later(wait_s, self.drain)

    def drain(self) -> None:
        """Deliver what is pending now. UI thread only."""
        with self._lock:
            events, self._pending = self._pending, deque()
            self._armed = False
            if self._closed:
                return
        self._last_s = time.monotonic()
        if events:
            self._deliver(coalesce(events))
