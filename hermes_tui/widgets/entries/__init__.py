"""Entries of the transcript: plain records that draw themselves. They know no engine and no widget.

Each is loaded on first use (PEP 562): the first paint needs none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assistant import AssistantEntry
    from .base import Entry
    from .notice import DividerEntry, NoticeEntry
    from .reasoning import ReasoningEntry
    from .tool import ToolEntry
    from .user import UserEntry

__all__ = ["AssistantEntry", "DividerEntry", "Entry", "NoticeEntry", "ReasoningEntry", "ToolEntry", "UserEntry"]

_MODULES = {
    "AssistantEntry": "assistant",
    "DividerEntry": "notice",
    "Entry": "base",
    "NoticeEntry": "notice",
    "ReasoningEntry": "reasoning",
    "ToolEntry": "tool",
    "UserEntry": "user",
}


def __getattr__(name: str) -> Any:
    """Load an entry class."""
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
