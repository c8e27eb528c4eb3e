"""Colours of a theme as ready styles. Only theme variables are read; a theme change makes a new palette."""

from __future__ import annotations

from collections.abc import Mapping

from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError

ROLES: Mapping[str, tuple[str, str]] = {
    # role: (variable, text style)
    "text": ("foreground", ""),
    "muted": ("muted", ""),
    "rule": ("rule", ""),
    "strong": ("", "bold"),
    "em": ("", "italic"),
    "strike": ("", "strike"),
    "under": ("", "underline"),
    "link": ("link", "underline"),
    "code": ("accent", ""),
    "html": ("muted", ""),
    "bullet": ("primary", ""),
    "quote": ("muted", "italic"),
    "h1": ("primary", "bold underline"),
    "h2": ("primary", "bold"),
    "h3": ("accent", "bold"),
    "h4": ("", "bold"),
    "marker": ("primary", "bold"),
    "reasoning": ("reasoning", "italic"),
    "tool": ("tool", ""),
    "verb": ("tool", "bold"),
    "ok": ("success", ""),
    "failed": ("error", ""),
    "warning": ("warning", ""),
    "active": ("primary", ""),
    "add": ("diff-add", ""),
    "remove": ("diff-remove", ""),
    "kw": ("primary", ""),
    "str": ("success", ""),
    "num": ("accent", ""),
    "fn": ("link", ""),
    "type": ("secondary", ""),
    "comment": ("muted", "italic"),
    "op": ("muted", ""),
}
_GROUNDS: Mapping[str, str] = {
    "base": "background",
    "user": "user-bg",
    "code": "code-bg",
    "mark": "mark-bg",
    "add": "diff-add-bg",
    "remove": "diff-remove-bg",
    "panel": "panel",
}
_FALLBACKS: Mapping[str, str] = {
    "muted": "text-muted",
    "rule": "panel",
    "link": "primary",
    "tool": "secondary",
    "reasoning": "secondary",
    "user-bg": "panel",
    "code-bg": "surface",
    "mark-bg": "primary",
    "mark-fg": "background",
    "diff-add": "success",
    "diff-remove": "error",
    "diff-add-bg": "background",
    "diff-remove-bg": "background",
}
"""What stands in for our own variables under a theme that lacks them."""


class Palette:
    """Styles by role and ground.

    Args:
        variables: The app's theme variables.
    """

    __slots__ = ("_blanks", "_colors", "_links", "_styles", "background", "variables")

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables
        self.background = self._parse("background") or Color(0, 0, 0)
        self._colors: dict[str, Color] = {}
        self._styles: dict[tuple[str, ...], Style] = {}
        self._blanks: dict[tuple[int, str], Segment] = {}
        self._links: dict[str, Style] = {}

    def style(self, ground: str, *roles: str) -> Style:
        """Return the style of text on a ground, later roles on top of earlier ones."""
        key = (ground, *roles)
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = self._build(ground, roles)
        return style

    def link(self, url: str) -> Style:
        """Return the part of a style that makes text a link; one per address, so that its pieces belong together."""
        if (style := self._links.get(url)) is None:
            if len(self._links) > 2_000:
                self._links.clear()
            style = self._links[url] = Style(link=url)
        return style

    def blank(self, cells: int, ground: str) -> Segment:
        """Return blanks on a ground."""
        key = (cells, ground)
        segment = self._blanks.get(key)
        if segment is None:
            segment = self._blanks[key] = Segment(" " * cells, self.style(ground))
        return segment

    def _build(self, ground: str, roles: tuple[str, ...]) -> Style:
        text = "mark-fg" if ground == "mark" else "foreground"
        style = Style(color=self.color(text).rich_color, bgcolor=self.color(_GROUNDS[ground]).rich_color)
        for role in roles:
            variable, text_style = ROLES[role]
            if variable:
                style += Style(color=self.color(variable).rich_color)
            if text_style:
                style += Style.parse(text_style)
        return style

    def color(self, variable: str) -> Color:
        """Return the colour of a theme variable, opaque."""
        color = self._colors.get(variable)
        if color is None:
            color = self._parse(variable) or self._parse(_FALLBACKS.get(variable, "foreground")) or Color(160, 160, 160)
            if color.ansi is None and color.a < 1:
                color = self.background.blend(color.with_alpha(1), color.a)
            self._colors[variable] = color
        return color

    def _parse(self, variable: str) -> Color | None:
        value = self.variables.get(variable, "")
        if value == "transparent":
            value = self.variables.get("background", "")
        if value.startswith("auto"):
            percent = value.removeprefix("auto").strip().rstrip("%") or "100"
            foreground = self._parse("foreground")
            return foreground.with_alpha(float(percent) / 100) if foreground else None
        try:
            return Color.parse(value.split()[0]) if value else None
        except ColorParseError:
            return None
