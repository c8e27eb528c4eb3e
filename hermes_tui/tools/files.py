"""The tools ``read_file`` and ``write_file``."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from .base import Args, Assessment, PathUse, Result, ToolFailure
from .diffs import first_changed_line, unified
from .edits import Edit, carry_out, load_target, preview
from .paths import Seen, assessed, missing, real_path, show_relative, status_of
from .ports import ToolContext
from .reading import list_folder, number_lines, read_window
from .readtable import read_table
from .registry import registry
from .session import shell_of
from .textfile import encode

DEFAULT_LINES = 500
MAX_LINES = 2_000
DISPLAY_CHARS = 20_000
"""The card holds this much; the rest is in the result."""

READ_SCHEMA = {
    "description": (
        "Read a text file: lines come as number, tab, text. Reads 500 lines from the start unless told otherwise; "
        "next_offset says where to go on. A folder is listed."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Relative to the shell's folder, absolute, or with ~."},
            "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1."},
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LINES, "description": "Number of lines."},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
}

WRITE_SCHEMA = {
    "description": (
        "Write a whole text file, new or over an old one; folders are made. Keeps the old one's mode, encoding and "
        "line ends. To change parts of a file use patch. Refused when the file changed since it was read."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Relative to the shell's folder, absolute, or with ~."},
            "content": {"type": "string", "description": "All of the new text."},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    },
}


def read(args: Args, context: ToolContext) -> Result:
    """Read lines of a file, or list a folder."""
    raw = str(args["path"])
    first = max(1, int(args.get("offset") or 1))
    count = min(MAX_LINES, max(1, int(args.get("limit") or DEFAULT_LINES)))
    path = real_path(context, raw)
    status = status_of(path, raw)
    if status is None:
        raise missing(path, raw)
    if stat.S_ISDIR(status.st_mode):
        return _listing(context, path, raw, first, count)
    window = read_window(path, raw, first, count, context.cancel)
    table = read_table(context)
    table.note(str(path), window.stamp)
    shown = show_relative(context, path)
    result: Result = {"ok": True, "path": shown, "total_lines": window.total_lines, "size_bytes": window.size_bytes}
    if not context.is_scripted and table.is_repeated(str(path), (first, count)):
        result.update(unchanged=True, note="Unchanged since you read these lines. Ask again to see them once more.")
        return result
    result["content"], fitted, cut = number_lines(window.lines, first, is_numbered=not context.is_scripted)
    last = first + fitted - 1
    result.update(first_line=first, last_line=last)
    notes = list(window.notes)
    if last < window.total_lines and fitted:
        result.update(truncated=True, next_offset=last + 1)
        notes.append(f"Lines {first}-{last} of {window.total_lines}: go on with offset {last + 1}.")
    elif not fitted:
        total = window.total_lines
        notes.append(f"There is no line {first}: it has {total}." if total else "It is empty.")
    if cut:
        notes.append(f"{cut} long line(s) cut: use cut -c or a script in the terminal to see them whole.")
    if window.encoding:
        result["encoding"] = window.encoding
    if notes:
        result["note"] = " ".join(notes)
    return result


def _listing(context: ToolContext, path: Path, raw: str, first: int, count: int) -> Result:
    names = list_folder(path, raw)
    kept = names[first - 1 : first - 1 + count]
    result: Result = {"ok": True, "path": show_relative(context, path), "kind": "directory", "entries": len(names)}
    result["content"] = "\n".join(kept)
    last = first - 1 + len(kept)
    if last < len(names):
        result.update(truncated=True, next_offset=last + 1)
        result["note"] = f"Entries {first}-{last} of {len(names)}: go on with offset {last + 1}."
    elif not names:
        result["note"] = "The folder is empty."
    if any("\\" in name for name in kept):
        note = "Names with \\x.. or \\n hold bytes that are no text: address them in the terminal with $'...'."
        result["note"] = f"{result['note']} {note}" if "note" in result else note
    return result


def assess_read(args: Args, context: ToolContext) -> Assessment:
    """Say what would be read."""
    raw = str(args.get("path", ""))
    return Assessment(paths=(PathUse(raw, "read", _remember(context, raw)),), cwd=shell_of(context).cwd, read_only=True)


def _remember(context: ToolContext, raw: str) -> str:
    try:
        real = str(real_path(context, raw))
    except ToolFailure:
        return ""  # the call itself will say so
    assessed(context).remember(context.call_id, raw, Seen(real))
    return real


def write(args: Args, context: ToolContext) -> Result:
    """Write a whole file."""
    edit = _plan_write(args, context)
    if edit.before is not None and edit.content == edit.before.encode(edit.before.text):
        result: Result = {"ok": True, "path": edit.shown, "diff": "", "added": 0, "removed": 0}
        result["note"] = "The file has this content already."
        return result
    result = carry_out(context, edit)
    result["size_bytes"] = len(edit.content)
    if edit.before is None:
        result["created"] = True
        del result["diff"]  # the model has just written all of it; the card makes it from the arguments
    return result


def _plan_write(args: Args, context: ToolContext) -> Edit:
    raw, text = str(args["path"]), str(args["content"])
    if raw.endswith("/"):
        raise ToolFailure(f"{raw} names a folder: give the file's name.")
    real, before = load_target(context, raw)
    notes: list[str] = []
    if before is None:
        content = encode(text, "utf-8")
    else:
        if before.newline == "\r\n" and "\r" not in text:
            text = text.replace("\n", "\r\n")
        text = text.removeprefix("\ufeff") if before.mark else text
        try:
            content = before.encode(text)
        except ToolFailure:
            content = encode(text, "utf-8")
            notes.append(f"It was {before.encoding_name}, which lacks some characters; now it is UTF-8.")
    shown = show_relative(context, real)
    diff = unified(shown, before.text if before else None, text)
    return Edit(
        raw=raw, real=real, shown=shown, before=before, text=text, content=content, diff=diff, notes=tuple(notes)
    )


def assess_write(args: Args, context: ToolContext) -> Assessment:
    """Say what would be written, with its diff."""
    return preview(context, [str(args.get("path", ""))], lambda: [_plan_write(args, context)])


def display_read(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card of a read."""
    shown: dict[str, Any] = {"kind": "file", "verb": "read", "target": _target(args, result), "summary": ""}
    if result is None:
        return shown
    shown["content"] = str(result.get("content", ""))[:DISPLAY_CHARS]
    shown["line"] = result.get("first_line", 1)
    if not result.get("ok", True):
        shown["summary"] = str(result.get("error", ""))
    elif result.get("unchanged"):
        shown["summary"] = "unchanged"
    elif result.get("kind") == "directory":
        shown["verb"] = "list"
        shown["summary"] = _count(result.get("entries", 0), "entry", "entries")
    elif result.get("truncated") or result.get("first_line", 1) > 1:
        shown["summary"] = f"lines {result.get('first_line')}-{result.get('last_line')} of {result.get('total_lines')}"
    else:
        shown["summary"] = _count(result.get("total_lines", 0), "line", "lines")
    return shown


def display_write(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card of a write."""
    shown: dict[str, Any] = {"kind": "diff", "verb": "write", "target": _target(args, result), "summary": ""}
    if result is None or not result.get("ok", True):
        shown["summary"] = str((result or {}).get("error", ""))
        return shown
    diff = str(result.get("diff", ""))
    if result.get("created"):
        diff = unified(shown["target"], None, str(args.get("content", ""))).text
        shown["summary"] = "new file"
    elif not diff:
        shown["summary"] = "unchanged"
    shown.update(diff=diff, added=result.get("added", 0), removed=result.get("removed", 0))
    shown["line"] = first_changed_line(diff)
    return shown


def _target(args: Args, result: Result | None) -> str:
    return str((result or {}).get("path") or args.get("path", ""))


def _count(number: Any, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


registry.register(
    "read_file",
    READ_SCHEMA,
    read,
    toolset="files",
    parallel=True,
    assess=assess_read,
    display=display_read,
    max_result_chars=200_000,
)
registry.register("write_file", WRITE_SCHEMA, write, toolset="files", assess=assess_write, display=display_write)
