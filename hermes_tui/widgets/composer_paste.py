"""The composer's blocks: pastes, images, drafts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import events
from textual.message import Message

from . import paste
from .composer_commands import OWN_MARKS, kind_of
from .composer_text import PromptText

MAX_EXPANDED_CHARS = 200_000
"""A chip longer than this is not unfolded into the prompt; the editor is the place for it."""


class ChipPrompt(PromptText):
    """Text that takes pastes and images of any size and keeps them exact."""

    @dataclass
    class Refused(Message, namespace="composer"):
        """Something was not taken; the text says what and what to do."""

        text: str

    @dataclass
    class AttachmentsChanged(Message, namespace="composer"):
        """Images came or went."""

        paths: tuple[str, ...]

    _attached: tuple[str, ...] = ()

    @property
    def value(self) -> str:
        """The text as it would be sent."""
        return self.shelf.expand(self.document.text)

    @property
    def attachments(self) -> tuple[str, ...]:
        """Paths of the images in the text."""
        return self.shelf.images(self.document.text)

    @property
    def text_for_draft(self) -> str:
        """One string that holds everything, chips included, for ``restore_draft``."""
        return self.shelf.to_draft(self.document.text)

    def restore_draft(self, draft: str) -> None:
        """Bring back what ``text_for_draft`` gave; the caret goes to the end."""
        self.load_text(self.shelf.from_draft(draft))
        self.move_cursor(self.document.end)
        self._tell_attachments()

    def restore_sent(self, text: str, images: Sequence[str]) -> None:
        """Bring back a message that was sent with images; the caret goes to the end."""
        self.load_text(self.shelf.with_images(paste.normalize(text), images))
        self.move_cursor(self.document.end)
        self._tell_attachments()

    def clear_draft(self) -> None:
        """Empty it, undo and chips included."""
        self.load_text("")
        self.shelf.clear()
        self._tell_attachments()

    def set_value(self, text: str) -> None:
        """Replace the text as one step that undo takes back; a long text becomes a chip."""
        text = paste.normalize(text)
        mark = text[:1] if kind_of(text) in OWN_MARKS else ""
        self.replace_all(mark + self.shelf.add_text(text[len(mark) :]).token if paste.needs_chip(text) else text)

    def insert_text(self, text: str) -> None:
        """Insert at the caret, as a paste would."""
        if len(text) > paste.MAX_PASTE_CHARS:
            limit = paste.MAX_PASTE_CHARS // 1_000_000
            self.post_message(
                self.Refused(f"The pasted text is over {limit} MB. Save it to a file and name the file with @.")
            )
            return
        text = paste.normalize(text)
        found = [] if kind_of(self.text) == "shell" else paste.image_paths(text)
        paths = [str(Path(path).expanduser()) for path in found]
        if paths and all(Path(path).is_file() for path in paths):
            text = "".join(self.shelf.add_image(path).token + " " for path in paths)
        elif paste.needs_chip(text):
            text = self.shelf.add_text(text).token
        self._replace_via_keyboard(text, *self.selection)

    def replace_all(self, text: str) -> None:
        """Replace the document; undo brings the old one back."""
        self.replace(text, (0, 0), self.document.end, maintain_selection_offset=False)

    async def _on_paste(self, event: events.Paste) -> None:
        """Take a paste; it never sends, whatever it ends with."""
        event.prevent_default()
        event.stop()
        self.insert_text(event.text)

    def action_expand_chip(self) -> None:
        """Unfold the block at the caret into ordinary text."""
        row, column = self.cursor_location
        for start, end, chip in self.shelf.spans(self.document.lines[row]):
            if start <= column <= end and chip.kind == "text":
                if len(chip.content) > MAX_EXPANDED_CHARS or paste.is_unsafe(chip.content):
                    self.post_message(self.Refused("This block is kept folded; ctrl+g opens the draft in your editor."))
                    return
                self.replace(chip.content, (row, start), (row, end), maintain_selection_offset=False)
                return

    def _text_changed(self) -> None:
        super()._text_changed()
        self._tell_attachments()

    def _tell_attachments(self) -> None:
        if (paths := self.attachments) != self._attached:
            self._attached = paths
            self.post_message(self.AttachmentsChanged(paths))
