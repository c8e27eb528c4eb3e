"""The prompt: many lines, history, completion, paste chips, attachments, stash.

Reports what a person wants as messages and knows nothing of sessions or engines. Editing and drawing are in
``composer_text``, the lists in ``composer_completion``, the blocks in ``paste``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from textual import events, on
from textual.binding import Binding, BindingsMap, BindingType
from textual.message import Message
from textual.screen import Screen

from .completion import CompletionPopup
from .completion_source import Candidate, argument_hint
from .composer_actions import ActionPrompt
from .composer_commands import OWN_MARKS, CommandRow, SubmitKind, kind_of
from .composer_completion import CompletionControl
from .file_index import FileResult
from .prompt_history import PromptHistory


class _FilesFound(Message):
    """The file index answered; sent to oneself because the answer comes on another thread."""

    def __init__(self, result: FileResult) -> None:
        super().__init__()
        self.result = result


class Composer(ActionPrompt):
    """Where a person writes.

    Args:
        placeholder: Shown while it is empty.
        root: The folder whose files ``@`` offers.
        plain: ASCII and no box.
        id: Widget id.
    """

    DEFAULT_CSS = """
    Composer {
        width: 1fr; height: auto; padding: 0 1; border: round $rule; pointer: text;
        background: $background; color: $foreground; overflow-x: hidden; overflow-y: auto; scrollbar-size: 0 0;
    }
    Composer > .composer--cursor { background: $input-cursor-background; color: $input-cursor-foreground; }
    Composer > .composer--selection { background: $input-selection-background; color: $input-selection-foreground; }
    Composer > .composer--chip { color: $accent; background: $panel; }
    Composer > .composer--ghost { color: $muted; }
    Composer > .composer--mark { color: $primary; text-style: bold; }
    Composer.-shell { border: round $warning; }
    Composer.-shell > .composer--mark { color: $warning; }
    Composer.-note { border: round $accent; }
    Composer.-note > .composer--mark { color: $accent; }
    Composer.-plain { border: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+enter", "steer_or_newline", "Steer the running turn", id="steer", show=False),
        Binding("alt+r", "search_history", "Search earlier prompts", id="composer.search_history", show=False),
        Binding("ctrl+up", "history(-1)", "Earlier prompt", id="composer.older", show=False),
        Binding("ctrl+down", "history(1)", "Later prompt", id="composer.newer", show=False),
    ]

    @dataclass
    class Submitted(Message):
        """A text is to be sent; the composer is empty again."""

        text: str
        """Pasted blocks in full."""
        mode: Literal["send", "steer"]
        kind: SubmitKind
        """What the text means, by what was typed and not by what is inside a pasted block."""
        attachments: tuple[str, ...]
        """Paths of images."""
        draft: str = ""
        """The same with its blocks and images, for ``restore_draft``."""

    class KindChanged(Message):
        """What is being typed would now be sent as something else; see ``kind``."""

    class Escape(Message):
        """Escape, and no list was open."""

    class HelpRequested(Message):
        """A question mark in an empty prompt."""

    def __init__(
        self, placeholder: str = "", *, root: Path | None = None, plain: bool = False, id: str | None = None
    ) -> None:
        self._history = PromptHistory()
        self._keymap: Mapping[str, str] | None = None
        self._bound: BindingsMap | None = None
        self._completion = CompletionControl(self, self._history, root or Path.cwd())
        self._mark = ">" if plain else "❯"
        self._shown_kind: SubmitKind = "message"
        super().__init__(placeholder=placeholder, mark=self._mark, id=id)
        self.set_class(plain, "-plain")
        self.busy = False
        """A turn runs: alt+enter steers."""
        self._names: frozenset[str] = frozenset()

    # --- what others call

    @property
    def kind(self) -> SubmitKind:
        """What the text would be sent as. A mark counts when it was typed, not when a pasted block begins with it."""
        return kind_of(self.text, self._names)

    def clear_draft(self) -> None:
        """Empty it, undo and chips included."""
        super().clear_draft()
        self._completion.reset()
        self._history.rest()

    def set_commands(self, rows: Sequence[tuple[str, str, str, str]], aliases: Sequence[str] = ()) -> None:
        """Set the slash commands.

        Args:
            rows: ``(name, args, help, group)``, names without the slash.
            aliases: Further names that count as commands.
        """
        self._completion.commands = [CommandRow(*row) for row in rows]
        self._names = frozenset([row[0] for row in rows]) | frozenset(aliases)

    def set_history(self, entries: Sequence[str]) -> None:
        """Set earlier prompts, oldest first."""
        self._history.replace(entries)

    def set_root(self, root: Path) -> None:
        """Offer the files of another folder."""
        self._completion.set_root(root)

    def submit(self, mode: Literal["send", "steer"] = "send") -> None:
        """Post the text and empty the composer; a blank text is left alone."""
        text, attachments, draft = self.value, self.attachments, self.text_for_draft
        if not text.strip():
            return
        kind = self.kind
        if kind in OWN_MARKS and not text[1:].strip():
            return
        self._history.add(text)
        self.clear_draft()
        self.post_message(self.Submitted(text, mode, kind, attachments, draft))

    # --- what the completion needs

    @property
    def caret(self) -> tuple[int, int, str]:
        """Row, column and line of the caret."""
        row, column = self.cursor_location
        return row, column, self.document.lines[row]

    def open_popup(self) -> CompletionPopup:
        """Mount the popup on the screen, which may be larger than the composer's parent."""
        popup = CompletionPopup(on_pick=self._pick)
        self.screen.mount(popup)
        return popup

    def replace_token(self, start: int, text: str) -> None:
        """Replace from a column of the caret's line up to the caret."""
        row, column = self.cursor_location
        self.replace(text, (row, start), (row, column), maintain_selection_offset=False)

    def files_found(self, result: FileResult) -> None:
        """Bring an answer of the file index to the UI thread."""
        self.post_message(_FilesFound(result))

    @on(_FilesFound)
    def _show_files(self, message: _FilesFound) -> None:
        message.stop()
        self._completion.show_files(message.result)

    def _pick(self, candidate: Candidate) -> None:
        self._completion.choose(candidate)
        self.focus()

    def on_unmount(self) -> None:
        """End the file index."""
        self._completion.stop()

    # --- keys

    def _cleared(self) -> None:
        self._completion.reset()

    def load_text(self, text: str) -> None:
        """Replace the text without undo."""
        super().load_text(text)
        self._follow_kind()

    def _text_changed(self) -> None:
        super()._text_changed()
        self._follow_kind()

    def _follow_kind(self) -> None:
        """Show what the text would be sent as."""
        is_marked = self.document.lines[0][:1] in OWN_MARKS.values()
        kind = kind_of(self.document.text) if is_marked else "message"
        if kind == self._shown_kind:
            return
        self._shown_kind = kind
        self.has_own_mark = kind in OWN_MARKS
        for name in OWN_MARKS:
            self.set_class(name == kind, f"-{name}")
        self.border_title = kind if self.has_own_mark else None
        self.refresh()
        self.post_message(self.KindChanged())

    def _caret_moved(self) -> None:
        first = self.document.lines[0]
        self.ghost = argument_hint(first, self._completion.commands) if self.document.line_count == 1 else ""
        if self.has_focus:
            self._completion.update()
        super()._caret_moved()

    def _layout_changed(self, screen: Screen[object]) -> None:
        super()._layout_changed(screen)
        self._completion.follow(self.region)

    async def _on_key(self, event: events.Key) -> None:
        """Keys whose meaning depends on what is there; all others are bindings."""
        event.prevent_default()
        handled = self._completion_key(event.key) if self._completion.is_open else False
        if not handled:
            handled = self._own_key(event) or await self._own_binding(event.key)
        if handled:
            event.stop()

    async def _own_binding(self, key: str) -> bool:
        """Act on a binding here and now.

        Textual runs it only after the key has travelled up to the app; by then the keys behind it have been typed
        already, when they came in one burst.
        """
        if self._keymap is not (keymap := self.app._keymap) or self._bound is None:
            self._keymap, self._bound = keymap, self._bindings.copy()
            self._bound.apply_keymap(keymap)
        for binding in self._bound.key_to_bindings.get(key, ()):
            if await self.app.run_action(binding.action, self):
                return True
        return False

    def _completion_key(self, key: str) -> bool:
        match key:
            case "up" | "down":
                self._completion.move(-1 if key == "up" else 1)
            case "tab" | "enter":
                if self._completion.current is None:
                    return False
                if self._completion.choose(by_enter=key == "enter").sends:
                    self.submit()
            case "escape":
                self._completion.dismiss()
            case _:
                return False
        return True

    def _own_key(self, event: events.Key) -> bool:
        character = event.character
        match event.key:
            case "enter":
                self.submit()
            case "escape":
                self.post_message(self.Escape())
            case "up":
                self._move_up_or_older()
            case "down":
                self._move_down_or_newer()
            case "question_mark" if self.is_blank:
                self.post_message(self.HelpRequested())
            case _ if event.is_printable and character is not None:
                self._replace_via_keyboard(character, *self.selection)
            case _:
                return False
        return True

    def _move_up_or_older(self) -> None:
        at_start = self.cursor_location == (0, 0)
        on_first_row = self.navigator.is_first_wrapped_line(self.cursor_location)
        if self.is_blank or at_start or (self._history.is_walking and on_first_row):
            self.action_history(-1)
        else:
            self.action_cursor_up()

    def _move_down_or_newer(self) -> None:
        if self._history.is_walking and self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_history(1)
        else:
            self.action_cursor_down()

    def action_history(self, step: int) -> None:
        """Walk the earlier prompts; the unsent draft is kept at the end."""
        shown = self._history.older(self.text_for_draft) if step < 0 else self._history.newer()
        if shown is None:
            return
        if self._history.is_walking:
            self.set_value(shown)
        else:
            self.restore_draft(shown)
        self._completion.dismiss()

    def action_search_history(self) -> None:
        """List the earlier prompts that hold what is typed."""
        self._completion.search_history()

    def action_steer_or_newline(self) -> None:
        """Steer while a turn runs, else start a new line."""
        if self.busy:
            self.submit("steer")
        else:
            self.action_newline()
