"""What each action of ``commands.py`` does in the chat. One table: id -> function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from .actions import conversation, jobs, notes, program, reading, sessions, settings, undoing

if TYPE_CHECKING:
    from .chat import ChatScreen

Action: TypeAlias = "Callable[[ChatScreen, str], None]"
"""Gets the screen and what was typed after the slash command."""


def run(chat: ChatScreen, action_id: str, args: str) -> None:
    """Run an action; an unknown id is a programming error."""
    ACTIONS[action_id](chat, args.strip())


ACTIONS: Mapping[str, Action] = {
    "steer": conversation.steer,
    "queue": conversation.queue,
    "interrupt": conversation.interrupt,
    "background": jobs.background,
    "retry": undoing.retry,
    "undo": undoing.undo,
    "redo": undoing.redo,
    "diff": undoing.diff,
    "compress": conversation.compress,
    "undo_compress": conversation.undo_compress,
    "new": conversation.new,
    "forget": notes.forget,
    "sessions": sessions.sessions,
    "resume": sessions.resume,
    "fork": sessions.fork,
    "rewind": sessions.rewind,
    "title": sessions.title,
    "export": sessions.export,
    "find": reading.find,
    "find_next": lambda chat, args: chat.sessions.find_step(1),
    "find_previous": lambda chat, args: chat.sessions.find_step(-1),
    "entry_up": lambda chat, args: reading.walk(chat, -1),
    "entry_down": lambda chat, args: reading.walk(chat, 1),
    "user_up": lambda chat, args: reading.walk(chat, -1, user_only=True),
    "user_down": lambda chat, args: reading.walk(chat, 1, user_only=True),
    "entry_toggle": reading.toggle,
    "entry_editor": reading.editor,
    "copy": reading.copy,
    "view": reading.view,
    "page_up": lambda chat, args: chat.transcript.action_page_up(),
    "page_down": lambda chat, args: chat.transcript.action_page_down(),
    "top": reading.top,
    "end": lambda chat, args: chat.transcript.go_to_end(),
    "detail": reading.detail,
    "reasoning": reading.reasoning,
    "jobs": jobs.jobs,
    "panel": reading.panel,
    "editor": lambda chat, args: chat.composer.action_open_editor(),
    "stash": lambda chat, args: chat.composer.action_stash(),
    "model": settings.model,
    "approvals": settings.approvals,
    "settings": settings.page,
    "rules": settings.rules,
    "trust": settings.trust,
    "theme": settings.theme,
    "mouse": settings.mouse,
    "setup": settings.setup,
    "status": settings.status,
    "usage": settings.usage,
    "inspect": settings.inspect,
    "context": settings.context,
    "palette": program.palette,
    "help": program.help,
    "demo": program.demo,
    "suspend": program.suspend,
    "quit": program.quit,
}

READER_ACTIONS = frozenset({"find_next", "find_previous"})
"""Actions that exist as the reader's keys only."""
