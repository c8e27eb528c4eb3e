"""When and how a conversation is compressed: before a request, after an overflow, on demand. Says each of it.

The work itself is the context engine's; this owns its attempts, so that a conversation that cannot get smaller is not
compressed at every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..context.compression import Ask, ContextEngine, Room
from ..types.errors import CompressionFailed, ConfigError, ContextOverflow, ProviderError
from ..types.events import ContextCompressed, ContextCompressing, Event, Notice
from ..types.messages import Message
from .ask import AnswerInterrupted
from .auxiliary import Auxiliary
from .conversation import Conversation
from .interrupt import CancelToken
from .route import Route

MAX_FAILURES = 2
"""Attempts in a row without success before it is left to the person."""
GROWTH = 1.1
"""After a failed attempt the next one waits until the conversation has grown by this factor."""
MIN_WINDOW = 1_024
"""A stated window below this is not believed."""
OVERFLOW_SHARE = 0.8
"""What an overflow says about the size that fits, when it names none: less than this part of what was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressParts:
    """What compressing works with."""

    engine: ContextEngine
    conversation: Conversation
    route: Route
    auxiliary: Auxiliary
    emit: Callable[[Event], None]
    pinned: Callable[[], str]
    """What tools want carried word for word."""
    threshold: float
    is_enabled: bool = True


class Compressor:
    """Lives as long as the agent. Used by one thread at a time; blocks while a model writes the summary.

    Args:
        parts: What it works with.
    """

    def __init__(self, parts: CompressParts) -> None:
        self._parts = parts
        self._failures = 0
        self._failed_at = 0
        """Size at the last failed attempt."""

    def before_request(self, tokens: int, token: CancelToken) -> bool:
        """Compress when the next request passes the threshold; True when the history changed.

        Raises:
            AnswerInterrupted: The token was cancelled; the history stays as it was.
        """
        parts = self._parts
        if not parts.is_enabled or self._failures >= MAX_FAILURES or tokens < self._failed_at * GROWTH:
            return False
        room = self._room()
        if not parts.engine.is_due(self._raw(tokens), room):
            return False
        return self._try(room, token)

    def after_overflow(self, overflow: ContextOverflow, token: CancelToken) -> bool:
        """Adopt the window that the provider states and compress; True when the history got smaller."""
        route, conversation = self._parts.route, self._parts.conversation
        stated = overflow.window_tokens or 0
        if MIN_WINDOW <= stated < route.endpoint.context_window:
            route.set_window(stated)
        room = self._room()
        sent = self._raw(conversation.estimate(conversation.fixed_tokens))
        if sent < room.limit / OVERFLOW_SHARE:
            # The estimates say that it fits, the provider says that it does not.
            room = Room(
                window=int(sent * OVERFLOW_SHARE), fixed=conversation.fixed_tokens, threshold=self._parts.threshold
            )
        return self._parts.is_enabled and self._try(room, token)

    def on_demand(self, focus: str, token: CancelToken) -> str:
        """Compress now and return in words what came of it; a failure and an interrupt are told, too."""
        self._failures, self._failed_at = 0, 0
        conversation = self._parts.conversation
        room = self._room()
        sent = self._raw(conversation.estimate(conversation.fixed_tokens))
        if sent < room.limit:
            room = Room(window=sent, fixed=min(sent // 2, conversation.fixed_tokens), threshold=self._parts.threshold)
        try:
            done = self._compress(room, token, focus)
        except AnswerInterrupted:
            return "Stopped; the conversation is as it was."
        except (CompressionFailed, ProviderError, ConfigError) as error:
            return f"Nothing was changed. {error}"
        return (
            f"{done.summarised_count} messages are summarised: about {done.before_tokens:,} tokens became "
            f"{done.after_tokens:,}. They stay stored; /undo-compress takes it back."
        )

    def take_back(self) -> str:
        """Send again what the newest summary stands for, and return in words what came of it."""
        conversation = self._parts.conversation
        before = conversation.estimate(conversation.fixed_tokens)
        if not conversation.undo_compression():
            return "There is no compression to take back."
        # Otherwise the next request would compress it again at once.
        self._failed_at = after = conversation.estimate(conversation.fixed_tokens)
        self._parts.emit(ContextCompressed(before_tokens=before, after_tokens=after, undone=True))
        return f"The whole conversation is sent again, about {after:,} tokens."

    def _try(self, room: Room, token: CancelToken) -> bool:
        try:
            self._compress(room, token, "")
        except (CompressionFailed, ProviderError, ConfigError) as error:
            self._failures += 1
            self._failed_at = self._parts.conversation.estimate(self._parts.conversation.fixed_tokens)
            hint = error.hint
            if self._failures >= MAX_FAILURES:
                hint = f"{hint} It is not tried again in this session unless you say /compress.".strip()
            text = f"The conversation could not be compressed; nothing was changed. {error.message}"
            self._parts.emit(Notice(level="warning", text=text, hint=hint, kind="compression"))
            return False
        self._failures, self._failed_at = 0, 0
        return True

    def _compress(self, room: Room, token: CancelToken, focus: str) -> ContextCompressed:
        parts, conversation = self._parts, self._parts.conversation
        before = conversation.estimate(conversation.fixed_tokens)
        shorter = parts.engine.shorten(
            conversation.history, room, pinned=parts.pinned(), focus=focus, ask=self._ask(token)
        )
        row: Message = {"role": "user", "content": shorter.text, "synthetic": True}
        row["compressed"] = {
            "first": shorter.first,
            "last": shorter.last,
            "tool_chars": shorter.tool_chars,
            "summarised": len(conversation.history) - shorter.first - shorter.last,
            "before_tokens": before,
            "after_tokens": 0,
            "files": list(shorter.files),
            "request": shorter.request,
        }
        row["compressed"]["after_tokens"] = conversation.estimate_with(row)
        return conversation.go_on_with(row)

    def _ask(self, token: CancelToken) -> Ask:
        def ask(instruction: str, text: str, max_tokens: int, step: int, steps: int) -> str:
            self._parts.emit(ContextCompressing(step=step, steps=steps))
            return self._parts.auxiliary.ask(instruction, text, max_tokens, token)

        return ask

    def _room(self) -> Room:
        """Return the room in estimated tokens: a window is smaller where the provider counts more than we do."""
        window = self._raw(self._parts.route.endpoint.context_window)
        return Room(window=window, fixed=self._parts.conversation.fixed_tokens, threshold=self._parts.threshold)

    @property
    def limit(self) -> int:
        """Tokens, as the provider counts them, from which on a request is made smaller first; 0 when it is not."""
        return int(self._room().limit * self._parts.conversation.factor) if self._parts.is_enabled else 0

    def _raw(self, counted: int) -> int:
        return int(counted / self._parts.conversation.factor)
