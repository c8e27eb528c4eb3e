"""Names a session after its first exchange, in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ..providers.base import Endpoint, ModelRequest
from ..types.events import Event, SessionTitled
from ..types.messages import ApiMessage, Message, typed_text
from .accumulate import Accumulator
from .call import ModelCall
from .conversation import Conversation
from .interrupt import CancelToken
from .ports import ClientFor, MessageStore

log = logging.getLogger(__name__)

MAX_TITLE_ATTEMPTS = 3
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


class Titler:
    """Names a new session once, on a thread. A newer turn stops it, and it is tried again after that.

    Args:
        conversation: What is to be named.
        store: Keeps the title.
        ask: ``(token, user's words, answer)`` -> a title, or empty. May raise ``HermesError``.
        emit: Takes the event.
        is_wanted: False for resumed sessions and subagents.
    """

    def __init__(
        self,
        conversation: Conversation,
        store: MessageStore,
        ask: Callable[[CancelToken, str, str], str],
        *,
        emit: Callable[[Event], None],
        is_wanted: bool,
    ) -> None:
        self._conversation = conversation
        self._store = store
        self._ask = ask
        self._emit = emit
        self._attempts_left = MAX_TITLE_ATTEMPTS if is_wanted else 0
        self._token = CancelToken()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, unless it was done or given up."""
        if not self._attempts_left:
            return
        self._attempts_left -= 1
        self._token = CancelToken()
        self._thread = threading.Thread(target=self._run, args=(self._token,), name="session-title", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop what runs. Returns at once."""
        self._token.cancel("turn")

    def wait(self, timeout_s: float | None = None) -> None:
        """Block until what runs is over."""
        if (thread := self._thread) is not None:
            thread.join(timeout_s)

    def _run(self, token: CancelToken) -> None:
        history = self._conversation.history
        user_text = _first(history, "user")
        try:
            title = self._ask(token, user_text, _first(history, "assistant"))
            if token.cancelled:
                return
            self._attempts_left = 0
            words = self._conversation.redact(title or first_line(user_text))
            stored = self._store.set_auto_title(self._conversation.session_id, words)
        except Exception:
            log.warning("the session could not be named", exc_info=True)
            return
        if stored:
            self._emit(SessionTitled(title=stored))


def _first(history: list[Message], role: str) -> str:
    said = (typed_text(row) for row in history if row["role"] == role and "ran" not in row)
    return next(filter(None, said), "")
