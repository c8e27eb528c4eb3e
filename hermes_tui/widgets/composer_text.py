"""The composer's text as it is seen: carets that step over graphemes and chips, and the drawing of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.document._document import EditResult, Location
from textual.strip import Strip
from textual.widgets import TextArea

from .composer_core import PromptCore
from .composer_document import next_grapheme, previous_grapheme, snap_to_grapheme
from .paste import CHIP_CLOSE, CHIP_OPEN, PasteShelf

_PAINTED = str.maketrans({CHIP_OPEN: "[", CHIP_CLOSE: "]"})


@dataclass(frozen=True, slots=True)
class _Look:
    """Resolved styles; a new one is made only when the theme or the state changes."""

    base: Style
    cursor: Style
    selection: Style
    chip: Style
    ghost: Style
    mark: Style


class PromptText(PromptCore):
    """Text with atomic chips, drawn through the line API."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "composer--cursor",
        "composer--selection",
        "composer--chip",
        "composer--ghost",
        "composer--mark",
    }

    def __init__(self, *, placeholder: str = "", mark: str = "❯", id: str | None = None) -> None:
        self.shelf = PasteShelf()
        self.mark_text = mark
        """The prompt mark, one cell."""
        self.has_own_mark = False
        """The first character of the text stands as the prompt mark."""
        self.ghost = ""
        """A hint behind the caret at the end of its line."""
        self._look: _Look | None = None
        super().__init__(placeholder=placeholder, id=id)

    def clamp_visitable(self, location: Location) -> Location:
        """Return the nearest place where the caret may stand: never inside a grapheme or a chip."""
        row, column = super().clamp_visitable(location)
        line = self.document.lines[row]
        for start, end, _ in self.shelf.spans(line):
            if start < column < end:
                return row, start if column - start < end - column else end
        return row, snap_to_grapheme(line, column)

    def get_cursor_left_location(self) -> Location:
        """Return the place one grapheme or chip to the left."""
        row, column = self.cursor_location
        if column == 0:
            return (row - 1, len(self.document.lines[row - 1])) if row else (0, 0)
        line = self.document.lines[row]
        for start, end, _ in self.shelf.spans(line):
            if start < column <= end:
                return row, start
        return row, previous_grapheme(line, column)

    def get_cursor_right_location(self) -> Location:
        """Return the place one grapheme or chip to the right."""
        row, column = self.cursor_location
        line = self.document.lines[row]
        if column == len(line):
            return (row + 1, 0) if row + 1 < self.document.line_count else (row, column)
        for start, end, _ in self.shelf.spans(line):
            if start <= column < end:
                return row, end
        return row, next_grapheme(line, column)

    def get_cursor_word_left_location(self) -> Location:
        """Return the start of the word on the left; a chip is one word."""
        row, column = super().get_cursor_word_left_location()
        spans = self.shelf.spans(self.document.lines[row])
        return next(((row, start) for start, end, _ in spans if start < column < end), (row, column))

    def get_cursor_word_right_location(self) -> Location:
        """Return the end of the word on the right; a chip is one word."""
        row, column = super().get_cursor_word_right_location()
        spans = self.shelf.spans(self.document.lines[row])
        return next(((row, end) for start, end, _ in spans if start < column < end), (row, column))

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        """Widen a deletion so that it takes chips whole."""
        (top_row, top), (bottom_row, bottom) = sorted((start, end))
        for chip_start, chip_end, _ in self.shelf.spans(self._line(top_row)):
            top = chip_start if chip_start < top < chip_end else top
        for chip_start, chip_end, _ in self.shelf.spans(self._line(bottom_row)):
            bottom = chip_end if chip_start < bottom < chip_end else bottom
        return super()._delete_via_keyboard((top_row, top), (bottom_row, bottom))

    def _line(self, row: int) -> str:
        return self.document.lines[row] if row < self.document.line_count else ""

    # --- drawing

    def notify_style_update(self) -> None:
        """Forget resolved styles."""
        self._look = None
        super().notify_style_update()

    def _app_theme_changed(self) -> None:
        self._look = None
        self.refresh()

    def _resolve_look(self) -> _Look:
        if self._look is None:
            style = self.get_component_rich_style
            base = self.rich_style
            self._look = _Look(
                base=base,
                cursor=style("composer--cursor"),
                selection=style("composer--selection"),
                chip=base + style("composer--chip", partial=True),
                ghost=base + style("composer--ghost", partial=True),
                mark=base + style("composer--mark", partial=True),
            )
        return self._look

    def render_lines(self, crop: object) -> list[Strip]:
        """Draw lines without TextArea's own theme."""
        return super(TextArea, self).render_lines(crop)  # type: ignore[arg-type]

    def render_line(self, y: int) -> Strip:
        """Draw one visible row: prompt mark, text, chips, selection, caret."""
        look = self._resolve_look()
        width = self.scrollable_content_region.width
        row = y + round(self.scroll_offset.y)
        if row >= self.wrapped_document.height:
            return Strip.blank(width, look.base)
        mark = f"{self.mark_text[:1]} " if row == 0 and not self.has_own_mark else "  "
        segments = [Segment(mark, look.mark)]
        if self.is_blank:
            segments += self._placeholder_segments(look, row)
        else:
            segments += self._text_segments(look, row)
        return Strip(segments).adjust_cell_length(width, look.base)

    @property
    def is_blank(self) -> bool:
        """Whether there is no text at all."""
        lines = self.document.lines
        return len(lines) == 1 and not lines[0]

    def _placeholder_segments(self, look: _Look, row: int) -> list[Segment]:
        text = _words_that_fit(str(self.placeholder), self.scrollable_content_region.width - 3) if row == 0 else ""
        if self.has_focus and row == 0:
            return [Segment(text[:1] or " ", look.cursor), Segment(text[1:], look.ghost)]
        return [Segment(text, look.ghost)]

    def _text_segments(self, look: _Look, row: int) -> list[Segment]:
        index, section = self.wrapped_document._offset_to_line_info[row]
        line = self.document.lines[index]
        bounds = [0, *self.wrapped_document.get_offsets(index), len(line)]
        start, end = bounds[section], bounds[section + 1]
        marks = [(a, b, look.chip) for a, b, _ in self.shelf.spans(line)]
        if self.has_own_mark and index == 0:
            marks.append((0, 1, look.mark))
        marks += self._selected_range(index, line, look.selection)
        has_caret = self.has_focus and self._cursor_offset[1] == row
        caret = self.selection.end[1]
        if has_caret:
            marks.append((caret, next_grapheme(line, caret) if caret < len(line) else caret + 1, look.cursor))
        hint = self.ghost if has_caret and caret == len(line) else ""
        padded = line[:end] + ((hint[:1] or " ") if end == len(line) else "")
        segments = _styled(padded, start, marks, look.base, self.indent_width)
        if hint:
            segments.append(Segment(hint[1:], look.ghost))
        return segments

    def _selected_range(self, index: int, line: str, style: Style) -> list[tuple[int, int, Style]]:
        (top_row, top), (bottom_row, bottom) = sorted(self.selection)
        if (top_row, top) == (bottom_row, bottom) or not top_row <= index <= bottom_row:
            return []
        begin = top if index == top_row else 0
        finish = bottom if index == bottom_row else len(line) + 1
        return [(begin, finish, style)]


