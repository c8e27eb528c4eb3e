"""The editing core of the composer: Textual's TextArea with everything taken off the path of a key press.

A key wraps one line, redraws the lines that changed and writes them at once, ahead of the frame timer; the screen is
laid out again only when the number of lines changes. It leans on private parts of TextArea and Screen; its tests notice
when those change. It knows nothing of chips, sending or completion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic

from textual import events
from textual._compositor import LayoutUpdate
from textual.document._document import Document, EditResult, Selection
from textual.document._document_navigator import DocumentNavigator
from textual.document._edit import Edit
from textual.geometry import NULL_REGION, Offset, Region, Size
from textual.reactive import Reactive, reactive
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import TextArea

from .composer_document import GraphemeDocument

MAX_LINES = 10
"""Rows to which the composer grows. Source: design/ui.md 2."""

_BURST_S = 0.008
"""Keys closer than this are painted by the frame timer; nobody types that fast."""


class PromptCore(TextArea, inherit_css=False, inherit_bindings=False):
    """Plain multi-line text that costs little to type into."""

    selection: Reactive[Selection] = reactive(Selection(), init=False, always_update=True, repaint=False)

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, highlight_cursor_line=False)
        self.set_reactive(TextArea.cursor_blink, False)
        self.set_reactive(TextArea.match_cursor_bracket, False)
        self._painted_s = 0.0

    # --- document

    @property
    def gutter_width(self) -> int:
        """Cells that the prompt mark takes."""
        return 2

    def _set_document(self, text: str, language: str | None) -> None:
        del language
        self.document = Document(text)
        self.wrapped_document = GraphemeDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()
        self.refresh()

    def edit(self, edit: Edit) -> EditResult:
        """Perform an edit, wrap what it touched and redraw those lines."""
        old_height = self.wrapped_document.height
        result = edit.do(self)
        self.history.record(edit)
        self.wrapped_document.wrap_range(edit.top, edit.bottom, result.end_location)
        if self.wrapped_document.height == old_height:
            rows = self.wrapped_document._line_index_to_offsets
            top, bottom = rows[edit.top[0]][0], rows[result.end_location[0]][-1]
            self.refresh_lines(top, bottom - top + 1)
        else:
            self._refresh_size()
            self.refresh()
        edit.after(self)
        self._text_changed()
        return result

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        super()._undo_batch(edits)
        self._text_changed()
        self.refresh()

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        super()._redo_batch(edits)
        self._text_changed()
        self.refresh()

    def _text_changed(self) -> None:
        """Called after every edit."""
        self.post_message(self.Changed(self))

    def _refresh_size(self) -> None:
        size = Size(0, self.wrapped_document.height)
        if size != self.virtual_size:
            self.virtual_size = size

    def _build_highlight_map(self) -> None:
        """There is nothing to highlight."""

    # --- caret

    def _watch_selection(self, previous_selection: Selection, selection: Selection) -> None:
        if not self.is_mounted:
            return
        if self.screen.selections:
            self.app.clear_selection()
        old_row = self._cursor_offset[1]
        self.scroll_cursor_visible()
        if previous_selection.is_empty and selection.is_empty:
            self.refresh_lines(old_row)
            self.refresh_lines(self._cursor_offset[1])
        else:
            self.refresh()
        self._place_terminal_cursor()
        self._caret_moved()

    def _caret_moved(self) -> None:
        """Called after every move of the caret, edits included."""
        self.paint_now()

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll no further than needed; a prompt that still grows does not scroll at all."""
        del center, animate
        return self._scroll_to_caret(row_limit(self.screen.size.height))

    def _scroll_to_caret(self, visible: int) -> Offset:
        self._cursor_offset = self.wrapped_document.location_to_offset(self.cursor_location)
        row, height = self._cursor_offset[1], self.wrapped_document.height
        top = round(self.scroll_offset.y)
        target = min(max(row - visible + 1, min(top, row)), max(0, height - visible))
        if target != top:
            self.scroll_to(y=target, animate=False, force=True)
        return Offset(0, target - top)

    def _on_resize(self, event: events.Resize) -> None:  # type: ignore[override]
        """Wrap again; a low terminal may give fewer rows than the text asked for."""
        event.prevent_default()
        super()._on_resize()
        self._scroll_to_caret(max(1, self.scrollable_content_region.height))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the text, up to the limit of this screen."""
        del container, width
        return min(self.wrapped_document.height, row_limit(viewport.height))

    def _place_terminal_cursor(self) -> bool:
        """Put the terminal's own cursor at the caret, where input methods look for it.

        Returns:
            Whether it moved.
        """
        position = self.cursor_screen_offset
        if not self.has_focus or position == self.app.cursor_position:
            return False
        self.app.cursor_position = position
        return True

    def _watch_scroll_y(self) -> None:
        self._place_terminal_cursor()

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Restyle nothing: the caret is drawn by state, and no sheet of ours asks for the focus of the prompt."""

    def _watch_has_focus(self, focus: bool) -> None:
        self.refresh_lines(self._cursor_offset[1])
        self.history.checkpoint()
        if focus:
            self._place_terminal_cursor()

    def on_mount(self) -> None:
        """Follow the layout: the caret's place on the screen changes when what is around it grows."""
        self.screen.screen_layout_refresh_signal.subscribe(self, self._layout_changed, immediate=True)

    def _layout_changed(self, screen: Screen[object]) -> None:
        del screen
        if self._place_terminal_cursor():
            self.refresh_lines(self._cursor_offset[1])

    def _set_theme(self, theme: str) -> None:
        """The look comes from the style sheet only."""
        del theme

    def paint_now(self) -> None:
        """Write this widget's changed rows to the terminal at once, ahead of the frame timer.

        Textual's own partial update asks every widget on the screen for its rows. This one asks only this widget, and
        leaves it to Textual when a layout is due, something lies over the rows, or keys come in a burst.
        """
        screen = self.screen
        waits = self._layout_required or screen._layout_required or self.app._batch_count
        if waits or self.app.screen is not screen or monotonic() - self._painted_s < _BURST_S:
            return
        region = self._uncovered_region(screen)
        if region is None:
            return
        rows = [dirty for dirty in self._exchange_repaint_regions() if dirty]
        self._repaint_required = False
        if rows:
            top = max(0, min(dirty.y for dirty in rows))
            bottom = min(region.height, max(dirty.bottom for dirty in rows))
            changed = Region(0, top, region.width, bottom - top)
            strips: list[Iterable[Strip]] = [[strip] for strip in self.render_lines(changed)]
            self.app._display(screen, LayoutUpdate(strips, changed.translate(region.offset)))
        self._painted_s = monotonic()

    def _uncovered_region(self, screen: Screen[object]) -> Region | None:
        """Return where the widget is if all of it can be seen, else None."""
        visible = screen._compositor.visible_widgets
        region, clip = visible.get(self, (NULL_REGION, NULL_REGION))
        if not region or not clip.contains_region(region):
            return None
        family = set(self.ancestors_with_self)
        covers = (other for widget, (other, _) in visible.items() if widget not in family)
        return None if any(other.overlaps(region) for other in covers) else region

    async def _on_paste(self, event: events.Paste) -> None:
        """Pastes are for a subclass to take."""
        event.prevent_default()


def row_limit(screen_height: int) -> int:
    """Return to how many rows the prompt may grow: ten, or less where it would take more than half of the screen."""
    return max(1, min(MAX_LINES, screen_height // 2 - 2))
