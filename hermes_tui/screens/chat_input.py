"""What a person types and presses in the chat, apart from the actions of the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events

from hermes_tui.commands import BY_SLASH
from hermes_tui.widgets.composer import Composer
from hermes_tui.widgets.composer_commands import parse_command

if TYPE_CHECKING:
    from .chat import ChatScreen

TWICE_S = 0.8
"""Two presses of Escape within this time are one gesture."""
READER_KEYS = {
    "y": "copy",
    "o": "view",
    "f": "fork",
    "left_square_bracket": "user_up",
    "right_square_bracket": "user_down",
    "n": "find_next",
    "N": "find_previous",
    "upper_n": "find_previous",
    "enter": "entry_toggle",
    "space": "entry_toggle",
    "up": "entry_up",
    "down": "entry_down",
    "e": "entry_editor",
}
"""Keys that count while an entry is chosen: key -> action."""


def reader_keys(keymap: Mapping[str, str]) -> dict[str, str]:
    """The reader's keys after rebinding, by name or character."""
    keys = {key: action for key, action in READER_KEYS.items() if action not in keymap}
    actions = set(READER_KEYS.values())
    return keys | {key: name for name, rebound in keymap.items() if name in actions for key in rebound.split(",")}


class ChatInput:
    """Routes what comes from the composer and from the reader's keys.

    Args:
        chat: The screen.
        clock: Monotonic seconds.
    """

    def __init__(self, chat: ChatScreen, clock: Callable[[], float] = time.monotonic) -> None:
        self._chat = chat
        self._clock = clock
        self._escaped_s = float("-inf")
        self._reader_keys = reader_keys(chat.ui.keys)
        self._early: list[tuple[str, str]] = []
        """What was asked for before there was anything to do it with."""

    def act(self, action_id: str, args: str = "") -> None:
        """Run an action of the table; one that comes too early waits for the engine."""
        if not self._chat.can_act(action_id):
            self._early.append((action_id, args))
            return
        from . import chat_actions

        chat_actions.run(self._chat, action_id, args)

    def release(self) -> None:
        """Run what waited, unless something else took the screen meanwhile."""
        early, self._early = self._early, []
        for action_id, args in early:
            if self._chat.is_current:
                self.act(action_id, args)

    def submitted(self, event: Composer.Submitted) -> None:
        """Run a command, or send the text."""
        chat = self._chat
        if not event.text.strip() and not event.attachments:
            return
        command = parse_command(event.text, BY_SLASH)
        if command is not None:
            self.act(BY_SLASH[command[0]].id, command[1])
            return
        self._remember(event.text)
        if event.kind == "shell":
            self._run_command(event)
            return
        if event.kind == "note":
            from .actions import notes

            notes.keep(chat, event.text)
            return
        steers = event.mode == "steer" or (chat.turns.running and chat.ui.busy_input == "steer")
        if steers and not event.attachments:
            chat.turns.steer(event.text)
            return
        if steers:
            chat.say("Images cannot steer: the message waits for the end of the turn.")
        elif chat.turns.running and chat.ui.busy_input == "interrupt":
            chat.turns.interrupt()
        chat.turns.send(event.text, event.attachments, event.draft)

    def _run_command(self, event: Composer.Submitted) -> None:
        """Run a shell command now, or after the running turn: the session has one shell and one history."""
        chat = self._chat
        if chat.turns.running and event.mode == "steer":
            chat.say("A command cannot steer: it waits for the end of the turn.")
        elif chat.turns.running and chat.ui.busy_input == "interrupt":
            chat.turns.interrupt()
        chat.turns.send(event.text, draft=event.draft, is_command=True)

    def _remember(self, text: str) -> None:
        engine = self._chat.engine
        if engine is not None:
            self._chat.run_in_thread(lambda: engine.add_prompt_history(str(Path.cwd()), text), "remember prompt")

    def typed_early(self, text: str, key: str) -> None:
        """Put what was typed into a dialog too early where it was meant to go; an early Enter is not sent."""
        if text:
            self._chat.composer.insert_text(text)
        elif key == "backspace":
            self._chat.composer.action_delete_left()
        elif key in ("enter", "ctrl+j"):
            self._chat.composer.insert_text("\n")

    def escape(self) -> None:
        """Leave what is open: find, the chosen entry; else stop the turn. Twice on an empty prompt rewinds."""
        chat = self._chat
        now = self._clock()
        is_second = now - self._escaped_s <= TWICE_S
        self._escaped_s = float("-inf")
        if chat.is_complete and chat.sessions.is_finding:
            chat.sessions.find("")
        elif chat.turns.interrupt():
            chat.status.activity = "stopping"
        elif is_second and chat.is_complete and chat.composer.is_blank:
            self.act("rewind")
        else:
            self._escaped_s = now

    def quit_armed(self) -> None:
        """First ctrl+c with nothing to clear: stop what runs, and say that a second one leaves."""
        chat = self._chat
        if chat.turns.interrupt():
            chat.status.activity = "stopping"
        chat.say("Press ctrl+c again to leave; the session is kept.")

    def aim(self, event: events.Key) -> None:
        """Give the prompt the focus when a key that nobody reads with is on its way: all that follows is text too."""
        chat = self._chat
        is_text = event.is_printable or event.key in ("enter", "backspace")
        if chat.focused is chat.transcript and is_text and not self._reader_action(event):
            chat.set_focus(chat.composer)

    def _reader_action(self, event: events.Key) -> str:
        """What a key does to the transcript, or empty: letters need a chosen entry, ``n`` needs hits."""
        chat = self._chat
        action = self._reader_keys.get(event.key) or self._reader_keys.get(event.character or "") or ""
        match action:
            case "find_next" | "find_previous":
                counts = chat.is_complete and chat.sessions.is_finding
            case "entry_up" | "entry_down":
                counts = True
            case _:
                counts = chat.transcript.cursor is not None
        return action if counts else ""

    def reader_key(self, event: events.Key) -> bool:
        """Act on a key while an entry is chosen. True when used."""
        chat = self._chat
        if chat.focused is not chat.transcript:
            return False
        if event.key == "escape" and chat.is_complete:
            chat.sessions.find("")
            chat.transcript.clear_cursor()
            chat.set_focus(chat.composer)
            return True
        if action := self._reader_action(event):
            self.act(action)
            return True
        return False

    async def copy(self, text: str) -> None:
        """Copy and say how it went."""
        from hermes_tui.widgets.clipboard import copy

        result = await copy(text, self._chat.app)
        self._chat.say(result.message)

    def open_file(self, path: str, line: int) -> None:
        """Open a file of the session in the editor."""
        from hermes_tui.widgets.editor import edit_file

        session = self._chat.turns.session
        folder = Path(session.state.cwd if session is not None else "")
        problem = edit_file(folder / Path(path).expanduser(), line, self._chat.app)
        self._chat.hermes.redraw()
        if problem:
            self._chat.say(problem, error=True)

    def open_editor(self, text: str) -> None:
        """Edit the draft in $VISUAL or $EDITOR."""
        from hermes_tui.widgets.editor import edit_text

        result = edit_text(text, self._chat.app)
        self._chat.hermes.redraw()
        if result.problem:
            self._chat.say(result.problem, error=True)
        elif result.text != text:
            composer = self._chat.composer
            (composer.set_value if text == composer.value else composer.put_back)(result.text)
