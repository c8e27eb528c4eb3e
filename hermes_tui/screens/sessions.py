"""The session browser: find anything ever said, read around it, resume or fork it, keep the list tidy."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.engine.api import Engine
from hermes_tui.widgets.field import Field
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.line_list import LineList
from hermes_tui.widgets.preview import Preview
from hermes_tui.widgets.session_list import SessionList

from .modal import Modal
from .sessions_actions import SessionActions
from .sessions_feed import Page, SessionFeed
from .sessions_keys import ACTIONS, LIST_HINTS, LIST_KEYS, PREVIEW_KEYS, SEARCH_HINTS
from .sessions_preview import SessionPreview

DEBOUNCE_S = 0.06
"""Wait after a key before the engine is asked. Source: under the pace of fast typing, over that of a held key."""


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """What the person wants to do with which session."""

    action: Literal["resume", "fork"]
    session_id: str
    message_id: int | None = None
    """Where to open or fork; the end when None."""


class SessionsScreen(Modal[SessionChoice]):
    """Browses sessions. Result: a :class:`SessionChoice`, or None.

    Args:
        engine: Where sessions are kept.
        cwd: The present folder, listed first if it has sessions.
        current_id: The session that is open here.
        query: A search to begin with.
        clock: Unix time.
    """

    DEFAULT_CLASSES = "-page"
    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "sessions.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("ctrl+c,ctrl+r", "leave", "Leave", show=False),
        Binding("ctrl+enter,ctrl+o", "open_at_hit", "Open at the hit", show=False),
        Binding("ctrl+p", "palette", "All actions", id="palette", show=False),
        Binding("down", "to_list(1)", "Down", show=False),
        Binding("tab,shift+tab", "swap_focus", "Search field or list", show=False),
        Binding("pagedown", "to_list(8)", "Page down", show=False),
        Binding("ctrl+down,shift+down", "scroll_preview(2)", "Scroll the preview", show=False),
        Binding("ctrl+up,shift+up", "scroll_preview(-2)", "Scroll the preview", show=False),
    ]

    def __init__(
        self,
        engine: Engine,
        cwd: str,
        current_id: str = "",
        query: str = "",
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.engine = engine
        self.feed = SessionFeed(engine, cwd, query)
        self._current_id = current_id
        self._clock = clock
        self._actions = SessionActions(self, current_id)
        self._preview = SessionPreview(self, current_id)
        self._loading = False
        self._search_timer: Timer | None = None
        self._note = ""

    def compose(self) -> ComposeResult:
        """Lay out the search row, list and preview; rows come later."""
        with Vertical(classes="page -grouped", id="sessions") as page:
            page.border_title = "Sessions"
            yield Horizontal(
                Static("\u203a", classes="prompt", markup=False),
                Field(self.feed.query, placeholder="Search everything", id="search"),
                Static("", id="scope", markup=False),
                classes="field-row",
            )
            yield Static("", id="note", markup=False)
            yield Horizontal(
                SessionList(home=str(Path.home()), current_id=self._current_id, clock=self._clock),
                Preview(id="preview"),
                id="panes",
            )
            yield Field(placeholder="New title", id="rename")
            yield HintLine(SEARCH_HINTS)

    def on_mount(self) -> None:
        """Show the shell at once; the rows follow from a thread."""
        self.query_one(Preview).can_focus = False
        self.query_one("#search", Field).focus()
        self.reload()

    # What other parts of the browser use

    @property
    def rows(self) -> SessionList:
        """The list."""
        return self.query_one(SessionList)

    def say(self, text: str) -> None:
        """Show a line below the search field; empty hides it."""
        if text != self._note:
            self._note = text
            note = self.query_one("#note", Static)
            note.update(text)
            note.set_class(bool(text), "-shown")

    def reload(self, select: str = "") -> None:
        """Ask for the first page of the present question."""
        self.feed.restart()
        self._loading = True
        self.ask("rows", self.feed.call(), lambda page: self._first_page(page, select))

    # Rows

    def _first_page(self, page: Page, select: str) -> None:
        self._loading = False
        self.feed.take(page)
        self.say(page.note or ("" if page.items else self._nothing_words()))
        frame = self.query_one("#sessions")
        frame.set_class(not page.items, "-empty")
        frame.set_class(bool(self.feed.grouping), "-grouped")
        self.rows.set_items(page.items, self.feed.grouping, select)
        self.show_scope()

    def _nothing_words(self) -> str:
        if self.feed.query.strip():
            return "Nothing found in any session."
        return "No archived sessions." if self.feed.archived else "No sessions yet. Every conversation is kept here."

    @on(SessionList.NearEnd)
    def _load_more(self) -> None:
        if not self._loading and not self.feed.done and self.rows.items:
            self._loading = True
            self.ask("rows", self.feed.call(), self._next_page)

    def _next_page(self, page: Page) -> None:
        self._loading = False
        self.feed.take(page)
        self.rows.append_items(page.items)

    def show_scope(self) -> None:
        """Say beside the search field what is listed, or how many are marked."""
        feed, marked = self.feed, len(self.rows.marked)
        words = [f"{marked} marked" if marked else "this folder" if feed.scope else "all folders"]
        if feed.archived:
            words.append("archived")
        if feed.sort != "updated" and not feed.query.strip():
            words.append(f"by {feed.sort}")
        self.query_one("#scope", Static).update(", ".join(words))

    # Searching

    @on(Field.Changed, "#search")
    def _typed(self, event: Field.Changed) -> None:
        event.stop()
        if event.value == self.feed.query:
            return
        self.feed.query = event.value
        self.forget("rows")
        if self._search_timer is not None:
            self._search_timer.stop()
        self._search_timer = self.set_timer(DEBOUNCE_S, self.reload)

    @on(Field.Submitted, "#search")
    def _submitted(self, event: Field.Submitted) -> None:
        event.stop()
        self.action_resume()

    # The preview

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._preview.follow()

    def action_hit(self, step: int) -> None:
        """Walk the hits."""
        self._preview.step(step)

    def action_preview(self) -> None:
        """Show or hide the preview; where there is no room for both it takes the place of the list."""
        self.query_one("#panes").toggle_class("-swapped")
        self.call_after_refresh(self._focus_pane)

    def _focus_pane(self) -> None:
        self.set_focus(self.rows if self.rows.display else None)

    def action_scroll_preview(self, rows: int) -> None:
        """Scroll the preview."""
        self.query_one(Preview).scroll_relative(y=rows, animate=False)

    # Keys

    def on_key(self, event: events.Key) -> None:
        """Letters act on the list unless a field has the focus; alone on the screen, the preview scrolls."""
        if isinstance(self.focused, Field):
            return
        action = LIST_KEYS.get(event.key)
        if not self.rows.display:
            action = PREVIEW_KEYS.get(event.key, action)
        elif event.key == "up" and self.rows.is_at_first():
            action = "to_search"
        if action:
            event.stop()
            event.prevent_default()
            self.call_next(self.run_action, action)

    def action_to_list(self, step: int) -> None:
        """Go from the field to the list, one row on."""
        self.rows.focus()
        for _ in range(step):
            self.rows.action_move(1)

    def action_to_search(self) -> None:
        """Go back to the search field."""
        self.query_one("#search", Field).focus()

    def action_swap_focus(self) -> None:
        """Go to the other one of field and list."""
        self.action_to_search() if self.rows.has_focus else self.rows.focus()

    def on_descendant_focus(self) -> None:
        """Hint at what works where the focus is."""
        self.query_one(HintLine).set_hints(LIST_HINTS if self.rows.has_focus else SEARCH_HINTS)

    def action_back(self) -> None:
        """Leave the rename field, then the search text, then the browser."""
        search = self.query_one("#search", Field)
        if self.query_one("#rename").has_focus:
            self._actions.stop_renaming()
        elif search.value:
            search.value = ""
            search.focus()
        else:
            self.finish(None)

    def action_leave(self) -> None:
        """Leave at once."""
        self.finish(None)

    def action_keys(self) -> None:
        """Show all keys."""
        from .help import HelpScreen

        rows = [(action.group, action.keys, action.title, "") for action in ACTIONS if action.keys]
        self.app.push_screen(HelpScreen(rows, title="Session keys"))

    def action_palette(self) -> None:
        """Choose from all that can be done here."""
        from .palette import PaletteRow, PaletteScreen

        rows = [PaletteRow(item.action, item.title, key=item.keys, group=item.group) for item in ACTIONS]
        self.app.push_screen(PaletteScreen(rows, title="Session actions"), self._act)

    async def _act(self, action: str | None) -> None:
        if action:
            await self.run_action(action)

    @on(SessionList.MenuWanted)
    def _menu(self) -> None:
        self.rows.focus()
        self.action_palette()

    @on(HintLine.Clicked)
    def _hint_clicked(self, event: HintLine.Clicked) -> None:
        """A click on a hint presses its key."""
        self.app.post_message(event.press())

    # Choices

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.action_resume()

    def action_resume(self) -> None:
        """Resume the session under the cursor."""
        if item := self.rows.current:
            self.finish(SessionChoice("resume", item.row.id))

    def action_open_at_hit(self) -> None:
        """Resume at the hit in the preview."""
        if item := self.rows.current:
            self.finish(SessionChoice("resume", item.row.id, self._preview.hit_id))

    def action_fork(self) -> None:
        """Fork from the hit, or from the end."""
        if item := self.rows.current:
            self.finish(SessionChoice("fork", item.row.id, self._preview.hit_id))

    # Kept in sessions_actions.py

    def action_rename(self) -> None:
        """Rename in place."""
        self._actions.start_renaming()

    @on(Field.Submitted, "#rename")
    def _renamed(self, event: Field.Submitted) -> None:
        event.stop()
        self._actions.rename(event.value)

    def action_pin(self) -> None:
        """Pin or unpin."""
        self._actions.pin()

    def action_archive(self) -> None:
        """Archive or bring back."""
        self._actions.archive()

    def action_delete(self) -> None:
        """Delete, with time to undo."""
        self._actions.delete()

    def action_undo(self) -> None:
        """Undo the last delete."""
        self._actions.undo()

    def action_export(self, fmt: str) -> None:
        """Write to a file."""
        self._actions.export(fmt)

    def action_mark(self) -> None:
        """Mark for an action on several."""
        self.rows.toggle_mark()
        self.rows.action_move(1)
        self.show_scope()

    def action_mark_all(self) -> None:
        """Mark all loaded rows, or none when all are."""
        self.rows.mark_all()
        self.show_scope()

    def action_scope(self) -> None:
        """This folder or all."""
        self.feed.switch_scope()
        self.reload()

    def action_sort(self) -> None:
        """The next order."""
        self.feed.next_sort()
        self.reload()

    def action_archived(self) -> None:
        """Show the archived sessions, or the others."""
        self.feed.archived = not self.feed.archived
        self.reload()
