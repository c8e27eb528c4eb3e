"""A list narrowed by typing: a field above a virtual list, matches marked, groups shown while nothing is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Static

from .field import Field
from .fuzzy import match
from .inert import one_line
from .line_list import LineList
from .line_text import Span, cells_of, clip, clip_spans, overlay

_MIN_TITLE = 16
_MIN_NOTE = 12
_ELSEWHERE = 150.0
"""Score of a word found outside the title: above scattered letters, below the name itself."""


@dataclass(frozen=True, slots=True)
class FuzzyRow:
    """One thing to find."""

    id: str
    title: str
    detail: str = ""
    """Said after the title, muted; searched too."""
    tail: str = ""
    """Said at the right edge, such as a key or a price."""
    group: str = ""
    enabled: bool = True
    """A row that is off is drawn muted; the owner says why it cannot be picked."""
    mark: str = ""
    """One cell before the title."""


class FuzzyRows(LineList):
    """The list part: the rows that fit the query, best first."""

    def __init__(self, rows: Sequence[FuzzyRow] = ()) -> None:
        super().__init__()
        self._all: Sequence[FuzzyRow] = rows
        self._found: list[tuple[FuzzyRow | str, tuple[tuple[int, int], ...]]] = []
        self._query = ""
        self._has_marks = False
        self._tails = 0
        self._titles = 0

    @property
    def found(self) -> list[FuzzyRow]:
        """The rows that fit, in order."""
        return [row for row, _ in self._found if isinstance(row, FuzzyRow)]

    @property
    def current(self) -> FuzzyRow | None:
        """The row under the cursor."""
        row = self._found[self.cursor][0] if 0 <= self.cursor < len(self._found) else None
        return row if isinstance(row, FuzzyRow) else None

    def set_rows(self, rows: Sequence[FuzzyRow], select: str = "") -> None:
        """Take other rows and put the cursor on the one with id ``select``, if it is there."""
        self._all = rows
        self.show(self._query, select)

    def show(self, query: str, select: str = "") -> None:
        """Show what fits a query."""
        self._query = query = query.strip()
        self._found = _grouped(self._all) if not query else _ranked(self._all, query)
        self._has_marks = any(row.mark for row in self._all)
        self._tails = max((cell_len(row.tail) for row in self.found), default=0)
        self._titles = max((cell_len(row.title) for row in self.found), default=0) + 2 * self._has_marks
        places = [place for place, (row, _) in enumerate(self._found) if isinstance(row, FuzzyRow) and row.id == select]
        self.items_changed(places[0] if places else 0)

    def item_count(self) -> int:
        """Return the rows and headings shown."""
        return len(self._found)

    def is_heading(self, index: int) -> bool:
        """A group's name cannot be picked."""
        return isinstance(self._found[index][0], str)

    def draw(self, index: int, row: int, width: int) -> Sequence[Span]:
        """Draw a heading or a row: title, detail, tail at the right."""
        del row
        entry, marks = self._found[index]
        if isinstance(entry, str):
            return clip_spans([(one_line(entry), "heading")], width)
        tail = one_line(entry.tail) if width >= _MIN_TITLE + self._tails + 2 else ""
        room = width - (cell_len(tail) + 2 if tail else 0)
        spans: list[Span] = [(f"{entry.mark or ' '} ", "success")] if self._has_marks else []
        title: list[Span] = [(one_line(entry.title), "" if entry.enabled else "muted")]
        spans += overlay(title, marks, "accent") if marks else title
        column = max(cells_of(spans), min(self._titles, width // 3)) + 2
        note, group = one_line(entry.detail), one_line(entry.group) if self._query else ""
        if group and cell_len(note) + cell_len(group) + 2 <= room - column:
            note = f"{note}  {group}" if note else group
        if note and room - column > _MIN_NOTE:
            spans += [(" " * (column - cells_of(spans)), ""), (clip(note, room - column), "muted")]
        spans = clip_spans(spans, room)
        if tail:
            spans += [(" " * (width - cells_of(spans) - cell_len(tail)), ""), (tail, "muted")]
        return spans


class FuzzyList(Vertical):
    """A search field and its list. The field keeps the focus; arrows and Enter act on the list.

    Args:
        rows: What can be found.
        placeholder: Said in the empty field.
        empty: Said when nothing fits.
        explains: Say below the list in full what the row under the cursor is about.
    """

    DEFAULT_CSS = """
    FuzzyList { height: 1fr; }
    FuzzyList > .search { height: 1; margin-bottom: 1; }
    FuzzyList > .search > Static { width: 2; color: $primary; }
    FuzzyList > .search > Field { width: 1fr; }
    FuzzyList > .nothing { display: none; height: 1; color: $muted; padding: 0 2; }
    FuzzyList.-nothing > .nothing { display: block; }
    FuzzyList > .about { height: 2; margin-top: 1; padding: 0 2; color: $muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "list('move', -1)", "Up", show=False),
        Binding("down", "list('move', 1)", "Down", show=False),
        Binding("pageup", "list('page', -1)", "Page up", show=False),
        Binding("pagedown", "list('page', 1)", "Page down", show=False),
        Binding("ctrl+home", "list('edge', 0)", "First", show=False),
        Binding("ctrl+end", "list('edge', 1)", "Last", show=False),
    ]

    class RowMessage(Message):
        """Says something of a row."""

        def __init__(self, view: FuzzyList, row: FuzzyRow | None, query: str) -> None:
            super().__init__()
            self.view = view
            self.row = row
            """None when nothing fits what was typed."""
            self.query = query

        @property
        def control(self) -> FuzzyList:
            """The list."""
            return self.view

    class Picked(RowMessage):
        """Enter or a click on a row."""

    class Changed(RowMessage):
        """Another row is under the cursor."""

    def __init__(
        self,
        rows: Sequence[FuzzyRow] = (),
        *,
        placeholder: str = "Type to search",
        empty: str = "Nothing fits.",
        explains: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._rows = rows
        self._placeholder = placeholder
        self._empty = empty
        self._explains = explains

    def compose(self) -> ComposeResult:
        """Lay out the field and the list."""
        yield Horizontal(Static("\u203a", markup=False), Field(placeholder=self._placeholder), classes="search")
        yield Static(self._empty, classes="nothing", markup=False)
        yield FuzzyRows(self._rows)
        if self._explains:
            yield Static("", classes="about", markup=False)

    @property
    def view(self) -> FuzzyRows:
        """The list part."""
        return self.query_one(FuzzyRows)

    @property
    def text(self) -> str:
        """What was typed."""
        return self.query_one(Field).value.strip()

    def on_mount(self) -> None:
        """Show all rows; the field gets the keys."""
        self.view.show("")
        self.query_one(Field).focus()

    def set_rows(self, rows: Sequence[FuzzyRow], select: str = "") -> None:
        """Take other rows."""
        self._rows = rows
        self.view.set_rows(rows, select)
        self._note_empty()

    def _note_empty(self) -> None:
        self.set_class(not self.view.item_count() and bool(self.text), "-nothing")

    def action_list(self, name: str, value: int) -> None:
        """Move in the list while the field has the focus."""
        getattr(self.view, f"action_{name}")(value)

    @on(Field.Changed)
    def _typed(self, event: Field.Changed) -> None:
        event.stop()
        self.view.show(event.value)
        self._note_empty()

    @on(Field.Submitted)
    def _submitted(self, event: Field.Submitted) -> None:
        event.stop()
        self.post_message(self.Picked(self, self.view.current, self.text))

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.post_message(self.Picked(self, self.view.current, self.text))

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        if self._explains:
            row = self.view.current
            self.query_one(".about", Static).update(one_line(row.detail) if row is not None else "")
        self.post_message(self.Changed(self, self.view.current, self.text))


def _grouped(rows: Sequence[FuzzyRow]) -> list[tuple[FuzzyRow | str, tuple[tuple[int, int], ...]]]:
    """Put rows of one group together, in the order in which the groups first appear, each under its name."""
    groups: dict[str, list[FuzzyRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    found: list[tuple[FuzzyRow | str, tuple[tuple[int, int], ...]]] = []
    for group, members in groups.items():
        if group:
            found.append((group, ()))
        found += [(row, ()) for row in members]
    return found


def _ranked(rows: Sequence[FuzzyRow], query: str) -> list[tuple[FuzzyRow | str, tuple[tuple[int, int], ...]]]:
    """Return the rows in which every word fits the title or, less, another text; best first, ties in order."""
    scored: list[tuple[float, int, FuzzyRow, tuple[tuple[int, int], ...]]] = []
    words = query.split()
    for number, row in enumerate(rows):
        score = 0.0
        places: set[int] = set()
        for word in words:
            in_title = match(word, one_line(row.title))
            other = f"{row.id} {row.detail} {row.tail} {row.group}".lower()
            at = other.find(word.lower())
            if in_title is None and at < 0:
                break
            if in_title is not None:
                places.update(in_title.positions)
            score += max(in_title.score if in_title is not None else 0.0, _ELSEWHERE if at >= 0 else 0.0)
        else:
            scored.append((-score, number, row, tuple((place, place + 1) for place in sorted(places))))
    scored.sort(key=lambda entry: entry[:2])
    return [(row, marks) for _, _, row, marks in scored]
