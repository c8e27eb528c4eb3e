"""Pasted blocks: what becomes a chip, and the shelf that keeps a chip's exact text.

Pure: no widget, no file is read. In the document a chip is its label between two private-use characters, so nothing
that a person can type or paste is ever mistaken for one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

CHIP_OPEN: Final = "\U0010fffc"
CHIP_CLOSE: Final = "\U0010fffd"
"""Private-use characters of the last plane: no font and no icon set uses them."""

MAX_INLINE_LINES: Final = 10
MAX_INLINE_CHARS: Final = 2_000
MAX_PASTE_CHARS: Final = 10_000_000
"""More than this is refused; a file is the better way. Source: bug case B184 (1 MB works, 50 MB is refused)."""

IMAGE_SUFFIXES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})

_PASTE_MARKER = re.compile(r"\x1b\[20[01]~")
_UNSAFE_INLINE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\U0010fffc\U0010fffd]")
"""Would move the cursor, split lines in a way that cannot be undone, hide text, or look like a chip."""
_CHIP = re.compile(f"{CHIP_OPEN}(Pasted|Image) #(\\d+)[^{CHIP_CLOSE}\n]*{CHIP_CLOSE}")
_SENT_IMAGE = re.compile(r"\[Image #\d+[^\]\n]*\]")
_DRAFT_MARK = CHIP_OPEN + "draft"


@dataclass(frozen=True, slots=True)
class Chip:
    """One block on the shelf."""

    number: int
    kind: Literal["text", "image"]
    content: str
    """The exact text, or the path of the image."""

    @property
    def label(self) -> str:
        """What is shown, without brackets."""
        if self.kind == "image":
            return f"Image #{self.number}: {_printable(Path(self.content).name)}"
        count = line_count(self.content)
        size = f"{count:,} lines" if count > 1 else f"{len(self.content):,} characters"
        return f"Pasted #{self.number}: {size}"

    @property
    def token(self) -> str:
        """How it stands in the document."""
        return f"{CHIP_OPEN}{self.label}{CHIP_CLOSE}"


@dataclass(slots=True)
class PasteShelf:
    """The chips of one draft. They stay until the draft is sent, so undo can bring a deleted one back."""

    _chips: dict[int, Chip] = field(default_factory=dict)

    def add_text(self, text: str) -> Chip:
        """Keep a block of text and return its chip."""
        return self._add("text", text)

    def add_image(self, path: str) -> Chip:
        """Keep an image's path and return its chip."""
        return self._add("image", path)

    def _add(self, kind: Literal["text", "image"], content: str) -> Chip:
        chip = Chip(max(self._chips, default=0) + 1, kind, content)
        self._chips[chip.number] = chip
        return chip

    def spans(self, line: str) -> list[tuple[int, int, Chip]]:
        """Return ``(start, end, chip)`` of every chip in a line."""
        if CHIP_OPEN not in line:
            return []
        found = ((match, self._chips.get(int(match[2]))) for match in _CHIP.finditer(line))
        return [(match.start(), match.end(), chip) for match, chip in found if chip is not None]

    def expand(self, document_text: str) -> str:
        """Return the text as it is sent: every block in full, every image as its label in brackets."""

        def content(match: re.Match[str]) -> str:
            chip = self._chips.get(int(match[2]))
            if chip is None:
                return ""
            return chip.content if chip.kind == "text" else f"[{chip.label}]"

        return _CHIP.sub(content, document_text) if CHIP_OPEN in document_text else document_text

    def images(self, document_text: str) -> tuple[str, ...]:
        """Return the paths of the images that are still in the text, in order."""
        return tuple(chip.content for _, _, chip in self.spans(document_text) if chip.kind == "image")

    def with_images(self, text: str, paths: Sequence[str]) -> str:
        """Take images in again and return the document: each where its label stands in a sent text, else at the end."""
        self.clear()
        tokens = [self.add_image(path).token for path in paths]
        if needs_chip(text):
            return " ".join([self.add_text(text).token, *tokens])
        rest = iter(tokens)
        text = _SENT_IMAGE.sub(lambda match: next(rest, match[0]), text)
        return " ".join(filter(None, [text, *rest]))

    def clear(self) -> None:
        """Forget all chips."""
        self._chips.clear()

    def to_draft(self, document_text: str) -> str:
        """Return one string that holds the document and its chips; plain text if there are none."""
        used = [chip for _, _, chip in self.spans(document_text)]
        if not used:
            return document_text
        rows = [[chip.number, chip.kind, chip.content] for chip in used]
        return _DRAFT_MARK + json.dumps([document_text, rows], ensure_ascii=False)

    def from_draft(self, draft: str) -> str:
        """Take the chips out of a draft and return the document's text."""
        self.clear()
        if not draft.startswith(_DRAFT_MARK):
            return draft
        document_text, rows = json.loads(draft.removeprefix(_DRAFT_MARK))
        for number, kind, content in rows:
            self._chips[number] = Chip(number, kind, content)
        return str(document_text)


def normalize(text: str) -> str:
    """Return pasted text with the terminal's traces taken out: paste markers, NULs, and CR for line ends."""
    if "\x1b" in text:
        text = _PASTE_MARKER.sub("", text)
    return text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")


def single_line(text: str) -> str:
    """Return pasted text fit for a one-line field: no line ends, no control characters."""
    return "".join(char for char in normalize(text).replace("\n", " ").strip() if char.isprintable())


def line_count(text: str) -> int:
    """Return the number of lines, a trailing newline not counted as one more."""
    return text.count("\n") + (not text.endswith("\n"))


def needs_chip(text: str) -> bool:
    """Return whether a block is too long for the prompt or could not be shown in it unchanged."""
    return len(text) > MAX_INLINE_CHARS or line_count(text) > MAX_INLINE_LINES or is_unsafe(text)


def is_unsafe(text: str) -> bool:
    """Return whether a text holds characters that the prompt could not show or keep."""
    return _UNSAFE_INLINE.search(text) is not None


def image_paths(text: str) -> list[str]:
    """Return the paths if the pasted text is nothing but paths of images (dropped or pasted), else an empty list.

    Understands quotes, escaped blanks and ``file://``. Whether the files exist is for the caller to look at.
    """
    if len(text) > 4_096 or not any(suffix in text.lower() for suffix in IMAGE_SUFFIXES):
        return []
    paths = [path for line in text.strip().splitlines() for path in _split_paths(line)]
    return paths if paths and all(Path(path).suffix.lower() in IMAGE_SUFFIXES for path in paths) else []


def _split_paths(line: str) -> list[str]:
    line = line.strip()
    if Path(line).suffix.lower() in IMAGE_SUFFIXES and "\\" not in line and line[:1] not in "'\"" and " /" not in line:
        words = [line]  # one path, blanks and all
    else:
        words = [
            single or double or bare.replace("\\", "")
            for single, double, bare in re.findall(r"'([^']+)'|\"([^\"]+)\"|((?:\\.|[^\s\\])+)", line)
        ]
    return [unquote(urlsplit(word).path) if word.startswith("file://") else word for word in words]


def _printable(name: str) -> str:
    return "".join(char for char in name if char.isprintable() and char not in (CHIP_OPEN, CHIP_CLOSE))
