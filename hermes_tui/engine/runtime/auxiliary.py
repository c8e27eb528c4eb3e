"""Asks the model of a side task (compression, titles): its own, then its fallbacks, then the main one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..config.settings import AuxiliarySettings
from ..providers.base import Endpoint
from ..types.errors import ProviderError
from ..types.events import Event, FallbackUsed, Notice, RequestRetrying
from ..types.usage import Usage
from .ask import Asker, AskParts, Record
from .interrupt import CancelToken
from .ports import ClientFor, Resolve
from .route import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class AuxiliaryParts:
    """What side tasks ask with."""

    resolve: Resolve
    client_for: ClientFor
    main: Route
    """The conversation's own route."""
    emit: Callable[[Event], None]
    sleep: Callable[[CancelToken, float], bool]
    on_usage: Callable[[Endpoint, Usage | None, bool], None]
    record: Record | None = None
    """Keeps the requests for whoever wants to look."""


class Auxiliary:
    """One side task. Blocks the calling thread.

    Args:
        name: For messages: ``compression``, ``title``.
        choice: The task's settings.
        parts: What it asks with.
    """

    def __init__(self, name: str, choice: AuxiliarySettings, parts: AuxiliaryParts) -> None:
        self._name = name
        self._choice = choice
        self._parts = parts

    def ask(self, instruction: str, text: str, max_tokens: int, token: CancelToken) -> str:
        """Return the model's answer.

        Raises:
            AnswerInterrupted: The token was cancelled.
            ProviderError: No model of the chain answered.
            ConfigError: No model of the chain can be used.
        """
        parts = self._parts
        own = [self._choice.model] if self._choice.model else []
        chain = list(dict.fromkeys([*own, *self._choice.fallbacks, *parts.main.models_left]))
        asking = AskParts(
            client_for=parts.client_for,
            route=Route(parts.resolve, chain[0], chain[1:]),
            emit=self._told,
            token=token,
            sleep=parts.sleep,
            on_usage=parts.on_usage,
            record=parts.record,
        )
        answer = Asker(asking).ask(
            [{"role": "system", "content": instruction}, {"role": "user", "content": text}], max_tokens=max_tokens
        )
        if not answer.text.strip():
            raise ProviderError(f"The model for {self._name} gave no answer.")
        return answer.text

    def _told(self, event: Event) -> None:
        """Pass on what a person should know; the text itself is not shown."""
        if isinstance(event, RequestRetrying):
            self._parts.emit(
                RequestRetrying(
                    attempt=event.attempt, max_attempts=event.max_attempts, wait_s=event.wait_s, reason=event.reason
                )
            )
        elif isinstance(event, FallbackUsed):
            text = f"The {self._name} goes on with {event.provider}/{event.model}: {event.reason}"
            self._parts.emit(Notice(level="info", text=text, kind="auxiliary"))
