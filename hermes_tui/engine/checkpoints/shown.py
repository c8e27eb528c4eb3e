"""Edits as people see them: one entry for each path, with its diff."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...tools.base import ToolFailure
from ...tools.diffs import Diff, deleted, unified
from ...tools.paths import show
from ...tools.textfile import decode
from ..types.changes import ChangeKind, FileChange
from ..types.errors import StoreError
from ..types.files import NOTHING, FileEdit, FileState

Content = Callable[[FileState], bytes]
_WORDS = {"file": "a file", "link": "a link", "folder": "a folder", "other": "something special"}
_NO_STATUS = os.stat_result((0,) * 10)


def spans(chain: Sequence[FileEdit]) -> list[FileEdit]:
    """Join edits of a path that go on where the one before ended."""
    joined: list[FileEdit] = []
    for edit in chain:
        if joined and joined[-1].after == edit.before:
            last = joined.pop()
            edit = replace(edit, before=last.before, by_command=last.by_command or edit.by_command)  # noqa: PLW2901
        if edit.before != edit.after:
            joined.append(edit)
    return joined


def shown_path(path: str, workspace: str) -> str:
    """Return a path as text on one line, relative to the workspace when inside."""
    return show(os.path.relpath(path, workspace) if path.startswith(f"{workspace}/") else path)


def shown_change(path: str, edits: Sequence[FileEdit], workspace: str, content: Content) -> FileChange | None:
    """Return what edits of one path came to; None when it is as it was before.

    Args:
        path: Absolute.
        edits: In order.
        workspace: Paths inside are shown relative to it.
        content: Returns the bytes of a state; raises ``StoreError`` when they are gone.
    """
    chain = spans(edits)
    if not chain:
        return None
    first, last = chain[0].before, chain[-1].after
    shown = shown_path(path, workspace) + "/" * ("folder" in (first.kind, last.kind))
    kind: ChangeKind = "created" if first == NOTHING else "deleted" if last == NOTHING else "changed"
    diffs, notes = [], list[str]()
    for edit in chain:
        diff, note = _compare(shown, edit.before, edit.after, content)
        diffs.append(diff)
        notes += [note] if note else []
    if len(chain) > 1:
        notes.append("changed by somebody else in between")
    return FileChange(
        path=shown,
        kind=kind,
        added=sum(diff.added for diff in diffs),
        removed=sum(diff.removed for diff in diffs),
        diff="".join(diff.text for diff in diffs),
        note=", ".join(dict.fromkeys(notes)),
        by_command=any(edit.by_command for edit in chain),
    )


def _compare(shown: str, before: FileState, after: FileState, content: Content) -> tuple[Diff, str]:
    """Return the diff of two states, and what it does not show, in words."""
    notes = []
    kinds = {before.kind, after.kind} - {"none"}
    if len(kinds) > 1:
        notes.append(f"{_WORDS[before.kind]} became {_WORDS[after.kind]}")
    elif before.mode != after.mode and NOTHING not in (before, after):
        notes.append(f"mode {before.mode:o} became {after.mode:o}")
    diff = Diff()
    if before.digest != after.digest:
        try:
            texts = [_text(state, content) for state in (before, after)]
        except (StoreError, ToolFailure):
            sizes = [f"{state.size:,} bytes" for state in (before, after) if state.has_content]
            return Diff(), ", ".join([*notes, f"no text ({' became '.join(sizes)})"])
        old, new = texts
        if new is None:
            diff = deleted(shown, old or "")
        else:
            diff = unified(shown, old, new)
            if not diff.text and old is not None and old != new:
                notes.append("only line ends differ")
    return diff, ", ".join(notes)


def _text(state: FileState, content: Content) -> str | None:
    """Return what a state says as text, None for nothing.

    Raises:
        ToolFailure: It is no text.
        StoreError: Its content is not there.
    """
    if not state.has_content:
        return None
    if not state.is_kept:
        raise StoreError("It is not kept.")
    data = content(state)
    if state.kind == "link":
        return f"-> {show(os.fsdecode(data))}\n"
    return decode(data, _NO_STATUS, "").text
