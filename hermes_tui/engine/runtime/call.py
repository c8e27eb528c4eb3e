"""One model request on a thread of its own, so that an interrupt or a stall never waits on a socket."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..providers.base import ModelRequest, ProviderClient
from ..types.errors import ProviderError, ProviderTimeout
from ..types.events import Event
from .accumulate import Accumulator, Answer
from .interrupt import CancelToken

log = logging.getLogger(__name__)

_EMIT_GRACE_S = 0.1
"""How long a superseded stream may finish showing the delta it is at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """How a request ended; ``answer`` holds what arrived, also when it failed."""

    answer: Answer
    error: ProviderError | None = None
    interrupted: bool = False
    has_shown: bool = False
    """Whether something of the answer was shown already."""
    first_delta_s: float | None = None
    """Seconds until the first piece of the answer; None when none came."""


class ModelCall:
    """Runs one request; also the adapter's ``StreamControl``.

    The API thread folds and emits each delta itself, under a lock that :meth:`run` takes away when the request is
    superseded: one thread wakes up per network read instead of two, and a dead stream cannot emit. The agent thread
    waits on a queue for the end, the interrupt or the stall limit, whichever is first; nothing polls.

    Args:
        client: The adapter of the request's API mode.
        request: What to send.
        accumulator: Takes the deltas.
        emit: Takes their events.
        keep: Takes the answer's bytes as they arrive; must be quick.
    """

    def __init__(
        self,
        client: ProviderClient,
        request: ModelRequest,
        accumulator: Accumulator,
        emit: Callable[[Event], None],
        keep: Callable[[bytes], None] = lambda data: None,
    ) -> None:
        self._client = client
        self._request = request
        self._accumulator = accumulator
        self._emit = emit
        self._keep = keep
        self._lock = threading.Lock()
        self._is_superseded = False
        self._close: Callable[[], None] | None = None
        self._started = self._first_delta = self._last_byte = 0.0
        self._ends: queue.SimpleQueue[ProviderError | str] = queue.SimpleQueue()

    def on_open(self, close: Callable[[], None]) -> None:
        """Keep the function that ends the connection; call it at once when the request is superseded already."""
        self._close = close
        if self._is_superseded:
            self._close_soon()

    def received(self, data: bytes) -> None:
        """Note that bytes arrived."""
        self._last_byte = time.monotonic()
        self._keep(data)

    def run(self, token: CancelToken, stall_s: float) -> CallOutcome:
        """Send the request and block until it is over.

        Args:
            token: Ends the request when cancelled.
            stall_s: Longest silence in seconds.
        """
        if token.cancelled:
            return CallOutcome(answer=self._accumulator.answer(), interrupted=True)
        self._started = self._last_byte = time.monotonic()
        remove = token.on_cancel(lambda: self._ends.put("cancelled"))
        end: ProviderError | str = ""
        try:
            threading.Thread(target=self._stream, name="model-request", daemon=True).start()
            end = self._await_end(stall_s)
        finally:
            remove()
            if end != "done":  # also when Ctrl+C broke the wait off: a script must not go on paying for the answer
                self._supersede()
        answer = self._accumulator.answer()
        error = end if isinstance(end, ProviderError) else None
        return CallOutcome(
            answer=answer,
            error=error,
            interrupted=end == "cancelled",
            has_shown=self._accumulator.has_shown,
            first_delta_s=self._first_delta - self._started if self._first_delta else None,
        )

    def _await_end(self, stall_s: float) -> ProviderError | str:
        while True:
            left = self._last_byte + stall_s - time.monotonic()
            if left <= 0:
                host = self._request.endpoint.provider
                return ProviderTimeout(f"{host} sent nothing for {stall_s:.0f} seconds.")
            try:
                return self._ends.get(timeout=left)
            except queue.Empty:
                continue

    def _stream(self) -> None:
        end: ProviderError | str = "done"
        try:
            for delta in self._client.stream(self._request, self):
                self._last_byte = time.monotonic()
                if not self._first_delta:
                    self._first_delta = self._last_byte
                with self._lock:
                    if self._is_superseded:
                        return
                    event = self._accumulator.feed(delta)
                    if event is not None:
                        self._emit(event)
        except ProviderError as error:
            end = error
        except Exception as error:
            if not self._is_superseded:
                log.exception("the %s adapter failed", self._request.endpoint.api_mode)
            end = ProviderError(
                f"The answer of {self._request.endpoint.provider} could not be read ({type(error).__name__}).",
                hint="The log has the details.",
            )
        self._ends.put(end)

    def _supersede(self) -> None:
        """Silence the stream, then close its connection without waiting for that."""
        self._is_superseded = True
        if self._lock.acquire(timeout=_EMIT_GRACE_S):
            self._lock.release()
        if self._close is not None:
            self._close_soon()

    def _close_soon(self) -> None:
        close = self._close
        if close is not None:
            threading.Thread(target=_quietly, args=(close,), name="close-request", daemon=True).start()


def _quietly(close: Callable[[], None]) -> None:
    try:
        close()
    except Exception:
        log.debug("closing a request failed", exc_info=True)
