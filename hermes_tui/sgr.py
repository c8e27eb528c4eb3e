"""The shortest way to say colours: a brush that remembers what the terminal's pen is set to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rich.color import ColorSystem
from rich.style import Style

if TYPE_CHECKING:
    from rich.console import Console

Span: TypeAlias = tuple[str, Style | None]
"""Text and its style."""

ERASE_FROM = 12
"""Fewer blanks than this are written; more are erased."""


class Pen(NamedTuple):
    """What a style sets, as parts of an SGR sequence."""

    attributes: str = ""
    """``1;3`` and the like; empty for none."""
    color: str = ""
    background: str = ""
    link: str = ""


PLAIN = Pen()
UNKNOWN = Pen("unknown")


@lru_cache(maxsize=4096)
def pen_of(style: Style | None, system: ColorSystem) -> Pen:
    """Return the parts of a style in a colour system."""
    if style is None:
        return PLAIN
    flags = (
        (style.bold, "1"), (style.dim, "2"), (style.italic, "3"), (style.underline, "4"), (style.blink, "5"),
        (style.blink2, "6"), (style.reverse, "7"), (style.conceal, "8"), (style.strike, "9"), (style.underline2, "21"),
        (style.frame, "51"), (style.encircle, "52"), (style.overline, "53"),
    )  # fmt: skip
    color, background = style.color, style.bgcolor
    return Pen(
        ";".join(code for is_on, code in flags if is_on),
        ";".join(color.downgrade(system).get_ansi_codes()) if color else "",
        ";".join(background.downgrade(system).get_ansi_codes(foreground=False)) if background else "",
        style.link or "",
    )


class Brush:
    """Collects output and remembers the pen from one frame to the next, which nobody else touches."""

    def __init__(self) -> None:
        self._system = ColorSystem.TRUECOLOR
        self._out: list[str] = []
        self._pen = UNKNOWN

    def start(self, console: Console) -> None:
        """Begin a frame in the console's colour system."""
        self._system = console._color_system or ColorSystem.TRUECOLOR
        self._out = []

    def forget(self) -> None:
        """The terminal's pen may be anything now."""
        self._pen = UNKNOWN

    def control(self, sequence: str) -> None:
        """Write a sequence that needs a plain pen."""
        self._set(PLAIN)
        self._out.append(sequence)

    def move(self, y: int, x: int) -> None:
        """Go to a cell, both from 0."""
        self._out.append(f"\x1b[{y + 1};{x + 1}H")

    def write(self, spans: Sequence[Span], width: int = 0) -> None:
        """Write spans from where the cursor is.

        Args:
            spans: Text and styles.
            width: Columns of the terminal when the spans reach its edge and erasing keeps the background: long blanks
                are then erased, and what follows them is written behind.
        """
        left = sum(cells(text) for text, _ in spans) if width else 0
        for text, style in spans:
            self._set(pen_of(style, self._system))
            left -= cells(text) if width else 0
            kept = text.rstrip(" ")
            if width and len(text) - len(kept) >= ERASE_FROM and self._is_erasable:
                self._out.append(f"{kept}\x1b[K")
                if left:
                    self._out.append(f"\x1b[{width - left + 1}G")
            else:
                self._out.append(text)

    def finish(self) -> str:
        """Return everything that was collected."""
        return "".join(self._out)

    @property
    def _is_erasable(self) -> bool:
        """Erasing draws a background, and nothing else."""
        return not self._pen.attributes and not self._pen.link

    def _set(self, pen: Pen) -> None:
        now = self._pen
        if pen == now:
            return
        self._pen = pen
        if pen.link != now.link:
            self._out.append(f"\x1b]8;{'id=1' if pen.link else ''};{pen.link}\x1b\\")
        if pen[:3] == now[:3]:
            return
        is_fresh = pen.attributes != now.attributes or (now.color and not pen.color) or (
            now.background and not pen.background
        )  # fmt: skip
        codes: tuple[str, ...]
        if is_fresh:
            codes = ("" if now[:3] == PLAIN[:3] else "0", pen.attributes, pen.color, pen.background)
        else:
            changed = (pen.color if pen.color != now.color else "", pen.background)
            codes = (changed[0], changed[1] if pen.background != now.background else "")
        self._out.append(f"\x1b[{';'.join(filter(None, codes))}m")


def cells(text: str) -> int:
    """Columns of a text."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
