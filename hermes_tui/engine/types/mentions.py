"""Files that a text names with ``@``: ``@src/a.py``, ``@src/a.py:10-40``, ``@"my notes.md"``, ``@assets/``. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MENTION = re.compile(r'(?:^|(?<=[\s(\[{,;]))@("[^"\n]+"(?::\d+(?:-\d+)?)?|[^\s"]+)')
_LINE_RANGE = re.compile(r"(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?")
_CLOSING = ".,;:!?)]}'"
"""What may follow a mention in a sentence."""


def find_mentions(text: str) -> Iterator[str]:
    """Yield what stands behind each ``@`` that begins a word, each once."""
    yield from dict.fromkeys(found[1] for found in _MENTION.finditer(text))


def readings(mention: str) -> Iterator[str]:
    """Yield what a mention may mean: as it stands, then without the end of the sentence around it."""
    yield mention
    while mention and mention[-1] in _CLOSING:
        mention = mention[:-1]
        if mention:
            yield mention


def parse_mention(mention: str) -> tuple[str, int | None, int | None]:
    """Split what follows an ``@`` into path, first line and last line.

    ``a.py:10-20`` is ``("a.py", 10, 20)``, ``a.py:7`` is ``("a.py", 7, 7)``, anything else has no lines. Quotes around
    a path with blanks are taken off.
    """
    quoted = re.fullmatch(r'"([^"]+)"(.*)', mention)
    if quoted is not None:
        path, rest = quoted[1], quoted[2]
        found = re.fullmatch(r":(?P<first>\d+)(?:-(?P<last>\d+))?", rest)
    else:
        found = _LINE_RANGE.fullmatch(mention)
        path = found["path"] if found is not None else mention
    if found is None:
        return path, None, None
    first = int(found["first"])
    return path, first, int(found["last"] or first)
