"""The ``memory`` tool: short notes that every later session starts with."""

from __future__ import annotations

from typing import Any, cast

from .base import Args, Result, ToolFailure
from .ports import Memory, ToolContext
from .registry import registry

ACTIONS = ("add", "replace", "remove")
MAX_ACTIONS = 20

_ACTION = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": list(ACTIONS)},
        "content": {"type": "string", "description": "The new entry, for add and replace."},
        "old_text": {"type": "string", "description": "A part of the entry to replace or remove that no other has."},
    },
    "required": ["action"],
    "additionalProperties": False,
}
SCHEMA = {
    "description": (
        "Keep a fact for all later sessions: target user for who the person is and how they want to work, target "
        "memory for what you learnt about their machine and projects. Facts only, one or two lines each; nothing that "
        "is true today only, no secrets. All actions of a call are done, or none. The notes of the present prompt do "
        "not change."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "target": {"type": "string", "enum": ["memory", "user"]},
            "actions": {"type": "array", "minItems": 1, "maxItems": MAX_ACTIONS, "items": _ACTION},
        },
        "required": ["target", "actions"],
        "additionalProperties": False,
    },
}


def run(args: Args, context: ToolContext) -> Result:
    """Change the notes."""
    actions = list(args["actions"])
    if len(actions) > MAX_ACTIONS:
        raise ToolFailure(f"At most {MAX_ACTIONS} actions in a call.")
    memory = cast(Memory, context.service("memory"))
    return {"ok": True, "target": args["target"], **memory.change(str(args["target"]), actions)}


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    verbs = ", ".join(dict.fromkeys(str(action.get("action", "")) for action in args.get("actions") or ()))
    shown: dict[str, Any] = {"kind": "generic", "verb": "memory", "target": f"{args.get('target', '')}: {verbs}"}
    shown["summary"] = ""
    if result is not None:
        full = f"{result.get('used_chars', 0):,} of {result.get('max_chars', 0):,} characters"
        shown["summary"] = full if result.get("ok", True) else str(result.get("error", ""))
    return shown


registry.register("memory", SCHEMA, run, toolset="memory", display=display, needs="memory")
