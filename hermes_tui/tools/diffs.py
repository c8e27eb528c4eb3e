"""Unified diffs of edits, quick also for long files."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

CONTEXT = 3
COMPARED_LINES = 3_000
"""Longer changed stretches are shown as taken out and put in, without a search for what they share."""
SHOWN_CHARS = 16_000


@dataclass(frozen=True, slots=True)
class Diff:
    """An edit as text and numbers."""

    text: str = ""
    added: int = 0
    removed: int = 0


def unified(path: str, old: str | None, new: str) -> Diff:
    """Compare two texts; ``old`` is None for a new file. Line ends count, and are not shown."""
    was = old or ""
    head = _context_start(was, _common(was, new))
    tail = _context_end(was, _common(was[head:][::-1], new[head:][::-1]))
    before, after = _lines(was[head : len(was) - tail]), _lines(new[head : len(new) - tail])
    start = _common(before, after)
    same_end = _common(before[start:][::-1], after[start:][::-1])
    hunks, added, removed = _hunks(before, after, was.count("\n", 0, head), (start, same_end))
    if not hunks:
        return Diff()
    names = [f"--- {'/dev/null' if old is None else 'a/' + path}", f"+++ b/{path}"]
    return Diff(_cap("\n".join(names + hunks) + "\n"), added, removed)


def deleted(path: str, old: str) -> Diff:
    """Show a deletion."""
    lines = _lines(old)
    hunks, _, removed = _hunks(lines, [], 0, (0, 0))
    return Diff(_cap("\n".join([f"--- a/{path}", "+++ /dev/null", *hunks]) + "\n"), 0, removed)


def first_changed_line(diff: str) -> int:
    """Return the line of the new file at which a diff's first change stands, from 1; 1 when it has none."""
    number = 0
    for line in diff.split("\n"):
        if line.startswith("@@ "):
            number = int(line.partition(" +")[2].partition(" ")[0].partition(",")[0])
        elif number and line[:1] in ("+", "-"):
            return max(1, number)
        elif number:
            number += 1
    return 1


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    else:
        lines[-1] += "\n\\ No newline at end of file"
    return lines


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how much both begin with; compares halves as a whole, which is many times faster than one by one."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _context_start(text: str, at: int) -> int:
    """Return where the context of a change begins: some whole lines before the line it is in."""
    for _ in range(CONTEXT + 1):
        at = text.rfind("\n", 0, max(0, at))
        if at < 0:
            return 0
    return at + 1


def _context_end(text: str, size: int) -> int:
    """Return how much of a text's end is no context of a change any more; ``size`` of it is common."""
    at = len(text) - size
    for _ in range(CONTEXT + 1):
        at = text.find("\n", at) + 1
        if not at:
            return 0
    return len(text) - at


def _groups(before: list[str], after: list[str], same: tuple[int, int]) -> list[list[tuple[str, int, int, int, int]]]:
    i2, j2 = len(before), len(after)
    if max(i2, j2) <= COMPARED_LINES:
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=max(i2, j2) > 500)
        return [list(group) for group in matcher.get_grouped_opcodes(CONTEXT)]
    head, tail = same
    middle = ("replace", head, i2 - tail, head, j2 - tail)
    return [[("equal", 0, head, 0, head), middle, ("equal", i2 - tail, i2, j2 - tail, j2)]]


def _hunks(before: list[str], after: list[str], first: int, same: tuple[int, int]) -> tuple[list[str], int, int]:
    """Return hunk lines and the counts.

    Args:
        before: Old lines.
        after: New lines.
        first: How many lines of both texts were left out before these.
        same: How many lines at their beginning and end are known to be equal.
    """
    lines: list[str] = []
    added = removed = 0
    for group in _groups(before, after, same):
        old_from, old_to = group[0][1] + first, group[-1][2] + first
        new_from, new_to = group[0][3] + first, group[-1][4] + first
        lines.append(f"@@ -{_range(old_from, old_to)} +{_range(new_from, new_to)} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [" " + _shown(line) for line in before[i1:i2]]
                continue
            lines += ["-" + _shown(line) for line in before[i1:i2]]
            lines += ["+" + _shown(line) for line in after[j1:j2]]
            removed += i2 - i1
            added += j2 - j1
    return lines, added, removed


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _shown(line: str) -> str:
    return line.replace("\r", "")


def _cap(text: str) -> str:
    if len(text) <= SHOWN_CHARS:
        return text
    kept = text[:SHOWN_CHARS].rpartition("\n")[0]
    return f"{kept}\n[… {text.count(chr(10)) - kept.count(chr(10)):,} more lines of the diff not shown …]\n"
