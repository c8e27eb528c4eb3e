"""An edit of one file, planned first (for the approval's diff) and then carried out if nothing changed meanwhile."""

from __future__ import annotations

import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .atomic import make_parents, remove_file, write_atomic
from .base import Assessment, PathUse, Result, ToolFailure
from .diffs import Diff
from .paths import Seen, assessed, kind_of, real_path, show_relative, status_of
from .ports import ToolContext
from .readtable import read_table
from .session import shell_of
from .syntax import syntax_note
from .textfile import TextFile, digest, load, stamp_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What a file will become."""

    raw: str
    """The path as the model wrote it."""
    real: Path
    shown: str
    """The path for people: relative to the workspace when inside."""
    before: TextFile | None
    """None for a new file."""
    text: str | None
    """The new text; None to delete the file."""
    content: bytes
    diff: Diff
    notes: tuple[str, ...] = ()
    mode: int | None = None
    """Permission bits of a new file, when not the usual ones."""


def load_target(context: ToolContext, raw: str) -> tuple[Path, TextFile | None]:
    """Return where a path leads and the text file there, if any.

    Raises:
        ToolFailure: It is no text file, or changed since it was read or assessed.
    """
    real = real_path(context, raw)
    status = status_of(real, raw)
    if status is None:
        return real, None
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailure(f"{raw} is {kind_of(status.st_mode)}, not a regular file.")
    before = load(real, raw)
    seen = assessed(context).recall(context.call_id, raw)
    if seen is not None and seen.digest is not None and seen.digest != before.stamp.digest:
        raise ToolFailure(f"{raw} changed after its diff was shown. Nothing was written: try again.", stale=True)
    read_table(context).check_fresh(str(real), raw, before.stamp)
    return real, before


def carry_out(context: ToolContext, edit: Edit, made: list[Path] | None = None) -> Result:
    """Write an edit to disk and describe it.

    Args:
        context: Of the call.
        edit: What to do.
        made: Receives the folders that had to be made.

    Raises:
        ToolFailure: It cannot be written, or the file changed meanwhile.
    """
    if edit.text is None:
        remove_file(edit.real, edit.raw, lambda: _check_unchanged(edit))
        return {"ok": True, "path": edit.shown, "deleted": True, **_diff_keys(edit)}
    made = [] if made is None else made
    made += [] if edit.before is not None else make_parents(edit.real, edit.raw)
    try:
        write_atomic(
            edit.real,
            edit.raw,
            edit.content,
            exists=edit.before is not None,
            mode=edit.mode,
            check=lambda: _check_unchanged(edit),
        )
    except BaseException:
        _remove_folders(made)
        raise
    read_table(context).note(str(edit.real), stamp_of(edit.real.stat(), edit.content))
    result: Result = {"ok": True, "path": edit.shown, **_diff_keys(edit)}
    notes = [*edit.notes, syntax_note(edit.real.name, edit.before.text if edit.before else None, edit.text)]
    if made:
        notes.insert(0, f"Made the folder {show_relative(context, made[-1])}.")
    if any(notes):
        result["note"] = " ".join(note for note in notes if note)
    return result


def carry_out_all(context: ToolContext, edits: list[Edit]) -> list[Result]:
    """Carry out several edits: all of them, or none.

    Raises:
        ToolFailure: One cannot be carried out; those before it were taken back.
    """
    done: list[tuple[Edit, list[Path], Result]] = []
    try:
        for edit in edits:
            made: list[Path] = []
            result = carry_out(context, edit, made)
            done.append((edit, made, result))
    except BaseException:
        for edit, folders, _ in reversed(done):
            _take_back(context, edit)
            _remove_folders(folders)
        raise
    return [result for _, _, result in done]


def _remove_folders(made: list[Path]) -> None:
    for folder in reversed(made):
        with suppress(OSError):
            folder.rmdir()


def _take_back(context: ToolContext, edit: Edit) -> None:
    if edit.before is None:
        edit.real.unlink(missing_ok=True)
        return
    content = edit.before.encode(edit.before.text)
    mode = stat.S_IMODE(edit.before.mode)
    write_atomic(edit.real, edit.raw, content, exists=edit.text is not None, mode=mode, check=lambda: None)
    read_table(context).note(str(edit.real), stamp_of(edit.real.stat(), content))


def preview(context: ToolContext, raws: list[str], plan: Callable[[], list[Edit]]) -> Assessment:
    """Assess edits: their paths, their diff, and a memory of what was seen, for the moment they are carried out."""
    cwd = shell_of(context).cwd
    try:
        edits = {edit.raw: edit for edit in plan()}
    except ToolFailure:
        edits = {}
    for raw in raws:
        if raw not in edits:
            with suppress(ToolFailure):
                assessed(context).remember(context.call_id, raw, Seen(str(real_path(context, raw))))
    for edit in edits.values():
        seen = Seen(str(edit.real), edit.before.stamp.digest if edit.before else "")
        assessed(context).remember(context.call_id, edit.raw, seen)
    paths = tuple(_use(context, raw, edits.get(raw)) for raw in raws)
    return Assessment(paths=paths, cwd=cwd, diff="".join(edit.diff.text for edit in edits.values()))


def _use(context: ToolContext, raw: str, edit: Edit | None) -> PathUse:
    seen = assessed(context).recall(context.call_id, raw)
    return PathUse(raw, "delete" if edit is not None and edit.text is None else "write", seen.real if seen else "")


def _diff_keys(edit: Edit) -> Result:
    return {"diff": edit.diff.text, "added": edit.diff.added, "removed": edit.diff.removed}


def _check_unchanged(edit: Edit) -> None:
    """Compare the file with what the edit was made from, as late as can be.

    Raises:
        ToolFailure: It is another one now.
    """
    changed = ToolFailure(f"{edit.raw} changed while it was edited. Nothing was written: read it again.", stale=True)
    try:
        status = edit.real.stat()
    except FileNotFoundError:
        if edit.before is None:
            return
        raise changed from None
    if edit.before is None:
        raise changed
    before = edit.before.stamp
    if (status.st_mtime_ns, status.st_size, status.st_ino) == (before.mtime_ns, before.size, before.inode):
        return
    if status.st_size != before.size or digest(edit.real.read_bytes()) != before.digest:
        raise changed
