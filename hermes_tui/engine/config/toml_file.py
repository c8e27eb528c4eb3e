"""Read one TOML file of a person: any encoding an editor may leave, and errors with file, line and reason."""

from __future__ import annotations

import codecs
import re
import tomllib
from pathlib import Path
from typing import Any

from ..types.errors import ConfigError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


def read_text(path: Path) -> str:
    """Return a file's text; empty when there is no such file.

    Raises:
        ConfigError: It cannot be read, or is not text.
    """
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise ConfigError(f"Cannot read {path}: {error.strerror or error}.") from error
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\0" in raw[:64]:
        encoding = "utf-16-le" if raw[1:2] == b"\0" else "utf-16-be"
    try:
        return raw.decode(encoding).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8 text.", hint="Save the file as UTF-8.") from error


def parse(text: str, path: Path) -> dict[str, Any]:
    """Parse TOML.

    Raises:
        ConfigError: A syntax error; the message holds file, line and reason.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        reason = _PLACE.sub("", str(error)).rstrip(".")
        raise ConfigError(
            f"{path}, line {line}: {reason[:1].lower()}{reason[1:]}.", hint="Nothing of this file is used until then."
        ) from error


def read_toml(path: Path) -> dict[str, Any]:
    """Return a file's tables; empty when there is no such file.

    Raises:
        ConfigError: It cannot be read or parsed.
    """
    return parse(read_text(path), path)


def line_of(text: str, path: tuple[str, ...]) -> int:
    """Return the 1-based line that sets a key or opens a table, 0 when it cannot be told."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        if header := re.match(r"\s*\[+([^\]]+)\]", line):
            table = _names(header[1])
            if table == path:
                return number
        elif (found := re.match(r"\s*([^=#\[\]]+?)\s*=", line)) and table + _names(found[1]) == path:
            return number
    return line_of(text, path[:-1]) if len(path) > 1 else 0


def _names(dotted: str) -> tuple[str, ...]:
    words = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^.\s]+)', dotted)
    return tuple(next((part for part in word if part), "") for word in words)
