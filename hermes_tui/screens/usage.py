"""The usage page: tokens and cost by day, model and folder, as plots."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.types import CSSPathType

from hermes_tui.engine.api import Engine
from hermes_tui.engine.types.sessions import UsageReport
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.line_view import LineView
from hermes_tui.widgets.usage_text import Measure, usage_lines

from .modal import Modal

PERIODS: dict[str, int] = {"7": 7, "30": 30, "90": 90, "all": 0}
"""Name -> days; 0 from the first request on."""
_DEFAULT = "30"
_HINTS = (("tab", "7, 30, 90 days, all"), ("c", "tokens or cost"), ("esc", "back"))


class UsageScreen(Modal[None]):
    """Shows what was spent.

    Args:
        engine: Where it is kept.
        period: A name of :data:`PERIODS`; anything else means 30 days.
        today: The present day.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "usage.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "back", "Back", show=False),
        Binding("q", "back", "Back", show=False),
        Binding("tab,right", "period(1)", "Longer period", show=False),
        Binding("shift+tab,left", "period(-1)", "Shorter period", show=False),
        Binding("c", "measure", "Tokens or cost", show=False),
    ]

    def __init__(self, engine: Engine, period: str = "", *, today: Callable[[], date] = date.today) -> None:
        super().__init__()
        self._engine = engine
        self._today = today
        self._period = period if period in PERIODS else _DEFAULT
        self._measure: Measure = "tokens"
        self._report: UsageReport | None = None

    def compose(self) -> ComposeResult:
        """Lay out the page; the numbers follow from a thread."""
        with Vertical(classes="page", id="usage"):
            yield LineView()
            yield HintLine(_HINTS)

    def on_mount(self) -> None:
        """Take keys and ask."""
        self.query_one(LineView).focus()
        self._load()

    def _load(self) -> None:
        days = PERIODS[self._period]
        since = (self._today() - timedelta(days=days - 1)).isoformat() if days else ""
        self.query_one("#usage").border_title = "Usage, " + (f"last {days} days" if days else "all time")
        self.ask("usage", lambda: self._engine.usage(since), self._show)

    def _show(self, report: UsageReport) -> None:
        self._report = report
        self._draw()

    def _draw(self) -> None:
        view = self.query_one(LineView)
        width = view.scrollable_content_region.width
        if self._report is None or width <= 0:
            return
        days = PERIODS[self._period]
        last = self._today()
        first = last - timedelta(days=days - 1)
        if not days and self._report.by_day:
            first = min(last, date.fromisoformat(self._report.by_day[0].label))
        height = max(3, min(10, view.size.height // 3))
        lines = usage_lines(self._report, width=width, height=height, measure=self._measure, first=first, last=last)
        view.set_lines(lines, keep_scroll=True)

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new width."""
        del event
        self.call_after_refresh(self._draw)

    def action_period(self, step: int) -> None:
        """Show a longer or shorter time."""
        names = list(PERIODS)
        self._period = names[(names.index(self._period) + step) % len(names)]
        self._load()

    def action_measure(self) -> None:
        """Plot cost instead of tokens, or back."""
        self._measure = "cost" if self._measure == "tokens" else "tokens"
        self._draw()

    def action_back(self) -> None:
        """Leave."""
        self.finish(None)
