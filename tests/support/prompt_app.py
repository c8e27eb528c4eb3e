"""A ten-line app around a composer, and the keys and pastes that tests send to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static

from hermes_tui.theming import load_theme
from hermes_tui.widgets.composer import Composer

COMMANDS = [
    ("model", "[provider/model]", "Choose a model.", "Model"),
    ("memory", "", "Show memories.", "App"),
    ("steer", "text", "Steer the running turn.", "Chat"),
    ("help", "", "Keys and commands.", "App"),
]


class WidgetApp(App[None]):
    """Shows widgets in the default theme and keeps the messages that reach the app."""

    CSS = "#above { height: 1fr; }"

    def __init__(self, *widgets: Widget) -> None:
        super().__init__()
        self.register_theme(load_theme("hermes-dark"))
        self.theme = "hermes-dark"
        self.widgets = widgets
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield Static("", id="above")
        yield from self.widgets

    async def _on_message(self, message: Message) -> None:
        self.heard.append(message)
        await super()._on_message(message)

    def all(self, kind: type[Any]) -> list[Any]:
        """The messages of a kind, in order."""
        return [message for message in self.heard if isinstance(message, kind)]


class PromptApp(WidgetApp):
    """Shows a focused composer."""

    def __init__(self, root: Path | None = None) -> None:
        self.composer = Composer("Ask anything", root=root)
        super().__init__(self.composer)

    def on_mount(self) -> None:
        self.composer.set_commands(COMMANDS)
        self.composer.focus()

    @property
    def sent(self) -> list[str]:
        return [message.text for message in self.all(Composer.Submitted)]


async def paste(app: App[Any], pilot: Pilot[Any], text: str) -> None:
    """Paste as a terminal does."""
    app.post_message(events.Paste(text))
    await pilot.pause()


async def write(pilot: Pilot[Any], text: str) -> None:
    """Type a text, key by key."""
    names = {" ": "space", "/": "slash", "@": "at", "?": "question_mark", "!": "exclamation_mark", "#": "number_sign"}
    names |= {"_": "underscore", ".": "full_stop", ":": "colon", "-": "minus", '"': "quotation_mark", "\n": "ctrl+j"}
    await pilot.press(*(names.get(char, char) for char in text))


def rows_of(app: App[Any]) -> list[str]:
    """The screen as text."""
    return ["".join(segment.text for segment in strip).rstrip() for strip in app.screen._compositor.render_strips()]
