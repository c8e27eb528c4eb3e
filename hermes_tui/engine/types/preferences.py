"""What the screen needs to know of the settings; part of ``Settings`` and readable by the UI ring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

ApprovalMode: TypeAlias = Literal["ask", "strict", "smart", "plan", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UiSettings:
    """The ``[ui]`` table."""

    theme: str = "hermes-dark"
    """Name of a shipped theme or of a file in the user's themes folder."""
    animation: bool = True
    """False stops the spinner; nothing else moves anyway."""
    plain: bool = False
    """Screen-reader mode: no box art, no animation, state in words."""
    mouse: bool = True
    """False leaves the mouse to the terminal."""
    busy_input: Literal["queue", "steer", "interrupt"] = "queue"
    """What Enter does while a turn runs."""
    reasoning: Literal["hidden", "line", "full"] = "line"
    """How finished reasoning is shown."""
    detail: Literal["compact", "normal", "full"] = "normal"
    """How much of tool output is shown."""
    notify: bool = True
    """Bell or notification when unfocused and a turn ends or asks."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The ``[keys]`` table: action id -> key or comma-separated keys."""


UI_CHOICES: Mapping[str, tuple[str, ...]] = {
    "busy_input": ("queue", "steer", "interrupt"),
    "reasoning": ("hidden", "line", "full"),
    "detail": ("compact", "normal", "full"),
}
"""Accepted values of the fields of :class:`UiSettings` that have a fixed set; a test holds them to the types."""


def ui_from(table: Mapping[str, Any]) -> UiSettings:
    """Build the screen's settings from a ``[ui]`` table, leaving out what does not fit.

    The full reading of the settings, after the first paint, says what was left out and why.
    """
    defaults = UiSettings()
    fitting = {
        name: value
        for name, value in table.items()
        if name in UiSettings.__dataclass_fields__
        and type(value) is type(getattr(defaults, name))
        and (name not in UI_CHOICES or value in UI_CHOICES[name])
    }
    return UiSettings(**fitting)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """What the command line asked the app to open."""

    prompt: str = ""
    """Sent at once."""
    resume: str = ""
    """Session id or title; ``?`` opens the browser."""
    continue_last: bool = False
    demo: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether one session that was stored is to be shown."""
        return self.continue_last or self.resume not in ("", "?")
