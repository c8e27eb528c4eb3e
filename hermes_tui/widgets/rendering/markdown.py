"""One Markdown unit into pieces of rows: paragraphs, headings, quotes, list items, rules, raw HTML, code.

Owns the look of Markdown. Where a message is cut into units is :mod:`blocks`' business.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len
from rich.segment import Segment

from .code import LineLexer, language_of
from .inline import inline_runs
from .rows import Frame, Piece, wrapped
from .tables import Align, Cell, header_rows, plan_table, table_rows
from .wrapping import Run, cells_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING: Final = 90
"""Deeper structure is shown as text. Source: the parser recurses; Python's stack holds about twice this."""
MIN_WIDTH: Final = 16
"""Nested content is not made narrower than this; deeper levels share an indent."""
BULLETS: Final = "\u2022\u25e6\u25aa"
TASKS: Final = {"[ ] ": "\u2610 ", "[x] ": "\u2611 ", "[X] ": "\u2611 "}
TAB: Final = 4

References = dict[str, dict[str, Any]]


@cache
def parser() -> MarkdownIt:
    """Return the parser, made on first use."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 2 * MAX_NESTING + 20}).enable(["table", "strikethrough"])


def warm_up() -> None:
    """Import and run what the first answer needs; meant for a thread, so that the answer itself does not wait."""
    import pygments.lexer
    import pygments.lexers  # noqa: F401

    parser().parse("*a* `b`\n\n- c")


def parse(text: str, references: References) -> list[Token]:
    """Parse a unit; structure too deep for the parser comes back as one code token."""
    try:
        if _depth(text) <= MAX_NESTING:
            # A copy: an unfinished definition must not be learned by the parser itself.
            return parser().parse(text, {"references": dict(references)})
    except RecursionError:
        pass
    from markdown_it.token import Token

    return [Token("code_block", "code", 0, content=text)]


def _depth(text: str) -> int:
    """Guess how deep containers nest: markers at the start of a line."""
    if ">" not in text and len(text) < 180:
        return 0
    deepest = 0
    for line in text.split("\n"):
        lead = line[: len(line) - len(line.lstrip(" \t>-+*0123456789.)"))]
        deepest = max(deepest, lead.count(">") + lead.count(" ") // 2 + lead.count("- "))
    return deepest


def parse_inline(text: str, references: References) -> list[Token]:
    """Parse text that can only be inline, such as a table cell."""
    tokens = parser().parseInline(text, {"references": references})
    return tokens[0].children or [] if tokens else []


def render(text: str, frame: Frame, references: References, width: int, ordinal: int | None = None) -> list[Piece]:
    """Return the rows of one unit.

    Args:
        text: Markdown, already safe to draw, tabs expanded.
        frame: How to draw.
        references: Link definitions known so far.
        width: Cells to fill.
        ordinal: The number of the unit's first list item, when it continues a list.
    """
    return _Renderer(frame, references, ordinal).blocks(parse(text, references), width, 0)


class _Renderer:
    """Walks the tokens of one unit."""

    def __init__(self, frame: Frame, references: References, ordinal: int | None) -> None:
        self.frame = frame
        self.references = references
        self.ordinal = ordinal

    def blocks(self, tokens: Sequence[Token], width: int, depth: int, tight: bool = False) -> list[Piece]:
        """Return the rows of sibling blocks, a blank row between them unless they are tight."""
        pieces: list[Piece] = []
        index = 0
        while index < len(tokens):
            end = _closing(tokens, index)
            rows = self._block(tokens[index : end + 1], width, depth)
            opens_list = tokens[index].type in {"bullet_list_open", "ordered_list_open"}
            if rows and pieces and not (tight or (opens_list and depth)):
                pieces.append(Piece([]))
            pieces += rows
            index = end + 1
        return pieces

    def _block(self, tokens: Sequence[Token], width: int, depth: int) -> list[Piece]:
        first = tokens[0]
        inside = tokens[1:-1]
        match first.type:
            case "paragraph_open" | "inline":
                return self._prose(inside or tokens, width)
            case "heading_open":
                return self._prose(inside, width, f"h{min(4, int(first.tag[1:]))}")
            case "bullet_list_open" | "ordered_list_open":
                return self._list(first, inside, width, depth)
            case "blockquote_open":
                bar = [self.frame.seg("\u2502 ", "rule")]
                return self._nested(inside, width, depth + 1, bar, bar)
            case "fence" | "code_block":
                language = language_of(first.info) if first.type == "fence" else ""
                lexer = LineLexer(self.frame.code, language)
                lines = [
                    lexer.line(line, self.frame.palette, "code") for line in first.content.rstrip("\n").split("\n")
                ]
                return code_rows(lines, self.frame, width)
            case "hr":
                return [Piece([self.frame.seg("\u2500" * min(width, 60), "rule")])]
            case "html_block":
                return self._plain(first.content.rstrip("\n"), width, "html")
            case "table_open":
                return self._table(inside, width)
            case _:
                return self._plain(first.content, width) if first.content else []

    def _prose(self, tokens: Sequence[Token], width: int, *roles: str) -> list[Piece]:
        pieces: list[Piece] = []
        for token in tokens:
            for runs in inline_runs(token.children or [], self.frame.palette, "base", roles):
                pieces += wrapped(runs, width)
        return pieces

    def _plain(self, text: str, width: int, *roles: str) -> list[Piece]:
        style = self.frame.style(*roles)
        return [piece for line in text.split("\n") for piece in wrapped([(line, style)], width)]

    def _list(self, first: Token, inside: Sequence[Token], width: int, depth: int) -> list[Piece]:
        number, self.ordinal = (self.ordinal if depth == 0 else None), None
        if number is None:
            number = int(first.attrs.get("start", 1))
        pieces: list[Piece] = []
        index = 0
        while index < len(inside):
            end = _closing(inside, index)
            item = inside[index + 1 : end]
            if first.type == "ordered_list_open":
                label = [self.frame.seg(f"{number}{inside[index].markup or '.'} ", "bullet")]
            else:
                label = [self.frame.seg(f"{BULLETS[min(depth, 2)]} ", "bullet")]
            box = _task_box(item)
            if box:
                label = [self.frame.seg(box, "bullet")]
            blank = [self.frame.palette.blank(cells_of(label), "base")]
            rows = self._nested(item, width, depth + 1, label, blank, tight=_is_tight(item))
            pieces += rows or [Piece(label)]
            number += 1
            index = end + 1
        return pieces

    def _nested(
        self,
        tokens: Sequence[Token],
        width: int,
        depth: int,
        head: list[Segment],
        rest: list[Segment],
        tight: bool = False,
    ) -> list[Piece]:
        """Return the rows of a container, its mark before the first and its indent before the others."""
        indent = cells_of(head)
        if width - indent < MIN_WIDTH:
            rows = self.blocks(tokens, width, depth, tight)
            return rows if not head[0].text.strip("\u2502 ") else [Piece(head), *rows]
        rows = self.blocks(tokens, width - indent, depth, tight)
        decorated = head is rest
        return [piece.indented(rest if number else head, decorated=decorated) for number, piece in enumerate(rows)]

    def _table(self, tokens: Sequence[Token], width: int) -> list[Piece]:
        rows: list[list[Cell]] = []
        aligns: list[Align] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "th_open":
                aligns.append(_align(str(token.attrs.get("style", ""))))
            elif token.type == "inline":
                roles = ("strong",) if len(rows) == 1 else ()
                rows[-1].append(_joined(inline_runs(token.children or [], self.frame.palette, "base", roles)))
        palette = self.frame.palette
        layout = plan_table(rows, aligns, width)
        return header_rows(rows[0], layout, palette) + table_rows(rows[1:], layout, width, palette, rows[0])


def _closing(tokens: Sequence[Token], index: int) -> int:
    """Return the index of the token that closes the one at ``index`` (itself when it stands alone)."""
    if tokens[index].nesting != 1:
        return index
    level = 0
    for at in range(index, len(tokens)):
        level += tokens[at].nesting
        if level == 0:
            return at
    return len(tokens) - 1


def _align(style: str) -> Align:
    return "right" if "right" in style else "center" if "center" in style else "left"


def _joined(lines: list[list[Run]]) -> Cell:
    return [run for line in lines for run in line]


def _is_tight(item: Sequence[Token]) -> bool:
    return not any(token.type == "paragraph_open" and not token.hidden for token in item)


def _task_box(item: Sequence[Token]) -> str:
    """Take a task marker off the item's text and return the box to draw instead."""
    if len(item) > 1 and item[0].type == "paragraph_open" and item[1].children:
        first = item[1].children[0]
        box = TASKS.get(first.content[:4])
        if box and first.type == "text":
            first.content = first.content[4:]
            return box
    return ""


def code_rows(lines: Sequence[list[Run]], frame: Frame, width: int, label: str = "") -> list[Piece]:
    """Return coloured lines of code on their own ground.

    Args:
        lines: Runs of each line, tabs expanded.
        frame: How to draw.
        width: Cells to fill.
        label: Shown at the right of the first row, if there is room.
    """
    pieces: list[Piece] = []
    bar = frame.seg("\u258e", "rule", ground="code")
    for line in lines:
        for piece in wrapped(line, max(2, width - 2), chop=True):
            free = width - 1 - cells_of(piece.segments)
            tail = [frame.palette.blank(free, "code")] if free > 0 else []
            if label and free > cell_len(label) + 2:
                gap = frame.palette.blank(free - cell_len(label) - 1, "code")
                tail = [gap, frame.seg(label, "muted", ground="code"), frame.palette.blank(1, "code")]
            label = ""
            pieces.append(Piece([bar, *piece.segments, *tail], 1, piece.joint))
    return pieces
