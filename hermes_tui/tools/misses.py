"""Say why the text of an edit was not found, and what the file has instead."""

from __future__ import annotations

import difflib
import re

from .base import ToolFailure

_NUMBERED = re.compile(r"[ ]*\d+\t")
_LINES_COMPARED = 5_000
_SHOWN_PLACES = 3


def several(raw: str, lines: tuple[int, ...]) -> ToolFailure:
    """The text is there more than once."""
    shown = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
    count = f"{len(lines)} times" if len(lines) < 50 else "very often"
    return ToolFailure(
        f"old_string is {count} in {raw} (lines {shown}). Nothing was changed: add lines around it until it is "
        "unique, or set replace_all.",
        lines=list(lines[:50]),
    )


def not_found(raw: str, text: str, old: str) -> ToolFailure:
    """The text is not there; show the nearest places."""
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    near = _nearest(lines, old)
    parts = [f"old_string is not in {raw}. Nothing was changed.", _reason(text, old)]
    if near:
        parts.append("The nearest places are:")
        parts += [_excerpt(lines, at, old.count("\n") + 1) for at in near]
    return ToolFailure("\n".join(part for part in parts if part), near_lines=[at + 1 for at in near])


def _reason(text: str, old: str) -> str:
    filled = [line for line in old.split("\n") if line.strip()]
    if filled and all(_NUMBERED.match(line) for line in filled):
        return "It begins its lines with the line numbers of read_file: leave them out."
    if old.casefold() in text.casefold():
        return "It is there in other capital and small letters."
    if "\\n" in old and old.replace("\\n", "\n") in text:
        return r"It holds \n as two characters where the file has a line end."
    return ""


def _nearest(lines: list[str], old: str) -> list[int]:
    wanted = max((line.strip() for line in old.split("\n")), key=len, default="")[:200]
    if not wanted:
        return []
    places: dict[str, int] = {}
    for index, line in enumerate(lines[:_LINES_COMPARED]):
        places.setdefault(line.strip()[:200], index)
    places.pop("", None)
    ahead = next((i for i, line in enumerate(old.split("\n")) if line.strip()[:200] == wanted), 0)
    close = difflib.get_close_matches(wanted, places, n=_SHOWN_PLACES, cutoff=0.6)
    return [max(0, places[line] - ahead) for line in close]


def _excerpt(lines: list[str], at: int, count: int) -> str:
    first = max(0, at - 1)
    shown = lines[first : at + min(count, 8) + 1]
    return "\n".join(f"{first + index + 1}\t{line[:300]}" for index, line in enumerate(shown))
