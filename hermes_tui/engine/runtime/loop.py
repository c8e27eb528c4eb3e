"""One turn, from the user's message to the final answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..config.settings import Settings
from ..context.tokens import text_tokens, tool_tokens
from ..policy.budget import IterationBudget
from ..policy.guardrails import Guardrails
from ..providers.base import Endpoint, ModelRequest
from ..types.errors import (
    ContextOverflow,
    HermesError,
    Interrupted,
)
from ..types.events import (
    Event,
    Notice,
    StepStarted,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
)
from ..types.messages import ApiMessage, JsonObject, Message, typed_text
from ..types.usage import Usage
from .accumulate import Answer
from .ask import AnswerInterrupted, Asker, AskParts
from .complete import Completer, Completion, with_nudge
from .compress import Compressor
from .conversation import Conversation
from .ending import Ending
from .executor import Executor
from .interrupt import CancelToken
from .outcome import Bill, ExitReason, Tally
from .ports import ClientFor, Cost
from .request_log import RequestRecord
from .results import CallResult
from .route import Route
from .steering import Steering, attach

SMALLEST_WINDOW = 1_024
"""Tokens; a server that counts fewer of a long request does not count what it read."""
NEAR_END = 5
"""Model calls left at which the model is told."""
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
    no_budget: Callable[[], str]
    """Says why no further request may be made, empty when it may; asks the person when a limit is reached."""
    session_cap_usd: Callable[[], float]
    """What the session may cost; 0 without a limit."""
    record: Callable[..., RequestRecord]
    """Keeps a request for whoever wants to look: ``RequestLog.add``, agent and purpose given."""
    report_crash: Callable[[BaseException], str]
    """Keeps the traceback of an internal error and returns where."""
    system_message: str = ""
    max_iterations: int = 90
    mode_note: Callable[[], str] = str
    """Words on the present mode that go with the next request only; usually empty."""
    news: Callable[[], str] = str
    """Returns, once, a block on what the model should know since the last turn: jobs, undone files; usually empty."""
    on_begin: Callable[[int], None] = lambda message_id: None
    """Told the row of the message that begins the turn."""


class Turn:
    """Runs once. Blocks the agent thread until the turn is over.

    Args:
        parts: What the turn works with.
    """

    def __init__(self, parts: TurnParts) -> None:
        self._parts = parts
        self._conversation = parts.conversation
        self._tally = Tally()
        self._ending = Ending(parts.conversation, self._tally, parts.emit, parts.report_crash)
        self._budget = IterationBudget(parts.max_iterations)
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
            record=self._record,
        )
        self._asker = Asker(asking, parts.conversation.has_call_id)
        self._completer = Completer(self._asker, parts.settings.agent.max_output_tokens or None)

    def run(self, message: Message) -> dict[str, Any]:
        """Run the turn that a user row begins and return the library's result, whatever ended it."""
        started = time.monotonic()
        try:
            self._begin(message)
            self._tally.exit_reason = self._loop()
        except Interrupted as stop:
            self._ending.interrupted(stop, self._parts.token.reason or "user")
        except HermesError as error:
            self._ending.failed(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the turn ends well; the traceback is kept
            self._ending.crashed(error)
        except BaseException:  # Ctrl+C in a script: it gets its exception, and the history a good end
            self._ending.interrupted(AnswerInterrupted(Answer()), "user")
            raise
        finally:
            result = self._close(time.monotonic() - started)
        return result

    def _begin(self, message: Message) -> None:
        self._parts.route.start_turn()
        model, provider = self._parts.route.names()
        attached = tuple(message.get("attached", ()))
        self._parts.emit(TurnStarted(text=typed_text(message), attached=attached, model=model, provider=provider))
        self._parts.load()
        self._conversation.ensure_stored(model, provider)
        self._conversation.answer_open_calls()  # of a turn that was killed
        self._parts.on_begin(self._conversation.commit(self._with_news(message)))
        if _has_image(message) and "no_images" in self._parts.route.endpoint.quirks:
            text = f"{model} reads text only: it gets a note in place of each image."
            self._parts.emit(Notice(level="warning", text=text, hint="/model chooses another.", kind="image"))
        self._system = self._conversation.prompt(self._parts.tool_names, self._parts.system_message)
        self._fixed_tokens = text_tokens(self._system) + tool_tokens(self._parts.tools)
        self._conversation.fixed_tokens = self._fixed_tokens

    def _with_news(self, message: Message) -> Message:
        """Tell the model what happened since the last turn, behind the user's words."""
        content = message["content"]
        if isinstance(content, str) and (news := self._parts.news()):
            return {**message, "api_content": content + news}
        if isinstance(content, list) and "attached" in message and (news := self._parts.news()):
            return {**message, "content": [*content, {"type": "text", "text": news.strip()}]}
        return message

    def _loop(self) -> ExitReason:
        """Ask and run tools until there is an answer."""
        while True:
            self._raise_if_cancelled()
            if why := self._no_budget():
                return self._sum_up(why) if self._step else self._ended(self._ending.refused, why)
            completion = self._ask()
            answer = completion.answer
            self._conversation.commit(answer.as_message())
            self._tally.reasoning = answer.reasoning
            if completion.problem:
                self._tally.final_response = answer.text
                return self._ended(self._ending.useless, completion.problem)
            if not answer.calls:
                self._tally.final_response = answer.text
                return "done"
            self._run_tools(answer)
            self._raise_if_cancelled()
            if self._parts.guardrails.stop_reason:
                return self._ended(self._ending.useless, self._parts.guardrails.stop_reason)

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
        notes = [note for note in (self._parts.mode_note(), self._budget_note()) if note]
        return with_nudge(messages, "\n\n".join(notes)) if notes else messages

    def _budget_note(self) -> str:
        """Tell the model, with the request only, that its calls are nearly used up."""
        left = self._budget.remaining
        if left >= NEAR_END or self._budget.limit <= 2 * NEAR_END:
            return ""
        return f"After this call {left} more are left in this turn. Bring the work to an end; say what stays open."

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
            if result.call_id == last_id and not self._parts.token.cancelled:
                sent = result.text + self._parts.news()
                if addition := self._parts.steering.deliver():
                    sent = attach(sent, addition)
                if sent != result.text:
                    row["api_content"] = sent
            if result.outcome == "interrupted":
                row["synthetic"] = True
            self._conversation.commit(row)

        self._parts.executor.run(answer.calls, answer.broken, self._parts.token, deliver)

    def _no_budget(self) -> str:
        """Say why no further request may be made; empty when it may."""
        if why := self._parts.no_budget():
            self._raise_if_cancelled()  # an interrupt ends the question, too
            return why
        return "" if self._budget.consume() else f"The {self._budget.limit} model calls of this turn are used up."

    def _sum_up(self, why: str) -> ExitReason:
        """Ask once more, without tools, for a summary of what was done."""
        self._parts.emit(
            Notice(
                level="warning",
                text=f"{why} Asking for a summary.",
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

    def _record(self, request: ModelRequest, tokens: int) -> RequestRecord:
        history = self._conversation.history
        return self._parts.record(request, step=self._step, history=history, estimated_tokens=tokens)

    def _count_request(self, endpoint: Endpoint, usage: Usage | None, is_whole: bool) -> None:
        """Count one request. Without a report a whole answer's cost is unknown; a failed one costs nothing."""
        counted = usage or Usage()
        unreported = None if is_whole else 0.0
        cost = self._parts.cost_usd(endpoint, counted) if usage is not None else unreported
        self._tally.add_request(counted, cost)
        if usage is not None or is_whole:
            self._conversation.add_usage(counted, cost)
        if counted.prompt_tokens and self._conversation.learn(self._fixed_tokens, counted.prompt_tokens):
            self._context_tokens = counted.prompt_tokens + counted.output_tokens
        elif counted.prompt_tokens:
            self._tell_cut(endpoint, counted.prompt_tokens)
        self._parts.emit(
            UsageUpdated(
                turn=self._tally.bill.usage,
                session=self._conversation.bill.usage,
                cost_usd=self._conversation.bill.cost_usd,
                cost_cap_usd=self._parts.session_cap_usd(),
                context_tokens=self._context_tokens,
                context_window=endpoint.context_window,
            )
        )

    def _tell_cut(self, endpoint: Endpoint, counted: int) -> None:
        """Warn, once, of a server that reads the end of long requests only, and says nothing about it."""
        if counted < SMALLEST_WINDOW or not self._conversation.is_news(f"cut by {endpoint.id}"):
            return
        self._parts.emit(
            Notice(
                level="warning",
                text=f"{endpoint.provider} counted {counted:,} of about {self._context_tokens:,} tokens sent: it seems "
                "to use a smaller context and to drop what is older.",
                hint="Give the server a larger context (Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: -c), or set "
                "context_window for this model to what it uses.",
                kind="context",
            )
        )

    @property
    def bill(self) -> Bill:
        """What the turn used so far; subagents add to it from their threads."""
        return self._tally.bill

    def _raise_if_cancelled(self) -> None:
        if self._parts.token.cancelled:
            raise AnswerInterrupted(Answer())

    def _ended(self, end: Callable[[str], None], why: str) -> ExitReason:
        end(why)
        return self._tally.exit_reason

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


def _has_image(message: Message) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(part.get("type") == "image_url" for part in content)
