"""Subagents: fresh agents for parts of the work, with a session, a budget and a shell of their own.

They ask through the parent's dialogs, spend from the parent's totals, and end when the parent's call ends.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, cast

from ...tools.ports import ToolContext
from ..checkpoints.tracker import Tracker
from ..policy.approvals import Approvals
from ..types.errors import HermesError
from ..types.events import Event, ToolFinished, ToolStarted
from ..types.usage import Usage
from .hub import Hub
from .interrupt import CancelToken
from .jobs import SessionJobs
from .request_log import RequestLog
from .spending import AskUser

BLOCKED_TOOLSETS = ("clarify", "memory", "delegate")
"""What a subagent never gets: it has nobody to ask, keeps no notes, and has no subagents."""
NAME_WORDS = 4

GUIDANCE = (
    "You are a subagent: another agent gave you one piece of work. You cannot ask anybody; decide yourself and say "
    "what you assumed. Do only what was asked. Your last message is your report and the only thing that is read: say "
    "what you did and found, with paths and exact values, and what is left open."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """What ties a subagent to the agent that started it."""

    session_id: str
    hub: Hub
    """Gets the subagent's events, marked with its name."""
    approvals: Approvals
    token: CancelToken
    """Ends the subagent's turn when cancelled."""
    add_usage: Callable[[Usage, float | None], None]
    """Counts what it spends."""
    requests: RequestLog
    """Keeps its requests among the parent's."""
    no_budget: Callable[[AskUser], str]
    """Says why it may not go on, empty when it may; asks the person through the function given."""
    tracker: Tracker | None = None
    """Counts what it does to files."""


class Child(Protocol):
    """The part of an agent that delegation uses."""

    hub: Hub
    jobs: SessionJobs

    @property
    def session_id(self) -> str:
        """Id of its session."""
        ...

    def run_conversation(self, user_message: str, system_message: str | None = None) -> dict[str, Any]:
        """Run its turn."""
        ...

    def close(self) -> None:
        """End its processes."""
        ...


Spawn = Callable[[str, CancelToken, Sequence[str]], Child]
"""``(name, token, toolsets)`` -> a fresh agent; empty toolsets mean the parent's."""


class Subagents:
    """Implements ``tools.ports.Delegation``. Several calls may run at once.

    Args:
        spawn: Makes an agent.
        max_at_once: Agents of one call that work at the same time.
    """

    def __init__(self, spawn: Spawn, max_at_once: int) -> None:
        self._spawn = spawn
        self._max_at_once = max(1, max_at_once)
        self._numbers = itertools.count(1)

    def run(self, tasks: Sequence[Mapping[str, Any]], context: ToolContext) -> list[dict[str, Any]]:
        """Run each task with an agent of its own and return what became of each, in order. Blocks."""
        names = [f"{next(self._numbers)} {' '.join(str(task['goal']).split()[:NAME_WORDS])}" for task in tasks]
        with ThreadPoolExecutor(self._max_at_once, thread_name_prefix="subagent") as pool:
            return list(pool.map(lambda name, task: self._run_one(name, task, context), names, tasks))

    def _run_one(self, name: str, task: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        started = time.monotonic()
        token = cast(CancelToken, context.cancel).child()
        child = self._spawn(name, token, [str(toolset) for toolset in task.get("toolsets") or ()])
        child.hub.subscribe(lambda event: _tell(event, name, context))
        asked = "\n\n".join(str(task[key]) for key in ("goal", "context") if task.get(key))
        try:
            result = child.run_conversation(asked, GUIDANCE)
        except HermesError as error:
            return {"goal": task["goal"], "status": "error", "error": str(error), "session_id": child.session_id}
        finally:
            left = [row for row in child.jobs.rows() if row.state == "running" and not row.is_detached]
            child.close()
            token.close()
        report: dict[str, Any] = {
            "goal": task["goal"],
            "status": result["exit_reason"],
            "summary": result["final_response"],
            "session_id": result["session_id"],
            "api_calls": result["api_calls"],
            "tool_calls": result["tool_calls_made"],
            "duration_s": round(time.monotonic() - started, 1),
            "model": result["model"],
        }
        if left:
            report["ended_jobs"] = [row.command for row in left]
        if result["errors"]:
            report["error"] = " ".join(result["errors"])
        return report


def _tell(event: Event, name: str, context: ToolContext) -> None:
    """Show in the parent's card what the subagent is doing."""
    match event:
        case ToolStarted():
            context.emit_output(f"[{name}] {event.name}: {event.display.get('target', '')}\n")
        case ToolFinished() if event.outcome != "ok":
            context.emit_output(f"[{name}] {event.name}: {event.outcome}\n")
