"""Entries of the transcript: plain records that draw themselves. They know no engine and no widget."""

from .assistant import AssistantEntry
from .base import Entry
from .notice import DividerEntry, NoticeEntry
from .reasoning import ReasoningEntry
from .tool import ToolEntry
from .user import UserEntry

__all__ = ["AssistantEntry", "DividerEntry", "Entry", "NoticeEntry", "ReasoningEntry", "ToolEntry", "UserEntry"]
