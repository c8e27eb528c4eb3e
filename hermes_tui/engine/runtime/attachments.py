"""What goes along with a message: images, and the files and folders that it names with ``@``.

The row keeps the typed text as its first part; files follow as text as they are at that moment, images as data URLs.
"""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...gitignore import IgnoreRules
from ...tools.base import ToolFailure
from ...tools.paths import kind_of, open_regular, show
from ...tools.reading import number_lines, read_window
from ..types.errors import HermesError
from ..types.mentions import find_mentions, parse_mention, readings
from ..types.messages import JsonObject, Message
from .interrupt import CancelToken

MAX_LINES = 2_000
"""Of one file; a range names others."""
MAX_CHARS = 200_000
"""Of all files of a message together, about 50,000 tokens."""
MAX_FOLDER_FILES = 100
MAX_FOLDER_FILE_BYTES = 1_000_000
"""Larger files of a folder are left out; named by themselves they are read in part."""
MAX_IMAGE_BYTES = 5_000_000
"""Source: the smallest limit among the vendors, Anthropic's."""
MAX_NAMES_TOLD = 20
_HEAD = "[Files named above, as they are now; each line has its number]"
_IMAGES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))

MayRead = Callable[[str], str]
"""Says why a file must not be read, or nothing."""


@dataclass(slots=True)
class _Collected:
    """What was found so far."""

    texts: list[str] = field(default_factory=list)
    images: list[JsonObject] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    room: int = MAX_CHARS


def message_with(text: str, images: Sequence[str], folder: Path, may_read: MayRead) -> Message:
    """Return the row of a user's message with all that goes along. Blocks on the disk.

    Args:
        text: As typed.
        images: Paths of images.
        folder: What paths behind ``@`` are relative to.
        may_read: Asked about each file named with ``@``.

    Raises:
        HermesError: An image that was attached by hand cannot be sent.
    """
    found = _Collected()
    for path in images:
        _add_image(found, Path(path).expanduser(), path)
    for mention in find_mentions(text):
        _add_mention(found, mention, folder, may_read)
    if not found.words:
        return {"role": "user", "content": text}
    parts: list[JsonObject] = [{"type": "text", "text": text}]
    if found.texts:
        parts.append({"type": "text", "text": "\n\n".join([_HEAD, *found.texts])})
    return {"role": "user", "content": [*parts, *found.images], "attached": found.words}


def _add_mention(found: _Collected, mention: str, folder: Path, may_read: MayRead) -> None:
    """Take the file or folder that a mention names; what names nothing is only text."""
    for reading in readings(mention):
        name, first, last = parse_mention(reading)
        path = folder / name
        try:
            status = path.stat()
        except (OSError, ValueError):
            continue
        if problem := may_read(str(path)):
            found.words.append(f"{show(name)}: left out, {problem}")
        elif stat.S_ISDIR(status.st_mode):
            _add_folder(found, Path(os.path.realpath(path)), name.rstrip("/") + "/", may_read)
        elif stat.S_ISREG(status.st_mode) and _image_type(path):
            _add_named_image(found, path, name)
        else:
            _add_file(found, Path(os.path.realpath(path)), name, first, last)
        return


def _add_file(found: _Collected, path: Path, name: str, first: int | None, last: int | None) -> None:
    start = max(1, first or 1)
    count = MAX_LINES if last is None else min(MAX_LINES, max(1, last - start + 1))
    try:
        words = _read(found, path, show(name), start, count)
    except ToolFailure as failure:
        words = f"left out, {_reason(failure, show(name))}"
    found.words.append(f"{show(name)}: {words}")


def _read(found: _Collected, path: Path, shown: str, first: int, count: int) -> str:
    """Add a file's lines and return in words how many they are.

    Raises:
        ToolFailure: It is no text, or cannot be read.
    """
    window = read_window(path, shown, first, count, CancelToken())
    numbered, fitted, _ = number_lines(window.lines, first)
    if len(numbered) > found.room:
        raise ToolFailure("the message has no room for it; ask for it by lines.")
    found.room -= len(numbered)
    total = window.total_lines
    if not total:
        words = "empty"
    elif not fitted:
        words = f"has no line {first}, only {total:,}"
    elif fitted == total:
        words = f"{total:,} line{'s' * (total != 1)}"
    else:
        words = f"lines {first:,}-{first + fitted - 1:,} of {total:,}"
    found.texts.append(f"--- {shown} ({words})\n{numbered}".rstrip("\n"))
    return words


