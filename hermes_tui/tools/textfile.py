"""A text file as it lies on disk: its bytes, its encoding and byte order mark, its line ends."""

from __future__ import annotations

import codecs
import os
import struct
from dataclasses import dataclass
from pathlib import Path

from .base import ToolFailure
from .paths import open_regular

EDIT_CAP_BYTES = 16 * 1024 * 1024
"""Larger files are read in pieces and not edited."""
_SAMPLE = 8_192
_CHUNK = 1 << 16

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document)"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "a program (ELF)"),
    (b"SQLite format 3\0", "an SQLite database"),
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells whether a file is still the one that was read."""

    mtime_ns: int
    size: int
    inode: int
    digest: str = ""
    """Hash of its bytes; empty for files that were not read whole."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file that was read whole."""

    text: str
    """Decoded, line ends untouched, without the byte order mark."""
    encoding: str
    mark: bytes
    stamp: Stamp
    mode: int

    @property
    def newline(self) -> str:
        r"""``\r\n`` when every line ends so, else ``\n``."""
        pairs = self.text.count("\r\n")
        return "\r\n" if pairs and pairs == self.text.count("\n") else "\n"

    @property
    def encoding_name(self) -> str:
        """The encoding in words, empty for plain UTF-8."""
        names = {"utf-8": "UTF-8 with a byte order mark" if self.mark else "", "latin-1": "Latin-1"}
        return names.get(self.encoding, self.encoding.upper())

    def encode(self, text: str) -> bytes:
        """Return ``text`` as bytes of this file's encoding.

        Raises:
            ToolFailure: The encoding lacks a character of it.
        """
        return self.mark + encode(text, self.encoding)


def encode(text: str, encoding: str) -> bytes:
    """Encode, or say which character cannot be.

    Raises:
        ToolFailure: The encoding lacks a character.
    """
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        char = text[error.start]
        if 0xD800 <= ord(char) <= 0xDFFF:
            raise ToolFailure("The text holds half a Unicode character: send it again.") from error
        raise ToolFailure(
            f"The file is {encoding.upper()}, which has no {char!r}. Convert it first, e.g. with iconv to UTF-8."
        ) from error


def stamp_of(status: os.stat_result, content: bytes | None = None) -> Stamp:
    """Return the stamp of a file with this status and content."""
    return Stamp(status.st_mtime_ns, status.st_size, status.st_ino, digest(content) if content is not None else "")


def digest(content: bytes) -> str:
    """Hash a file's bytes, to notice a change within this process; four times as fast as a cryptographic one."""
    return f"{hash(content):x}"


def read_whole(path: Path, raw: str) -> tuple[bytes, os.stat_result]:
    """Read a regular file of at most :data:`EDIT_CAP_BYTES`.

    Raises:
        ToolFailure: It is missing, too large, or no regular file.
    """
    with os.fdopen(open_regular(path, raw), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        content = file.read(min(status.st_size, EDIT_CAP_BYTES) + 1)
        while len(content) <= EDIT_CAP_BYTES and (piece := file.read(_CHUNK)):
            content += piece
        if len(content) > EDIT_CAP_BYTES:
            raise ToolFailure(f"{raw} is too large to edit here: use sed or a script in the terminal.")
    return content, status


def load(path: Path, raw: str) -> TextFile:
    """Read a text file whole.

    Raises:
        ToolFailure: It is missing, too large, binary, or no regular file.
    """
    content, status = read_whole(path, raw)
    return decode(content, status, raw)


def decode(content: bytes, status: os.stat_result, raw: str) -> TextFile:
    """Make a text file of bytes.

    Raises:
        ToolFailure: They are binary.
    """
    mark, encoding = detect(content)
    if encoding == "binary":
        raise binary_failure(raw, content, status.st_size)
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        if mark:
            raise ToolFailure(f"{raw} says it is {encoding.upper()} but is not: look at it with xxd.") from error
        encoding = "latin-1"
        text = content.decode(encoding)
    return TextFile(text, encoding, mark, stamp_of(status, content), status.st_mode)


def detect(content: bytes) -> tuple[bytes, str]:
    """Return the byte order mark and the encoding: of it, else ``utf-8`` or ``binary``."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return mark, encoding
    return b"", "binary" if b"\0" in content[:_SAMPLE] or content.startswith(b"%PDF-") else "utf-8"


def binary_failure(raw: str, content: bytes, size: int) -> ToolFailure:
    """Say what a binary file is."""
    what = next((name for magic, name in _MAGIC if content.startswith(magic)), "binary")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        what = "a WebP image"
    kind = "image" if what.endswith("image") else "binary"
    area = ""
    if what == "a PNG image" and len(content) >= 24:
        area = "{}x{} pixels, ".format(*struct.unpack(">II", content[16:24]))
    advice = "It cannot be read as text."
    if kind == "binary":
        advice = "Look at it with file, xxd or strings in the terminal."
    return ToolFailure(f"{raw} is {what} ({area}{size:,} bytes). {advice}", kind=kind, size_bytes=size)
