"""The first time in a folder: what it wants, word for word, and whether that is used.

Guarded like the approval dialog. Unlike it, it closes itself: nothing waits for it but the session.
"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.types import CSSPathType

from hermes_tui.engine.api import TrustAnswer
from hermes_tui.engine.types.choices import TrustItem, TrustRequest
from hermes_tui.widgets.choice_list import Choice, ChoiceList
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.inert import clean, one_line
from hermes_tui.widgets.line_text import Line, line, shown
from hermes_tui.widgets.line_view import LineView

from .approval_guard import Pacing
from .approval_modal import ArmMark, GuardedModal

_WANTS = {
    "instructions": "goes into the model's prompt",
    "settings": "changes settings here (it can only make approvals stricter)",
}
_ANSWERS: tuple[tuple[TrustAnswer, Choice], ...] = (
    ("trust", Choice("1", "Trust it", "trust", "until its content changes")),
    ("once", Choice("2", "Trust it this time", "this time")),
    ("later", Choice("3", "Not now", "not now", "asked again at the next start")),
    ("never", Choice("4", "No", "no", "not asked again until its content changes")),
)
_SCROLLS = {
    "pageup": "page_up",
    "pagedown": "page_down",
    "home": "scroll_home",
    "end": "scroll_end",
    "shift+up": "scroll_up",
    "shift+down": "scroll_down",
}


class TrustScreen(GuardedModal[TrustAnswer]):
    """Asks about one folder; the result is the answer.

    Args:
        request: What the folder wants.
        pacing: Times and clock.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "trust.tcss"]

    def __init__(self, request: TrustRequest, *, pacing: Pacing | None = None) -> None:
        super().__init__(pacing)
        self.request = request

    def compose(self) -> ComposeResult:
        """Lay out what is wanted and the answers."""
        with Vertical(classes="dialog", id="trust") as dialog:
            dialog.border_title = "Do you trust this folder?"
            view = LineView(_lines(self.request), id="wishes")
            view.can_focus = False
            yield view
            yield ArmMark()
            yield ChoiceList([choice for _, choice in _ANSWERS], id="choices")
            yield HintLine((("\u2191\u2193 enter", "choose"), ("esc", "not now"), ("pgup/pgdn", "read")))

    def is_answer(self, key: str) -> bool:
        """Return whether a key answers now; Enter does only with a choice under the arrows."""
        return key == "escape" or self.query_one(ChoiceList).picked_by(key) >= 0

    def navigate(self, key: str) -> bool:
        """Move between the choices or scroll the text."""
        if key in {"up", "down"}:
            self.query_one(ChoiceList).move(-1 if key == "up" else 1)
        elif key in _SCROLLS:
            getattr(self.query_one(LineView), f"action_{_SCROLLS[key]}")()
        else:
            return False
        return True

    def answer(self, key: str) -> None:
        """Act on a key that counts."""
        if key == "escape":
            self._give("later")
        else:
            self._give(_ANSWERS[self.query_one(ChoiceList).picked_by(key)][0])

    def on_key(self, event: events.Key) -> None:
        """Ctrl+C puts the question off; there is no turn to stop."""
        if event.key == "ctrl+c":
            event.stop()
            event.prevent_default()
            self._give("later")

    def _give(self, answer: TrustAnswer) -> None:
        self._answered = True
        self.finish(answer)

    @on(ChoiceList.Clicked)
    def _clicked(self, event: ChoiceList.Clicked) -> None:
        if self.click_counts:
            self._give(_ANSWERS[event.index][0])

    def on_resize(self) -> None:
        """Give the text what the answers leave over."""
        self.query_one(ChoiceList).flow = self.size.height < 20
        self.call_after_refresh(self._fit)

    @on(LineView.Scrolled)
    def _show_hidden(self, event: LineView.Scrolled) -> None:
        self.query_one("#trust").border_subtitle = event.view.hidden_words

    def _fit(self) -> None:
        if self.is_mounted:
            below = self.query_one(ChoiceList).size.height + 1
            chrome = 1 if self.size.height < 9 else 3 if self.size.height < 20 else 6
            self.query_one(LineView).styles.max_height = max(1, self.size.height - chrome - below)


def _lines(request: TrustRequest) -> list[Line]:
    lines = [line(one_line(_short(request.folder, str(Path.home()), "~/")), "heading")]
    for item in request.items:
        lines += [line(""), *_item_lines(item, request.folder)]
    return lines


def _short(path: str, folder: str, mark: str = "") -> str:
    """Return a path inside a folder by what follows it."""
    inside = PurePath(path)
    return mark + str(inside.relative_to(folder)) if inside.is_relative_to(folder) else path


def _item_lines(item: TrustItem, folder: str) -> list[Line]:
    again = " It changed since you were asked." if item.changed else ""
    name = one_line(_short(item.path, folder))
    rows = [line(f"{name} {_WANTS[item.kind]}, {item.size_bytes:,} bytes.{again}", "strong", 2)]
    if item.hidden_count:
        rows.append(line(f"It holds {item.hidden_count} invisible characters, shown as <U+XXXX>.", "warning", 2))
    return [*rows, line(""), *(line(shown(text)) for text in clean(item.text).rstrip("\n").split("\n"))]
