"""What a person decides before a stored session goes on, and going back to an earlier message."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_tui.engine.api import AgentSession
from hermes_tui.engine.types.sessions import ResumeProblem, StoredMessage
from hermes_tui.widgets.choice_list import Choice

if TYPE_CHECKING:
    from .chat import ChatScreen

_OPEN_ELSEWHERE = (
    Choice("f", "Fork it and go on", "fork", "both windows stay apart"),
    Choice("r", "Read it here", "read", "nothing can be sent"),
    Choice("n", "New session", "new"),
)
_FOLDER_GONE = (
    Choice("g", "Go on here", "go on"),
    Choice("s", "Choose another session", "another"),
    Choice("n", "New session", "new"),
)
_MODEL_GONE = (
    Choice("m", "Choose another model", "model"),
    Choice("k", "Connect a model", "keys", "keys and local servers"),
    Choice("r", "Only read", "read", "a message would fail"),
)


class ChatResume:
    """Asks what the problems of a session call for, one after the other.

    Args:
        chat: The screen.
    """

    def __init__(self, chat: ChatScreen) -> None:
        self._chat = chat

    def settle(self, session: AgentSession, begin: Callable[[], None]) -> None:
        """Ask about every problem, then ``begin``; an answer that leaves the session does not."""
        self._ask(session, list(session.state.problems), begin)

    def _ask(self, session: AgentSession, problems: list[ResumeProblem], begin: Callable[[], None]) -> None:
        if not problems:
            begin()
            return
        from .choose import ChooseScreen

        problem, *rest = problems
        choices, answer = {
            "open_elsewhere": (_OPEN_ELSEWHERE, self._open_elsewhere),
            "folder_gone": (_FOLDER_GONE, self._folder_gone),
            "model_gone": (_MODEL_GONE, self._model_gone),
        }[problem.kind]

        def answered(key: str | None) -> None:
            if session is self._chat.sessions.shown:
                answer(session, key, lambda: self._ask(session, rest, begin))

        text = f"{problem.text}\n{problem.hint}" if problem.hint else problem.text
        self._chat.app.push_screen(ChooseScreen("Resume", text, choices), answered)

    def _open_elsewhere(self, session: AgentSession, key: str | None, go_on: Callable[[], None]) -> None:
        if key == "f":
            self._chat.sessions.fork(session.state.session_id, None)
        elif key == "n":
            self._chat.sessions.open(None)
        else:
            go_on()

    def _folder_gone(self, session: AgentSession, key: str | None, go_on: Callable[[], None]) -> None:
        del session
        if key == "n":
            self._chat.sessions.open(None)
            return
        go_on()
        if key == "s":
            self._chat.sessions.browse("")

    def _model_gone(self, session: AgentSession, key: str | None, go_on: Callable[[], None]) -> None:
        del session
        go_on()
        if key in ("m", "k"):
            self._chat.input.act("model" if key == "m" else "setup")

    # Rewind

    def rewind(self) -> None:
        """List the user's messages; the chosen one is edited in a fork that ends before it."""
        chat = self._chat
        session, engine = chat.turns.session, chat.engine
        if session is None or engine is None or not chat.transcript.entries:
            return
        from .rewind import RewindScreen

        session_id = session.state.session_id

        def chosen(stored: StoredMessage | None) -> None:
            if stored is not None:
                from .actions.undoing import rewind_to

                rewind_to(chat, stored.id)

        chat.app.push_screen(RewindScreen(engine, session_id), chosen)
