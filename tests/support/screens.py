"""What the tests of the dialogs share: an app with the real theme, a clock, waiting, and reading the screen."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from textual.app import App
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen

from hermes_tui.screens.approval_modal import GuardedModal
from hermes_tui.theming import load_theme


class Clock:
    """A clock that only a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class Host(App[None]):
    """An app that opens screens and keeps what they say."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, theme: str = "hermes-dark") -> None:
        super().__init__()
        self.register_theme(load_theme(theme))
        self.theme = theme
        self.heard: list[Message] = []
        self.results: list[Any] = []

    def open(self, screen: Screen[Any]) -> None:
        self.push_screen(screen, self.results.append)

    async def on_event(self, event: Any) -> None:
        await super().on_event(event)

    def hear(self, kind: type[Any]) -> list[Any]:
        return [message for message in self.heard if isinstance(message, kind)]

    async def _on_message(self, message: Message) -> None:
        self.heard.append(message)
        await super()._on_message(message)


async def until(pilot: Pilot[Any], condition: Callable[[], object], what: str = "") -> None:
    """Let the app run until a condition holds."""
    for _ in range(1000):
        if condition():
            return
        await pilot.pause()
        await asyncio.sleep(0.005)
    raise AssertionError(f"never happened: {what or condition}")


def painted(app: App[Any]) -> str:
    """The screen as text."""
    screen = app.screen
    _width, height = app.size
    rows = screen._compositor.render_strips(app.size)
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in rows[:height])


def picture(app: App[Any], name: str) -> None:
    """Keep a picture of the screen when a folder for it is named in the environment."""
    folder = os.environ.get("HERMES_TUI_PICTURES")
    if folder:
        path = Path(folder) / f"{name}.svg"
        path.write_text(app.export_screenshot(simplify=True))


Asking = TypeVar("Asking", bound=GuardedModal[Any])


class Dialog(Generic[Asking]):
    """An open dialog over which a test has full control of time."""

    def __init__(self, host: Host, pilot: Pilot[None], clock: Clock, screen: Asking) -> None:
        self.host, self.pilot, self.clock, self.screen = host, pilot, clock, screen

    async def arm(self) -> None:
        await until(
            self.pilot, lambda: self.screen._guard.next_change_s(self.clock.now) is not None or self.screen.armed
        )
        self.clock.advance(1.0)
        await until(self.pilot, lambda: self.screen.armed)

    async def press(self, *keys: str) -> None:
        """Press keys as a person does: apart."""
        for key in keys:
            self.clock.advance(0.15)
            await self.pilot.press(key)
            self.clock.advance(0.15)
            await until(self.pilot, lambda: self.screen._guard._waiting is None)
