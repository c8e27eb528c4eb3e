"""The table of programs, by area. A row says what a program, a subcommand or an option does; see ``rows.py``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache

from ..facts import Row

_FOLDERS = frozenset(
    {"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"}
)
_VERSION = re.compile(r"(python|pip|pypy|ruby|perl|php|node|lua|gcc|g\+\+|clang|java)-?\d[\d.]*\Z")
_LOADER = re.compile(r"ld-(?:linux|musl)[\w.-]*\.so[\d.]*\Z")
_ALIASES = {
    "python3": "python",
    "pypy3": "python",
    "pypy": "python",
    "pip3": "pip",
    "nodejs": "node",
    "egrep": "grep",
    "fgrep": "grep",
    "fdfind": "fd",
    "gmake": "make",
    "gsed": "sed",
    "gtar": "tar",
    "ggrep": "grep",
    "mawk": "awk",
    "gawk": "awk",
    "nawk": "awk",
    "podman": "docker",
    "nerdctl": "docker",
    "ncat": "nc",
    "netcat": "nc",
    "socat": "nc",
    "[": "test",
    "vi": "vim",
    "view": "vim",
    "vimdiff": "vim",
    "gvim": "vim",
    "rvim": "vim",
    "ex": "vim",
    "nvim": "vim",
    "batcat": "bat",
    "gfind": "find",
    "ash": "sh",
    "dash": "sh",
    "ksh": "sh",
    "zsh": "sh",
    "bash": "sh",
    "rbash": "sh",
    "mksh": "sh",
    "tcsh": "csh",
}


@cache
def table() -> Mapping[str, Row]:
    """Return the whole table by program name; built on first use."""
    from . import (
        building,
        builtins,
        containers,
        coreutils,
        databases,
        documents,
        files,
        git,
        interpreters,
        network,
        packages,
        services,
        text,
        wrappers,
    )

    modules = (
        building,
        builtins,
        containers,
        coreutils,
        databases,
        documents,
        files,
        git,
        interpreters,
        network,
        packages,
        services,
        text,
        wrappers,
    )
    return {row.name: row for module in modules for row in module.ROWS}


def program_name(word: str) -> str:
    """Return the name under which a program stands in the table: no system folder, no version, no alias.

    A path outside the system's folders stays a path: a local file is not the program of that name.
    """
    folder, _, name = word.rpartition("/")
    if _LOADER.match(name):
        return "ld.so"
    if folder and re.sub(r"^//+", "/", os.path.normpath(folder)) not in _FOLDERS:
        return word
    name = re.sub(r"^(mkfs|fsck)\..+", r"\1", name)
    match = _VERSION.match(name)
    name = match[1] if match else name
    return _ALIASES.get(name, name)


def find_row(word: str) -> Row | None:
    """Return the row of a program as it was called, or None."""
    return table().get(program_name(word))
