"""First look at the raw text: size, bytes and characters that must not be in a command. Fail closed."""

from __future__ import annotations

import re

MAX_BYTES = 64 * 1024
MAX_COMMANDS = 1000
MAX_SECONDS = 0.05

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BIDI = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f"
    r"\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_JOINER = re.compile(r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
_PADDING = re.compile(r"[ \t]{40,}|\n(?:[ \t]*\n){8,}[ \t]*\S")

_TABLE = (
    (_SURROGATE, "bytes that are no text"),
    (_CONTROL, "control characters"),
    (_BIDI, "characters that reverse the reading direction"),
    (_INVISIBLE, "invisible characters"),
    (_JOINER, "invisible characters"),
)


def find_unreadable(text: str) -> str:
    """Return what makes ``text`` unreadable as a command, or an empty string."""
    if len(text) > MAX_BYTES or (not text.isascii() and len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES):
        return "longer than 64 KB"
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return ""
    return next((what for pattern, what in _TABLE if pattern.search(text)), "")


def is_padded(text: str) -> bool:
    """Tell whether a tail may hide behind long runs of blanks or empty lines."""
    return _PADDING.search(text) is not None