def _words_that_fit(text: str, width: int) -> str:
    """Leave out the last parts of a list with commas until it fits."""
    while cell_len(text) > width and ", " in text:
        text = text.rpartition(", ")[0]
    return text


def _styled(line: str, start: int, marks: Sequence[tuple[int, int, Style]], base: Style, tab: int) -> list[Segment]:
    """Cut ``line[start:]`` into segments; later marks lie over earlier ones."""
    end = len(line)
    if not marks:
        return [Segment(_paintable(line[start:], 0, tab), base)]
    cuts = sorted({start, end, *(place for a, b, _ in marks for place in (a, b) if start < place < end)})
    segments: list[Segment] = []
    cells = 0
    for a, b in pairwise(cuts):
        style = base
        for mark_start, mark_end, mark_style in marks:
            if mark_start <= a < mark_end:
                style = mark_style
        text = _paintable(line[a:b], cells, tab)
        cells += cell_len(text)
        segments.append(Segment(text, style))
    return segments


def _paintable(text: str, cells: int, tab: int) -> str:
    """Return what is drawn for a piece of the document that begins ``cells`` into its row."""
    if "\t" in text:
        parts = text.split("\t")
        text = parts[0]
        for part in parts[1:]:
            text += " " * (tab - (cells + cell_len(text)) % tab) + part
    return text.translate(_PAINTED) if CHIP_OPEN in text or CHIP_CLOSE in text else text
