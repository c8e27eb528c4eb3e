"""A one-line text field that a paste cannot break."""

from __future__ import annotations

import re
import unicodedata

from textual import events
from textual.widgets import Input

from .paste import single_line

_STRAY_MARK = re.compile(r"\[20[01]~")
"""What some terminals leave of the marks around a paste when the escape character got lost."""

_EDITS = ("cursor_", "delete_", "home", "end", "submit")
"""How the actions begin that a key in the field means; the rest (scrolling, the clipboard) is left to others."""


def clean_paste(text: str, *, secret: bool = False) -> str:
    """Return pasted text as one line without paste marks and control characters.

    Args:
        text: What was pasted.
        secret: The field holds a key: keep no blanks at all.
    """
    text = _STRAY_MARK.sub("", single_line(text))
    return "".join(text.split()) if secret else text


def odd_character(key: str) -> str:
    """Say what is wrong with an API key as typed, or return an empty string.

    A look-alike or invisible letter would otherwise fail far away, inside the HTTP client.
    """
    if not key:
        return "The key is empty."
    if key.startswith("$"):
        return "This is the name of a variable, not its value. Paste the key itself."
    for position, char in enumerate(key, 1):
        if not 0x21 <= ord(char) <= 0x7E:
            name = unicodedata.name(char, f"U+{ord(char):04X}").lower()
            return f"Character {position} is not plain ASCII ({name}). Copy the key again."
    return ""


class Field(Input):
    """A single-line field: pastes lose line ends and terminal marks, borders stay thin.

    Args:
        secret: Show dots instead of the text, and drop every blank from a paste.
    """

    DEFAULT_CSS = """
    Field, Field:focus { border: none; height: 1; padding: 0; background: transparent; }
    """

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        secret: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(
            value, placeholder=placeholder, password=secret, id=id, classes=classes, select_on_focus=False, compact=True
        )
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        """Edit at once: as a binding, Backspace would act after letters that were typed behind it in one burst."""
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if not binding.action.startswith(_EDITS):
                continue
            event.stop()
            event.prevent_default()
            await self.run_action(binding.action)
            return

    def _on_paste(self, event: events.Paste) -> None:
        """Insert the paste as one line."""
        event.stop()
        event.prevent_default()
        text = clean_paste(event.text, secret=self.password)
        if text:
            self.replace(text, *self.selection)
