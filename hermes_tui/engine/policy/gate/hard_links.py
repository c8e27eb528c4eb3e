"""Hard links: a file of the workspace that is a file elsewhere, too, is changed there with it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

MAX_ENTRIES = 20_000
"""Directory entries looked at; beyond that a second name counts as outside."""
_SKIPPED = ".git"


def has_other_name_outside(path: str, workspace: str, tick: Callable[[], None]) -> bool:
    """Tell whether a file has a name outside a folder: fewer names are found inside than it has.

    Args:
        path: Absolute path after links; need not exist.
        workspace: The folder, after links.
        tick: Called at each folder; may raise to stop.
    """
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return False
    if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
        return False
    missing, seen = status.st_nlink, 0
    folders = [workspace]
    while folders and seen < MAX_ENTRIES:
        tick()
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name != _SKIPPED:
                            folders.append(entry.path)
                    elif entry.inode() == status.st_ino and entry.stat(follow_symlinks=False).st_dev == status.st_dev:
                        missing -= 1
                        if not missing:
                            return False
        except OSError:
            continue
    return True