def _add_folder(found: _Collected, folder: Path, name: str, may_read: MayRead) -> None:
    """Add the text files of a folder that git would not ignore, and say which others it has."""
    taken, left_out = 0, []
    for path, oddity in _files_of(folder):
        if taken >= MAX_FOLDER_FILES:
            left_out.append("everything after that")
            break
        problem = oddity or may_read(str(folder / path)) or _problem_reading(found, folder / path, show(name + path))
        if problem:
            left_out.append(f"{show(path)} ({problem})")
        else:
            taken += 1
    if len(left_out) > MAX_NAMES_TOLD:
        left_out[MAX_NAMES_TOLD:] = [f"and {len(left_out) - MAX_NAMES_TOLD:,} more"]
    words = f"{taken:,} file{'s' * (taken != 1)}" + (f"; left out: {', '.join(left_out)}" if left_out else "")
    found.texts.append(f"--- {show(name)} ({words})")
    found.words.append(f"{show(name)}: {words}")


def _problem_reading(found: _Collected, path: Path, shown: str) -> str:
    """Add a file of a folder; returns why that cannot be, or nothing."""
    try:
        _read(found, path, shown, 1, MAX_LINES)
    except ToolFailure as failure:
        return _reason(failure, shown)
    return ""


def _files_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what is below a folder, in order of path, and why it cannot be taken; what is ignored is passed over."""
    waiting = [("", IgnoreRules(folder))]
    while waiting:
        prefix, above = waiting.pop()
        rules = above.below(prefix)
        try:
            with os.scandir(folder / prefix) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            yield prefix, error.strerror or "it cannot be listed"
            continue
        below = []
        for entry in entries:
            path, is_folder = prefix + entry.name, entry.is_dir(follow_symlinks=False)
            if entry.name.startswith(".") or rules.ignores(path + "/" * is_folder):
                continue
            if is_folder:
                below.append((path + "/", rules))
            else:
                yield path, _problem_of(entry)
        waiting += reversed(below)


def _problem_of(entry: os.DirEntry[str]) -> str:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return error.strerror or "it cannot be looked at"
    if entry.is_symlink():
        return "a link"
    if not stat.S_ISREG(status.st_mode):
        return kind_of(status.st_mode)
    return _size(status.st_size) if status.st_size > MAX_FOLDER_FILE_BYTES else ""


def _reason(failure: ToolFailure, shown: str) -> str:
    """Return why a file was left out as the end of a sentence."""
    text = failure.message.removeprefix(f"{shown} is ").removeprefix(f"{shown} ")
    return text.partition(". ")[0].removesuffix(".")


def _add_named_image(found: _Collected, path: Path, name: str) -> None:
    try:
        _add_image(found, path, show(name))
    except HermesError as error:
        found.words.append(f"{show(name)}: left out, {error.message}")


def _add_image(found: _Collected, path: Path, name: str) -> None:
    """Add an image; raises ``HermesError`` when it cannot be sent."""
    hint = "PNG, JPEG, GIF and WebP up to 5 MB work."
    try:
        with os.fdopen(open_regular(Path(os.path.realpath(path)), name), "rb") as file:
            content = file.read(MAX_IMAGE_BYTES + 1)
    except ToolFailure as failure:
        raise HermesError(failure.message, hint="Check the path.") from failure
    except OSError as error:
        raise HermesError(f"{name} cannot be read: {error.strerror}.", hint="Check the path.") from error
    media_type = _type_of(content)
    if not media_type:
        raise HermesError(f"{name} is not an image that models take.", hint=hint)
    if len(content) > MAX_IMAGE_BYTES:
        raise HermesError(f"{name} is too large ({_size(path.stat().st_size)}).", hint=hint)
    encoded = base64.b64encode(content).decode("ascii")
    image: JsonObject = {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{encoded}"}}
    if image in found.images:  # attached by hand and named, or both by an undo
        return
    found.images.append(image)
    found.words.append(f"{show(path.name)}: image, {_size(len(content))}")


def _image_type(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return _type_of(file.read(16))
    except OSError:
        return ""


def _type_of(content: bytes) -> str:
    """Return the media type of an image by its first bytes, or empty."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _IMAGES if content.startswith(magic)), "")


def _size(size_bytes: int) -> str:
    for limit, unit in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if size_bytes >= limit:
            return f"{size_bytes / limit:.1f} {unit}"
    return f"{size_bytes} bytes"
