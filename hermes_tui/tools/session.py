"""The objects that tools keep for a session, each under its one key of ``context.state``."""

from __future__ import annotations

from .ports import ToolContext
from .shell import Shell


def shell_of(context: ToolContext) -> Shell:
    """Return the session's shell. Its process starts on first use."""
    return context.state.get("shell", lambda: Shell(context.workspace, context.env))
