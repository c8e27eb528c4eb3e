"""The objects that tools keep for a session, each under its one key of ``context.state``."""

from __future__ import annotations

from .jobs import JobTable
from .ports import ToolContext
from .shell import Shell

JOBS = "jobs"
"""The key of the table of jobs; the engine puts one there that tells of them."""


def shell_of(context: ToolContext) -> Shell:
    """Return the session's shell. Its process starts on first use."""
    return context.state.get("shell", lambda: Shell(context.workspace, context.env))


def jobs_of(context: ToolContext) -> JobTable:
    """Return the session's background jobs."""
    return context.state.get(JOBS, JobTable)
