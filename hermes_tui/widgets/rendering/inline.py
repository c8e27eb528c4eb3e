"""Inline Markdown tokens into styled runs. Links keep their address; nothing is ever opened or run from here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.style import Style

from .wrapping import Run

if TYPE_CHECKING:
    from markdown_it.token import Token

    from .palette import Palette

SAFE_SCHEMES: Final = ("http://", "https://", "mailto:")
"""What may become a link of the terminal; any other address is only shown."""

_OPEN: Final = {"strong_open": "strong", "em_open": "em", "s_open": "strike"}
_CLOSE: Final = {"strong_close": "strong", "em_close": "em", "s_close": "strike"}


def is_safe_url(url: str) -> bool:
    """Say whether an address may be opened by a click."""
    return url.lower().startswith(SAFE_SCHEMES) and url.isprintable() and " " not in url and len(url) <= 2_000


def inline_runs(tokens: Sequence[Token], palette: Palette, ground: str, roles: tuple[str, ...] = ()) -> list[list[Run]]:
    """Return the lines of an inline token's children: one, or more where there are hard breaks.

    Args:
        tokens: The children.
        palette: Where styles come from.
        ground: What the text lies on.
        roles: Roles that all of it has, such as a heading's.
    """
    lines: list[list[Run]] = [[]]
    stack: list[str] = list(roles)
    link: tuple[str, int] | None = None  # address, and where its text starts
    link_style: Style | None = None

    def add(text: str, *extra: str) -> None:
        style = palette.style(ground, *stack, *extra)
        lines[-1].append((text, style + link_style if link_style is not None else style))

    for token in tokens:
        match token.type:
            case "text" | "html_inline":
                if token.content:
                    add(token.content, *(("html",) if token.type == "html_inline" else ()))
            case "softbreak":
                add(" ")
            case "hardbreak":
                lines.append([])
            case "code_inline":
                add(token.content, "code")
            case "link_open":
                url = str(token.attrs.get("href", ""))
                link, link_style = (url, len(lines[-1])), palette.link(url) if is_safe_url(url) else None
                stack.append("link")
            case "link_close" if link is not None:
                stack.remove("link")
                shown = "".join(text for text, _ in lines[-1][link[1] :])
                link_style, url = None, link[0]
                if url and url not in {shown, f"mailto:{shown}"}:
                    _add_address(lines[-1], url, palette, ground)
                link = None
            case "image":
                _add_image(lines[-1], token, palette, ground)
            case kind if kind in _OPEN:
                stack.append(_OPEN[kind])
            case kind if kind in _CLOSE and _CLOSE[kind] in stack:
                stack.remove(_CLOSE[kind])
            case _:
                if token.content:
                    add(token.content)
    return lines


def _add_address(line: list[Run], url: str, palette: Palette, ground: str) -> None:
    style = palette.style(ground, "muted")
    line.append((f" ({url})", style + palette.link(url) if is_safe_url(url) else style))


def _add_image(line: list[Run], token: Token, palette: Palette, ground: str) -> None:
    alt = token.content or "image"
    line.append((f"[{alt}]", palette.style(ground, "em")))
    if source := str(token.attrs.get("src", "")):
        _add_address(line, source, palette, ground)
