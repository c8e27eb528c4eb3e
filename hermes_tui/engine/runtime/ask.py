"""Gets one answer from a model: sends, retries, falls back. Says each of these by an event."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from ..context.window import without_images
from ..policy.retry import rule_for, wait_before
from ..providers.base import Endpoint, ModelRequest
from ..types.errors import AuthError, Interrupted, ProviderError
from ..types.events import Event, FallbackUsed, Notice, RequestRetrying, TextDelta
from ..types.messages import ApiMessage, JsonObject
from ..types.usage import Usage
from .accumulate import Accumulator, Answer
from .call import CallOutcome, ModelCall
from .interrupt import CancelToken
from .ports import ClientFor
from .route import Route

LARGE_CONTEXT_TOKENS = 100_000
LARGE_CONTEXT_STALL_S = 300.0
"""A model that reads this much may be silent for longer before its first byte."""


class AnswerInterrupted(Interrupted):
    """The user stopped the request.

    Args:
        answer: What had arrived.
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__("Interrupted.")
        self.answer = answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AskParts:
    """What asking needs; the same for a whole turn."""

    client_for: ClientFor
    route: Route
    emit: Callable[[Event], None]
    token: CancelToken
    sleep: Callable[[CancelToken, float], bool]
    """Waits; True when cancelled meanwhile."""
    on_usage: Callable[[Endpoint, Usage | None, bool], None]
    """Told after each request: the counts, if any came, and whether the answer is whole."""
    reasoning_effort: str = ""
    session_id: str = ""


class Asker:
    """Asks for answers within one turn. Blocks the agent thread.

    Args:
        parts: What asking needs.
        used_ids: Returns the call ids that the history has already.
    """

    def __init__(self, parts: AskParts, used_ids: Callable[[], Container[str]] = frozenset) -> None:
        self._parts = parts
        self._used_ids = used_ids

    def ask(
        self,
        messages: Sequence[ApiMessage],
        tools: Sequence[JsonObject] = (),
        *,
        max_tokens: int | None = None,
        context_tokens: int = 0,
        shown_before: str = "",
    ) -> Answer:
        """Return the answer of the first request that succeeds.

        Args:
            messages: The whole request.
            tools: Tool definitions.
            max_tokens: Output cap; None leaves it to the provider.
            context_tokens: Estimated size, for the stall limit.
            shown_before: Text on the screen that this answer continues; shown again when a failed attempt is withdrawn.

        Raises:
            AnswerInterrupted: The token was cancelled, also during a wait.
            ProviderError: Nothing helped; the last failure.
        """
        attempt, has_refreshed = 1, False
        while True:
            outcome = self._send(messages, tools, max_tokens, context_tokens)
            error = outcome.error
            if outcome.interrupted:
                raise AnswerInterrupted(outcome.answer)
            if error is None:
                return outcome.answer
            rule = rule_for(error)
            if rule.refreshes_key and not has_refreshed and self._parts.route.refresh_key():
                has_refreshed = True
                self._retry(outcome, attempt + 1, attempt + 1, 0.0, f"{error.message} Trying the key as it is now.")
            elif attempt < rule.attempts:
                attempt += 1
                self._retry(outcome, attempt, rule.attempts, wait_before(attempt, error), error.message)
            elif rule.can_fall_back and self.fall_back(error.message, withdrawn=outcome.has_shown):
                attempt = 1
            else:
                raise self._explained(error)
            if outcome.has_shown and shown_before:
                self._parts.emit(TextDelta(text=shown_before))

    def fall_back(self, reason: str, *, withdrawn: bool = False) -> bool:
        """Go on with the next model, if there is one."""
        endpoint = self._parts.route.fall_back()
        if endpoint is None:
            return False
        if withdrawn:
            self._parts.emit(RequestRetrying(attempt=2, max_attempts=2, wait_s=0.0, reason=reason, withdrawn=True))
        self._parts.emit(FallbackUsed(model=endpoint.model, provider=endpoint.provider, reason=reason))
        return True

    def note(self, text: str, *, kind: str) -> None:
        """Tell the user about something that was mended."""
        self._parts.emit(Notice(level="info", text=text, kind=kind))

    def withdraw(self, reason: str, attempt: int, max_attempts: int) -> None:
        """Say that a complete but useless answer is asked for again."""
        self._parts.emit(
            RequestRetrying(attempt=attempt, max_attempts=max_attempts, wait_s=0.0, reason=reason, withdrawn=True)
        )

    def _send(
        self, messages: Sequence[ApiMessage], tools: Sequence[JsonObject], max_tokens: int | None, context_tokens: int
    ) -> CallOutcome:
        parts = self._parts
        endpoint = parts.route.endpoint
        if "no_images" in endpoint.quirks:
            messages = without_images(messages)
        request = ModelRequest(
            endpoint=endpoint,
            messages=messages,
            tools=tools,
            max_tokens=max_tokens,
            reasoning_effort=parts.reasoning_effort,
            session_id=parts.session_id,
        )
        accumulator = Accumulator(endpoint.provider, endpoint.api_mode, self._used_ids())
        stall_s = endpoint.timeout_s
        if context_tokens > LARGE_CONTEXT_TOKENS:
            stall_s = max(stall_s, LARGE_CONTEXT_STALL_S)
        outcome = ModelCall(parts.client_for(endpoint.api_mode), request, accumulator, parts.emit).run(
            parts.token, stall_s
        )
        parts.on_usage(endpoint, outcome.answer.usage, outcome.error is None and not outcome.interrupted)
        return outcome

    def _retry(self, outcome: CallOutcome, attempt: int, max_attempts: int, wait_s: float, reason: str) -> None:
        self._parts.emit(
            RequestRetrying(
                attempt=attempt,
                max_attempts=max_attempts,
                wait_s=wait_s,
                reason=reason,
                withdrawn=outcome.has_shown,
            )
        )
        if self._parts.sleep(self._parts.token, wait_s):
            raise AnswerInterrupted(Answer())

    def _explained(self, error: ProviderError) -> ProviderError:
        """Say where a rejected key came from, unless the provider's part did."""
        if isinstance(error, AuthError) and not error.hint:
            source = self._parts.route.endpoint.key_source
            where = f"The key came from {source}." if source else "No key was found."
            error.hint = f"{where} Set a valid key, then try again."
        return error
