"""Read a window of lines out of a file of any size."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .base import ToolFailure
from .paths import open_regular, show
from .ports import CancelToken
from .textfile import EDIT_CAP_BYTES, Stamp, binary_failure, decode, detect, read_whole, stamp_of

LINE_CHARS = 2_000
TOTAL_CHARS = 80_000
CUT = " [… line cut]"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Window:
    """Some lines of a file."""

    lines: list[str]
    total_lines: int
    size_bytes: int
    stamp: Stamp
    encoding: str = ""
    notes: list[str] = field(default_factory=list)


def read_window(path: Path, raw: str, first: int, count: int, cancel: CancelToken) -> Window:
    """Return ``count`` lines from line ``first`` (1-based) on.

    Args:
        path: Real path, links followed.
        raw: The path as the model wrote it.
        first: First line.
        count: Number of lines.
        cancel: Stops the reading of a long file.

    Raises:
        ToolFailure: It cannot be read as text.
    """
    fd = open_regular(path, raw)
    status = os.fstat(fd)
    if status.st_size > EDIT_CAP_BYTES:
        return _scan(fd, raw, first, count, cancel)
    os.close(fd)
    content, status = read_whole(path, raw)
    file = decode(content, status, raw)
    newlines = content.count(b"\n") if file.encoding == "utf-8" else file.text.count("\n")
    total = newlines + (not file.text.endswith("\n") and bool(file.text))
    lines = file.text.split("\n", first - 1 + count)[first - 1 : min(first - 1 + count, total)]
    has_returns = "\r" in file.text
    kept = [line.removesuffix("\r") for line in lines] if has_returns else lines
    notes = ["Its lines end in CR LF; edits keep that."] if has_returns and file.newline == "\r\n" else []
    return Window(kept, total, status.st_size, file.stamp, file.encoding_name, notes)


def _scan(fd: int, raw: str, first: int, count: int, cancel: CancelToken) -> Window:
    """Walk through a large file, holding nothing but the lines asked for."""
    kept: list[bytes] = []
    current = bytearray()
    number = 1
    ended = True
    with os.fdopen(fd, "rb", buffering=0) as file:
        status = os.fstat(fd)
        sample = file.read(_CHUNK)
        mark, encoding = detect(sample)
        if encoding == "binary":
            raise binary_failure(raw, sample, status.st_size)
        if encoding != "utf-8":
            raise ToolFailure(f"{raw} is large and {encoding.upper()}: convert it with iconv first.")
        chunk = sample[len(mark) :]
        while chunk:
            if cancel.cancelled:
                raise ToolFailure("Interrupted while reading.")
            ended = chunk.endswith(b"\n")
            newlines = chunk.count(b"\n")
            if number + newlines < first or number >= first + count:
                number += newlines
            else:
                for index, part in enumerate(chunk.split(b"\n")):
                    if index:
                        if first <= number < first + count:
                            kept.append(bytes(current))
                        number += 1
                        current.clear()
                    current += part[: max(0, 4 * LINE_CHARS + 4 - len(current))]
            chunk = file.read(_CHUNK)
    if not ended and first <= number < first + count:
        kept.append(bytes(current))
    lines = [line.decode("utf-8", "replace").removesuffix("\r") for line in kept]
    return Window(lines, number - ended, status.st_size, stamp_of(status))


def number_lines(lines: Sequence[str], first: int, *, is_numbered: bool = True) -> tuple[str, int, int]:
    """Return numbered text, how many lines fit, and how many of them were cut; without numbers no line is cut."""
    is_long = is_numbered and max(map(len, lines), default=0) > LINE_CHARS
    shown = [line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}{CUT}" for line in lines] if is_long else lines
    text = "\n".join([f"{number}\t{line}" for number, line in enumerate(shown, first)] if is_numbered else shown)
    fitted = len(lines)
    if len(text) >= TOTAL_CHARS:
        end = text.rfind("\n", 0, TOTAL_CHARS)
        text = text[:end] if end >= 0 else text.partition("\n")[0]
        fitted = text.count("\n") + 1
    return text, fitted, sum(len(line) > LINE_CHARS for line in lines[:fitted]) if is_long else 0


def list_folder(path: Path, raw: str) -> list[str]:
    """Return the names in a folder, folders first with a slash, links with an arrow.

    Raises:
        ToolFailure: It cannot be listed.
    """
    try:
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: (not entry.is_dir(), entry.name))
    except OSError as error:
        raise ToolFailure(f"{raw} cannot be listed: {error.strerror}.") from error
    names = []
    for entry in entries:
        name = show(entry.name) + ("/" if entry.is_dir() else "")
        if entry.is_symlink():
            try:
                name += f" -> {show(Path(entry.path).readlink())}"
            except OSError:
                name += " -> ?"
        names.append(name)
    return names
