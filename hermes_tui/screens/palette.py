"""The command palette: every action by name. Lighter than Textual's own, and fed by our one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.types import CSSPathType

from hermes_tui.widgets.fuzzy_list import FuzzyList, FuzzyRow
from hermes_tui.widgets.hint_line import HintLine

from .modal import Modal


@dataclass(frozen=True, slots=True)
class PaletteRow:
    """One action."""

    id: str
    title: str
    help: str = ""
    key: str = ""
    group: str = ""


class PaletteScreen(Modal[str]):
    """Finds an action. Result: its id, or None.

    Args:
        rows: All actions that work now.
        title: What is chosen.
        on_highlight: Called with the id under the cursor, for a preview.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "palette.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+p,ctrl+c", "back", "Back", show=False)]

    def __init__(
        self,
        rows: Sequence[PaletteRow],
        *,
        title: str = "Commands",
        on_highlight: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._on_highlight = on_highlight
        self._rows = [FuzzyRow(row.id, row.title, row.help, row.key, row.group) for row in rows]

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical(classes="dialog", id="palette") as dialog:
            dialog.border_title = self._title
            yield FuzzyList(self._rows, placeholder="Type to search", explains=any(row.detail for row in self._rows))
            yield HintLine((("enter", "choose"), ("\u2191\u2193", "move"), ("esc", "close")))

    def action_back(self) -> None:
        """Leave without a choice."""
        self.finish(None)

    @on(FuzzyList.Picked)
    def _picked(self, event: FuzzyList.Picked) -> None:
        if event.row is not None:
            self.finish(event.row.id)

    @on(FuzzyList.Changed)
    def _highlighted(self, event: FuzzyList.Changed) -> None:
        if self._on_highlight is not None and event.row is not None and not self.ended:
            self._on_highlight(event.row.id)
