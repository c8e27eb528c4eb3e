"""A yes-or-no question. Nothing but ``y`` says yes, so Enter pressed by habit destroys nothing."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.types import CSSPathType

from hermes_tui.widgets.choice_list import Choice, ChoiceList
from hermes_tui.widgets.inert import clean
from hermes_tui.widgets.line_text import line, shown
from hermes_tui.widgets.line_view import LineView

from .modal import Modal

_NO_KEYS = frozenset({"n", "N", "escape", "ctrl+c"})


class ConfirmScreen(Modal[bool]):
    """Asks before something that is hard to undo. Result: True for yes.

    Args:
        question: One sentence.
        yes: What happens on ``y``, as a verb phrase.
        no: What happens otherwise.
        detail: More lines below the question.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "confirm.tcss"]

    def __init__(self, question: str, *, yes: str = "Yes", no: str = "No", detail: str = "") -> None:
        super().__init__()
        self._lines = [line(shown(text), "strong") for text in clean(question).split("\n")]
        self._lines += [line(shown(text), "muted") for text in clean(detail).split("\n") if detail]
        self._labels = (yes, no)

    def compose(self) -> ComposeResult:
        """Lay out the question and both answers."""
        yes, no = self._labels
        with Vertical(classes="dialog", id="confirm"):
            view = LineView(self._lines)
            view.can_focus = False
            yield view
            yield ChoiceList([Choice("y", yes), Choice("n", no)])

    def on_key(self, event: events.Key) -> None:
        """Take ``y``, ``n`` and Escape; swallow the rest."""
        event.stop()
        event.prevent_default()
        if event.key in {"y", "Y"}:
            self.finish(True)
        elif event.key in _NO_KEYS:
            self.finish(False)

    @on(ChoiceList.Clicked)
    def _clicked(self, event: ChoiceList.Clicked) -> None:
        self.finish(event.index == 0)
