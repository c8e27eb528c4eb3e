"""Which session the chat shows: open, resume, fork, find, drafts. Engine calls run in worker threads."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_tui.bridge import FRAME_S, SSH_FRAME_S, Bridge
from hermes_tui.commands import keymap_problems
from hermes_tui.engine.api import AgentSession, Engine, TrustAnswer
from hermes_tui.engine.types.choices import TrustRequest
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.preferences import StartRequest
from hermes_tui.presenter import Presenter
from hermes_tui.widgets.entries import UserEntry

from .actions.jobs import confirm_end
from .chat_history import ChatHistory, FirstPage, first_page
from .chat_resume import ChatResume

if TYPE_CHECKING:
    from .chat import ChatScreen


class ChatSessions:
    """Opens sessions into the chat.

    Args:
        chat: The screen.
        start: What the command line asked for.
    """

    def __init__(self, chat: ChatScreen, start: StartRequest) -> None:
        self._chat = chat
        self._start = start
        self.resume = ChatResume(chat)
        self.history = ChatHistory(chat)
        self.shown: AgentSession | None = None
        """The session in the transcript; the same as ``turns.session`` unless a person has to decide first."""
        self._bridge: Bridge | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self._after_open: Callable[[], None] | None = None
        self._past: FirstPage | None = None
        """What is shown of a session that is not open yet."""
        self._opening = 0
        """Counts what was asked to be opened."""
        self.is_finding = False
        """Hits are marked in the transcript."""

    def show_start(self) -> None:
        """Show what the command line and the settings complain about."""
        chat = self._chat
        if chat.hermes.theme_problem:
            chat.note("warning", chat.hermes.theme_problem, kind="config")
        for problem in keymap_problems(chat.ui.keys):
            chat.note("warning", problem, kind="config")

    def open_first(self, engine: Engine) -> None:
        """Open what the command line asked for: a resume, the demo, the welcome screen, or a new session."""
        chat, start = self._chat, self._start
        for level, text in engine.notices:
            chat.note(level, text, kind="start")
        if start.prompt and start.resume == "?":
            chat.composer.set_value(start.prompt)  # for the session that is chosen
        elif start.prompt:
            chat.turns.send(start.prompt)
        if start.resume == "?":
            self.open(None)
            self.browse("")
        elif start.resume:
            self.open(start.resume)
        elif start.continue_last:
            chat.run_in_thread(lambda: self._continue_last(engine), "continue")
        else:
            self.open(None)
            if not engine.default_model and not start.demo and not start.prompt:
                self.welcome()

    def _continue_last(self, engine: Engine) -> None:
        try:
            session_id = engine.latest_session_id(str(Path.cwd())) or engine.latest_session_id()
        except HermesError as error:
            self._chat.app.call_later(self._open_failed, error, was_stored=True)
        else:
            self._chat.app.call_later(self.open, session_id)

    # Opening

    def show_past(self, page: FirstPage) -> None:
        """Show what a session ends with that is about to be opened."""
        chat, state = self._chat, page.session.state
        self._past = page
        chat.shell.show_place(state)
        self._present(page)

    def _present(self, page: FirstPage) -> None:
        chat = self._chat
        self.history.begin(page)
        with chat.app.batch_update():
            for event in page.events:
                chat.presenter.entries.present(event)
                chat.presenter.restore(event)

    def open(
        self, session_id: str | None, *, at_message: int | None = None, then: Callable[[], None] | None = None
    ) -> None:
        """Open a session in place of the present one; a new one when the id is None.

        Args:
            session_id: Which one.
            at_message: Row to show.
            then: Called when messages reach it.
        """
        confirm_end(self._chat, "go on", partial(self._open, session_id, at_message, then))

    def _open(self, session_id: str | None, at_message: int | None, then: Callable[[], None] | None) -> None:
        chat = self._chat
        engine = chat.engine
        if engine is None:
            return
        self._opening += 1
        number = self._opening
        self._after_open = then

        def load() -> None:
            try:
                session, page = _opened_page(engine, session_id)
            except HermesError as error:
                chat.app.call_later(self._open_failed, error, was_stored=session_id is not None)
                return
            draft = engine.load_draft(session.state.session_id if session_id else str(Path.cwd()))
            # A stored session goes on with the prompt it began with.
            wishes = None if session_id else engine.pending_trust(session.state.cwd)
            opened = partial(self._opened, session, page, draft, at_message, wishes)
            chat.app.call_later(self._show_if_wanted, number, session, opened)
            prompts = engine.prompt_history(str(Path.cwd()))
            chat.app.call_later(chat.composer.set_history, prompts)

        chat.run_in_thread(load, "open session")

    def _show_if_wanted(self, number: int, session: AgentSession, show: Callable[[], None]) -> None:
        """Show a session that was opened, and close the one before; of several opened at once the last asked wins."""
        old = self.shown if number == self._opening else session
        if number == self._opening:
            show()
        if old is not None and old is not self.shown:
            self._chat.run_in_thread(old.close, "close session")

    def _open_failed(self, error: HermesError, *, was_stored: bool) -> None:
        """Say why; where nothing is open yet, a new session takes the place of one that was stored."""
        if self._past is not None:
            self._past = None
            self._chat.transcript.clear()
        self._chat.note("error", error.message, error.hint, kind="session")
        if self.shown is None and was_stored:
            self.open(None)

    def _opened(
        self,
        session: AgentSession,
        page: FirstPage,
        draft: str,
        at_message: int | None,
        wishes: TrustRequest | None = None,
    ) -> None:
        chat = self._chat
        past, self._past = self._past, None
        is_shown = past is not None and past.is_same(page)
        is_first = self.shown is None and past is None
        queued = chat.turns.queue[:]
        was_attached = chat.turns.session is not None
        self._detach()
        if was_attached:  # meant for the session that is left
            for message in queued:
                chat.composer.stash(message.draft or message.text)
            queued = []
        self.shown = session
        if is_shown:
            self.history.go_on(session)
        else:
            if not is_first:
                self.find("")
                chat.transcript.clear()
                chat.set_focus(chat.composer)
            chat.dialogs.clear()
            chat.shell.reset()
            chat.presenter = Presenter(chat.transcript, chat.shell)
            self._present(page)
        chat.shell.show_state(session.state)
        if draft and not chat.composer.value:
            chat.composer.restore_draft(draft)
        chat.turns.queue = queued
        if at_message is not None:
            self.history.load_back_to(at_message, lambda: self._show_message(at_message))
        if page.events and not is_shown:  # the past is painted first: getting ready would compete with it
            chat.call_after_refresh(self._listen, session, wishes)
        else:
            self._listen(session, wishes)

    def _listen(self, session: AgentSession, wishes: TrustRequest | None) -> None:
        """Follow the session, which gets ready now, and let messages reach it."""
        chat = self._chat
        if session is not self.shown:
            return
        self._bridge = Bridge(asyncio.get_running_loop(), chat.presenter.present_all, _frame_s())
        self._unsubscribe = session.subscribe(self._bridge.sink)
        if session.state.problems:
            self.resume.settle(session, lambda: self._begin(session))
        elif wishes is None:
            self._begin(session)
        else:
            changes = any(item.kind == "settings" for item in wishes.items)

            def begin(answer: TrustAnswer) -> None:
                if changes and answer in ("trust", "once"):
                    self.open(None, then=self._after_open)  # with the settings that hold now
                else:
                    self._begin(session)

            self._ask_trust(wishes, begin)

    def _begin(self, session: AgentSession) -> None:
        """Let messages reach the session."""
        if session is not self.shown:
            return
        self._chat.turns.attach(session, read_only=session.state.read_only)
        after, self._after_open = self._after_open, None
        if after is not None:
            after()
        self._chat.input.release()

    def _ask_trust(self, wishes: TrustRequest, then: Callable[[TrustAnswer], None]) -> None:
        """Ask whether what the folder wants is used; go on once the answer is kept."""
        from .trust import TrustScreen

        chat, engine = self._chat, self._chat.engine
        assert engine is not None

        def answered(answer: TrustAnswer | None) -> None:
            def keep() -> None:
                kept = answer or "later"
                try:
                    engine.answer_trust(wishes, kept)
                except HermesError as error:
                    chat.app.call_later(chat.note, "warning", error.message, error.hint, "trust")
                chat.app.call_later(then, kept)

            chat.run_in_thread(keep, "trust")

        chat.app.push_screen(TrustScreen(wishes), answered)

    def ask_trust_again(self) -> None:
        """Ask about this folder again, whatever was answered; sessions that begin later follow the answer."""
        chat, engine = self._chat, self._chat.engine
        if engine is None or chat.turns.session is None:
            return
        folder = chat.turns.session.state.cwd

        def look() -> None:
            wishes = engine.pending_trust(folder, again=True)
            if wishes is None:
                chat.app.call_later(chat.say, "This folder wants nothing that you do not trust already.")
            else:
                done = "A new session (/new) follows the answer."
                chat.app.call_later(self._ask_trust, wishes, lambda _: chat.say(done))

        chat.run_in_thread(look, "trust")

    def _show_message(self, message_id: int) -> None:
        transcript = self._chat.transcript
        entry = next((entry for entry in transcript.entries if entry.message_id == message_id), None)
        if entry is not None:
            transcript.go_to_entry(entry)

    def drop_last_exchange(self) -> None:
        """Take the entries since the last user message off the transcript, as the engine did with its rows."""
        transcript = self._chat.transcript
        entries = list(transcript.entries)
        last = max((n for n, entry in enumerate(entries) if isinstance(entry, UserEntry)), default=len(entries))
        for entry in entries[last:]:
            transcript.remove(entry)
            self._chat.presenter.entries.forget(entry)

    def _detach(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if self._bridge is not None:
            self._bridge.close()
            self._bridge = None
        if self._chat.turns.session is not None:
            self._chat.turns.interrupt()
            self._chat.turns.detach()

    # Screens

    def browse(self, query: str) -> None:
        """Open the browser and act on what was chosen."""
        chat = self._chat
        if chat.engine is None:
            chat.say("Still starting; try again in a moment.")
            return
        from .sessions import SessionChoice, SessionsScreen

        def chosen(choice: SessionChoice | None) -> None:
            if choice is None:
                return
            if choice.action == "fork":
                self.fork(choice.session_id, choice.message_id)
            else:
                self.open(choice.session_id, at_message=choice.message_id)

        session = chat.turns.session
        current = session.state.session_id if session else ""
        chat.app.push_screen(SessionsScreen(chat.engine, str(Path.cwd()), current, query), chosen)

    def fork(self, session_id: str, message_id: int | None) -> None:
        """Go on in a fork from a message, or from the end."""
        chat, engine = self._chat, self._chat.engine
        if engine is None:
            return
        chat.run_in_thread(lambda: chat.app.call_later(self.open, engine.fork_session(session_id, message_id)), "fork")

    def welcome(self) -> None:
        """Help to connect a model."""
        chat = self._chat
        from .welcome import WelcomeChoice, WelcomeScreen

        def chosen(choice: WelcomeChoice | None) -> None:
            if choice is None or choice.action == "skip":
                return
            self.use_model("demo/demo" if choice.action == "demo" else choice.model, remember=choice.action == "model")

        chat.app.push_screen(WelcomeScreen(chat.engine), chosen)

    def use_model(self, model: str, *, remember: bool = True) -> None:
        """Send later requests to another model, and remember it as the default."""
        chat = self._chat
        session, engine = chat.turns.session, chat.engine
        if session is None or engine is None:
            return

        def change() -> None:
            session.set_model(model)
            if remember:
                engine.save_choice("model", model)
            chat.app.call_later(chat.shell.show_state, session.state)
            chat.app.call_later(
                chat.note, "info", f"Model: {session.state.provider}/{session.state.model}", "", "model"
            )

        chat.run_in_thread(change, "set model")

    def start_demo(self) -> None:
        """A fresh session with the scripted model."""
        if self._chat.engine is None:
            return
        self.open(None, then=lambda: self.use_model("demo/demo", remember=False))

    # Finding

    def find(self, words: str) -> None:
        """Mark the words in the whole session and let the reader walk the hits; no words end it."""
        chat = self._chat
        chat.transcript.find(words)
        if self.is_finding and not chat.turns.running:
            chat.status.activity = ""
        self.is_finding = bool(words)
        if words:
            self.history.load_back_to(0, lambda: self._walk_hits(words))

    def _walk_hits(self, words: str) -> None:
        chat = self._chat
        if not chat.transcript.find(words):
            chat.say(f"Nothing found for {words}.")
            return
        chat.set_focus(chat.transcript)
        self.find_step(-1)

    def find_step(self, step: int) -> None:
        """Go to the next or the previous hit and say which it is."""
        number = self._chat.transcript.find_next(step)
        if number:
            self._chat.status.activity = f"hit {number} (n, N, esc)"

    # Drafts

    def keep_draft(self) -> None:
        """Keep what is typed for the next start. Blocks for one small write."""
        chat = self._chat
        session = chat.turns.session
        if chat.engine is not None:
            key = session.state.session_id if session and chat.has_messages else str(Path.cwd())
            try:
                chat.engine.save_draft(key, chat.composer.text_for_draft)
            except HermesError as error:
                chat.note("warning", error.message, error.hint, kind="draft")


def _opened_page(engine: Engine, session_id: str | None) -> tuple[AgentSession, FirstPage]:
    """Open a session and read what it ends with; one that cannot be read is closed again. Blocks."""
    session = engine.open_session(session_id)
    try:
        return session, first_page(session) if session_id else FirstPage(session, (), ())
    except HermesError:
        session.close()
        raise


def _frame_s() -> float:
    return SSH_FRAME_S if os.environ.get("SSH_CONNECTION") else FRAME_S
