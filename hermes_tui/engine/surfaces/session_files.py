"""``hermes-tui sessions diff`` and ``undo``: what a session did to files, shown and taken back."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from ..checkpoints.history import FileHistory
from ..config.paths import find_paths
from ..store.checkpoints import CheckpointDB
from ..store.db import SessionDB
from ..types.changes import FileChange, KeptFile
from ..types.errors import HermesError, StoreError
from .output import count_of, out, out_json

Add = Callable[[str, str], argparse.ArgumentParser]


def add_arguments(add: Add) -> None:
    """Add the two commands."""
    shown = add("diff", "Show what a session did to files.")
    shown.add_argument("session", metavar="ID|TITLE")
    shown.add_argument("--last", action="store_true", help="only the last turn that changed files")
    undone = add("undo", "Take back what the last turn did to files; shows first what would happen.")
    undone.add_argument("session", metavar="ID|TITLE")
    undone.add_argument("--yes", action="store_true", help="do it, do not only show")


def diff(store: SessionDB, options: argparse.Namespace) -> int:
    """Print the changes that nobody took back."""
    session_id = store.resolve(options.session)
    with _history(store, session_id) as history:
        changes = history.changes(session_id, history.last_changed(session_id) if options.last else 0)
    if options.json:
        out_json([asdict(change) for change in changes])
        return 0
    out("\n".join(_lines(changes)) or "No file is changed by this session, or all of it was taken back.")
    for change in changes:
        if change.diff:
            out(f"\n{change.diff.rstrip()}")
    return 0


def undo(store: SessionDB, options: argparse.Namespace) -> int:
    """Take back the last turn's changes, with ``--yes``; exit code 1 when a file was left."""
    session_id = store.resolve(options.session)
    if store.row(session_id).open_elsewhere:
        raise HermesError("The session is open in another window.", hint="Undo it there with /undo, or close it.")
    with _history(store, session_id) as history:
        message_id = history.last_changed(session_id)
        if not message_id:
            nothing = {"files": [], "kept": [], "done": False}
            out_json(nothing) if options.json else out("There is nothing to take back.")
            return 0
        plan = history.plan(session_id, message_id)
        files, kept = tuple(change.path for change in plan.files), plan.kept
        if options.yes:
            undone = history.undo(session_id, message_id, "files")
            files, kept = undone.files, undone.kept
    if options.json:
        out_json({"files": files, "kept": [asdict(one) for one in kept], "done": options.yes})
    else:
        _tell(plan.files, files, kept, is_done=options.yes)
    return 1 if options.yes and kept else 0


def forget_erased(store: SessionDB) -> None:
    """Take away what was kept for sessions that are erased."""
    path = find_paths(os.environ).checkpoints
    if path.exists():
        with suppress(StoreError), _open(path) as db:
            db.forget(store.existing)


@contextmanager
def _open(path: Path) -> Iterator[CheckpointDB]:
    db = CheckpointDB(path)
    try:
        yield db
    finally:
        db.close()


@contextmanager
def _history(store: SessionDB, session_id: str) -> Iterator[FileHistory]:
    with _open(find_paths(os.environ).checkpoints) as db:
        yield FileHistory(db, Path(store.row(session_id).cwd), store.lineage_of)


def _tell(changes: Sequence[FileChange], files: Sequence[str], kept: Sequence[KeptFile], *, is_done: bool) -> None:
    out(f"{'Took' if is_done else 'Would take'} back {count_of(len(files), 'path')}:")
    out("\n".join(_lines(changes) if not is_done else [f"  {path}" for path in files]))
    for one in kept:
        out(f"  left as it is: {one.path} ({one.why})")
    if not is_done:
        sys.stderr.write("Nothing was touched; add --yes to do it.\n")


def _lines(changes: Sequence[FileChange]) -> list[str]:
    lines = []
    for change in changes:
        counts = f"  +{change.added} -{change.removed}" if change.diff else ""
        lines.append(f"  {change.kind:<8} {change.path}{counts}{f'  {change.note}' if change.note else ''}")
    return lines
