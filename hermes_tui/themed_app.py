"""An app with our themes: chosen by name, remembered by nobody, taken anew while the user writes one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from . import theming
from .engine.types.errors import HermesError
from .terminal_app import TerminalApp

CHECK_S: Final = 1.0
"""How often the file of a user's theme is looked at; never where there is no folder of themes."""


class ThemedApp(TerminalApp):
    """Switches colours. Call :meth:`start_themes` before it runs and :meth:`follow_theme_file` when it does."""

    theme_problem: str = ""
    """Why the chosen colours could not be used, in words; empty when they are."""
    _user_themes: Path | None = None
    _theme_stamp: tuple[int, int] = (0, 0)

    def start_themes(self, name: str, user_dir: Path | None) -> None:
        """Use the theme that fits the terminal best.

        Args:
            name: The chosen one.
            user_dir: The user's themes folder; it need not exist.
        """
        self._user_themes = user_dir
        self.theme_problem = self.use_theme(theming.fitting_theme(name, self.console.color_system))

    def use_theme(self, name: str) -> str:
        """Switch the colours; returns a problem in words, or empty."""
        problem = ""
        try:
            theme = theming.load_theme(name, self._user_themes)
        except HermesError as error:
            problem = str(error)
            theme = theming.load_theme(theming.DEFAULT_THEME)
        self._theme_stamp = theming.theme_stamp(theme.name, self._user_themes)
        self.register_theme(theme)
        if self.theme == theme.name and self.is_running:  # the same name with other colours
            self._watch_theme(theme.name)
        self.theme = theme.name
        return problem

    def theme_names(self) -> list[str]:
        """Themes to choose from."""
        return theming.theme_names(self._user_themes)

    def follow_theme_file(self) -> None:
        """Take the colours of a user's theme anew whenever its file changes."""
        if self._user_themes is not None and self._user_themes.is_dir():
            self.set_interval(CHECK_S, self.look_at_theme_file)

    def look_at_theme_file(self) -> None:
        """Take the colours anew if the file changed; a file that cannot be used is named and changes nothing."""
        stamp = theming.theme_stamp(self.theme, self._user_themes)
        if stamp == self._theme_stamp or not any(stamp):
            return
        self._theme_stamp = stamp
        try:
            theming.load_theme(self.theme, self._user_themes)
        except HermesError as error:
            self.notify(str(error), severity="warning", markup=False)
        else:
            self.use_theme(self.theme)
