"""Notes for the memory that a person types: kept at once, and taken back as easily."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_tui.engine.api import Engine
    from hermes_tui.engine.types.choices import KeptNote, NoteTarget
    from hermes_tui.screens.chat import ChatScreen

_ABOUT_PERSON = re.compile(r"(?:user|me)\s*:\s*", re.IGNORECASE)


def parse_note(text: str) -> tuple[NoteTarget, str]:
    """Split ``#note`` into where it goes and its words: ``#user: ...`` is about the person, all else is not."""
    words = text.removeprefix("#").strip()
    about = _ABOUT_PERSON.match(words)
    return ("user", words[about.end() :]) if about else ("memory", words)


def keep(chat: ChatScreen, text: str) -> None:
    """Keep a note; what cannot be kept goes back to the prompt."""
    target, words = parse_note(text)

    def done(note: KeptNote) -> None:
        chat.last_note = note
        _tell(chat, f"Kept in {_place(note)}: {note.text}", "Sessions that begin later know it. /forget takes it back.")

    _change(chat, lambda engine: engine.keep_note(words, target), done, lambda: chat.composer.put_back(text))


def forget(chat: ChatScreen, args: str) -> None:
    """Remove the note that was kept last, or the one with these words in it."""
    last = chat.last_note
    if not args and last is None:
        chat.say("Say which: /forget WORDS OF THE NOTE", error=True)
        return

    def done(note: KeptNote) -> None:
        chat.last_note = None
        mark = "#user: " if note.target == "user" else "#"
        _tell(chat, f"Removed from {_place(note)}: {note.text}", f"{mark}{note.text} keeps it again.")

    part, target = (args, None) if args or last is None else (last.text, last.target)
    _change(chat, lambda engine: engine.forget_note(part, target), done)


def _change(
    chat: ChatScreen,
    change: Callable[[Engine], KeptNote],
    done: Callable[[KeptNote], None],
    failed: Callable[[], None] = lambda: None,
) -> None:
    engine = chat.engine
    if engine is None:
        chat.say("Still starting; try again in a moment.")
        failed()
        return
    chat.run_in_thread(lambda: chat.app.call_later(done, change(engine)), "memory", failed)


def _place(note: KeptNote) -> str:
    return f"{Path(note.path).name} ({note.used_chars:,} of {note.max_chars:,} characters)"


def _tell(chat: ChatScreen, text: str, hint: str) -> None:
    chat.note("info", text, hint, kind="memory")
