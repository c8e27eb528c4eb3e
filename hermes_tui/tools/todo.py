"""The ``todo`` tool: the session's list of steps, shown in the side panel."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from .base import Args, Result, ToolFailure
from .ports import SessionState, ToolContext
from .registry import registry

STATUSES = ("pending", "in_progress", "done")
MAX_ITEMS = 200
MAX_CHARS = 2_000

SCHEMA = {
    "description": (
        "Keep a list of steps for work of three steps or more; the person sees it. Give the whole list, or with merge "
        "only the items that change (by id). Keep one item in_progress, and mark items done as soon as they are. "
        "Without todos it returns the list."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "maxItems": MAX_ITEMS,
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "content": {"type": "string", "maxLength": MAX_CHARS},
                        "status": {"type": "string", "enum": list(STATUSES)},
                    },
                    "required": ["id", "content", "status"],
                    "additionalProperties": False,
                },
            },
            "merge": {"type": "boolean", "description": "Change or add these items and keep the others."},
        },
        "required": [],
        "additionalProperties": False,
    },
}


class TodoList:
    """The list. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: dict[str, dict[str, str]] = {}

    def items(self) -> list[dict[str, str]]:
        """Return a copy, in order."""
        with self._lock:
            return [dict(item) for item in self._items.values()]

    def update(self, items: Sequence[Mapping[str, Any]], *, merge: bool) -> None:
        """Replace the list, or change and add items.

        Raises:
            ToolFailure: An item has no id or content or an unknown status, an id is there twice, or there are too many.
        """
        fresh = {item["id"]: item for item in map(_checked, items)}
        if len(fresh) < len(items):
            raise ToolFailure("Two todos have the same id: give each its own.")
        with self._lock:
            merged = {**self._items, **fresh} if merge else fresh
            if len(merged) > MAX_ITEMS:
                raise ToolFailure(f"More than {MAX_ITEMS} todos: put small steps together.")
            self._items = merged


def _checked(item: Mapping[str, Any]) -> dict[str, str]:
    found = {key: str(item.get(key, "")).strip() for key in ("id", "content", "status")}
    if not found["id"] or not found["content"]:
        raise ToolFailure("Every todo needs an id and a content.")
    if len(found["content"]) > MAX_CHARS:
        raise ToolFailure(f"The todo {found['id']} is longer than {MAX_CHARS} characters.")
    if found["status"] not in STATUSES:
        raise ToolFailure(f"The todo {found['id']} has the status {found['status']!r}: use {', '.join(STATUSES)}.")
    return found


def todo_list(state: SessionState) -> TodoList:
    """Return the session's list."""
    return state.get("todos", TodoList)


def restore(state: SessionState, result: Result) -> None:
    """Put back the list of a resumed session, as its last result had it."""
    todo_list(state).update(result.get("todos") or [], merge=False)


def pin(state: SessionState) -> str:
    """Return the list for a compressed conversation."""
    lines = [f"- [{item['status']}] {item['content']} (id {item['id']})" for item in todo_list(state).items()]
    return "\n".join(["# Todo list", *lines]) if lines else ""


def run(args: Args, context: ToolContext) -> Result:
    """Change or return the list."""
    todos = todo_list(context.state)
    if args.get("todos") is not None:
        todos.update(args["todos"], merge=bool(args.get("merge")))
        context.publish_todos(todos.items())
    items = todos.items()
    counts = {status: sum(item["status"] == status for item in items) for status in STATUSES}
    return {"ok": True, "todos": items, "counts": counts}


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    shown: dict[str, Any] = {"kind": "todo", "verb": "todo", "target": "", "summary": ""}
    if result is None:
        return shown | {"items": list(args.get("todos") or [])}
    if not result.get("ok", True):
        return shown | {"summary": str(result.get("error", "")), "items": []}
    items = list(result.get("todos") or [])
    done = sum(item.get("status") == "done" for item in items)
    return shown | {"summary": f"{done} of {len(items)} done", "items": items}


registry.register("todo", SCHEMA, run, toolset="todo", display=display, restore=restore, pin=pin)
