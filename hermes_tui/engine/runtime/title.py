"""Names a session after its first exchange, in the background."""

from __future__ import annotations

from ..providers.base import Endpoint, ModelRequest
from ..types.messages import ApiMessage
from .accumulate import Accumulator
from .call import ModelCall
from .interrupt import CancelToken
from .ports import ClientFor

MAX_TITLE_CHARS = 60
MAX_TITLE_TOKENS = 256
"""Room for a model that thinks first."""
EXCERPT_CHARS = 600
STALL_S = 30.0

INSTRUCTION = (
    "Name the conversation below in three to seven words, in its own language. Write only the name: no quotes, no full "
    "stop, no explanation."
)


def first_line(text: str) -> str:
    """Return the first line that has any words, cut to a title's length."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= MAX_TITLE_CHARS else f"{line[: MAX_TITLE_CHARS - 1].rstrip()}…"


def ask_title(endpoint: Endpoint, client_for: ClientFor, token: CancelToken, user_text: str, answer_text: str) -> str:
    """Ask a model for a title; empty when it fails, is stopped, or says nothing usable. Blocks; carries no tools."""
    exchange = f"Person: {user_text[:EXCERPT_CHARS]}\n\nAssistant: {answer_text[:EXCERPT_CHARS]}"
    messages: list[ApiMessage] = [
        {"role": "system", "content": INSTRUCTION},
        {"role": "user", "content": exchange},
    ]
    request = ModelRequest(endpoint=endpoint, messages=messages, max_tokens=MAX_TITLE_TOKENS)
    accumulator = Accumulator(endpoint.provider, endpoint.api_mode)
    call = ModelCall(client_for(endpoint.api_mode), request, accumulator, lambda event: None)
    outcome = call.run(token, STALL_S)
    if outcome.error is not None or outcome.interrupted or outcome.answer.finish_reason == "length":
        return ""
    return first_line(outcome.answer.text).strip("\"'“”«»*#` .").strip()
