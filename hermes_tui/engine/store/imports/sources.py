"""Which program wrote a file or folder, and the entries in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from ...types.errors import StoreError
from ..entries import Entry
from . import claude, codex, hermes
from .lines import Reader, Skipped, first_lines

__all__ = ["Kind", "Skipped", "read_source"]

Kind: TypeAlias = Literal["auto", "hermes", "claude", "codex", "json"]
"""Who wrote a source; ``auto`` looks, ``json`` is an export of ours."""
_SQLITE = b"SQLite format 3\0"
_NOTHING = "No sessions were found in"
_READERS: Mapping[str, Reader] = {"claude": claude.read, "codex": codex.read}


def read_source(path: Path, kind: Kind) -> Iterator[Entry | Skipped]:
    """Yield the sessions of a source, parents before their children, and what was passed over.

    Raises:
        StoreError: There is nothing that could hold sessions.
    """
    if not path.exists():
        raise StoreError(f"{path} does not exist.", hint="Give a file or a folder.")
    database = path / "state.db" if path.is_dir() else path
    if kind == "hermes" or (kind == "auto" and _is_sqlite(database)):
        yield from hermes.read(database)
        return
    files = _files(path)
    if not files:
        raise StoreError(f"{_NOTHING} {path}.", hint="Expected: our JSON, a Hermes state.db, or *.jsonl files.")
    for file in files:
        reader = _READERS.get(_kind_of(file) if kind == "auto" else kind)
        if reader is None:
            yield Skipped(str(file), "It holds no session.")
        else:
            yield from reader(file)


def _is_sqlite(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read ({error.strerror or error}).", hint="Check its permissions."
        ) from error


def _files(path: Path) -> list[Path]:
    """Return JSONL files, main sessions before those of their subagents, else by name: rollouts begin with a date."""
    if path.is_file():
        return [path]
    return sorted(path.rglob("*.jsonl"), key=lambda file: (file.name.startswith("agent-"), str(file)))


def _kind_of(file: Path) -> str:
    for line in first_lines(file):
        for name, is_its_line in (("codex", codex.is_line), ("claude", claude.is_line)):
            if is_its_line(line):
                return name
    return ""
