"""Moving, finding and looking in the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_tui.widgets.entries import AssistantEntry, ToolEntry
from hermes_tui.widgets.rendering.rows import Detail, ReasoningLevel

from .choosing import cycle, remember

if TYPE_CHECKING:
    from hermes_tui.screens.chat import ChatScreen


DETAILS: tuple[Detail, ...] = ("compact", "normal", "full")
REASONING: tuple[ReasoningLevel, ...] = ("hidden", "line", "full")


def find(chat: ChatScreen, args: str) -> None:
    """Find in the whole session; n and N walk the hits."""
    if args:
        chat.sessions.find(args)
        return
    from hermes_tui.screens.find import FindScreen

    screen = FindScreen(chat.transcript.find)
    chat.app.push_screen(screen, lambda words: chat.sessions.find(words or ""))
    chat.sessions.history.load_back_to(0, screen.count)


def walk(chat: ChatScreen, step: int, *, user_only: bool = False) -> None:
    """Move the entry cursor."""
    chat.set_focus(chat.transcript)
    chat.transcript.move_cursor(step, user_only=user_only)


def toggle(chat: ChatScreen, args: str) -> None:
    """Open or close the chosen entry."""
    del args
    if chat.transcript.cursor is not None:
        chat.transcript.toggle(chat.transcript.cursor)


def source(chat: ChatScreen) -> str:
    """The chosen entry's text, else the last answer's."""
    if chat.transcript.cursor is not None:
        return chat.transcript.cursor.source()
    answers = (entry for entry in reversed(chat.transcript.entries) if isinstance(entry, AssistantEntry))
    return next((entry.source() for entry in answers), "")


def editor(chat: ChatScreen, args: str) -> None:
    """Open the file that the chosen card is about, at its line; the text of any other entry."""
    del args
    entry = chat.transcript.cursor
    path, line = entry.place if isinstance(entry, ToolEntry) else ("", 1)
    if path:
        chat.input.open_file(path, line)
    else:
        chat.input.open_editor(source(chat))


def copy(chat: ChatScreen, args: str) -> None:
    """Copy the chosen entry, or the last answer."""
    del args
    chat.run_worker(chat.input.copy(source(chat)), name="copy")


def view(chat: ChatScreen, args: str) -> None:
    """Read the chosen entry in full screen, with search."""
    del args
    text = source(chat)
    if not text:
        chat.say("There is nothing to show yet.")
        return
    from hermes_tui.screens.entry_view import EntryView

    chat.app.push_screen(EntryView(text, prose=not isinstance(chat.transcript.cursor, ToolEntry)))


def detail(chat: ChatScreen, args: str) -> None:
    """Cycle compact, normal, full."""
    if (level := cycle(chat, DETAILS, chat.transcript.detail, args)) is not None:
        chat.transcript.set_detail(level)
        remember(chat, "ui.detail", level)
        chat.say(f"Detail: {level}")


def reasoning(chat: ChatScreen, args: str) -> None:
    """Cycle how reasoning is shown: hidden, line, full."""
    if (level := cycle(chat, REASONING, chat.transcript.reasoning_level, args)) is not None:
        chat.transcript.set_reasoning_level(level)
        remember(chat, "ui.reasoning", level)
        chat.say(f"Reasoning: {level}")


def panel(chat: ChatScreen, args: str) -> None:
    """Todos, context and changed files."""
    del args
    chat.panel.display = not chat.panel.display
    chat.shell.show_context()


def top(chat: ChatScreen, args: str) -> None:
    """Go to the first message, also when it has not been loaded yet."""
    del args
    chat.sessions.history.load_back_to(0, chat.transcript.go_to_start)
