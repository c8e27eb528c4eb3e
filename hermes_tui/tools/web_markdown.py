"""A whole page as Markdown, for pages that are not one article: lists of links, tables, status pages, short notes."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

_LEFT_OUT = frozenset(
    {"script", "style", "noscript", "template", "nav", "footer", "aside", "form", "button", "select", "svg", "iframe"}
)
_BLOCK_NAMES = """
address article blockquote body center dd details dialog div dl dt figcaption figure h1 h2 h3 h4 h5 h6 header hr li main
ol p pre section summary table tbody td tfoot th thead tr ul"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "kbd": "`"}
MAX_LINK_CHARS = 2_000


def whole_page(html: str, url: str) -> str:
    """Return all that a page shows, menus and footers left out.

    Args:
        html: The page.
        url: What its links are relative to.
    """
    import lxml.html

    root: Any = lxml.html.document_fromstring(html)
    body = root.find("body")
    page = _Page(url)
    page.walk(root if body is None else body)
    page.end_block()
    return "\n\n".join(page.blocks)


class _Page:
    """Collects the blocks of one page."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._words: list[str] = []
        self.blocks: list[str] = []

    def walk(self, node: Any) -> None:
        """Add an element's content."""
        self._words.append(node.text or "")
        for child in node:
            self._child(child)
            self._words.append(child.tail or "")

    def end_block(self, prefix: str = "") -> None:
        """Close the running words as a paragraph."""
        lines = [" ".join(line.split()) for line in "".join(self._words).split("\f")]
        text = "\n".join(lines).strip()
        self._words.clear()
        if text:
            self.blocks.append(prefix + text)

    def _child(self, node: Any) -> None:
        tag = node.tag if isinstance(node.tag, str) else ""
        if not tag or tag in _LEFT_OUT or node.get("hidden") is not None or node.get("aria-hidden") == "true":
            return
        if tag in _BLOCKS:
            self.end_block()
            self._block(node, tag)
            return
        match tag:
            case "br":
                self._words.append("\f")
            case "img":
                self._words.append(node.get("alt") or "")
            case "a":
                self._words.append(self._link(node))
            case _ if tag in _MARKS:
                self._words.append(_marked(self._inline(node), _MARKS[tag]))
            case _:
                self.walk(node)

    def _block(self, node: Any, tag: str) -> None:
        match tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._words.append(self._inline(node))
                self.end_block("#" * int(tag[1]) + " ")
            case "pre":
                text = "".join(node.itertext()).strip("\n")
                self.blocks.append(f"```\n{text}\n```")
            case "ul" | "ol":
                self._list(node, is_numbered=tag == "ol")
            case "table":
                rows = [[self._inline(cell) for cell in row.xpath("./td|./th")] for row in node.iter("tr")]
                self._table([cells for cells in rows if any(cells)])
            case "hr":
                self.blocks.append("---")
            case _:
                self.walk(node)
                self.end_block("> " if tag == "blockquote" else "")

    def _list(self, node: Any, *, is_numbered: bool) -> None:
        lines: list[str] = []
        for number, item in enumerate((child for child in node if child.tag == "li"), 1):
            inner = _Page(self._url)
            inner.walk(item)
            inner.end_block()
            mark = f"{number}. " if is_numbered else "- "
            text = "\n".join(inner.blocks).replace("\n", "\n" + " " * len(mark))
            lines.append(mark + text)
        if lines:
            self.blocks.append("\n".join(lines))

    def _table(self, rows: list[list[str]]) -> None:
        lines = [f"| {' | '.join(cells)} |" for cells in rows]
        if lines:
            self.blocks.append("\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]))

    def _inline(self, node: Any) -> str:
        inner = _Page(self._url)
        inner.walk(node)
        inner.end_block()
        return re.sub(r"\s+", " ", " ".join(inner.blocks)).replace("|", "\\|" if node.tag in ("td", "th") else "|")

    def _link(self, node: Any) -> str:
        text, target = self._inline(node), str(node.get("href") or "")
        if not text or not target or target.startswith("#"):
            return text
        try:
            place = urljoin(self._url, target)
        except ValueError:
            return text
        is_good = place.startswith(("http://", "https://")) and len(place) < MAX_LINK_CHARS
        return f"[{text}]({place})" if is_good else text


def _marked(text: str, mark: str) -> str:
    return f"{mark}{text}{mark}" if text else ""
