"""The app itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_tui.commands import COMMANDS, PALETTE_IDS, key_of

from .jobs import confirm_end

if TYPE_CHECKING:
    from hermes_tui.screens.chat import ChatScreen


def palette(chat: ChatScreen, args: str) -> None:
    """Everything that can be done."""
    del args
    from hermes_tui.screens.palette import PaletteRow, PaletteScreen

    keymap = chat.ui.keys
    rows = [
        PaletteRow(id=c.id, title=c.title, help=c.help, key=key_of(c, keymap), group=c.group)
        for c in COMMANDS
        if c.id in PALETTE_IDS
    ]
    chat.app.push_screen(PaletteScreen(rows), lambda chosen: chat.input.act(chosen) if chosen else None)


def help(chat: ChatScreen, args: str) -> None:
    """Keys and commands."""
    del args
    from hermes_tui.screens.help import HelpScreen

    rows = [
        (c.group, "  ".join(filter(None, (key_of(c, chat.ui.keys), f"/{c.slash}" if c.slash else ""))), c.title, c.help)
        for c in COMMANDS
    ]
    chat.app.push_screen(HelpScreen(rows))


def demo(chat: ChatScreen, args: str) -> None:
    """Watch a scripted demo; needs no model."""
    del args
    chat.sessions.start_demo()


def suspend(chat: ChatScreen, args: str) -> None:
    """Back to the shell; fg returns."""
    del args
    chat.app.action_suspend_process()


def quit(chat: ChatScreen, args: str) -> None:
    """Leave; the session is kept."""
    del args
    confirm_end(chat, "leave", chat.hermes.leave, also="A turn is running." if chat.turns.running else "")
