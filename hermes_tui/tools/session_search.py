"""The ``session_search`` tool: everything ever said, by words, by place, or by time."""

from __future__ import annotations

from typing import Any, cast

from .base import Args, Result
from .ports import Recall, ToolContext
from .registry import registry

MAX_HITS = 10
MAX_WINDOW = 20

SCHEMA = {
    "description": (
        "Search all stored sessions, this one's summarised messages included. With query: the sessions that match, "
        'with the best places and what was said around them (words, "a phrase", -not, OR, role:user, tool:terminal, '
        "after:7d). With session_id: read that session, its end or around around_message_id. With neither: the latest "
        "sessions."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 1_000},
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_HITS},
            "cursor": {"type": "string", "description": "From an earlier answer, for more hits."},
            "session_id": {"type": "string", "minLength": 1},
            "around_message_id": {"type": "integer", "minimum": 1},
            "window": {"type": "integer", "minimum": 1, "maximum": MAX_WINDOW, "description": "Messages on each side."},
        },
        "required": [],
        "additionalProperties": False,
    },
}


def run(args: Args, context: ToolContext) -> Result:
    """Search, read or list."""
    recall = cast(Recall, context.service("recall"))
    if args.get("query"):
        return {
            "ok": True,
            **recall.search(str(args["query"]), int(args.get("limit") or 5), str(args.get("cursor") or "")),
        }
    if args.get("session_id"):
        around = args.get("around_message_id")
        window = int(args.get("window") or MAX_WINDOW // 2)
        return {"ok": True, **recall.read(str(args["session_id"]), int(around) if around else None, window)}
    return {"ok": True, **recall.recent(int(args.get("limit") or MAX_HITS))}


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    target = str(args.get("query") or args.get("session_id") or "latest sessions")
    shown: dict[str, Any] = {"kind": "search", "verb": "session_search", "target": target, "summary": ""}
    if result is None:
        return shown
    if not result.get("ok", True):
        return shown | {"summary": str(result.get("error", ""))}
    what = "messages" if "messages" in result else "sessions"
    count = len(result[what])
    return shown | {"summary": f"{count} {what.removesuffix('s') if count == 1 else what}"}


registry.register("session_search", SCHEMA, run, toolset="sessions", parallel=True, display=display, needs="recall")
