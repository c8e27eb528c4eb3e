"""The least a Textual app with a prompt can be: the baseline for start, idle and memory."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static, TextArea


class Empty(App[None]):
    """A text and a prompt."""

    CSS = "Static { height: 1fr; } TextArea { height: 3; }"
    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield Static("empty")
        yield TextArea()

    def on_mount(self) -> None:
        """Take keys."""
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()


if __name__ == "__main__":
    Empty().run()
