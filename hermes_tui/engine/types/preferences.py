"""What the screen needs to know of the settings; part of ``Settings`` and readable by the UI ring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


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
    language: str = ""
    """``en`` or ``zh``; empty follows LANG."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The ``[keys]`` table: action id -> key or comma-separated keys."""
