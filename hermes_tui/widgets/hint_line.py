"""The line of keys at the bottom of a dialog: only what works now, as many as fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

Hint: TypeAlias = tuple[str, str]
"""A key and what it does, the most important first."""

_GAP = 3
_KEY_NAMES = {"esc": "escape", "/": "slash", "?": "question_mark"}
"""Textual's names of keys that are shown otherwise."""


class HintLine(Widget):
    """Draws hints in one row and drops the last ones where there is no room."""

    DEFAULT_CSS = "HintLine { height: 1; width: 1fr; }"

    class Clicked(Message):
        """A hint was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key
            """The key as shown; of several the last."""

        def press(self) -> events.Key:
            """Return the press of its key."""
            return events.Key(_KEY_NAMES.get(self.key, self.key), self.key if len(self.key) == 1 else None)

    def __init__(self, hints: Sequence[Hint] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints = tuple(hints)

    @property
    def hints(self) -> tuple[Hint, ...]:
        """What is shown."""
        return self._hints

    def set_hints(self, hints: Sequence[Hint]) -> None:
        """Show other hints."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def render(self) -> Content:
        """Return the hints that fit."""
        return Content(" " * _GAP).join(
            Content.assemble((key, "$primary"), " ", (word, "$muted")) for _, key, word in self._placed()
        )

    def on_click(self, event: events.Click) -> None:
        """Tell which hint was clicked."""
        for start, key, word in self._placed():
            if start <= event.x < start + _cells(key, word):
                event.stop()
                self.post_message(self.Clicked(key.rpartition(" ")[2]))

    def _placed(self) -> list[tuple[int, str, str]]:
        """Return the hints that fit, each with the column where it begins."""
        placed: list[tuple[int, str, str]] = []
        start = 0
        for key, word in self._hints:
            if start + _cells(key, word) > self.size.width:
                break
            placed.append((start, key, word))
            start += _cells(key, word) + _GAP
        return placed


def _cells(key: str, word: str) -> int:
    return cell_len(key) + 1 + cell_len(word)
