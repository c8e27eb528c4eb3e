"""The help page: every key and command, generated from the table of actions, filtered by typing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.types import CSSPathType

from hermes_tui.widgets.fuzzy_list import FuzzyList, FuzzyRow
from hermes_tui.widgets.hint_line import HintLine

from .modal import Modal

HelpRow: TypeAlias = tuple[str, str, str, str]
"""Group, key, name, help."""


class HelpScreen(Modal[None]):
    """Shows keys and commands.

    Args:
        rows: Group, key, name and help of each.
        title: What the help is about.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "help.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,enter,ctrl+c", "back", "Back", show=False)]

    def __init__(self, rows: Sequence[HelpRow], title: str = "Keys and commands") -> None:
        super().__init__()
        self._title = title
        self._rows = [
            FuzzyRow(str(number), name, help, key, group) for number, (group, key, name, help) in enumerate(rows)
        ]

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical(classes="dialog", id="help") as dialog:
            dialog.border_title = self._title
            yield FuzzyList(self._rows, placeholder="Type to filter", explains=any(row.detail for row in self._rows))
            yield HintLine((("esc", "close"), ("\u2191\u2193", "move")))

    def action_back(self) -> None:
        """Leave."""
        self.finish(None)

    def on_fuzzy_list_picked(self) -> None:
        """Enter closes."""
        self.finish(None)
