"""The find line: type words, see how many hits there are, Enter goes to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.widgets.field import Field
from hermes_tui.widgets.hint_line import HintLine

from .modal import Modal


class FindScreen(Modal[str]):
    """Finds in the session while one types. Result: the words, or None.

    Args:
        find: Marks the words and returns the number of hits; an empty text unmarks.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "find.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "back", "Back", show=False)]

    def __init__(self, find: Callable[[str], int]) -> None:
        super().__init__()
        self._find = find

    def compose(self) -> ComposeResult:
        """Lay out the line."""
        with Vertical(classes="dialog", id="find") as dialog:
            dialog.border_title = "Find in this session"
            yield Field(placeholder="Words", id="words")
            yield Static("", id="count", classes="note", markup=False)
            yield HintLine((("enter", "go to the hits"), ("esc", "close")))

    def on_mount(self) -> None:
        """Take keys."""
        self.query_one(Field).focus()

    @on(Field.Changed)
    def _changed(self) -> None:
        self.count()

    def count(self) -> None:
        """Count the hits again: the words changed, or what they are looked for in."""
        if self.ended or not self.is_mounted:
            return
        words = self.query_one(Field).value
        count = self._find(words)
        self.query_one("#count", Static).update(f"{count} hit{'s'[: count != 1]}" if words else "")

    @on(Field.Submitted)
    def _submitted(self, event: Field.Submitted) -> None:
        event.stop()
        self.finish(event.value)

    def action_back(self) -> None:
        """Leave and unmark."""
        self._find("")
        self.finish(None)
