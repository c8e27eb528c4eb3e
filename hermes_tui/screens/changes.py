"""What the agent did to files: a list of them, each with its diff."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.types import CSSPathType
from textual.widgets import Static
from typing_extensions import override

from hermes_tui.engine.types.changes import FileChange
from hermes_tui.widgets.entries import ToolEntry
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.transcript import Transcript

from .entry_view import EntryView
from .modal import Modal

_READ = (("\u2191\u2193", "files"), ("enter", "diff"), ("a", "all diffs"))
_SWITCH = ("tab", "session, last turn")


class ChangeList(Transcript):
    """Cards of changes. Nothing streams in here, so nothing below is ever new."""

    @override
    def _count_new(self, rows: int) -> None:
        del rows


class ChangesScreen(Modal[None]):
    """Shows changes; they are asked for in a thread.

    Args:
        load: Message id -> the changes of its turn; of the whole session for 0.
        last_message_id: Returns the message that the last turn answered; 0 offers no choice of turns.
        only_last: Begin with the last turn.
        title: What is shown, where there is no choice.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "changes.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "back", "Back", show=False),
        Binding("q", "back", "Back", show=False),
        Binding("up,k", "walk(-1)", "File above", show=False, priority=True),
        Binding("down,j", "walk(1)", "File below", show=False, priority=True),
        Binding("a", "open_all", "Open or close all", show=False),
        Binding("tab", "switch", "Session or last turn", show=False, priority=True),
    ]

    def __init__(
        self,
        load: Callable[[int], Sequence[FileChange]],
        last_message_id: Callable[[], int],
        *,
        only_last: bool = False,
        title: str = "",
    ) -> None:
        super().__init__()
        self._load_changes = load
        self._last_message_id = last_message_id
        self._only_last = only_last
        self._title = title
        self._has_open = False

    def compose(self) -> ComposeResult:
        """Lay out the page; the changes follow from a thread."""
        with Vertical(classes="page", id="changes"):
            yield ChangeList(detail="compact", animate=False)
            nothing = Static(
                "The agent changed nothing here, or all of it was taken back.", classes="note", markup=False
            )
            nothing.display = False
            yield nothing
            yield HintLine((*_READ, *(() if self._title else (_SWITCH,)), ("y", "copy"), ("esc", "back")))

    def on_mount(self) -> None:
        """Take keys and ask."""
        self.query_one(Transcript).focus()
        self._load()

    def _load(self) -> None:
        def work() -> Sequence[FileChange]:
            message_id = self._last_message_id() if self._only_last else 0
            return self._load_changes(message_id) if message_id or not self._only_last else ()

        self.ask("changes", work, self._show)

    def _show(self, changes: Sequence[FileChange]) -> None:
        where = self._title or ("Changed in the last turn" if self._only_last else "Changed in this session")
        added, removed = (sum(getattr(change, key) for change in changes) for key in ("added", "removed"))
        count = f"{len(changes):,} file{'s' * (len(changes) != 1)}"
        self.query_one("#changes").border_title = f"{where}: {count}, +{added:,} -{removed:,}"
        self.query_one(Static).display = not changes
        view = self.query_one(Transcript)
        view.clear()
        for change in changes:
            view.append(_entry(change))
        self._has_open = len(changes) == 1
        if self._has_open:
            view.toggle(view.entries[0])
        view.go_to_start()
        if changes:
            self.call_after_refresh(view.move_cursor, 1)

    def action_walk(self, step: int) -> None:
        """Go to another file."""
        self.query_one(Transcript).move_cursor(step)

    def action_open_all(self) -> None:
        """Show all diffs, or only the list."""
        self._has_open = not self._has_open
        view = self.query_one(Transcript)
        for entry in view.entries:
            entry.expanded = self._has_open
            view.changed(entry)
        self.call_after_refresh(lambda: view.go_to_entry(view.cursor) if view.cursor else view.go_to_start())

    def action_switch(self) -> None:
        """Show the other turns, too, or only the last one."""
        if not self._title:
            self._only_last = not self._only_last
            self._load()

    def action_back(self) -> None:
        """Leave."""
        self.finish(None)

    @on(Transcript.CopyRequested)
    def _copy(self, event: Transcript.CopyRequested) -> None:
        event.stop()
        self.post_message(EntryView.CopyWanted(event.text))


def _entry(change: FileChange) -> ToolEntry:
    """Return a change as a card."""
    shown = {
        "kind": "diff",
        "verb": change.kind,
        "target": change.path,
        "summary": "" if change.diff else "folder" if change.path.endswith("/") else "no diff",
        "diff": change.diff,
    }
    counts = {"added": change.added, "removed": change.removed} if change.diff else {}
    entry = ToolEntry(change.path, change.kind, {"path": change.path})
    entry.finish("ok", {**shown, **counts}, "{}")
    if change.note:
        entry.note(change.note)
    return entry
