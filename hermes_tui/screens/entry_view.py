"""One entry of the transcript over the whole screen, with search. Any length: only visible rows are drawn."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.widgets.field import Field
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.inert import one_line
from hermes_tui.widgets.line_text import Line, shown
from hermes_tui.widgets.line_view import LineView

from .modal import Modal

_READ_HINTS = (("/", "search"), ("n N", "next, previous"), ("y", "copy"), ("esc", "back"))
_FIND_HINTS = (("enter", "find"), ("esc", "stop searching"))
MAX_HITS = 20_000
"""Hits kept; more are not counted, so that one letter in a huge text stays fast."""


class EntryView(Modal[None]):
    """Shows a text.

    Args:
        text: The entry's source, untouched.
        title: What it is.
        prose: Break lines between words; otherwise anywhere.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "entry_view.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "back", "Back", show=False),
        Binding("q", "close", "Back", show=False),
        Binding("slash,ctrl+f", "find", "Search", show=False),
        Binding("n", "hit(1)", "Next hit", show=False),
        Binding("N", "hit(-1)", "Previous hit", show=False),
        Binding("y", "copy", "Copy", show=False),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
    ]

    class CopyWanted(Message):
        """``y``: the app copies the text its own way."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, text: str, title: str = "", *, prose: bool = False) -> None:
        super().__init__()
        self._text = text
        self._title = one_line(title)
        sources = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
        self._lines = [Line(((shown(source), ""),), prose=prose) for source in sources]
        self._hits: list[tuple[int, int, int]] = []
        self._at = -1

    def compose(self) -> ComposeResult:
        """Lay out the text and the search row."""
        with Vertical(classes="page", id="entry"):
            yield LineView(self._lines)
            yield Horizontal(
                Static("/", classes="prompt", markup=False),
                Field(placeholder="Search in this entry"),
                id="find",
                classes="field-row",
            )
            yield Horizontal(HintLine(_READ_HINTS), Static("", id="count", markup=False), id="foot")

    def on_mount(self) -> None:
        """Read with the keyboard at once."""
        page = self.query_one("#entry")
        count = len(self._lines)
        page.border_title = self._escape(f"{self._title}  {count:,} line{'s' * (count != 1)}".strip())
        self.query_one(LineView).focus()

    @staticmethod
    def _escape(text: str) -> str:
        """Titles of borders are markup: take its meaning away."""
        return text.replace("\\", "\\\\").replace("[", r"\[")

    def action_back(self) -> None:
        """Stop searching, then leave."""
        if self.query_one(Field).has_focus:
            self._stop_finding()
        else:
            self.finish(None)

    def action_close(self) -> None:
        """Leave."""
        self.finish(None)

    def action_find(self) -> None:
        """Open the search row."""
        self.query_one("#entry").add_class("-finding")
        self.query_one(HintLine).set_hints(_FIND_HINTS)
        self.query_one(Field).focus()

    def _stop_finding(self) -> None:
        self.query_one("#entry").remove_class("-finding")
        self.query_one(HintLine).set_hints(_READ_HINTS)
        self.query_one(LineView).focus()

    @on(Field.Changed)
    def _search(self, event: Field.Changed) -> None:
        """Mark all hits and go to the first one at or below the window."""
        event.stop()
        self._hits = find_all([line.text for line in self._lines], event.value)
        top = self.query_one(LineView).top_line()
        self._at = next((index for index, hit in enumerate(self._hits) if hit[0] >= top), 0 if self._hits else -1)
        self._show_hit()

    @on(Field.Submitted)
    def _found(self, event: Field.Submitted) -> None:
        event.stop()
        self._stop_finding()

    def action_hit(self, step: int) -> None:
        """Go to the next or previous hit, around the ends."""
        if self._hits:
            self._at = (self._at + step) % len(self._hits)
            self._show_hit()

    def action_scroll(self, step: int) -> None:
        """Scroll by a line."""
        self.query_one(LineView).scroll_relative(y=step, animate=False)

    def action_copy(self) -> None:
        """Copy the source, not the painted cells."""
        self.post_message(self.CopyWanted(self._text))

    def _show_hit(self) -> None:
        view = self.query_one(LineView)
        marks: dict[int, list[tuple[int, int]]] = {}
        for number, start, end in self._hits:
            marks.setdefault(number, []).append((start, end))
        current = self._hits[self._at] if self._hits else None
        view.set_marks(marks, current[:2] if current else None)
        if current:
            view.show_line(current[0], current[1])
        plus = "+" if len(self._hits) >= MAX_HITS else ""
        text = f"{self._at + 1} of {len(self._hits):,}{plus}" if self._hits else ""
        if not self._hits and self.query_one(Field).value:
            text = "no hits"
        self.query_one("#count", Static).update(text)


def find_all(lines: list[str], query: str) -> list[tuple[int, int, int]]:
    """Return (line, start, end) of every hit, case ignored unless the query has a capital; at most MAX_HITS."""
    hits: list[tuple[int, int, int]] = []
    if not query:
        return hits
    fold = query == query.lower()
    for number, text in enumerate(lines):
        lowered = text.lower() if fold else text
        if len(lowered) != len(text):  # a letter such as İ grows in lower case; offsets would be off
            lowered = text
        at = lowered.find(query)
        while at >= 0:
            hits.append((number, at, at + len(query)))
            if len(hits) >= MAX_HITS:
                return hits
            at = lowered.find(query, at + len(query))
    return hits
