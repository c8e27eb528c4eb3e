"""Turns what a model gives into a usable answer: nothing, only thoughts, or half an answer is not one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..types.errors import ProviderError
from ..types.messages import ApiMessage, JsonObject
from .accumulate import Answer
from .ask import AnswerInterrupted, Asker

MAX_EMPTY_RETRIES = 3
MAX_THOUGHT_NUDGES = 2
MAX_CONTINUATIONS = 3
MAX_CALL_RETRIES = 2
FIRST_CALL_CAP = 8_192
"""Output cap for a tool call that did not fit, when none was set. Source: twice the common default of 4,096."""

ANSWER_NOW = "You thought but wrote no answer. Write the answer now."
GO_ON = (
    "Your answer was cut off by the output limit. Go on exactly where it stops, in the middle of the word if need be. "
    "Repeat nothing and add no introduction."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """An answer, and what is still wrong with it."""

    answer: Answer
    problem: str = ""
    """For people; empty when the answer is whole."""


class Completer:
    """Asks until there is something to go on with. Blocks the agent thread.

    Args:
        asker: Sends the requests.
        max_tokens: The configured output cap; None leaves it to the provider.
    """

    def __init__(self, asker: Asker, max_tokens: int | None = None) -> None:
        self._asker = asker
        self._max_tokens = max_tokens

    def complete(
        self, messages: Sequence[ApiMessage], tools: Sequence[JsonObject], context_tokens: int = 0
    ) -> Completion:
        """Return the answer to these messages.

        Raises:
            AnswerInterrupted: Stopped; holds everything that was shown.
            ProviderError: No answer could be had.
        """
        answer = self._not_empty(messages, tools, context_tokens)
        if answer.finish_reason == "length" and answer.calls:
            return self._whole_calls(messages, tools, answer)
        if answer.finish_reason == "length" and answer.text:
            return self._joined(messages, tools, answer)
        if answer.finish_reason == "content_filter" and not answer.calls:
            return Completion(answer=answer, problem="The provider stopped this answer for safety reasons.")
        if not answer.text.strip() and not answer.calls:
            return self._spoken(messages, tools, answer)
        return Completion(answer=answer)

    def _not_empty(self, messages: Sequence[ApiMessage], tools: Sequence[JsonObject], context_tokens: int) -> Answer:
        reason = "The model gave an empty answer."
        while True:
            for attempt in range(2, MAX_EMPTY_RETRIES + 3):
                answer = self._asker.ask(messages, tools, max_tokens=self._max_tokens, context_tokens=context_tokens)
                if answer.text.strip() or answer.calls or answer.reasoning or answer.finish_reason == "content_filter":
                    return answer
                if attempt <= MAX_EMPTY_RETRIES + 1:
                    self._asker.withdraw(reason, attempt, MAX_EMPTY_RETRIES + 1)
            if not self._asker.fall_back(reason):
                raise ProviderError(reason, hint="Ask again in other words, or choose another model.")

    def _spoken(self, messages: Sequence[ApiMessage], tools: Sequence[JsonObject], first: Answer) -> Completion:
        """Nudge a model that only thought; its thoughts are kept."""
        thoughts = [first.reasoning]
        for _ in range(MAX_THOUGHT_NUDGES):
            self._asker.note("The model only thought; asking it for the answer.", kind="repair")
            answer = self._ask_on(with_nudge(messages, ANSWER_NOW), tools, before=replace(first, reasoning=""))
            thoughts.append(answer.reasoning)
            if answer.text.strip() or answer.calls:
                return Completion(answer=replace(answer, reasoning=_lines(thoughts)))
        kept = replace(first, text="", reasoning=_lines(thoughts))
        return Completion(answer=kept, problem="The model returned only reasoning and no answer.")

    def _joined(self, messages: Sequence[ApiMessage], tools: Sequence[JsonObject], first: Answer) -> Completion:
        """Continue an answer that hit the output limit; the pieces become one text without a seam."""
        whole = first
        for count in range(1, MAX_CONTINUATIONS + 1):
            so_far: ApiMessage = {"role": "assistant", "content": whole.text.rstrip()}
            answer = self._ask_on(with_nudge([*messages, so_far], GO_ON), tools, before=whole)
            whole = replace(
                answer,
                text=whole.text + answer.text,
                reasoning=_lines([whole.reasoning, answer.reasoning]),
                details=first.details,
            )
            if answer.finish_reason != "length":
                self._asker.note(f"The answer hit the output limit and was continued ({count}).", kind="repair")
                return Completion(answer=whole)
            if answer.calls or not answer.text:
                break
        cut = replace(whole, calls=(), broken=frozenset(), repaired=frozenset())
        return Completion(answer=cut, problem="The answer hit the output limit and is not complete.")

    def _whole_calls(self, messages: Sequence[ApiMessage], tools: Sequence[JsonObject], cut: Answer) -> Completion:
        """Ask again with more room; half a call is never run."""
        cap = self._max_tokens or FIRST_CALL_CAP // 2
        for attempt in range(2, MAX_CALL_RETRIES + 2):
            cap *= 2
            self._asker.withdraw("A tool call hit the output limit.", attempt, MAX_CALL_RETRIES + 1)
            answer = self._asker.ask(messages, tools, max_tokens=cap)
            if answer.finish_reason != "length" or not answer.calls:
                return Completion(answer=answer)
            cut = answer
        kept = replace(cut, calls=(), broken=frozenset(), repaired=frozenset())
        return Completion(answer=kept, problem="The model hit its output limit inside a tool call, so it was not run.")

    def _ask_on(self, messages: Sequence[ApiMessage], tools: Sequence[JsonObject], *, before: Answer) -> Answer:
        """Ask for the rest of an answer; an interrupt still reports what came before."""
        try:
            return self._asker.ask(messages, tools, max_tokens=self._max_tokens, shown_before=before.text)
        except AnswerInterrupted as stop:
            raise AnswerInterrupted(replace(before, text=before.text + stop.answer.text)) from None


def with_nudge(messages: Sequence[ApiMessage], text: str) -> list[ApiMessage]:
    """Return the messages with words of the engine at their end, for this request only."""
    if messages and messages[-1]["role"] == "user" and isinstance(content := messages[-1]["content"], str):
        return [*messages[:-1], {"role": "user", "content": f"{content}\n\n{text}"}]
    return [*messages, {"role": "user", "content": text}]


def _lines(texts: Sequence[str]) -> str:
    return "\n\n".join(text for text in texts if text)
