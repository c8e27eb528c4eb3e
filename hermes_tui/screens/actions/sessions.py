"""Other sessions, and this one as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hermes_tui.engine.types.errors import HermesError

if TYPE_CHECKING:
    from hermes_tui.screens.chat import ChatScreen


def sessions(chat: ChatScreen, args: str) -> None:
    """Find anything ever said, resume or fork it."""
    chat.sessions.browse(args)


def resume(chat: ChatScreen, args: str) -> None:
    """Resume a session by id or title."""
    if args:
        chat.sessions.open(args)
    else:
        chat.sessions.browse("")


def fork(chat: ChatScreen, args: str) -> None:
    """Go on in a copy, from here or from the chosen entry."""
    del args
    session, entry = chat.turns.session, chat.transcript.cursor
    if session is None or not chat.transcript.entries:
        chat.say("There is nothing to fork yet.")
        return
    chat.sessions.fork(session.state.session_id, entry.message_id if entry else None)


def rewind(chat: ChatScreen, args: str) -> None:
    """Go back to one of your messages, edit it, and go on in a fork."""
    del args
    if chat.turns.running:
        chat.say("Stop the turn first (esc).", error=True)
    else:
        chat.sessions.resume.rewind()


def title(chat: ChatScreen, args: str) -> None:
    """Show or set the title."""
    session = chat.turns.session
    if session is None:
        return
    if not args:
        chat.say(f"Title: {session.state.title or '(none yet)'}")
        return
    chat.run_in_thread(lambda: chat.app.call_later(chat.shell.show_title, session.rename(args)), "rename")


def export(chat: ChatScreen, args: str) -> None:
    """Write this session to a file (md, json or html)."""
    session, engine = chat.turns.session, chat.engine
    if session is None or engine is None:
        return
    first, _, rest = args.partition(" ")
    fmt, name = (first, rest.strip()) if first in ("md", "json", "html") else ("md", args)
    path = Path(name or f"{session.state.session_id}.{fmt}").expanduser()

    def work() -> None:
        text = engine.export_session(session.state.session_id, fmt)
        try:
            with path.open("x", encoding="utf-8") as file:
                path.chmod(0o600)
                file.write(text)
        except OSError as error:
            raise HermesError(f"{path} was not written: {error.strerror}.", hint="Name another file.") from error
        chat.app.call_later(chat.say, f"Wrote {path.resolve()}")

    chat.run_in_thread(work, "export")
