"""What the presenter does with the transcript: entries in, out, and changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import override

from ..entries.base import Entry
from ..rendering.rows import Detail, Frame, ReasoningLevel
from .column import Place
from .window import TranscriptWindow


class TranscriptContent(TranscriptWindow):
    """A window whose entries can change; nothing that changes moves the reader's row."""

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, oldest first. Read only."""
        return self._column.entries

    def append(self, entry: Entry) -> None:
        """Add an entry at the end."""
        self._insert(len(self._column.entries), [entry])

    def insert_before(self, entry: Entry, entries: Sequence[Entry]) -> None:
        """Insert entries above another one; the reader's row stays where it is."""
        self._insert(self._column.index(entry), entries)

    def prepend(self, entries: Sequence[Entry]) -> None:
        """Insert entries above all others; the reader's row stays where it is."""
        self._insert(0, entries)

    def _insert(self, index: int, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        before, at_end = self._column.total, index == len(self._column.entries)
        self._column.insert(index, entries)
        if at_end:
            self._count_new(self._column.total - before)
        for entry in entries:
            if entry.is_live:
                self._live[entry] = None
        self._schedule()

    def changed(self, entry: Entry) -> None:
        """Draw an entry again after it changed; only its changed rows are written."""
        if self._column.holds(entry):
            self._dirty[entry] = None
            self._schedule()

    def replace(self, old: Entry, new: Entry) -> None:
        """Put an entry in another one's place."""
        self._forget(old, new)
        self._column.replace(old, new)
        self._live.update({new: None} if new.is_live else {})
        self._schedule()

    @override
    def remove(self, entry: Entry | None = None) -> Any:
        """Take an entry out; without an entry, take the whole widget off the screen, as every widget can be."""
        if entry is None:
            return super().remove()
        if self._column.holds(entry):
            index = entry.position
            neighbours = self._column.entries[index + 1 : index + 2] or self._column.entries[max(0, index - 1) : index]
            self._forget(entry, neighbours[0] if neighbours else None)
            self._column.remove(entry)
            self._schedule()
        return None

    def clear(self) -> None:
        """Take all entries out, and follow the end again."""
        self._column.clear()
        self._dirty.clear()
        self._live.clear()
        self._pin = self.cursor = self._finder = None
        self.anchored, self.new_lines = True, 0
        self._schedule()

    def _forget(self, entry: Entry, heir: Entry | None) -> None:
        """Let go of an entry that leaves; whatever pointed to it points to its heir."""
        self._dirty.pop(entry, None)
        self._live.pop(entry, None)
        if self._pin is not None and self._pin.entry is entry:
            self._pin = Place(heir, 0, 0) if heir is not None else None
        if self.cursor is entry:
            self.cursor = heir

    def set_detail(self, detail: Detail) -> None:
        """Show more or less of tool calls."""
        self._reframe(replace(self._column.frame, detail=detail), keep_units=False)

    def set_reasoning_level(self, level: ReasoningLevel) -> None:
        """Show more or less of reasoning."""
        self._reframe(replace(self._column.frame, reasoning=level), keep_units=False)

    @property
    def detail(self) -> Detail:
        """How much of tool calls is shown."""
        return self._column.frame.detail

    @property
    def reasoning_level(self) -> ReasoningLevel:
        """How much of reasoning is shown."""
        return self._column.frame.reasoning

    def _reframe(self, frame: Frame, *, keep_units: bool) -> None:
        self._flush_changes()
        self._column.reframe(frame, keep_units=keep_units)
        self._marker.forget()
        self._schedule()
