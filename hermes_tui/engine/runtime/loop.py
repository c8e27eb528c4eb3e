"""One turn, from the user's message to the final answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..config.settings import Settings
from ..context.tokens import text_tokens, tool_tokens
from ..policy.budget import IterationBudget, SpendLimits
from ..policy.guardrails import Guardrails
from ..providers.base import Endpoint
from ..types.errors import (
    AuthError,
    ConfigError,
    ContextOverflow,
    HermesError,
    Interrupted,
    ProviderError,
    StoreError,
)
from ..types.events import (
    Event,
    Notice,
    StepStarted,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
    UsageUpdated,
)
from ..types.messages import ApiMessage, JsonObject, Message
from ..types.usage import Usage
from .accumulate import Answer
from .ask import AnswerInterrupted, Asker, AskParts
from .complete import Completer, Completion, with_nudge
from .compress import Compressor
from .conversation import Conversation
from .executor import Executor
from .interrupt import CancelToken
from .outcome import ExitReason, Tally
from .ports import ClientFor, Cost
from .results import CallResult
from .route import Route
from .steering import Steering, attach

INTERRUPTED_ROW = "[interrupted]"
FAILED_ROW = "[The turn ended here with an error: {message}]"
ERROR_KINDS: Mapping[type[HermesError], str] = {
    AuthError: "auth",
    ProviderError: "provider",
    ConfigError: "config",
    StoreError: "store",
}
"""``Notice.kind`` of what ended a turn, first match wins."""
MAX_OVERFLOWS = 3
"""Compressions in one turn that a provider may ask for."""
SUM_UP = (
    "The budget of this turn is used up. Do not call tools. Say what was done, what was found, and what is left to do."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnParts:
    """What one turn works with."""

    settings: Settings
    conversation: Conversation
    load: Callable[[], None]
    """Reads a stored session on first use."""
    route: Route
    client_for: ClientFor
    emit: Callable[[Event], None]
    token: CancelToken
    steering: Steering
    compressor: Compressor
    guardrails: Guardrails
    executor: Executor
    tools: Sequence[JsonObject]
    tool_names: Sequence[str]
    cost_usd: Cost
    sleep: Callable[[CancelToken, float], bool]
    ask_user: Callable[[str, Sequence[str]], str]
    """Asks the person a question; empty when nobody is there."""
    system_message: str = ""
    max_iterations: int = 90
    mode_note: Callable[[], str] = str
    """Words on the present mode that go with the next request only; usually empty."""


class Turn:
    """Runs once. Blocks the agent thread until the turn is over.

    Args:
        parts: What the turn works with.
    """

    def __init__(self, parts: TurnParts) -> None:
        self._parts = parts
        self._conversation = parts.conversation
        self._tally = Tally()
        self._budget = IterationBudget(parts.max_iterations)
        limits = parts.settings.budget
        self._limits = SpendLimits(max_tokens=limits.max_tokens_per_turn, max_cost_usd=limits.max_cost_usd)
        self._system = ""
        self._fixed_tokens = 0
        self._context_tokens = 0
        self._step = 0
        self._overflows = 0
        asking = AskParts(
            client_for=parts.client_for,
            route=parts.route,
            emit=parts.emit,
            token=parts.token,
            sleep=parts.sleep,
            on_usage=self._count_request,
            reasoning_effort=parts.settings.agent.reasoning_effort,
            session_id=parts.conversation.session_id,
            cache_ttl=parts.settings.agent.cache_ttl,
        )
        self._asker = Asker(asking, parts.conversation.has_call_id)
        self._completer = Completer(self._asker, parts.settings.agent.max_output_tokens or None)

    def run(self, message: Message, text: str) -> dict[str, Any]:
        """Run the turn and return the library's result, whatever ended it.

        Args:
            message: The user row.
            text: Its words, as shown.
        """
        started = time.monotonic()
        try:
            self._begin(message, text)
            self._tally.exit_reason = self._loop()
        except Interrupted as stop:
            self._stop(stop)
        except HermesError as error:
            self._fail(error)
        finally:
            result = self._close(time.monotonic() - started)
        return result

    def _begin(self, message: Message, text: str) -> None:
        self._parts.route.start_turn()
        model, provider = self._parts.route.names()
        self._parts.emit(TurnStarted(text=text, model=model, provider=provider))
        self._parts.load()
        self._conversation.ensure_stored(model, provider)
        self._conversation.commit(message)
        self._system = self._conversation.prompt(self._parts.tool_names, self._parts.system_message)
        self._fixed_tokens = text_tokens(self._system) + tool_tokens(self._parts.tools)
        self._conversation.fixed_tokens = self._fixed_tokens

    def _loop(self) -> ExitReason:
        """Ask and run tools until there is an answer."""
        while True:
            self._raise_if_cancelled()
            if not self._may_go_on():
                return self._sum_up()
            completion = self._ask()
            answer = completion.answer
            self._conversation.commit(answer.as_message())
            self._tally.reasoning = answer.reasoning
            if completion.problem:
                self._tally.final_response = answer.text
                return self._end_badly(completion.problem)
            if not answer.calls:
                self._tally.final_response = answer.text
                return "done"
            self._run_tools(answer)
            self._raise_if_cancelled()
            if self._parts.guardrails.stop_reason:
                return self._end_badly(self._parts.guardrails.stop_reason)

    def _ask(self) -> Completion:
        """Ask for the next answer, with a smaller history when this one does not fit."""
        self._step += 1
        while True:
            try:
                return self._ask_once()
            except ContextOverflow as overflow:
                if not self._made_room(overflow):
                    raise

    def _ask_once(self) -> Completion:
        messages = self._messages()
        if self._parts.compressor.before_request(self._context_tokens, self._parts.token):
            messages = self._messages()
        self._parts.emit(StepStarted(step=self._step, context_tokens=self._context_tokens))
        return self._completer.complete(messages, self._parts.tools, self._context_tokens)

    def _messages(self) -> list[ApiMessage]:
        messages = self._conversation.request_messages(self._system)
        self._context_tokens = self._conversation.estimate(self._fixed_tokens)
        if note := self._parts.mode_note():
            messages = with_nudge(messages, note)
        return messages

    def _made_room(self, overflow: ContextOverflow) -> bool:
        """Compress after an overflow; when that does not help, another model may have a larger window."""
        if self._overflows < MAX_OVERFLOWS and self._parts.compressor.after_overflow(overflow, self._parts.token):
            self._overflows += 1
            return True
        return self._asker.fall_back(overflow.message)

    def _run_tools(self, answer: Answer) -> None:
        if answer.repaired:
            self._parts.emit(Notice(level="info", text="The arguments of a tool call were mended.", kind="repair"))
        self._tally.tool_calls_made += len(answer.calls)
        last_id = answer.calls[-1]["id"]

        def deliver(result: CallResult) -> None:
            row: Message = {
                "role": "tool",
                "tool_call_id": result.call_id,
                "tool_name": result.name,
                "content": result.text,
            }
            can_steer = result.call_id == last_id and not self._parts.token.cancelled
            if can_steer and (addition := self._parts.steering.deliver()):
                row["api_content"] = attach(result.text, addition)
            if result.outcome == "interrupted":
                row["synthetic"] = True
            self._conversation.commit(row)

        self._parts.executor.run(answer.calls, answer.broken, self._parts.token, deliver)

    def _may_go_on(self) -> bool:
        """Check the budgets; asks the person about money and tokens where one is there."""
        state = self._limits.check(_spent(self._tally.usage), self._conversation.cost_usd)
        if state == "warn":
            self._parts.emit(Notice(level="warning", text="80 % of this turn's budget is used.", kind="budget"))
        if state == "exhausted":
            question = "The budget of this turn is used up. Go on with twice as much?"
            if self._parts.ask_user(question, ("Go on", "Stop")) != "Go on":
                return False
            self._limits.extend()
        return self._budget.consume()

    def _sum_up(self) -> ExitReason:
        """Ask once more, without tools, for a summary of what was done."""
        self._parts.emit(
            Notice(
                level="warning",
                text=f"The budget of this turn ({self._budget.limit} model calls) is used up; asking for a summary.",
                hint="Say “go on” to continue. The limits are in [agent] and [budget].",
                kind="budget",
            )
        )
        messages = with_nudge(self._conversation.request_messages(self._system), SUM_UP)
        answer = self._completer.complete(messages, ()).answer
        row = answer.as_message()
        row.pop("tool_calls", None)
        row["content"] = answer.text or "[The budget was used up.]"
        self._conversation.commit(row)
        self._tally.final_response, self._tally.reasoning = answer.text, answer.reasoning
        return "budget"

    def _count_request(self, endpoint: Endpoint, usage: Usage | None, is_whole: bool) -> None:
        """Count one request. Without a report a whole answer's cost is unknown; a failed one costs nothing."""
        counted = usage or Usage()
        unreported = None if is_whole else 0.0
        cost = self._parts.cost_usd(endpoint, counted) if usage is not None else unreported
        self._tally.add_request(counted, cost)
        if usage is not None or is_whole:
            self._conversation.add_usage(counted, cost)
        if counted.prompt_tokens:
            self._conversation.learn(self._fixed_tokens, counted.prompt_tokens)
            self._context_tokens = counted.prompt_tokens + counted.output_tokens
        self._parts.emit(
            UsageUpdated(
                turn=self._tally.usage,
                session=self._conversation.usage,
                cost_usd=self._conversation.cost_usd,
                context_tokens=self._context_tokens,
                context_window=endpoint.context_window,
            )
        )

    def add_usage(self, usage: Usage, cost_usd: float | None) -> None:
        """Count what a subagent used towards this turn. Any thread."""
        self._tally.add_usage(usage, cost_usd)

    def _raise_if_cancelled(self) -> None:
        if self._parts.token.cancelled:
            raise AnswerInterrupted(Answer())

    def _end_badly(self, problem: str) -> ExitReason:
        self._tally.errors.append(problem)
        self._parts.emit(Notice(level="error", text=problem, kind="answer"))
        self._commit_end(FAILED_ROW.format(message=problem), "error")
        return "error"

    def _stop(self, stop: Interrupted) -> None:
        """Close an interrupted turn so that the next one starts from a valid history."""
        answer = stop.answer if isinstance(stop, AnswerInterrupted) else Answer()
        self._tally.exit_reason = "interrupted"
        self._tally.final_response, self._tally.reasoning = answer.text, answer.reasoning
        self._commit_end(INTERRUPTED_ROW, "interrupted", answer.text, answer.reasoning)
        self._parts.emit(TurnInterrupted(reason=self._parts.token.reason or "user"))

    def _fail(self, error: HermesError) -> None:
        self._tally.errors.append(str(error))
        kind = next((kind for group, kind in ERROR_KINDS.items() if isinstance(error, group)), "error")
        self._parts.emit(Notice(level="error", text=error.message, hint=error.hint, kind=kind))
        if not isinstance(error, StoreError):
            self._commit_end(FAILED_ROW.format(message=error.message), "error")

    def _commit_end(self, content: str, finish_reason: str, partial: str = "", reasoning: str = "") -> None:
        """Write the synthetic row that ends a turn; a turn whose user row was never stored gets none."""
        history = self._conversation.history
        if not history or history[-1]["role"] == "assistant":
            return
        row: Message = {
            "role": "assistant",
            "content": content,
            "finish_reason": finish_reason,
            "synthetic": True,
        }
        if partial:
            row["partial"] = partial
        if reasoning:
            row["reasoning"] = reasoning
        try:
            self._conversation.commit(row)
        except StoreError as error:
            self._tally.errors.append(str(error))
            self._parts.emit(Notice(level="error", text=error.message, hint=error.hint, kind="store"))

    def _close(self, duration_s: float) -> dict[str, Any]:
        if self._tally.exit_reason != "done":
            self._parts.steering.hand_back()
        model, provider = self._parts.route.names()
        conversation = self._conversation
        result = self._tally.as_result(conversation.history, conversation.session_id, model, provider)
        shown = {**result, "messages": list(conversation.stored)}
        for key in ("final_response", "reasoning"):
            shown[key] = conversation.redact(result[key])
        self._parts.emit(TurnFinished(exit_reason=self._tally.exit_reason, duration_s=duration_s, result=shown))
        return result


def _spent(usage: Usage) -> int:
    return usage.prompt_tokens + usage.output_tokens
