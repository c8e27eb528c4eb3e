"""Sending, steering, stopping, taking back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_tui.engine.types.errors import HermesError
from hermes_tui.widgets.composer_commands import kind_of

if TYPE_CHECKING:
    from hermes_tui.screens.chat import ChatScreen


def interrupt(chat: ChatScreen, args: str) -> None:
    """Stop the running turn; queue and draft stay."""
    del args
    if not chat.turns.interrupt():
        chat.say("Nothing is running.")


def steer(chat: ChatScreen, args: str) -> None:
    """Hand the text, or the draft, to the model after its next tool call."""
    if args:
        chat.turns.steer(args)
    elif not chat.composer.is_blank:
        chat.composer.submit("steer")
    else:
        chat.say("Write what to tell: /steer TEXT", error=True)


def queue(chat: ChatScreen, args: str) -> None:
    """Send the text, or the draft, after the running turn."""
    composer = chat.composer
    if args:
        chat.turns.send(args)
    elif composer.value.strip():
        chat.turns.send(composer.value, composer.attachments, composer.text_for_draft)
        composer.clear_draft()
    else:
        chat.say("Write what to queue: /queue TEXT", error=True)


def undo(chat: ChatScreen, args: str, *, resend: bool = False) -> None:
    """Take back your last message; its text returns to the prompt."""
    del args
    session = chat.turns.session
    if session is None:
        return
    if chat.turns.running:
        chat.say("Stop the turn first (esc).", error=True)
        return

    def work() -> None:
        text = session.undo()
        chat.app.call_later(done, text)

    def done(text: str) -> None:
        if not text:
            chat.say("There is nothing to take back.")
            return
        chat.sessions.drop_last_exchange()
        if resend and kind_of(text) == "message":
            chat.turns.send(text)
        else:  # also a command of the person's own: it is run again by their hand only
            chat.composer.put_back(text)

    chat.run_in_thread(work, "undo")


def retry(chat: ChatScreen, args: str) -> None:
    """Take back the last answer and send the same message again."""
    undo(chat, args, resend=True)


def compress(chat: ChatScreen, args: str, *, undo: bool = False) -> None:
    """Change what the model gets; esc stops it like a turn."""
    session = chat.turns.session
    if session is None:
        return
    occupied = chat.turns.occupy()

    def work() -> None:
        try:
            words = session.undo_compression() if undo else session.compress(args)
        except HermesError as error:
            words = str(error)
        chat.app.call_later(done, words)

    def done(words: str) -> None:
        chat.note("info", words, kind="compression")
        if occupied:
            chat.turns.finished()

    chat.run_in_thread(work, "compress")


def undo_compress(chat: ChatScreen, args: str) -> None:
    """Go back to the conversation before its last summary."""
    compress(chat, args, undo=True)


def new(chat: ChatScreen, args: str) -> None:
    """Start a fresh conversation."""
    chat.sessions.keep_draft()
    chat.sessions.open(None, then=(lambda: chat.turns.send(args)) if args else None)
