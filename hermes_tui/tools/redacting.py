"""Secrets taken out of text that comes in parts."""

from __future__ import annotations

import re
from collections.abc import Callable

_BEGIN = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_BODY_LINES = re.compile(r"(?:[ \t]*[A-Za-z0-9+/=]{16,}[ \t]*(?:\n|\Z))+")


class StreamRedactor:
    """Cleans one text, a part of whole lines at a time; a private key may go over several parts.

    Args:
        redact: Takes secrets out of one part.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._is_in_key = False

    def __call__(self, part: str) -> str:
        """Return the part without secrets."""
        if self._is_in_key and (body := _BODY_LINES.match(part)):
            part = part[body.end() :]
        if part:
            *_, begin = (None, *_BEGIN.finditer(part))
            self._is_in_key = begin is not None and _is_open(part[begin.end() :])
        return self._redact(part)


def _is_open(rest: str) -> bool:
    """Tell whether nothing but lines of the key stands behind its first one."""
    lines = rest.lstrip()
    return not lines or _BODY_LINES.fullmatch(lines) is not None
