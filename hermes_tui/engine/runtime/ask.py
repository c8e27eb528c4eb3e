"""Gets one answer from a model: sends, retries, falls back. Says each of these by an event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..policy.retry import rule_for, wait_before
from ..providers.base import Endpoint, ModelRequest
from ..types.errors import AuthError, Interrupted, OutputCapTooLarge, PartRejected, ProviderError
from ..types.events import Event, FallbackUsed, Notice, RequestRetrying, TextDelta
from ..types.messages import ApiMessage, JsonObject
from ..types.usage import Usage
from .accumulate import Accumulator, Answer
from .call import CallOutcome, ModelCall
from .interrupt import CancelToken
from .ports import ClientFor
from .request_log import RequestRecord
from .route import Route
from .shape import shaped

LARGE_CONTEXT_TOKENS = 100_000
LARGE_CONTEXT_STALL_S = 300.0
"""A model that reads this much may be silent for longer before its first byte."""
MAX_MENDS = 6
"""Changed requests in one step; each leaves out something else, so that this is never reached by a sane server."""
LEFT_OUT = {
    "no_cache_control": "without cache marks",
    "no_images": "without the images",
    "no_reasoning": "without the reasoning setting",
    "no_reasoning_blocks": "without the earlier reasoning",
    "no_stream": "without streaming",
    "no_tools": "without tools",
}
"""What a request lacks, in words, by quirk."""


class AnswerInterrupted(Interrupted):
    """The user stopped the request.

    Args:
        answer: What had arrived.
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__("Interrupted.")
        self.answer = answer


Record: TypeAlias = Callable[[ModelRequest, int], RequestRecord]


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
    cache_ttl: str = ""
    """How long the provider may cache the prompt; empty for requests that are made once."""
    record: Record | None = None
    """Keeps each request for whoever wants to look; takes it and its estimated tokens."""


class Asker:
    """Asks for answers within one turn. Blocks the agent thread.

    Args:
        parts: What asking needs.
        has_call_id: Whether the conversation has a call with this id already.
    """

    def __init__(self, parts: AskParts, has_call_id: Callable[[str], bool] = lambda call_id: False) -> None:
        self._parts = parts
        self._has_call_id = has_call_id
        self._caps: dict[str, int] = {}
        """Output tokens that an endpoint allows, where it said so in this turn."""

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
        attempt, mends = 1, 0
        while True:
            outcome = self._send(messages, tools, max_tokens, context_tokens)
            error = outcome.error
            if outcome.interrupted:
                raise AnswerInterrupted(outcome.answer)
            if error is None:
                return outcome.answer
            rule = rule_for(error)
            if mends < MAX_MENDS and (change := self._mend(error, is_first=not mends)):
                mends += 1
                self._retry(outcome, attempt + 1, attempt + 1, 0.0, f"{error.message} Trying again {change}.")
            elif attempt < rule.attempts:
                attempt += 1
                self._retry(outcome, attempt, rule.attempts, wait_before(attempt, error), error.message)
            elif rule.rotates_key and self._parts.route.next_key():
                attempt = 1
                self._retry(outcome, 2, 2, 0.0, f"{error.message} Trying the next key.")
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
        if (allowed := self._caps.get(endpoint.id)) is not None:
            max_tokens = min(allowed, max_tokens or allowed)
        request = shaped(
            endpoint,
            messages,
            tools,
            max_tokens=max_tokens,
            reasoning_effort=parts.reasoning_effort,
            session_id=parts.session_id,
            cache_ttl=parts.cache_ttl,
        )
        accumulator = Accumulator(endpoint.provider, endpoint.api_mode, self._has_call_id)
        stall_s = endpoint.timeout_s
        if context_tokens > LARGE_CONTEXT_TOKENS:
            stall_s = max(stall_s, LARGE_CONTEXT_STALL_S)
        client = parts.client_for(endpoint.api_mode)
        record = parts.record(request, context_tokens) if parts.record is not None else None
        call = ModelCall(client, request, accumulator, parts.emit, *([record.raw.add] if record is not None else []))
        outcome = call.run(parts.token, stall_s)
        if record is not None:
            record.end(outcome)
        parts.on_usage(endpoint, outcome.answer.usage, outcome.error is None and not outcome.interrupted)
        return outcome

    def _mend(self, error: ProviderError, *, is_first: bool) -> str:
        """Change what the error complains about, if that can be done; returns the change in words, or empty."""
        route = self._parts.route
        if isinstance(error, OutputCapTooLarge):
            model = route.endpoint.id
            if error.max_tokens >= self._caps.get(model, error.max_tokens + 1):
                return ""
            self._caps[model] = error.max_tokens
            return f"with at most {error.max_tokens:,} tokens"
        if isinstance(error, PartRejected):
            return LEFT_OUT.get(error.quirk, "without it") if route.add_quirk(error.quirk) else ""
        if is_first and rule_for(error).refreshes_key and route.refresh_key():
            return "with the key as it is now"
        return ""

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
