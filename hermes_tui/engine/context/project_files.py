"""The project's own instructions: the first of a few well-known files, from the folder up to the git root."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from ..config.project import up_to_git_root

NAMES = (".hermes.md", "AGENTS.md", "CLAUDE.md", ".cursorrules")
"""In order of preference; the first that exists anywhere on the way up wins."""
MAX_CHARS = 20_000
"""Longer files are cut. Source: about 5,000 tokens, a few percent of a common window."""
HEAD_SHARE = 0.7
TAIL_SHARE = 0.2

_HIDDEN_CATEGORIES = frozenset({"Cf", "Co", "Cs"})
_VISIBLE_ANYWAY = frozenset("\n\t\r\u200d\ufe0f")
"""Line ends, tab, and the two characters that join emoji."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """Instructions found in a project."""

    path: Path
    text: str
    """Capped, hidden characters made visible."""
    hidden_count: int = 0
    """Invisible characters that were found; a person should know when there are any."""
    digest: str = ""
    """Hash of the bytes that this was made from; trust is bound to it."""
    size_bytes: int = 0


def find_project_file(folder: Path) -> ProjectFile | None:
    """Return the project's instructions, or None. Reads the disk."""
    folders = list(up_to_git_root(folder))
    for name in NAMES:
        for candidate in (place / name for place in folders):
            content = _read(candidate)
            if content.strip():
                shown, hidden_count = reveal_hidden(content.decode("utf-8", "replace"))
                return ProjectFile(
                    path=candidate,
                    text=cap(shown),
                    hidden_count=hidden_count,
                    digest=hashlib.sha256(content).hexdigest(),
                    size_bytes=len(content),
                )
    return None


def reveal_hidden(text: str) -> tuple[str, int]:
    """Return the text with invisible, bidi and control characters written as ``<U+XXXX>``, and how many there were."""
    text = text.removeprefix("\ufeff")
    if text.isascii() and text.isprintable():
        return text, 0
    hidden_count = 0
    shown: list[str] = []
    for character in text:
        if _is_hidden(character):
            hidden_count += 1
            shown.append(f"<U+{ord(character):04X}>")
        else:
            shown.append(character)
    return "".join(shown), hidden_count


def cap(text: str, max_chars: int = MAX_CHARS) -> str:
    """Return the text, or its first 70 % and last 20 % of ``max_chars`` with a mark between them."""
    if len(text) <= max_chars:
        return text
    head = text[: int(max_chars * HEAD_SHARE)]
    tail = text[-int(max_chars * TAIL_SHARE) :]
    return f"{head}\n[... {len(text) - len(head) - len(tail)} characters left out; read the file for them ...]\n{tail}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError:
        return b""


def _is_hidden(character: str) -> bool:
    if character in _VISIBLE_ANYWAY:
        return False
    category = unicodedata.category(character)
    return category in _HIDDEN_CATEGORIES or category == "Cc"
