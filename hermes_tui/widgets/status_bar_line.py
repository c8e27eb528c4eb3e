"""A one-line widget of styled spans, repainted without a layout and only if its cells changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from .inert import one_line
from .line_text import Span


class BarLine(Widget, can_focus=False):
    """The base of header and status bar."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "bar--strong",
        "bar--muted",
        "bar--accent",
        "bar--good",
        "bar--warn",
        "bar--bad",
        "bar--separator",
    }
    DEFAULT_CSS = """
    BarLine { height: 1; width: 1fr; padding: 0 1; color: $foreground; }
    BarLine > .bar--strong { color: $primary; text-style: bold; }
    BarLine > .bar--muted { color: $muted; }
    BarLine > .bar--accent { color: $accent; }
    BarLine > .bar--good { color: $success; }
    BarLine > .bar--warn { color: $warning; }
    BarLine > .bar--bad { color: $error; }
    BarLine > .bar--separator { color: $muted; }
    """

    _spans: Sequence[Span] = ()

    def compose_spans(self, width: int) -> Sequence[Span]:
        """Return the row for a width; subclasses say what it holds."""
        raise NotImplementedError

    def refresh_line(self) -> None:
        """Repaint if the row would look different. No layout."""
        if self.is_mounted and (spans := self.compose_spans(self.size.width)) != self._spans:
            self._spans = spans
            self.refresh(layout=False)

    def render_line(self, y: int) -> Strip:
        """Draw the row."""
        base = self.rich_style
        if y:
            return Strip.blank(self.size.width, base)
        self._spans = self.compose_spans(self.size.width)
        segments = []
        for text, name in self._spans:
            style = base + self.get_component_rich_style(f"bar--{name}", partial=True) if name else base
            segments.append(Segment(text if text.isspace() else _inert(text), style))
        return Strip(segments).adjust_cell_length(self.size.width, base)


def _inert(text: str) -> str:
    """Titles, paths and branch names come from outside; blanks at the ends are ours."""
    body = text.strip(" ")
    return text if body.isascii() and body.isprintable() else text.replace(body, one_line(body))
