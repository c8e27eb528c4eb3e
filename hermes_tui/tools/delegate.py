"""The ``delegate_task`` tool: other agents do parts of the work, several at once."""

from __future__ import annotations

from typing import Any, cast

from .base import Args, Result, ToolFailure
from .ports import Delegation, ToolContext
from .registry import registry

MAX_TASKS = 3
MAX_SUMMARY_CHARS = 24_000
"""Of all reports together."""

_TASK: dict[str, Any] = {
    "goal": {"type": "string", "minLength": 1, "maxLength": 4_000, "description": "What to find out or to do."},
    "context": {
        "type": "string",
        "maxLength": 20_000,
        "description": "All that the agent must know; it sees nothing else.",
    },
    "toolsets": {"type": "array", "maxItems": 12, "items": {"type": "string"}, "description": "Only these toolsets."},
}
SCHEMA = {
    "description": (
        "Give work to a fresh agent that has your tools but not this conversation, and get its report. With tasks up "
        f"to {MAX_TASKS} agents work at once; use that only for parts that do not touch the same files."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            **_TASK,
            "tasks": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_TASKS,
                "items": {"type": "object", "properties": _TASK, "required": ["goal"], "additionalProperties": False},
            },
        },
        "required": [],
        "additionalProperties": False,
    },
}


def run(args: Args, context: ToolContext) -> Result:
    """Run the tasks and return what became of each."""
    tasks = list(args.get("tasks") or ([args] if args.get("goal") else []))
    if not tasks or (args.get("tasks") and args.get("goal")):
        raise ToolFailure("Give either goal or tasks.")
    if len(tasks) > MAX_TASKS:
        raise ToolFailure(f"At most {MAX_TASKS} tasks at once.")
    reports = cast(Delegation, context.service("delegation")).run(tasks, context)
    if context.cancel.cancelled:
        raise ToolFailure("Interrupted before all of it was done.", reports=reports)
    share = MAX_SUMMARY_CHARS // len(reports)
    for report in reports:
        summary = str(report.get("summary", ""))
        if len(summary) > share:
            report["summary"] = f"{summary[:share]} [... cut; session_search reads session {report['session_id']}]"
    return {"ok": True, "reports": reports}


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    goals = [str(task.get("goal", "")) for task in args.get("tasks") or [args]]
    shown: dict[str, Any] = {"kind": "agents", "verb": "delegate", "summary": ""}
    shown["target"] = goals[0] if len(goals) == 1 else f"{len(goals)} agents"
    shown["goals"] = goals
    if result is None:
        return shown
    if not result.get("ok", True):
        return shown | {"summary": str(result.get("error", ""))}
    reports = list(result.get("reports") or ())
    done = sum(report.get("status") == "done" for report in reports)
    return shown | {"summary": f"{done} of {len(reports)} done", "reports": reports}


registry.register(
    "delegate_task", SCHEMA, run, toolset="delegate", display=display, needs="delegation", is_bounded=False
)
