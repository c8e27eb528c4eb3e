"""What an action would touch, for the dialog: count and size of files, tracked by git or not. Bounded."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...types.requests import TouchedPath
from .facts import shown

if TYPE_CHECKING:
    from .paths import PathGuard, PathKind
    from .rules import Finding

MAX_ENTRIES = 10_000
MAX_SECONDS = 0.02
MAX_PATHS = 12
_GIT_TIMEOUT_S = 0.5


def collect_touched(findings: Sequence[Finding], guard: PathGuard) -> tuple[TouchedPath, ...]:
    """Return the paths that commands change or delete, with what a person should know about them.

    Blocks on the file system for at most some 20 ms per deleted path, and on ``git`` for half a second.
    """
    found: dict[str, TouchedPath] = {}
    for finding in findings:
        for word, kind in finding.touches:
            if kind not in ("write", "truncate", "delete") or len(found) >= MAX_PATHS:
                continue
            facts = guard.facts(word, finding.command.cwds)
            if facts is None:
                name = shown(word.text)
                found.setdefault(name, TouchedPath(path=name, kind=_kind(kind), note="known only at run time"))
                continue
            existing = [fact for fact in facts if os.path.lexists(fact.spelled)] or facts[:1]
            for fact in existing[: MAX_PATHS - len(found)]:
                note = describe(fact.spelled, guard) if kind == "delete" else _place(fact.real, guard)
                found.setdefault(fact.spelled, TouchedPath(path=fact.spelled, kind=_kind(kind), note=note))
    return tuple(found.values())


def _kind(kind: PathKind) -> str:
    return "delete" if kind == "delete" else "write"


def _place(real: str, guard: PathGuard) -> str:
    inside = real == guard.workspace or real.startswith(guard.workspace.rstrip("/") + "/")
    return "" if inside else "outside the workspace"


def describe(path: str, guard: PathGuard) -> str:
    """Describe what deleting ``path`` loses: ``214 files, 3.1 MB, not tracked by git``."""
    if not os.path.lexists(path):
        return "not there"
    count, size, complete, mounts = _measure(path)
    more = "" if complete else "more than "
    parts = [f"{more}{count} {'file' if count == 1 else 'files'}", f"{more}{_size(size)}"]
    if mounts:
        parts.append(f"reaches into another file system at {mounts}")
    place = _place(os.path.realpath(path), guard)
    if place:
        parts.append(place)
    elif _is_tracked(path, guard.workspace):
        parts.append("tracked by git")
    else:
        parts.append("not tracked by git")
    return ", ".join(parts)


def _measure(path: str) -> tuple[int, int, bool, str]:
    """Return count and size of the files, whether that is all, and the first mount point below."""
    if os.path.islink(path) or not os.path.isdir(path):  # noqa: PTH112, PTH114
        return 1, os.lstat(path).st_size, True, ""
    device, mount = os.lstat(path).st_dev, ""
    deadline = time.perf_counter() + MAX_SECONDS
    count = size = 0
    folders = [path]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                        if not mount and entry.stat(follow_symlinks=False).st_dev != device:
                            mount = entry.path
                        continue
                    count += 1
                    size += entry.stat(follow_symlinks=False).st_size
                    if count >= MAX_ENTRIES or time.perf_counter() > deadline:
                        return count, size, False, mount
        except OSError:
            continue
    return count, size, True, mount


def _size(size: int) -> str:
    value = float(size)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def _is_tracked(path: str, workspace: str) -> bool:
    command = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "ls-files",
        "--error-unmatch",
        "--",
        path,
    ]
    try:
        done = subprocess.run(command, cwd=workspace, capture_output=True, timeout=_GIT_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
