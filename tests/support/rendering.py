"""A frame to draw entries in without an app."""

from __future__ import annotations

from hermes_tui.theming import load_theme
from hermes_tui.widgets.entries import Entry
from hermes_tui.widgets.rendering.code import CodeStyler
from hermes_tui.widgets.rendering.palette import Palette
from hermes_tui.widgets.rendering.rows import Detail, Frame, ReasoningLevel, Row


def frame(width: int = 80, detail: Detail = "normal", reasoning: ReasoningLevel = "line", now: float = 0.0) -> Frame:
    """A frame in the default theme; lexers load at once."""
    theme = load_theme("hermes-dark")
    colors = {name: str(getattr(theme, name)) for name in ("primary", "secondary", "accent", "success", "warning")}
    colors |= {name: str(getattr(theme, name)) for name in ("error", "foreground", "background", "surface", "panel")}
    return Frame(width, Palette({**colors, **theme.variables}), CodeStyler(), detail, reasoning, now=now)


def rows_of(entry: Entry, in_frame: Frame | None = None) -> list[Row]:
    """Draw all of an entry."""
    in_frame = in_frame or frame()
    entry.refresh(in_frame)
    while entry.is_behind:
        entry.refresh(in_frame)
    body = entry.body(in_frame)
    while entry.is_behind:
        entry.refresh(in_frame)
    return list(body.rows(in_frame))


def lines_of(entry: Entry, in_frame: Frame | None = None) -> list[str]:
    """Draw all of an entry as plain text, without margins."""
    return [row.text[2:].rstrip() for row in rows_of(entry, in_frame)]
