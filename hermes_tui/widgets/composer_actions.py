"""What the keys of the composer do to its text: stash, cut, editor, and copy, clear or quit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message

from .composer_interrupt import InterruptLadder
from .composer_paste import ChipPrompt


class ActionPrompt(ChipPrompt):
    """A prompt with the keys of an editor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+enter,ctrl+j", "newline", "New line", id="newline", show=False),
        Binding("ctrl+g", "open_editor", "External editor", id="editor", show=False),
        Binding("ctrl+s", "stash", "Stash the draft", id="stash", show=False),
        Binding("alt+x", "expand_chip", "Unfold a pasted block", id="composer.expand", show=False),
        Binding("ctrl+c,super+c", "interrupt", "Copy, clear or quit", id="composer.interrupt", show=False),
        Binding("ctrl+d", "delete_right_or_quit", "Delete, or quit when empty", id="composer.eof", show=False),
        Binding("ctrl+x,super+x", "cut", "Cut", id="composer.cut", show=False),
        Binding("ctrl+underscore,alt+z,super+z", "undo", "Undo", id="composer.undo", show=False),
        Binding("ctrl+y,alt+shift+z", "redo", "Redo", id="composer.redo", show=False),
        Binding("left", "cursor_left", show=False),
        Binding("right", "cursor_right", show=False),
        Binding("shift+left", "cursor_left(True)", show=False),
        Binding("shift+right", "cursor_right(True)", show=False),
        Binding("shift+up", "cursor_up(True)", show=False),
        Binding("shift+down", "cursor_down(True)", show=False),
        Binding("ctrl+left,alt+b", "cursor_word_left", show=False),
        Binding("ctrl+right,alt+f", "cursor_word_right", show=False),
        Binding("ctrl+shift+left", "cursor_word_left(True)", show=False),
        Binding("ctrl+shift+right", "cursor_word_right(True)", show=False),
        Binding("home,ctrl+a", "cursor_line_start", show=False),
        Binding("end,ctrl+e", "cursor_line_end", show=False),
        Binding("shift+home", "cursor_line_start(True)", show=False),
        Binding("shift+end", "cursor_line_end(True)", show=False),
        Binding("f7", "select_all", show=False),
        Binding("backspace,ctrl+h", "delete_left", show=False),
        Binding("delete", "delete_right", show=False),
        Binding("ctrl+w,ctrl+backspace,alt+backspace", "delete_word_left", show=False),
        Binding("alt+delete,alt+d", "delete_word_right", show=False),
        Binding("ctrl+u,super+backspace", "delete_to_start_of_line", show=False),
        Binding("ctrl+shift+k,alt+k", "delete_to_end_of_line", show=False),
    ]

    @dataclass
    class EditorRequested(Message, namespace="composer"):
        """The draft is to be edited outside; hand the new text to ``set_value``."""

        text: str

    @dataclass
    class CopyRequested(Message, namespace="composer"):
        """Text is to go to the clipboard."""

        text: str

    @dataclass
    class StashChanged(Message, namespace="composer"):
        """A draft was put aside or brought back."""

        count: int

    class QuitArmed(Message, namespace="composer"):
        """ctrl+c with nothing to copy or clear: once more quits."""

    class QuitRequested(Message, namespace="composer"):
        """ctrl+c for the second time, or ctrl+d in an empty prompt."""

    def __init__(self, *, placeholder: str = "", mark: str = "❯", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, mark=mark, id=id)
        self._ladder = InterruptLadder()
        self._stash: list[str] = []

    def _cleared(self) -> None:
        """Called when ctrl+c took the text away."""

    def action_newline(self) -> None:
        """Start a new line."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_open_editor(self) -> None:
        """Ask for the external editor."""
        self.post_message(self.EditorRequested(self.value))

    def action_stash(self) -> None:
        """Put the draft aside, or bring the last one back if there is none."""
        if not self.is_blank:
            self.stash(self.text_for_draft)
            self.clear_draft()
        elif self._stash:
            self.restore_draft(self._stash.pop())
            self.post_message(self.StashChanged(len(self._stash)))

    def stash(self, draft: str) -> None:
        """Put a draft aside."""
        self._stash.append(draft)
        self.post_message(self.StashChanged(len(self._stash)))

    def put_back(self, text: str, draft: str = "", images: Sequence[str] = ()) -> None:
        """Take a text back to be edited; what is being written goes to the stash, nothing is lost.

        Args:
            text: As it was sent.
            draft: The same with its blocks and images, if there is one.
            images: Paths of its images, where there is no draft.
        """
        if not self.is_blank:
            self.action_stash()
        if draft:
            self.restore_draft(draft)
        elif images:
            self.restore_sent(text, images)
        else:
            self.set_value(text)

    def action_interrupt(self) -> None:
        """Copy, clear, or quit on the second press."""
        if self.screen.selections:
            raise SkipAction  # text is marked elsewhere; the screen copies it
        match self._ladder.press(has_selection=not self.selection.is_empty, has_text=not self.is_blank):
            case "copy":
                self.post_message(self.CopyRequested(self.shelf.expand(self.selected_text)))
            case "clear":
                self.replace_all("")
                self._cleared()
            case "arm":
                self.post_message(self.QuitArmed())
            case "quit":
                self.post_message(self.QuitRequested())

    def action_cut(self) -> None:
        """Cut the selection, or the caret's line."""
        if self.selection.is_empty:
            self.action_select_line()
        text = self.shelf.expand(self.selected_text)
        if text:
            self._delete_via_keyboard(*self.selection)
            self.post_message(self.CopyRequested(text))

    def action_delete_right_or_quit(self) -> None:
        """Delete the character on the right; in an empty prompt ask to quit."""
        if self.is_blank:
            self.post_message(self.QuitRequested())
        else:
            self.action_delete_right()
