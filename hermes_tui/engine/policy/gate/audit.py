"""Check a tree against its text: every character is accounted for, every leaf is what the parser says it is.

The grammar is not bash. Where both could differ, code may hide in what the tree calls data. So: between leaves there
are only blanks; no line ends inside a command; quotes, comments and heredocs end where bash ends them.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from .words import UnreadableError

if TYPE_CHECKING:
    from tree_sitter import Node

    from .parse import Budget, Source

_BLANK = re.compile(r"(?:[ \t\n]|\\\n)*\Z")
_READ_TWICE = re.compile(r"\\|=\(|\n")
_CONTINUED = re.compile(r"[^ \t\n;&|<>()](?:\\\n)+[^ \t\n;&|<>()]")
_LINE_END = re.compile(r"(?<!\\)\n")
_ANSI = re.compile(r"\$'(?:[^'\\]|\\.)*'\Z", re.S)
_CODE = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$[({])")
_CODE_OR_QUOTE = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\"|\$[({A-Za-z_0-9@*])")
_ONE_LINE = frozenset({"command", "declaration_command", "unset_command", "file_redirect", "herestring_redirect"})
_MAX_DEPTH = 60


def audit(source: Source, budget: Budget) -> None:
    """Walk all leaves in order and raise where tree and text disagree.

    Args:
        source: The parsed text.
        budget: Its time limit holds here too.

    Raises:
        UnreadableError: The tree may not be what bash would do.
    """
    cursor = source.root.walk()
    at, depth, count = 0, 0, 0
    bodies: list[tuple[int, int, bool]] = []
    while True:
        node = cursor.node
        if node is None:  # pragma: no cover - a cursor always has a node
            return
        count += 1
        if count % 256 == 0:
            budget.check_time()
        if node.is_missing:
            raise UnreadableError("syntax that is not complete")
        if node.type == "heredoc_redirect":
            bodies.append(_check_heredoc(source, node))
        if node.type in _ONE_LINE:
            _check_one_line(source, node)
        if node.type == "arithmetic_expansion":
            _check_arithmetic(source.slice(node))
        if node.child_count and cursor.goto_first_child():
            depth += 1
            if depth > _MAX_DEPTH:
                raise UnreadableError("very deep nesting")
            continue
        body = _body_around(node, source, bodies)
        if body is None:
            at = _check_leaf(source, node, at)
        else:
            at = _check_body_leaf(source, node, at, quoted=body)
        while not cursor.goto_next_sibling():
            depth -= 1
            if not cursor.goto_parent():
                if not _BLANK.match(source.text, at):
                    raise UnreadableError("text that the parser skipped")
                return


def _check_arithmetic(text: str) -> None:
    """Refuse a command in arithmetic whose text bash changes first, as if it stood in double quotes."""
    if ("$(" in text[3:] or "`" in text) and _READ_TWICE.search(text):
        raise UnreadableError("a command in arithmetic, with text that bash reads twice")


def _body_around(node: Node, source: Source, bodies: list[tuple[int, int, bool]]) -> bool | None:
    """Tell whether a leaf lies in a heredoc: None outside, else whether that heredoc is quoted."""
    start = source.start(node)
    return next((quoted for begin, end, quoted in reversed(bodies) if begin <= start <= end), None)


def _check_body_leaf(source: Source, node: Node, at: int, *, quoted: bool) -> int:
    if quoted:
        return max(at, source.end(node))
    gap = source.text[at : source.start(node)]
    if _CODE.search(gap) or (node.is_named and _CODE.search(source.slice(node))):
        raise UnreadableError("a heredoc that the parser read in another way than bash")
    return max(at, source.end(node))


def _check_leaf(source: Source, node: Node, at: int) -> int:
    start, end = source.start(node), source.end(node)
    blank = start <= at or _BLANK.fullmatch(source.text, at, start) or _is_string_gap(source, node, at, start)
    if not blank and not _is_lost_dash(source, node, at, start):
        raise UnreadableError("text that the parser skipped")
    if start > at > 0 and _CONTINUED.fullmatch(source.text, at - 1, start + 1):
        raise UnreadableError("a word continued on the next line")
    leaf = source.text[start:end]
    kind = node.type
    if kind == "raw_string":
        valid = len(leaf) >= 2 and leaf[0] == leaf[-1] == "'" and "'" not in leaf[1:-1]
    elif kind == "ansi_c_string":
        valid = _ANSI.match(leaf) is not None
    elif kind == "comment":
        valid = leaf.startswith("#") and "\n" not in leaf and (start == 0 or source.text[start - 1] in " \t\n;&|()<>")
    elif kind == "string_content":
        valid = _CODE_OR_QUOTE.search(leaf) is None
    elif node.is_named:
        valid = _CODE.search(leaf) is None
    else:
        valid = True
    if not valid:
        raise UnreadableError("quotes that the parser read in another way than bash")
    return max(at, end)


def _is_string_gap(source: Source, node: Node, at: int, start: int) -> bool:
    """Blanks inside double quotes, and the escaped line end of a string, belong to no leaf."""
    parent = node.parent
    return parent is not None and parent.type == "string" and not source.text[at:start].strip(" \t\n\\")


def _is_lost_dash(source: Source, node: Node, at: int, start: int) -> bool:
    """The grammar drops the dash of ``python - <<E``; ``simple.py`` reads it again."""
    return node.type == "<<" and re.fullmatch(r"[ \t]+-[ \t]*", source.text[at:start]) is not None


def _check_one_line(source: Source, node: Node) -> None:
    children = node.children
    for before, after in pairwise(children):
        gap = source.text[source.end(before) : source.start(after)]
        if "\n" in gap and _LINE_END.search(gap):
            raise UnreadableError("a command that the parser joined over a line end")


def _check_heredoc(source: Source, node: Node) -> tuple[int, int, bool]:
    """Find the body of a heredoc as bash does, and compare.

    Returns:
        The range of body and end line in characters, and whether nothing in it is expanded.
    """
    parts = {child.type: child for child in node.children}
    opener, last = parts.get("heredoc_start"), parts.get("heredoc_end")
    if opener is None or last is None:
        raise UnreadableError("a heredoc without an end")
    raw = source.slice(opener)
    delimiter = raw.strip("'\"").replace("\\", "")
    if not re.fullmatch(r"['\"]?[\w.!-]+['\"]?|\\\w+", raw):
        raise UnreadableError("a heredoc with an unusual end word")
    if source.text[source.end(opener) : source.end(opener) + 1] not in tuple(" \t\n;&|<>()"):
        raise UnreadableError("a heredoc with an unusual end word")
    strip = "<<-" in parts
    text = source.text
    line_end = text.find("\n", source.end(opener))
    if line_end < 0:
        raise UnreadableError("a heredoc without a body")
    for child in node.children:
        if child.type not in ("heredoc_body", "heredoc_end") and source.end(child) > line_end:
            raise UnreadableError("a heredoc with more on its line than is understood")
    begin = at = line_end + 1
    quoted = raw != delimiter
    while at <= len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop]
        if (line.lstrip("\t") if strip else line) == delimiter:
            break
        if not quoted and line.endswith("\\") and text[stop + 1 :].startswith(delimiter):
            raise UnreadableError("a heredoc whose end is continued")
        at = stop + 1
    if source.end(last) != stop:
        raise UnreadableError("a heredoc that the parser ended elsewhere than bash")
    if not quoted and "$\\\n" in text[begin:stop]:
        raise UnreadableError("an expansion in a heredoc that goes on in the next line")
    return begin, stop, quoted
