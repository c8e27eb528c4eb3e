"""Taking back and bringing back: exchanges, and what their turns did to files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast, get_args

from hermes_tui.engine.api import AgentSession, UndoScope
from hermes_tui.engine.types.changes import Undone, UndoPlan
from hermes_tui.engine.types.messages import typed_text
from hermes_tui.widgets.composer_commands import kind_of

if TYPE_CHECKING:
    from hermes_tui.screens.chat import ChatScreen
    from hermes_tui.screens.undo import Purpose

_NAMED = 6
"""Files that a notice names."""


def undo(chat: ChatScreen, args: str) -> None:
    """Take back your last message, what its turn did to files, or both."""
    session = _session(chat)
    if session is None:
        return
    if args in get_args(UndoScope):
        _undo(chat, session, cast(UndoScope, args))
    elif args:
        chat.say("Write /undo, or what to take back: both, files, message.", error=True)
    else:
        _ask(chat, session, "undo", lambda scope: _undo(chat, session, scope))


def retry(chat: ChatScreen, args: str) -> None:
    """Take back the last answer and send the same message again."""
    del args
    session = _session(chat)
    if session is not None:
        _ask(chat, session, "retry", lambda scope: _undo(chat, session, scope, resend=True))


def redo(chat: ChatScreen, args: str) -> None:
    """Bring back what the last undo took."""
    del args
    session = _session(chat)
    if session is None:
        return
    from hermes_tui.screens.chat_history import present_into_list

    def done(undone: Undone) -> None:
        if not (undone.has_message or undone.files or undone.kept):
            chat.say("There is nothing to bring back; what was said since cannot be undone by /redo.")
            return
        if undone.messages and chat.composer.value == typed_text(undone.messages[0].message):
            chat.composer.clear_draft()
        events = session.replay(undone.messages)
        for entry in present_into_list(events):
            chat.transcript.append(entry)
        for event in events:
            chat.presenter.restore(event)
        _tell(chat, undone, "Brought back")

    chat.run_in_thread(lambda: chat.app.call_later(done, session.redo()), "redo")


def diff(chat: ChatScreen, args: str) -> None:
    """Show what the agent did to files: in this session, or in the last turn."""
    session = chat.turns.session
    if session is None:
        chat.say("Still starting; try again in a moment.")
        return
    from hermes_tui.screens.changes import ChangesScreen

    chat.app.push_screen(ChangesScreen(session.changes, session.last_message_id, only_last=args == "turn"))


def rewind_to(chat: ChatScreen, message_id: int) -> None:
    """Go on in a fork that ends before a message, with its text in the prompt."""
    session, engine = _session(chat), chat.engine
    if session is None or engine is None:
        return
    session_id = session.state.session_id

    def go(scope: UndoScope) -> None:
        def opened(undone: Undone) -> None:
            chat.composer.put_back(undone.text, images=undone.images)
            _tell(chat, undone, "Taken back", "/redo brings the files back.")

        def work() -> None:
            fork_id, undone = engine.rewind(session_id, message_id, files=scope == "both")
            chat.app.call_later(lambda: chat.sessions.open(fork_id, then=lambda: opened(undone)))

        chat.run_in_thread(work, "rewind")

    _ask(chat, session, "rewind", go, since_id=message_id)


def _session(chat: ChatScreen) -> AgentSession | None:
    """The session, unless a turn is in the way."""
    if chat.turns.running:
        chat.say("Stop the turn first (esc).", error=True)
        return None
    return chat.turns.session


def _ask(
    chat: ChatScreen,
    session: AgentSession,
    purpose: Purpose,
    go: Callable[[UndoScope], None],
    *,
    since_id: int = 0,
) -> None:
    """Go on with what the person chooses; nothing is asked where no file is concerned."""

    def planned(plan: UndoPlan) -> None:
        if not plan.message_id:
            chat.say("There is nothing to take back.")
        elif not (plan.files or plan.kept):
            go("message")
        else:
            from hermes_tui.screens.undo import UndoScreen

            chat.app.push_screen(UndoScreen(plan, purpose), lambda scope: go(scope) if scope else None)

    chat.run_in_thread(lambda: chat.app.call_later(planned, session.plan_undo(since_id)), "plan undo")


def _undo(chat: ChatScreen, session: AgentSession, scope: UndoScope, *, resend: bool = False) -> None:
    def done(undone: Undone) -> None:
        if undone.has_message:
            chat.sessions.drop_last_exchange()
        elif scope != "files" or not (undone.files or undone.kept):
            chat.say("There is nothing to take back.")
            return
        _tell(chat, undone, "Taken back", "" if resend else "/redo brings it back.")
        if not undone.has_message:
            return
        if resend and kind_of(undone.text) == "message":
            chat.turns.send(undone.text, undone.images)
        else:  # also a command of the person's own: it is run again by their hand only
            chat.composer.put_back(undone.text, images=undone.images)

    chat.run_in_thread(lambda: chat.app.call_later(done, session.undo(scope)), "undo")


def _tell(chat: ChatScreen, undone: Undone, what: str, hint: str = "") -> None:
    """Say what became of files, if any are concerned."""
    lines = []
    if undone.files:
        more = len(undone.files) - _NAMED
        names = ", ".join(undone.files[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        lines.append(f"{what}: {names}")
    lines += [f"Left as it is: {kept.path} ({kept.why})" for kept in undone.kept]
    if lines:
        chat.note("warning" if undone.kept else "info", "\n".join(lines), hint, kind="undo")
