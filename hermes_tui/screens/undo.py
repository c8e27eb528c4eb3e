"""What an undo takes back where files are concerned: the message, the files, or both. Nothing is done before that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, TypeAlias, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.types import CSSPathType

from hermes_tui.engine.api import UndoScope
from hermes_tui.engine.types.changes import FileChange, UndoPlan
from hermes_tui.widgets.choice_list import Choice, ChoiceList
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.inert import one_line
from hermes_tui.widgets.line_text import Line, line
from hermes_tui.widgets.line_view import LineView

from .modal import Modal

Purpose: TypeAlias = Literal["undo", "retry", "rewind"]

_TITLES: Final[Mapping[Purpose, str]] = {"undo": "Undo", "retry": "Retry", "rewind": "Go back"}
_CHOICES: Final[Mapping[Purpose, Mapping[UndoScope, tuple[str, str, str, str]]]] = {
    "undo": {
        "both": ("b", "Message and files", "both", ""),
        "files": ("f", "Files only", "files", "the conversation stays; the model is told"),
        "message": ("m", "Message only", "message", "the files stay as they are now"),
    },
    "retry": {
        "both": ("b", "Take the files back and ask again", "with files", ""),
        "message": ("m", "Keep the files and ask again", "keep files", ""),
    },
    "rewind": {
        "both": ("b", "Go back, files too", "with files", "of all turns from there on"),
        "message": ("m", "Go back, keep the files", "keep files", ""),
    },
}
_CHANGED: Final[Mapping[Purpose, str]] = {
    "undo": "Changed by its turn",
    "retry": "Changed by its turn",
    "rewind": "Changed from there on",
}
_LOW_ROWS: Final = 16
_BACK: Final = {"created": "goes away", "deleted": "comes back", "changed": "as before"}
"""What becomes of a file when the change is taken back."""


class UndoScreen(Modal[UndoScope]):
    """Asks what to take back. Result: the scope, or None for Escape.

    Args:
        plan: What would happen.
        purpose: What it is for.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "undo.tcss"]

    def __init__(self, plan: UndoPlan, purpose: Purpose = "undo") -> None:
        super().__init__()
        self._plan = plan
        self._purpose: Purpose = purpose
        offered = {scope: words for scope, words in _CHOICES[purpose].items() if plan.files or scope == "message"}
        self._scopes = list(offered)
        self._choices = [Choice(*words) for words in offered.values()]

    def compose(self) -> ComposeResult:
        """Lay out what is concerned and the answers."""
        with Vertical(classes="dialog", id="undo") as dialog:
            dialog.border_title = _TITLES[self._purpose]
            view = LineView(_plan_lines(self._plan, _CHANGED[self._purpose]))
            view.can_focus = False
            yield view
            yield ChoiceList(self._choices)
            yield HintLine((("\u2191\u2193 enter", "choose"), ("d", "diff"), ("pgup pgdn", "scroll"), ("esc", "back")))

    def on_resize(self, event: events.Resize) -> None:
        """Leave the files some room on a low screen."""
        self.query_one(ChoiceList).flow = event.size.height < _LOW_ROWS

    def on_key(self, event: events.Key) -> None:
        """Take the keys of the answers, arrows, Enter, Escape, scrolling and the diff; swallow the rest."""
        event.stop()
        event.prevent_default()
        answers = self.query_one(ChoiceList)
        match event.key:
            case "escape" | "ctrl+c":
                self.finish(None)
            case "up" | "down":
                answers.move(-1 if event.key == "up" else 1)
            case "pageup" | "pagedown":
                getattr(self.query_one(LineView), f"scroll_page_{event.key.removeprefix('page')}")(animate=False)
            case "d" if self._plan.files:
                from .changes import ChangesScreen

                shown = ChangesScreen(lambda message_id: self._plan.files, lambda: 0, title="Would be taken back")
                self.app.push_screen(shown)
            case key if (index := answers.picked_by(key)) >= 0:
                self.finish(self._scopes[index])

    @on(ChoiceList.Clicked)
    def _clicked(self, event: ChoiceList.Clicked) -> None:
        self.finish(self._scopes[event.index])


def _plan_lines(plan: UndoPlan, heading: str) -> list[Line]:
    """Return the message, the files that stay, and those that change under a heading."""
    lines = [line(f"\u201c{one_line(plan.text)}\u201d", "strong")] if plan.text else []
    if plan.note:
        lines.append(line(f"Not all is known: {plan.note}", "warning"))
    if plan.kept:
        lines.append(line("Left as they are:", "heading"))
        lines += [
            Line((("  ! ", "warning"), (one_line(kept.path), ""), (f"  {kept.why}", "muted")), hang=4)
            for kept in plan.kept
        ]
    if plan.files:
        lines.append(line(f"{heading}: {len(plan.files):,} file{'s' * (len(plan.files) != 1)}", "heading"))
        lines += [_file_line(change) for change in plan.files]
    return lines


def _file_line(change: FileChange) -> Line:
    counts = f"  +{change.added} -{change.removed}" if change.diff else ""
    note = f"  {change.note}" if change.note else ""
    by = "  by a command" if change.by_command else ""
    tail = f"  {_BACK[cast(str, change.kind)]}{by}{note}"
    return Line((("    ", ""), (one_line(change.path), ""), (counts, "muted"), (tail, "muted")), hang=4)
