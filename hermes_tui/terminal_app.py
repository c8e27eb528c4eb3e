"""A Textual app that is careful with its terminal: no key lost, few bytes written, nothing assumed after a break.

It knows nothing of conversations; :class:`~hermes_tui.app.HermesApp` does.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App

from .frame_writer import FrameWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.screen import Screen
    from textual.timer import Timer

SETTLE_S = 0.25
"""After the last of a storm of resizes everything is painted once more: a frame of the size before may have been on its
way when the terminal changed."""


class TerminalApp(App[int]):
    """The terminal's side of the app.

    Args:
        has_mouse: Whether the mouse starts out ours.
        is_plain: ASCII in the place of drawing.
    """

    def __init__(self, *, has_mouse: bool = True, is_plain: bool = False) -> None:
        super().__init__(driver_class=_driver_class())
        self._frames = FrameWriter(
            can_scroll=os.environ.get("HERMES_TUI_SCROLL_REGIONS", "1") != "0",
            # GNU screen and the Linux console erase to black.
            can_erase=not os.environ.get("TERM", "").startswith(("screen", "linux")),
            letters=_plain_letters() if is_plain else None,
        )
        self._has_mouse = has_mouse
        self._settling: Timer | None = None
        self._early: list[events.Key | events.Paste] | None = []
        """What was typed before anything could take it; None while keys pass."""

    # Keys

    async def on_event(self, event: events.Event) -> None:
        """Hold what was typed before anything could take it."""
        if self._early is not None and isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._early.append(event)
            return
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.before_key(event)
        await super().on_event(event)

    def before_key(self, event: events.Key) -> None:
        """Called before a key is on its way: the focus may still move."""

    def push_screen(self, screen: Any, *args: Any, **options: Any) -> Any:
        """Show a screen; what is typed before it can take keys waits for it."""
        pushed = super().push_screen(screen, *args, **options)
        if self._early is None and not self.is_headless:
            self._early = []
            self.screen.call_after_refresh(self.release_keys)
        return pushed

    def release_keys(self, *, first: bool = False) -> None:
        """Hand over what was held back.

        Args:
            first: It was typed before the program had the terminal, where Enter reads as a newline.
        """
        early, self._early = self._early or (), None
        for event in early:
            is_enter = first and isinstance(event, events.Key) and event.key == "ctrl+j"
            self.post_message(events.Key("enter", "\r") if is_enter else event)

    # Drawing

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        from textual._compositor import CompositorUpdate

        if isinstance(renderable, CompositorUpdate):
            renderable = self._frames.wrap(renderable)
        super()._display(screen, renderable)

    def on_resize(self, event: events.Resize) -> None:
        """What the terminal shows after a resize is its own affair."""
        del event
        self._frames.reset()
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLE_S, self.redraw)

    def toggle_mouse(self) -> bool:
        """Give the mouse to the terminal, or take it back; returns whether it is ours now."""
        self._has_mouse = not self._has_mouse
        driver: Any = self._driver
        if driver is not None and hasattr(driver, "_enable_mouse_support"):
            driver._mouse = True  # the driver looks at this before it writes
            (driver._enable_mouse_support if self._has_mouse else driver._disable_mouse_support)()
            driver._mouse = self._has_mouse
        return self._has_mouse

    def notify_terminal(self, text: str) -> None:
        """Ring, and ask the terminal for a notification (OSC 9), which those that know it show."""
        if self._driver is not None and not self.is_headless:
            safe = "".join(c for c in text if c.isprintable())
            self._driver.write(f"\x07\x1b]9;{safe}\x1b\\")

    def redraw(self) -> None:
        """Paint everything again."""
        self._frames.reset()
        self.refresh(repaint=True, layout=True)
        for screen in self.screen_stack:
            screen.refresh(repaint=True, layout=True)

    def _resume_signal(self) -> None:
        super()._resume_signal()
        self.redraw()


def _plain_letters() -> Mapping[int, str]:
    from .plain import plain_letters

    return plain_letters()


def _driver_class() -> type[Any] | None:
    if sys.platform == "win32":
        return None
    from .driver import TerminalDriver

    return TerminalDriver
