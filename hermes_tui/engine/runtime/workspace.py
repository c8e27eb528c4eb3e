"""The folder a session works in, and its git branch."""

from __future__ import annotations

from pathlib import Path


def find_workspace(stored: str) -> Path:
    """The session's folder when it still exists, else the present one, else the home."""
    if stored and Path(stored).is_dir():
        return Path(stored)
    try:
        return Path.cwd()
    except OSError:  # the folder was removed under us
        return Path.home()


def git_branch(folder: Path) -> str:
    """The checked-out branch, else the start of the commit, else empty. Reads two small files and runs no git."""
    for parent in (folder, *folder.parents):
        place = parent / ".git"
        try:
            if place.is_file():  # a worktree or a submodule names where its own folder is
                place = parent / place.read_text("utf-8", "surrogateescape").strip().removeprefix("gitdir: ")
            if (place / "HEAD").is_file():
                text = (place / "HEAD").read_text("utf-8", "replace").strip()
                return text.removeprefix("ref: refs/heads/") if text.startswith("ref: ") else text[:7]
        except (OSError, ValueError):
            return ""
    return ""
