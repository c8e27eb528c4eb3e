"""Sending, steering, stopping, taking back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_tui.engine.types.errors import HermesError

from .jobs import end_all

if TYPE_CHECKING:
    from hermes_tui.screens.chat import ChatScreen


def interrupt(chat: ChatScreen, args: str) -> None:
    """Stop the running turn; queue, draft and jobs stay, or the jobs end too."""
    if args == "jobs":
        chat.turns.interrupt()
        end_all(chat)
        return
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
