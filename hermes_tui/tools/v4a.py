"""Patches over several files in the ``*** Begin Patch`` form: read them, and plan their edits on paper first."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field, replace
from pathlib import Path

from .base import ToolFailure
from .diffs import deleted, unified
from .edits import Edit, load_target
from .matching import NotFound, Several, replace_lines
from .misses import not_found, several
from .paths import missing, real_path, show_relative
from .ports import ToolContext
from .textfile import TextFile, encode

_HEADERS = {"*** Update File: ": "update", "*** Add File: ": "add", "*** Delete File: ": "delete"}
_FORM = "Begin with *** Begin Patch, then *** Update File: PATH, *** Add File: PATH or *** Delete File: PATH."


@dataclass(slots=True)
class Hunk:
    """One place in a file."""

    anchors: list[str] = field(default_factory=list)
    """Lines that stand before it, in order."""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Section:
    """What happens to one file."""

    kind: str
    path: str
    move_to: str = ""
    hunks: list[Hunk] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """Of a new file."""


def parse(patch: str) -> list[Section]:
    """Read a patch.

    Raises:
        ToolFailure: It is not of the form.
    """
    lines = patch.replace("\r\n", "\n").strip("\n").split("\n")
    if lines and lines[0].strip() == "*** Begin Patch":
        lines.pop(0)
    if lines and lines[-1].strip() == "*** End Patch":
        lines.pop()
    sections: list[Section] = []
    for number, line in enumerate(lines, 1):
        header = next((header for header in _HEADERS if line.startswith(header)), "")
        if header:
            sections.append(Section(_HEADERS[header], line.removeprefix(header).strip()))
        elif sections:
            _take(sections[-1], line, number)
        elif line.strip():
            raise ToolFailure(f"The patch has no file before its line {number}. {_FORM}")
    empty = [
        section.path for section in sections if section.kind == "update" and not (section.hunks or section.move_to)
    ]
    if not sections or empty:
        raise ToolFailure(f"The patch changes nothing{' in ' + empty[0] if empty else ''}. {_FORM}")
    return sections


def _take(section: Section, line: str, number: int) -> None:
    if section.kind == "update" and line.startswith("*** Move to: "):
        section.move_to = line.removeprefix("*** Move to: ").strip()
    elif line.strip() == "*** End of File" or (section.kind == "delete" and not line.strip()):
        return
    elif section.kind == "add" and line.startswith("+"):
        section.lines.append(line[1:])
    elif section.kind == "update" and line.startswith("@@"):
        _take_anchor(section, line[2:].strip().removesuffix("@@").strip())
    elif section.kind == "update" and line[:1] in {" ", "-", "+", ""}:
        if not section.hunks:
            section.hunks.append(Hunk())
        hunk = section.hunks[-1]
        if not line.startswith("+"):
            hunk.old.append(line[1:])
        if not line.startswith("-"):
            hunk.new.append(line[1:])
    else:
        raise ToolFailure(f"Line {number} of the patch has none of the marks ' ', '-', '+', '@@': {line[:80]!r}.")


def _take_anchor(section: Section, anchor: str) -> None:
    if not section.hunks or section.hunks[-1].old or section.hunks[-1].new:
        section.hunks.append(Hunk())
    if anchor and anchor[0] not in "-+":  # "-1,2 +1,3" are line numbers of a unified diff, and often wrong
        section.hunks[-1].anchors.append(anchor)


def plan(patch: str, context: ToolContext) -> list[Edit]:
    """Plan all edits of a patch without writing.

    Raises:
        ToolFailure: One of them cannot be done; the words name its file.
    """
    edits: dict[Path, Edit] = {}
    for section in parse(patch):
        for edit in _section_edits(section, context, edits):
            edits[edit.real] = edit
    return [edit for edit in edits.values() if edit.before is not None or edit.text is not None]


def _section_edits(section: Section, context: ToolContext, edits: dict[Path, Edit]) -> list[Edit]:
    raw = section.path
    if not raw:
        raise ToolFailure(f"A file of the patch has no name. {_FORM}")
    earlier = edits.get(real_path(context, raw))
    if earlier is not None:
        real, before, text = earlier.real, earlier.before, earlier.text
    else:
        real, before = load_target(context, raw)
        text = before.text if before else None
    if section.kind == "add":
        if text is not None:
            raise ToolFailure(f"{raw} exists already: use *** Update File. Nothing was changed.")
        return [_edit(context, raw, real, before, "".join(line + "\n" for line in section.lines))]
    if text is None:
        raise missing(real, raw)
    if section.kind == "delete":
        return [_edit(context, raw, real, before, None)]
    changed = _apply(text, section)
    if not section.move_to:
        return [_edit(context, raw, real, before, changed)]
    return _move(context, section, _edit(context, raw, real, before, changed), edits)


def _move(context: ToolContext, section: Section, edit: Edit, edits: dict[Path, Edit]) -> list[Edit]:
    target, there = load_target(context, section.move_to)
    if there is not None or target in edits:
        raise ToolFailure(f"{section.move_to} exists already: nothing was moved or changed.")
    moved = _edit(context, section.move_to, target, None, edit.text)
    mode = stat.S_IMODE(edit.before.mode) if edit.before else None
    moved = replace(moved, content=edit.content, mode=mode)
    return [moved, _edit(context, section.path, edit.real, edit.before, None)]


def _apply(text: str, section: Section) -> str:
    line = 0
    for hunk in section.hunks:
        for anchor in hunk.anchors:
            line = _after_anchor(text, anchor, line, section.path)
        if not hunk.old:
            text, line = _insert(text, hunk, line, section.path)
            continue
        try:
            done = replace_lines(text, hunk.old, hunk.new, from_line=line, take_first=bool(hunk.anchors))
        except Several as found:
            raise several(section.path, found.lines) from None
        except NotFound:
            raise not_found(section.path, text, "\n".join(hunk.old)) from None
        text, line = done.text, done.next_line
    return text


def _after_anchor(text: str, anchor: str, from_line: int, raw: str) -> int:
    for number, line in enumerate(text.split("\n")[from_line:], from_line):
        if line.strip() == anchor:
            return number + 1
    raise ToolFailure(f"{raw} has no line {anchor!r} after line {from_line}. Nothing was changed.")


def _insert(text: str, hunk: Hunk, line: int, raw: str) -> tuple[str, int]:
    """Put lines in after the anchor; without one there is no telling where, unless the file is empty."""
    if not hunk.anchors and text:
        raise ToolFailure(f"A part for {raw} only adds lines and does not say where: give lines around it or @@ LINE.")
    lines = text.split("\n")
    end = "\r" if line and lines[line - 1].endswith("\r") else ""
    if line == len(lines):  # the anchor is a last line without an end
        return text + "".join(f"\n{new}" for new in hunk.new), line + len(hunk.new)
    lines[line:line] = [new + end for new in hunk.new]
    return "\n".join(lines), line + len(hunk.new)


def _edit(context: ToolContext, raw: str, real: Path, before: TextFile | None, text: str | None) -> Edit:
    shown = show_relative(context, real)
    old = before.text if before else None
    diff = deleted(shown, old or "") if text is None else unified(shown, old, text)
    content = b""
    if text is not None:
        content = before.encode(text) if before else encode(text, "utf-8")
    return Edit(raw=raw, real=real, shown=shown, before=before, text=text, content=content, diff=diff)
