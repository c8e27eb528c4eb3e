"""Finished searches and their pages."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from .base import Result, ToolFailure
from .paths import show
from .search_types import Hit

LINE_CHARS = 500
_KEPT_SEARCHES = 8


@dataclass(frozen=True, slots=True)
class Listing:
    """A finished search, kept so that its pages fit together."""

    rows: list[list[Hit]]
    """Per match: its line and the lines around it. For names: one pseudo line each."""
    prefix: str
    files: int
    is_content: bool
    stopped: str
    notes: tuple[str, ...]


class Searches:
    """The last searches of a session. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Listing] = OrderedDict()
        self._count = 0
        self._told_slow = False

    def keep(self, listing: Listing) -> str:
        """Keep a search and return its name."""
        with self._lock:
            self._count += 1
            name = f"s{self._count}"
            self._kept[name] = listing
            while len(self._kept) > _KEPT_SEARCHES:
                self._kept.popitem(last=False)
            return name

    def recall(self, cursor: str) -> tuple[str, Listing, int]:
        """Return the search of a cursor and where its page begins.

        Raises:
            ToolFailure: It is not kept any more, or no cursor.
        """
        name, _, start = cursor.partition(":")
        with self._lock:
            listing = self._kept.get(name)
        if listing is None or not start.isdecimal():
            raise ToolFailure("This cursor is not valid any more: search again without it.")
        return name, listing, int(start)

    def slow_note(self) -> str:
        """Say once that ripgrep is missing."""
        with self._lock:
            told, self._told_slow = self._told_slow, True
        return "" if told else "ripgrep (rg) was not found: searched more slowly, without it."


def group_rows(hits: list[Hit], context: int) -> list[list[Hit]]:
    """Group lines by match: what follows a match within the context is its own, what precedes it too."""
    rows: list[list[Hit]] = []
    ahead: list[Hit] = []
    for hit in hits:
        if hit.is_match:
            rows.append([*ahead, hit])
            ahead = []
        elif rows and not ahead and rows[-1][-1].path == hit.path and hit.line - _match_line(rows[-1]) <= context:
            rows[-1].append(hit)
        else:
            ahead.append(hit)
    return rows


def _match_line(row: list[Hit]) -> int:
    return next(hit.line for hit in row if hit.is_match)


def page_of(listing: Listing, name: str, start: int, limit: int) -> Result:
    """Return the rows of one page, with the way to the next."""
    rows = listing.rows[start : start + limit]
    end = start + len(rows)
    more = end < len(listing.rows)
    result: Result = {"ok": True, "output": _text(rows, listing)}
    result["matches" if listing.is_content else "count"] = len(listing.rows)
    result.update(files=listing.files, shown=len(rows), truncated=more or bool(listing.stopped))
    notes = list(listing.notes)
    if more:
        result["next_cursor"] = f"{name}:{end}"
        notes.insert(0, f"{start + 1}-{end} of {len(listing.rows)}: repeat with cursor {name}:{end} for more.")
    if listing.stopped:
        result["at_least"] = True
    if notes:
        result["note"] = " ".join(notes)
    return result


def _text(rows: list[list[Hit]], listing: Listing) -> str:
    if not listing.is_content:
        return "\n".join(listing.prefix + show(row[0].path) for row in rows)
    lines: list[str] = []
    path = ""
    for row in rows:
        for hit in row:
            if hit.path != path:
                path = hit.path
                is_file = listing.prefix and not listing.prefix.endswith("/")
                lines.append(listing.prefix if is_file else listing.prefix + show(path))
            lines.append(f"{hit.line}{':' if hit.is_match else '-'} {_clip(hit)}")
    return "\n".join(lines)


def _clip(hit: Hit) -> str:
    if len(hit.text) <= LINE_CHARS:
        return hit.text
    first = max(0, min(hit.at - LINE_CHARS // 4, len(hit.text) - LINE_CHARS))
    return ("… " if first else "") + hit.text[first : first + LINE_CHARS] + " …" * (first + LINE_CHARS < len(hit.text))
