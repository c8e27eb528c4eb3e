"""Programs that a repository's own configuration makes git run, even while it only reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from .facts import Issue, Level, shown

_MAX_BYTES = 256 * 1024
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)\Z', re.S)
_ENTRY = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?\Z", re.S)
_RUNS = re.compile(
    r"core\.(?:fsmonitor|pager|alternaterefscommand)|pager\..+|diff\.external|diff\..+\.(?:command|textconv)|"
    r"filter\..+\.(?:clean|smudge|process)|gpg(?:\..+)?\.program|include(?:if\..+)?\.path"
)
"""Keys whose value git runs, or that bring in more configuration. Source: git-config(1), gitattributes(5)."""
_HARMLESS = re.compile(
    r"|true|false|yes|no|on|off|\d+|cat|less(?: -[A-Za-z]+)?|git-lfs (?:clean|smudge|filter-process)\b.*"
)


def repository_issues(cwds: Iterable[str]) -> list[Issue]:
    """Return what is wrong with the configuration of the repositories around these folders. Reads a few files."""
    found = [program for cwd in cwds for config in _configs(cwd) for program in _programs(config)]
    return [
        Issue(Level.DANGER, f"the repository's own configuration makes git run a program: {shown(key)}")
        for key in dict.fromkeys(found)
    ][:3]


def _configs(cwd: str) -> list[Path]:
    """Return the configuration files of the repository that git would find from a folder."""
    folder = Path(cwd)
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_dir():
            return [git / "config", git / "config.worktree"]
        if git.is_file():
            return _of_worktree(git)
        if (place / "HEAD").is_file() and (place / "objects").is_dir():  # a bare repository
            return [place / "config", place / "config.worktree"]
    return []


def _of_worktree(pointer: Path) -> list[Path]:
    """Return the files of a linked work tree or submodule: its own and those it shares."""
    git = pointer.parent / _first_line(pointer).removeprefix("gitdir:").strip()
    common = _first_line(git / "commondir")
    shared = git / common if common else git
    return [shared / "config", git / "config.worktree"]


def _first_line(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")[:4096].partition("\n")[0].strip()
    except OSError:
        return ""


def _programs(config: Path) -> tuple[str, ...]:
    try:
        status = config.stat()
    except (OSError, ValueError):
        return ()
    return _read(os.fspath(config), status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=64)
def _read(config: str, mtime_ns: int, size: int, inode: int) -> tuple[str, ...]:
    """Return the keys of a file that name programs; the other arguments say which version of it."""
    del mtime_ns, inode
    if size > _MAX_BYTES:
        return ("(a file too large to read)",)
    try:
        text = Path(config).read_text("utf-8", "replace")
    except OSError:
        return ("(a file that cannot be read)",)
    section = ""
    found: list[str] = []
    for line in text.replace("\\\r\n", "").replace("\\\n", "").splitlines():
        rest = line
        while header := _SECTION.match(rest):
            name, sub, rest = header[1], header[2], header[3]
            section = name.lower() + (f".{sub}" if sub is not None else "")
        entry = _ENTRY.match(rest)
        if entry is None:
            continue
        key, value = f"{section}.{entry[1].lower()}", (entry[2] or "").strip().strip('"').strip()
        if _RUNS.fullmatch(key) and not _HARMLESS.fullmatch(value):
            found.append(key)
    return tuple(found)
