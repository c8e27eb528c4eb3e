"""The ``patch`` tool: replace a piece of text in a file."""

from __future__ import annotations

from typing import Any

from .base import Args, Assessment, Result, ToolFailure
from .diffs import unified
from .edits import Edit, carry_out, load_target, preview
from .matching import NotFound, Replaced, Several, replace
from .misses import not_found, several
from .paths import missing, show_relative
from .ports import ToolContext
from .registry import registry

SCHEMA = {
    "description": (
        "Change a file by replacing old_string with new_string. old_string must be in the file exactly once, so take "
        "whole lines around the change, without line numbers; replace_all changes every place. Line ends and "
        "encoding are kept. Returns the diff."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Relative to the shell's folder, absolute, or with ~."},
            "old_string": {"type": "string", "minLength": 1, "description": "Text to replace, as it is in the file."},
            "new_string": {"type": "string", "description": "Text to put there; empty to delete."},
            "replace_all": {"type": "boolean", "description": "Replace every place instead of the only one."},
        },
        "required": ["path", "old_string", "new_string"],
        "additionalProperties": False,
    },
}


def run(args: Args, context: ToolContext) -> Result:
    """Carry out the replacement."""
    edit, replaced = _plan(args, context)
    result = carry_out(context, edit)
    result["replacements"] = replaced.count
    if replaced.how:
        result["matched"] = f"ignoring {replaced.how}"
    return result


def _plan(args: Args, context: ToolContext) -> tuple[Edit, Replaced]:
    raw, old, new = str(args["path"]), str(args["old_string"]), str(args["new_string"])
    if not old:
        raise ToolFailure("old_string is empty: use write_file to make a file, or take lines around the change.")
    if old == new:
        raise ToolFailure("old_string and new_string are the same: there is nothing to change.")
    real, before = load_target(context, raw)
    if before is None:
        raise missing(real, raw)
    if before.mark:
        old, new = old.removeprefix("\ufeff"), new.removeprefix("\ufeff")
    try:
        replaced = replace(before.text, old, new, replace_all=bool(args.get("replace_all")))
    except Several as found:
        raise several(raw, found.lines) from None
    except NotFound:
        raise not_found(raw, before.text, old) from None
    if replaced.text == before.text:
        raise ToolFailure("The replacement changes nothing but line ends, and those are kept as they are.")
    shown = show_relative(context, real)
    edit = Edit(
        raw=raw,
        real=real,
        shown=shown,
        before=before,
        text=replaced.text,
        content=before.encode(replaced.text),
        diff=unified(shown, before.text, replaced.text),
    )
    return edit, replaced


def assess(args: Args, context: ToolContext) -> Assessment:
    """Say what would change."""
    return preview(context, [str(args.get("path", ""))], lambda: [_plan(args, context)[0]])


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    result = result or {}
    shown: dict[str, Any] = {"kind": "diff", "verb": "patch", "summary": ""}
    shown["target"] = str(result.get("path") or args.get("path", ""))
    if not result.get("ok", True):
        shown["summary"] = str(result.get("error", "")).partition("\n")[0]
        return shown
    if result:
        shown.update({key: result.get(key, 0) for key in ("diff", "added", "removed")})
        count = result.get("replacements", 1)
        shown["summary"] = f"{count} places" if count > 1 else str(result.get("matched", ""))
    return shown


registry.register("patch", SCHEMA, run, toolset="files", assess=assess, display=display)
