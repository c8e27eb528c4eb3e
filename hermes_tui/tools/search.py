"""The ``search_files`` tool: look through contents or names, with pages that don't shift."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import pysearch, ripgrep
from .base import Args, Assessment, PathUse, Result, ToolFailure
from .globs import GlobFilter
from .paths import Seen, assessed, kind_of, missing, real_path, status_of
from .ports import ToolContext
from .registry import registry
from .search_pages import Listing, Searches, group_rows, page_of
from .search_types import Found, Hit, Query
from .session import shell_of

DEFAULT_LIMIT = 50
MAX_LIMIT = 500
MAX_CONTEXT = 10
DISPLAY_CHARS = 20_000
"""The card holds this much; the rest is in the result."""

SCHEMA = {
    "description": (
        "Search file contents (target content; pattern is a regular expression) or find files by name (target files; "
        "pattern is a glob such as *.py, or part of a path). Honours .gitignore and leaves hidden files out unless "
        "glob or pattern names them. Says when there is more: repeat with cursor for the next page."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "minLength": 1},
            "target": {"type": "string", "enum": ["content", "files"], "description": "content unless given."},
            "path": {"type": "string", "description": "Folder or file to look in; the shell's folder unless given."},
            "glob": {"type": "string", "description": "Only files like this, e.g. *.{ts,tsx}, src/**, !*.min.js."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LIMIT,
                "description": "Per page, 50 unless given.",
            },
            "cursor": {"type": "string", "description": "next_cursor of the page before."},
            "context": {
                "type": "integer",
                "minimum": 0,
                "maximum": MAX_CONTEXT,
                "description": "Lines around matches.",
            },
            "ignore_case": {"type": "boolean"},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    },
}


def run(args: Args, context: ToolContext) -> Result:
    """Search, or turn to the next page."""
    searches = context.state.get("searches", Searches)
    limit = min(MAX_LIMIT, max(1, int(args.get("limit") or DEFAULT_LIMIT)))
    if args.get("cursor"):
        name, listing, start = searches.recall(str(args["cursor"]))
    else:
        listing, start = _search(args, context, searches), 0
        name = searches.keep(listing)
    if listing.stopped == "cancel":
        raise ToolFailure("Interrupted: the search was ended.", interrupted=True)
    return page_of(listing, name, start, limit)


def _search(args: Args, context: ToolContext, searches: Searches) -> Listing:
    pattern = str(args["pattern"])
    if not pattern or "\0" in pattern:
        raise ToolFailure("The pattern is empty or holds a NUL character.")
    is_content = args.get("target", "content") != "files"
    raw = str(args.get("path") or "")
    query = _query(args, context, pattern, raw, is_content)
    program = ripgrep.find_ripgrep(context.env.get("PATH"))
    notes = [] if program else [searches.slow_note()]
    if is_content:
        found = (
            ripgrep.search_content(program, query, context.cancel)
            if program
            else pysearch.search_content(query, context.cancel)
        )
        rows = group_rows(found.in_order(), query.context)
    else:
        keep = _name_filter(pattern, bool(args.get("ignore_case")))
        is_name = _is_glob(pattern) and "/" not in pattern and not pattern.startswith("!") and not query.ignore_case
        found = (
            ripgrep.list_files(program, query, context.cancel, keep, pattern if is_name else "")
            if program
            else pysearch.list_files(query, context.cancel, keep)
        )
        rows = [[Hit(name, 0, "")] for name in _newest_first(query.root, found.names)]
    notes += [*dict.fromkeys(found.notes), *_advice(found, query, bool(rows))]
    prefix = "" if raw in {"", ".", "./"} else raw if query.start != "." else raw.rstrip("/") + "/"
    files = len({row[0].path for row in rows})
    return Listing(rows, prefix, files, is_content, found.stopped, tuple(note for note in notes if note))


def _query(args: Args, context: ToolContext, pattern: str, raw: str, is_content: bool) -> Query:
    root = real_path(context, raw or ".")
    status = status_of(root, raw or ".")
    if status is None:
        raise missing(root, raw)
    start = "."
    if not stat.S_ISDIR(status.st_mode):
        if not stat.S_ISREG(status.st_mode):
            raise ToolFailure(f"{raw} is {kind_of(status.st_mode)}, not a regular file.")
        root, start = root.parent, f"./{root.name}"
    globs = tuple(glob for glob in [str(args.get("glob") or "").strip()] if glob)
    names = [*globs, *([] if is_content else [pattern])]
    return Query(
        pattern=pattern,
        root=root,
        start=start,
        globs=globs,
        context=min(MAX_CONTEXT, max(0, int(args.get("context") or 0))),
        ignore_case=bool(args.get("ignore_case")),
        hidden=any(part.startswith(".") and part not in {".", ".."} for name in names for part in name.split("/")),
    )


def _name_filter(pattern: str, ignore_case: bool) -> Any:
    if _is_glob(pattern):
        return GlobFilter((pattern.removeprefix("./"),), ignore_case=ignore_case)
    if not ignore_case and pattern != pattern.lower():
        return lambda name: pattern in name
    folded = pattern.casefold()
    return lambda name: folded in name.casefold()


def _is_glob(pattern: str) -> bool:
    return any(char in pattern for char in "*?[{")


def _newest_first(root: Path, names: list[str]) -> list[str]:
    times: dict[str, int] = {}
    for name in names:
        with suppress(OSError):
            times[name] = os.lstat(root / name).st_mtime_ns
    return sorted(names, key=lambda name: (-times.get(name, 0), name))


def _advice(found: Found, query: Query, any_found: bool) -> list[str]:
    notes = []
    if found.stopped == "cap":
        cap = query.match_cap if found.hits else query.name_cap
        notes.append(f"Stopped after {cap:,}: there are more. Narrow pattern, glob or path.")
    if found.stopped == "time":
        notes.append(f"Stopped after {ripgrep.TIMEOUT_S:g} s: there may be more. Narrow glob or path.")
    if not any_found and not query.hidden and not found.stopped and query.start == ".":
        notes.append("Nothing found. Ignored and hidden files were not searched.")
    return notes


def assess(args: Args, context: ToolContext) -> Assessment:
    """Say where would be looked."""
    raw = str(args.get("path") or ".")
    with suppress(ToolFailure):
        assessed(context).remember(context.call_id, raw, Seen(str(real_path(context, raw))))
    return Assessment(paths=(PathUse(raw, "read"),), cwd=shell_of(context).cwd, read_only=True)


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    where = str(args.get("path") or args.get("glob") or "")
    shown: dict[str, Any] = {"kind": "search", "verb": "search", "target": str(args.get("pattern", "")), "summary": ""}
    shown["where"] = where
    if result is None:
        return shown
    if not result.get("ok", True):
        return shown | {"summary": str(result.get("error", ""))}
    shown["output"] = str(result.get("output", ""))[:DISPLAY_CHARS]
    shown["summary"] = _summary(result)
    return shown


def _summary(result: Result) -> str:
    files = int(result.get("files", 0))
    file_words = f"{files:,} file" + "s" * (files != 1)
    at_least = "at least " * bool(result.get("at_least"))
    if "count" in result:
        return f"{at_least}{file_words}" if files else "no files"
    count = int(result.get("matches", 0))
    return f"{at_least}{count:,} match{'es' * (count != 1)} in {file_words}" if count else "no matches"


registry.register("search_files", SCHEMA, run, toolset="search", parallel=True, assess=assess, display=display)
