"""The styles that a line may name, made from theme variables.

A table instead of component classes: Textual would apply each class anew for every list on every restyle, which is most
of the time that a page takes to open.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color, ColorParseError

from .rendering.palette import ROLES

_TABLE: Mapping[str, tuple[str, str, str]] = {
    # name: (text variable, ground variable, text style)
    "muted": ("muted", "", ""),
    "accent": ("primary", "", ""),
    "strong": ("", "", "bold"),
    "heading": ("accent", "", "bold"),
    "warning": ("warning", "", ""),
    "error": ("error", "", ""),
    "success": ("success", "", ""),
    "danger": ("error", "", "bold underline"),
    "unknown": ("warning", "", "underline"),
    "hidden": ("warning", "", "reverse"),
    "mark": ("mark-fg", "mark-bg", ""),
    "current": ("background", "foreground", "bold"),
    "selected": ("screen-selection-foreground", "screen-selection-background", ""),
    "added-ground": ("", "diff-add-bg", ""),
    "removed-ground": ("", "diff-remove-bg", ""),
    "added": ("diff-add", "diff-add-bg", ""),
    "removed": ("diff-remove", "diff-remove-bg", ""),
    "string": ("success", "", ""),
    "variable": ("secondary", "", ""),
    "operator": ("accent", "", "bold"),
    "comment": ("muted", "", "italic"),
    "cursor": ("", "panel", ""),
    "highlight": ("primary", "panel", "bold"),
}


class LineStyles:
    """Ready styles of one theme.

    Args:
        variables: The app's theme variables.
    """

    __slots__ = ("_made", "_variables")

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._made: dict[str, Style] = {}

    def __getitem__(self, name: str) -> Style:
        style = self._made.get(name)
        if style is None:
            under, _, role = name.partition(" ")
            if role:  # a role of code on the ground of another style
                style = self._made[name] = self[under] + self[role]
                return style
            text, ground, text_style = _TABLE[name] if name in _TABLE else (ROLES[name][0], "", ROLES[name][1])
            look = Style.parse(text_style) if text_style else Style()
            style = Style.from_color(self._color(text), self._color(ground)) + look
            self._made[name] = style
        return style

    def _color(self, variable: str) -> RichColor | None:
        """Return a variable's colour; None where the theme has none that stands for itself."""
        try:
            return Color.parse(self._variables.get(variable, "")).rich_color
        except ColorParseError:
            return None
