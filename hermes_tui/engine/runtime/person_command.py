"""A command that the person runs: the terminal tool, the gate and the card of a model's call, and no model is asked.

What came of it becomes one user row, so that the next request tells the model about it in a form every API takes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..types.errors import StoreError
from ..types.events import Event, Notice, TurnFinished, TurnStarted
from ..types.ids import new_call_id
from ..types.messages import JsonObject, Message, ToolCall
from .conversation import Conversation
from .executor import Executor
from .interrupt import CancelToken
from .results import CallResult

MARK = "!"
"""Stands before the command in what the person typed."""
TOOL = "terminal"
TIMEOUT_S = 600
"""The longest limit that the tool takes: a person sees the command run and can stop it."""

_WORDS = "[The person ran this command in the session's shell. {outcome}]"
_OUTCOMES = {
    "denied": "It was not allowed and did not run.",
    "interrupted": "They stopped it.",
    "timeout": "It was stopped because it took too long.",
}


def run_command(
    command: str,
    *,
    conversation: Conversation,
    executor: Executor,
    names: tuple[str, str],
    emit: Callable[[Event], None],
    token: CancelToken,
    on_end: Callable[[], object],
) -> dict[str, Any]:
    """Run a command as a turn of its own and keep what came of it. Blocks; failures are events, not raised.

    Args:
        command: Shell text.
        conversation: Gets the row.
        executor: Runs the call; knows the terminal tool.
        names: Model and provider of the session, for its row.
        emit: Takes the events.
        token: The turn's token.
        on_end: Called before the turn's last event.

    Returns:
        ``exit_reason``, and ``outcome`` when the command got so far.
    """
    emit(TurnStarted(text=MARK + command, is_command=True))
    call: ToolCall = {"id": new_call_id(), "type": "function", "function": {"name": TOOL, "arguments": ""}}
    call["function"]["arguments"] = json.dumps({"command": command, "timeout_s": TIMEOUT_S}, ensure_ascii=False)
    summary: dict[str, Any] = {"exit_reason": "error"}

    def keep(result: CallResult) -> None:
        summary["outcome"] = result.outcome
        conversation.commit(_row(command, call, result))

    try:
        conversation.ensure_stored(*names)
        conversation.answer_open_calls()  # of a turn that was killed
        executor.run([call], (), token, keep)
        summary["exit_reason"] = "interrupted" if summary["outcome"] == "interrupted" else "done"
    except StoreError as error:
        emit(Notice(level="error", text=error.message, hint=error.hint, kind="store"))
    finally:
        on_end()
        emit(TurnFinished(exit_reason=summary["exit_reason"], duration_s=0.0, result={}))
    return summary


def _row(command: str, call: ToolCall, result: CallResult) -> Message:
    payload: JsonObject = json.loads(result.text)
    output = str(payload.pop("output", ""))
    texts = [MARK + command, _WORDS.format(outcome=_outcome(result, payload)), output]
    return {
        "role": "user",
        "content": [{"type": "text", "text": text} for text in texts if text],
        "ran": {"call": call, "outcome": result.outcome, "result": payload, "duration_s": result.duration_s},
    }


def _outcome(result: CallResult, payload: JsonObject) -> str:
    """Say in words what came of it, with what the tool has to say besides the output."""
    if result.outcome == "ok" and "job" in payload:
        words = f"They moved it to the background, where it goes on as job {payload['job']}."
    elif result.outcome == "ok":
        words = f"Exit code {payload.get('exit_code')}."
    else:
        words = _OUTCOMES.get(result.outcome, str(payload.get("error", "It failed.")))
    notes = [str(payload[key]) for key in ("note", "truncated") if isinstance(payload.get(key), str)]
    if log_path := payload.get("log_path"):
        notes.append(f"The full output is in {log_path}.")
    return " ".join([words, *notes])
