"""The ``patch`` tool: replace a piece of text in a file, or apply a patch over several."""

from __future__ import annotations

from typing import Any

from .base import Args, Assessment, Result, ToolFailure
from .diffs import first_changed_line, unified
from .edits import Edit, carry_out, carry_out_all, load_target, preview
from .matching import NotFound, Replaced, Several, replace
from .misses import not_found, several
from .paths import missing, show_relative
from .ports import ToolContext
from .registry import registry
from .session import shell_of
from .v4a import parse, plan

SCHEMA = {
    "description": (
        "Change files. Either replace old_string with new_string in path: old_string must be in the file exactly once, "
        "so take whole lines around the change, without line numbers; replace_all changes every place. Or give patch, "
        "for several places or files at once, all or nothing: *** Begin Patch, *** Update File: PATH, @@ LINE BEFORE, "
        "lines marked ' ', '-' or '+', *** Add File: PATH, *** Delete File: PATH, *** Move to: PATH, *** End Patch. "
        "Line ends and encoding are kept. Returns the diff."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Relative to the shell's folder, absolute, or with ~."},
            "old_string": {"type": "string", "minLength": 1, "description": "Text to replace, as it is in the file."},
            "new_string": {"type": "string", "description": "Text to put there; empty to delete."},
            "replace_all": {"type": "boolean", "description": "Replace every place instead of the only one."},
            "patch": {"type": "string", "minLength": 1, "description": "A whole patch, instead of the others."},
        },
        "required": [],
        "additionalProperties": False,
    },
}


def run(args: Args, context: ToolContext) -> Result:
    """Carry out the replacement or the patch."""
    if args.get("patch"):
        return _run_patch(args, context)
    edit, replaced = _plan(args, context)
    result = carry_out(context, edit)
    result["replacements"] = replaced.count
    if replaced.how:
        result["matched"] = f"ignoring {replaced.how}"
    return result


def _run_patch(args: Args, context: ToolContext) -> Result:
    edits = _plan_all(args, context)
    results = carry_out_all(context, edits)
    files = [{key: one[key] for key in ("path", "added", "removed", "deleted") if key in one} for one in results]
    result: Result = {"ok": True, "files": files, "diff": "".join(one["diff"] for one in results)}
    result.update({key: sum(one[key] for one in results) for key in ("added", "removed")})
    notes = [f"{one['path']}: {one['note']}" for one in results if "note" in one]
    if notes:
        result["note"] = " ".join(notes)
    return result


def _plan_all(args: Args, context: ToolContext) -> list[Edit]:
    if not args.get("patch"):
        return [_plan(args, context)[0]]
    if any(args.get(key) for key in ("old_string", "new_string")):
        raise ToolFailure("Give either patch, or path with old_string and new_string.")
    edits = plan(str(args["patch"]), context)
    if all(edit.before is not None and edit.before.text == edit.text for edit in edits):
        raise ToolFailure("The patch changes nothing.")
    return edits


def _plan(args: Args, context: ToolContext) -> tuple[Edit, Replaced]:
    absent = [name for name in ("path", "old_string", "new_string") if not isinstance(args.get(name), str)]
    if absent:
        raise ToolFailure(f"Missing: {', '.join(absent)}. Give path, old_string and new_string, or patch.")
    raw, old, new = args["path"], args["old_string"], args["new_string"]
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
    raws = [str(args.get("path", ""))]
    if args.get("patch"):
        try:
            sections = parse(str(args["patch"]))
        except ToolFailure:
            return Assessment(cwd=shell_of(context).cwd)  # the call itself will say so
        raws = list(dict.fromkeys(path for one in sections for path in (one.path, one.move_to) if path))
    return preview(context, raws, lambda: _plan_all(args, context))


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    result = result or {}
    shown: dict[str, Any] = {"kind": "diff", "verb": "patch", "summary": ""}
    shown["target"] = str(result.get("path") or args.get("path", "")) or _files(args)
    if not result.get("ok", True):
        shown["summary"] = str(result.get("error", "")).partition("\n")[0]
        return shown
    if result:
        shown.update({key: result.get(key, 0) for key in ("diff", "added", "removed")})
        shown["path"] = str(result.get("path") or "") or _files(args).partition(",")[0].rpartition(" -> ")[2]
        shown["line"] = first_changed_line(str(result.get("diff", "")))
        count = result.get("replacements", 1)
        shown["summary"] = f"{count} places" if count > 1 else str(result.get("matched", ""))
    return shown


def _files(args: Args) -> str:
    """Name every file of a patch."""
    try:
        sections = parse(str(args.get("patch", "")))
    except ToolFailure:
        return ""
    names = (f"{one.path} -> {one.move_to}" if one.move_to else one.path for one in sections)
    return ", ".join(dict.fromkeys(names))


registry.register("patch", SCHEMA, run, toolset="files", assess=assess, display=display)
