"""How a turn ends that does not end with an answer: said to the person, and closed in the history for the next one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from ..types.errors import AuthError, ConfigError, HermesError, Interrupted, ProviderError, StoreError
from ..types.events import Event, Notice, TurnInterrupted
from ..types.messages import Message
from .accumulate import Answer
from .ask import AnswerInterrupted
from .conversation import Conversation
from .outcome import Tally

log = logging.getLogger(__name__)

INTERRUPTED_ROW = "[interrupted]"
FAILED_ROW = "[The turn ended here with an error: {message}]"
ERROR_KINDS: Mapping[type[HermesError], str] = {
    AuthError: "auth",
    ProviderError: "provider",
    ConfigError: "config",
    StoreError: "store",
}
"""``Notice.kind`` of what ended a turn, first match wins."""


class Ending:
    """Closes one turn. Never raises.

    Args:
        conversation: Gets the closing rows.
        tally: Gets the reason and the errors.
        emit: Takes the events.
        report_crash: Keeps the traceback of an internal error and returns where.
    """

    def __init__(
        self,
        conversation: Conversation,
        tally: Tally,
        emit: Callable[[Event], None],
        report_crash: Callable[[BaseException], str],
    ) -> None:
        self._conversation = conversation
        self._tally = tally
        self._emit = emit
        self._report_crash = report_crash

    def interrupted(self, stop: Interrupted, reason: str) -> None:
        """The person stopped it; what had arrived is kept."""
        answer = stop.answer if isinstance(stop, AnswerInterrupted) else Answer()
        self._tally.exit_reason = "interrupted"
        self._tally.final_response, self._tally.reasoning = answer.text, answer.reasoning
        self._close(INTERRUPTED_ROW, "interrupted", answer.text, answer.reasoning)
        self._emit(TurnInterrupted(reason=reason))

    def failed(self, error: HermesError) -> None:
        """An error that a person can do something about."""
        self._tally.exit_reason = "error"
        self._tally.errors.append(str(error))
        kind = next((kind for group, kind in ERROR_KINDS.items() if isinstance(error, group)), "error")
        self._emit(Notice(level="error", text=error.message, hint=error.hint, kind=kind))
        if not isinstance(error, StoreError):
            self._close(FAILED_ROW.format(message=error.message), "error")

    def crashed(self, error: Exception) -> None:
        """An error of the program itself."""
        self.failed(self._in_words(error))

    def useless(self, problem: str) -> None:
        """The model's answer cannot be used; what there is of it is stored already."""
        self._tally.exit_reason = "error"
        self._tally.errors.append(problem)
        self._emit(Notice(level="error", text=problem, kind="answer"))
        self._close(FAILED_ROW.format(message=problem), "error")

    def refused(self, why: str) -> None:
        """There was no budget from the start, so nothing was sent."""
        self._tally.exit_reason = "budget"
        self._tally.errors.append(why)
        text, hint = f"{why} Nothing was sent.", "Raise the limit in [budget], or begin a new session."
        self._emit(Notice(level="warning", text=text, hint=hint, kind="budget"))
        self._close(FAILED_ROW.format(message=text), "error")

    def _in_words(self, error: Exception) -> HermesError:
        """Keep the traceback and say that there is one."""
        log.error("the turn was ended by an internal error", exc_info=error)
        place = self._report_crash(error)
        return HermesError(
            f"An internal error ended this turn ({type(error).__name__}). What was said is stored.",
            hint=f"Details: {place}" if place else "The log has the details.",
        )

    def _close(self, content: str, finish_reason: str, partial: str = "", reasoning: str = "") -> None:
        """Write the synthetic rows that end a turn; a turn whose user row was never stored gets none."""
        history = self._conversation.history
        if not history or (history[-1]["role"] == "assistant" and not history[-1].get("tool_calls")):
            return
        row: Message = {"role": "assistant", "content": content, "finish_reason": finish_reason, "synthetic": True}
        if partial:
            row["partial"] = partial
        if reasoning:
            row["reasoning"] = reasoning
        try:
            self._conversation.answer_open_calls()
            self._conversation.commit(row)
        except StoreError as error:
            self._tally.errors.append(str(error))
            self._emit(Notice(level="error", text=error.message, hint=error.hint, kind="store"))
        except Exception as error:  # noqa: BLE001 - whatever fails here, the turn ends; the traceback is kept
            self._tally.errors.append(str(self._in_words(error)))
