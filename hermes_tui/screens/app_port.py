"""What the chat needs of the app, so that screens need not know the app's class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class AppPort(Protocol):
    """The app as the chat sees it."""

    @property
    def theme(self) -> str:
        """Name of the theme in use."""
        ...

    @property
    def theme_problem(self) -> str:
        """Why the chosen colours could not be used, in words; empty when they are."""
        ...

    def use_theme(self, name: str) -> str:
        """Switch the colours; returns a problem in words, or empty."""
        ...

    def theme_names(self) -> list[str]:
        """Themes to choose from."""
        ...

    def toggle_mouse(self) -> bool:
        """Give the mouse to the terminal, or take it back; returns whether it is ours now."""
        ...

    def notify_terminal(self, text: str) -> None:
        """Ring, and ask the terminal for a notification."""
        ...

    def redraw(self) -> None:
        """Paint everything again."""
        ...

    def leave(self) -> None:
        """Quit; the session is kept."""
        ...

    def set_keymap(self, keymap: Mapping[str, str]) -> None:
        """Rebind keys by action id."""
        ...
