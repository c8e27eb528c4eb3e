"""A question with a few answers, one key each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.types import CSSPathType

from hermes_tui.widgets.choice_list import Choice, ChoiceList
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.inert import clean
from hermes_tui.widgets.line_text import line, shown
from hermes_tui.widgets.line_view import LineView

from .modal import Modal


class ChooseScreen(Modal[str]):
    """Asks for one of several answers. Result: the key of the answer, or None for Escape.

    Args:
        title: What it is about.
        text: The question; further lines are muted.
        choices: The answers.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "choose.tcss"]

    def __init__(self, title: str, text: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title = title
        first, *rest = clean(text).split("\n")
        self._lines = [line(shown(first), "strong"), *(line(shown(more), "muted") for more in rest)]
        self._choices = list(choices)

    def compose(self) -> ComposeResult:
        """Lay out the question and the answers."""
        with Vertical(classes="dialog", id="choose") as dialog:
            dialog.border_title = self._title
            view = LineView(self._lines)
            view.can_focus = False
            yield view
            yield ChoiceList(self._choices)
            yield HintLine((("\u2191\u2193 enter", "choose"), ("esc", "back")))

    def on_key(self, event: events.Key) -> None:
        """Take the keys of the answers, arrows, Enter and Escape; swallow the rest."""
        event.stop()
        event.prevent_default()
        answers = self.query_one(ChoiceList)
        if event.key in ("escape", "ctrl+c"):
            self.finish(None)
        elif event.key in ("up", "down"):
            answers.move(-1 if event.key == "up" else 1)
        elif (index := answers.picked_by(event.key)) >= 0:
            self.finish(self._choices[index].key)

    @on(ChoiceList.Clicked)
    def _clicked(self, event: ChoiceList.Clicked) -> None:
        self.finish(self._choices[event.index].key)
