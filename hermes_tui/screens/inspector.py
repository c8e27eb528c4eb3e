"""The inspector: what was really sent to the model, how it went, and what fills the window."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.strip import Strip
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.engine.api import AgentSession
from hermes_tui.engine.types.inspection import ContextReport, RequestDetail, RequestRow
from hermes_tui.widgets.fold_view import Fold, FoldView
from hermes_tui.widgets.hint_line import Hint, HintLine
from hermes_tui.widgets.inspector_text import json_folds, message_folds
from hermes_tui.widgets.line_list import LineList
from hermes_tui.widgets.line_text import Line, Span, line, shown
from hermes_tui.widgets.line_view import LineView, StyledLines
from hermes_tui.widgets.request_text import context_lines, place_of, request_facts, request_heads, request_row
from hermes_tui.widgets.tab_line import TabLine

from .entry_view import EntryView
from .modal import Modal

VIEWS = ("Requests", "Messages", "Context", "Request JSON", "Answer")
REQUESTS, MESSAGES, CONTEXT, BODY, ANSWER = range(len(VIEWS))
_MOVE: tuple[Hint, ...] = (("tab", "next view"), ("[ ]", "other request"))
_HINTS: tuple[tuple[Hint, ...], ...] = (
    (("enter", "look inside"), ("tab", "next view"), ("r", "refresh"), ("esc", "back")),
    (("enter", "open"), *_MOVE, ("a", "open all"), ("y", "copy"), ("esc", "back")),
    (*_MOVE, ("r", "refresh"), ("esc", "back")),
    (("enter", "open"), *_MOVE, ("y", "copy the JSON"), ("o", "search in it"), ("esc", "back")),
    (("enter", "open"), *_MOVE, ("y", "copy"), ("o", "search in it"), ("esc", "back")),
)
"""By view."""
NOTHING = "No request was made since this session was opened."


class RequestHeads(StyledLines):
    """The titles above the list."""

    def render_line(self, y: int) -> Strip:
        """Draw them over the columns of the rows."""
        del y
        width = self.scrollable_content_region.width
        return self.strip_of([("  ", ""), *request_heads(width - 3)], width)


class RequestList(LineList):
    """The kept requests, the newest first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[RequestRow] = ()

    def show(self, rows: Sequence[RequestRow], cursor: int) -> None:
        """Show other rows."""
        self.rows = rows
        self.items_changed(cursor)

    def item_count(self) -> int:
        """Return the number of requests."""
        return len(self.rows)

    def draw(self, index: int, row: int, width: int) -> Sequence[Span]:
        """Return one request as a line."""
        del row
        return request_row(self.rows[index], width)


