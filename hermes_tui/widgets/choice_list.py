"""A few numbered choices. Nothing is chosen at first; the screen that shows them reads the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from .inert import one_line
from .line_text import Span, cut, wrap
from .line_view import StyledLines


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer."""

    key: str
    """The key that picks it."""
    label: str
    short: str = ""
    """A word for it where there is no room."""
    detail: str = ""
    """Said after the label, muted."""
    style: str = ""


class ChoiceList(StyledLines, can_focus=False):
    """Draws choices one below the other, or flowing in as few rows as possible when ``flow`` is set."""

    DEFAULT_CSS = """
    ChoiceList { height: auto; scrollbar-gutter: auto; }
    ChoiceList.-flow { scrollbar-size: 0 0; }
    """

    highlighted: reactive[int] = reactive(-1)
    """Index under the arrow keys, -1 for none."""
    flow: reactive[bool] = reactive(False, layout=True, toggle_class="-flow")

    class Clicked(Message):
        """A choice was clicked."""

        def __init__(self, view: ChoiceList, index: int) -> None:
            super().__init__()
            self.view = view
            self.index = index

        @property
        def control(self) -> ChoiceList:
            """The list."""
            return self.view

    def __init__(self, choices: Sequence[Choice] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._choices = tuple(choices)
        self._rows: list[list[tuple[int, list[Span]]]] = []
        self._made_for: tuple[int, bool] | None = None

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What can be chosen."""
        return self._choices

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """Show other choices; the highlight stays where it can."""
        self._choices = tuple(choices)
        self._made_for = None
        self.highlighted = min(self.highlighted, len(self._choices) - 1)
        self.refresh(layout=True)

    def index_of(self, key: str) -> int:
        """Return the index of the choice with this key, or -1."""
        return next((i for i, choice in enumerate(self._choices) if choice.key == key), -1)

    def picked_by(self, key: str) -> int:
        """Return the index of the choice that a key picks, by its own key or by Enter under the highlight, or -1."""
        return self.highlighted if key == "enter" else self.index_of(key)

    def move(self, step: int) -> None:
        """Move the highlight, from none to the first or last."""
        count = len(self._choices)
        if not count:
            return
        if self.highlighted < 0:
            self.highlighted = 0 if step > 0 else count - 1
        else:
            self.highlighted = max(0, min(self.highlighted + step, count - 1))

    def watch_highlighted(self) -> None:
        """Keep the highlight in view."""
        self._layout(self.scrollable_content_region.width)
        for number, row in enumerate(self._rows):
            if any(index == self.highlighted for index, _ in row):
                self.scroll_to(y=max(0, number - self.size.height + 1), animate=False)
                break

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows needed at this width."""
        del container, viewport
        return max(1, len(self._flow_rows(width) if self.flow else self._list_rows(width)))

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new width."""
        del event
        self._layout(self.scrollable_content_region.width)
        self.watch_highlighted()

    def _layout(self, width: int) -> None:
        if width <= 0 or self._made_for == (width, self.flow):
            return
        self._made_for = (width, self.flow)
        self._rows = self._flow_rows(width) if self.flow else self._list_rows(width)
        self.set_extent(width, len(self._rows))

    def _list_rows(self, width: int) -> list[list[tuple[int, list[Span]]]]:
        rows: list[list[tuple[int, list[Span]]]] = []
        for index, choice in enumerate(self._choices):
            label, detail = one_line(choice.label), one_line(choice.detail)
            spans: list[Span] = [(label, choice.style)]
            if detail:
                spans.append(("  " + detail, "muted"))
            text = "".join(part for part, _ in spans)
            for number, (start, end) in enumerate(wrap(text, width - 5)):
                lead: list[Span] = [(f" {choice.key} ", "accent"), ("  ", "")] if not number else [("     ", "")]
                rows.append([(index, lead + cut(spans, start, end))])
        return rows

    def _flow_rows(self, width: int) -> list[list[tuple[int, list[Span]]]]:
        rows: list[list[tuple[int, list[Span]]]] = [[]]
        used = 0
        for index, choice in enumerate(self._choices):
            word = choice.short or one_line(choice.label)
            cells = len(choice.key) + 1 + cell_len(word)
            if used and used + cells > width:
                rows.append([])
                used = 0
            rows[-1].append((index, [(choice.key, "accent"), (f" {word}  ", choice.style)]))
            used += cells + 2
        return rows

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width = self.scrollable_content_region.width
        number = y + round(self.scroll_offset.y)
        if number >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        strips = []
        for index, spans in self._rows[number]:
            ground = "highlight" if index == self.highlighted else ""
            wide = sum(cell_len(text) for text, _ in spans) if self.flow else width
            strips.append(self.strip_of(spans, wide, ground))
        return Strip.join(strips).adjust_cell_length(width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Tell the screen which choice was clicked."""
        number = event.y + round(self.scroll_offset.y)
        position = 0
        for index, spans in self._rows[number] if number < len(self._rows) else ():
            position += sum(cell_len(text) for text, _ in spans)
            if event.x < position or not self.flow:
                event.stop()
                self.post_message(self.Clicked(self, index))
                return