class InspectorScreen(Modal[None]):
    """Shows one session's requests.

    Args:
        session: The session.
        view: Which view comes first.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "inspector.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "back", "Back", show=False),
        Binding("q", "leave", "Back", show=False),
        Binding("tab,right", "view(1)", "Next view", show=False),
        Binding("shift+tab,left", "view(-1)", "View before", show=False),
        Binding("left_square_bracket", "request(1)", "Request before", show=False),
        Binding("right_square_bracket", "request(-1)", "Next request", show=False),
        Binding("y", "copy", "Copy", show=False),
        Binding("o", "open", "Full screen", show=False),
        Binding("r", "refresh", "Refresh", show=False),
        *(Binding(str(number + 1), f"show({number})", name, show=False) for number, name in enumerate(VIEWS)),
    ]

    def __init__(self, session: AgentSession, view: int = REQUESTS) -> None:
        super().__init__()
        self._session = session
        self._view = view
        self._rows: list[RequestRow] = []
        self._detail: RequestDetail | None = None
        self._report = ContextReport()
        self._wanted = 0
        """Number of the chosen request; 0 when there is none."""

    def compose(self) -> ComposeResult:
        """Lay out the page; its content follows from a thread."""
        with Vertical(classes="page", id="inspector"):
            yield TabLine(VIEWS)
            yield RequestHeads()
            yield RequestList()
            yield FoldView()
            yield LineView(id="facts")
            yield Horizontal(HintLine(_HINTS[self._view]), Static("", id="place", markup=False), id="foot")

    def on_mount(self) -> None:
        """Ask for the requests."""
        self.query_one("#inspector").border_title = "Inspector"
        self.action_show(self._view)
        self.action_refresh()

    # Data

    def action_refresh(self) -> None:
        """Ask again: a turn may run meanwhile."""
        self.ask("requests", lambda: (list(self._session.requests()), self._session.context()), self._take)

    def _take(self, found: tuple[list[RequestRow], ContextReport]) -> None:
        self._rows, self._report = sorted(found[0], key=lambda row: -row.number), found[1]
        numbers = [row.number for row in self._rows]
        if self._wanted not in numbers:
            self._wanted = numbers[0] if numbers else 0
        self.query_one(RequestList).show(self._rows, max(0, self._place()))
        self._load()

    def _place(self) -> int:
        return next((place for place, row in enumerate(self._rows) if row.number == self._wanted), -1)

    def _load(self) -> None:
        """Ask for the chosen request's content."""
        number = self._wanted
        if number and (
            self._detail is None or self._detail.row.number != number or self._detail.row.outcome == "running"
        ):
            self.ask("request", lambda: self._session.request(number), self._show)
        else:
            self._draw()

    def _show(self, detail: RequestDetail) -> None:
        self._detail = detail
        self._draw()

    # Views

    def action_show(self, view: int) -> None:
        """Show a view by its number."""
        self._view = view
        self.query_one(TabLine).choose(view)
        self.query_one("#inspector").set_classes(f"page -{('list', 'folds', 'lines', 'folds', 'folds')[view]}")
        self.query_one(HintLine).set_hints(_HINTS[view])
        focus = (RequestList, FoldView, LineView, FoldView, FoldView)[view]
        self.query_one("#facts" if focus is LineView else focus).focus()
        self.call_after_refresh(self._draw)  # what was hidden has no width yet

    def action_view(self, step: int) -> None:
        """Show the next view."""
        self.action_show((self._view + step) % len(VIEWS))

    @on(TabLine.Chosen)
    def _tab_clicked(self, event: TabLine.Chosen) -> None:
        event.stop()
        self.action_show(event.index)

    def _draw(self) -> None:
        place = self.query_one("#place", Static)
        detail = self._detail if self._detail is not None and self._detail.row.number == self._wanted else None
        place.update(f"#{detail.row.number} of {self._rows[0].number}, {place_of(detail.row)}" if detail else "")
        if self._view in (REQUESTS, CONTEXT):
            self._draw_lines(detail)
        else:
            self.query_one(FoldView).set_folds(self._folds(detail))

    def _draw_lines(self, detail: RequestDetail | None) -> None:
        view = self.query_one("#facts", LineView)
        lines: list[Line]
        if self._view == REQUESTS:
            row = next((row for row in self._rows if row.number == self._wanted), None)
            lines = request_facts(row, detail.url if detail else "") if row else [line(NOTHING, "muted")]
        else:
            width = view.scrollable_content_region.width
            parts = detail.parts if detail is not None else ()
            lines = context_lines(self._report, parts, self._wanted, width) if width > 0 else []
        view.set_lines(lines, keep_scroll=True)

    def _folds(self, detail: RequestDetail | None) -> list[Fold]:
        if detail is None:
            return [_words(NOTHING if not self._wanted else "Loading ...")]
        if self._view == MESSAGES:
            return message_folds(detail.pairs) or [_words("The request has no messages.")]
        if self._view == BODY:
            body = detail.body
            return (
                json_folds(body)
                if isinstance(body, dict)
                else [_words("This model is asked without a network, so there is no JSON to show.")]
            )
        return _answer_folds(detail)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        if 0 <= event.index < len(self._rows) and self._rows[event.index].number != self._wanted:
            self._wanted = self._rows[event.index].number
            self._load()

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.action_show(MESSAGES)

    def action_request(self, step: int) -> None:
        """Choose the request before (1) or after (-1), whatever view is shown."""
        place = self._place() + step
        if 0 <= place < len(self._rows):
            self.query_one(RequestList).cursor = place

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new width."""
        del event
        self.call_after_refresh(self._draw_lines_again)

    def _draw_lines_again(self) -> None:
        if self._view in (REQUESTS, CONTEXT):
            self._draw()

    # Leaving and copying

    def _text(self) -> str:
        """Return what the view shows, as text to copy."""
        detail = self._detail
        if detail is None:
            return ""
        if self._view == MESSAGES:
            return "\n\n".join(f"[{pair.role}] {pair.sent}" for pair in detail.pairs if pair.change != "dropped")
        value = detail.answer if self._view == ANSWER else detail.body
        return json.dumps(value, ensure_ascii=False, indent=2) if value is not None else ""

    def action_copy(self) -> None:
        """Copy the request's JSON, or what the view shows."""
        if text := self._text():
            self.post_message(EntryView.CopyWanted(text))

    def action_open(self) -> None:
        """Read it as text, with search."""
        if (text := self._text()) and self._view != REQUESTS:
            self.app.push_screen(EntryView(text, f"{VIEWS[self._view]}, request {self._wanted}"))

    def action_back(self) -> None:
        """Go back to the list, then leave."""
        if self._view in (MESSAGES, BODY, ANSWER):
            self.action_show(REQUESTS)
        else:
            self.finish(None)

    def action_leave(self) -> None:
        """Leave."""
        self.finish(None)


def _words(text: str) -> Fold:
    return Fold(head=lambda width: [line(text, "muted")])


def _answer_folds(detail: RequestDetail) -> list[Fold]:
    """The answer as it was understood, and the beginning of what arrived."""
    folds: list[Fold] = []
    if detail.row.problem:
        problem = detail.row.problem
        folds.append(Fold(head=lambda width: [line(problem, "error")]))
    if isinstance(detail.answer, dict):
        folds += json_folds(detail.answer)
    if detail.raw:
        lines = detail.raw.split("\n")
        words = f"raw answer: {detail.raw_bytes:,} bytes"
        if len(detail.raw.encode()) < detail.raw_bytes:
            words += f", the first {len(detail.raw.encode()):,} are kept"
        folds.append(
            Fold(
                head=lambda width: [line(words, "muted")],
                body=lambda width: [Line(((shown(text), ""),), prose=False) for text in lines],
            )
        )
    return folds or [_words("Nothing has arrived yet.")]
