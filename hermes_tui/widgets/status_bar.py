"""The bottom line: model, approval mode, context, cost, what is going on, and what can be pressed.

Takes plain values. Counters stand in cells of fixed width and are repainted without a layout; the clock runs only while
the session is busy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.reactive import Reactive, var

from .line_text import Span, clip
from .spinner import Stopwatch, Ticker, clock_text, spinner_frame
from .status_bar_fields import Field, field, fit
from .status_bar_line import BarLine

_BAR_CELLS = 10
NARROW = 60
"""Cells below which the share of the window stands alone."""
_MODE_STYLES = {"ask": "good", "strict": "good", "smart": "accent", "plan": "accent", "off": "bad"}


class StatusBar(BarLine):
    """The status bar.

    Args:
        animated: False shows a still mark instead of the spinner.
        plain: Words and ASCII only.
        clock: Monotonic seconds, for elapsed time.
        id: Widget id.
    """

    DEFAULT_CSS = """
    StatusBar { background: $background; }
    """

    model: Reactive[str] = var("")
    """Short name of the model."""
    effort: Reactive[str] = var("")
    """Reasoning effort; empty for none."""
    approval_mode: Reactive[str] = var("")
    """``ask``, ``strict``, ``smart`` or ``off``."""
    context_tokens: Reactive[int | None] = var(None)
    """Tokens in the window now; None if unknown."""
    context_window: Reactive[int | None] = var(None)
    """Size of the window; None if unknown."""
    cost_usd: Reactive[float | None] = var(None)
    """Cost of the session; None if unknown."""
    cost_cap_usd: Reactive[float | None] = var(None)
    """Limit of the cost; None for no limit."""
    activity: Reactive[str] = var("")
    """What goes on now, e.g. ``running terminal``, ``retry 2/3 in 4 s``."""
    activity_style: Reactive[str] = var("accent")
    """``accent``, ``warn`` or ``bad``."""
    hints: Reactive[Sequence[tuple[str, str]]] = var((), always_update=True)
    """``(key, what it does)`` of what can be pressed now, most useful first."""

    def __init__(
        self,
        *,
        animated: bool = True,
        plain: bool = False,
        clock: Callable[[], float] | None = None,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.ticker = Ticker(self)
        """Shared with every other widget that shows running time."""
        self._animated = animated
        self._plain = plain
        self.stopwatch = Stopwatch(clock) if clock else Stopwatch()
        """Measures the turn."""
        self._is_busy = False
        self._has_run = False
        self._tick = 0

    @property
    def is_busy(self) -> bool:
        """Whether the clock runs."""
        return self._is_busy

    def start(self, activity: str = "") -> None:
        """A turn begins: count from zero and let the mark move."""
        self._is_busy = self._has_run = True
        self.stopwatch.start()
        self.activity = activity
        self.ticker.subscribe(self._on_tick)
        self.refresh_line()

    def stop(self, outcome: str = "") -> None:
        """The turn is over: nothing moves any more; the time stays."""
        self._is_busy = False
        self.stopwatch.stop()
        self.ticker.unsubscribe(self._on_tick)
        self.activity = outcome
        self.refresh_line()

    def set_usage(
        self,
        *,
        context_tokens: int | None,
        context_window: int | None,
        cost_usd: float | None,
        cost_cap_usd: float | None = None,
    ) -> None:
        """Set all counters with one repaint."""
        self.set_reactive(StatusBar.context_tokens, context_tokens)
        self.set_reactive(StatusBar.context_window, context_window)
        self.set_reactive(StatusBar.cost_usd, cost_usd)
        self.set_reactive(StatusBar.cost_cap_usd, cost_cap_usd)
        self.refresh_line()

    def _on_tick(self, tick: int) -> None:
        self._tick = tick
        self.refresh_line()

    def compose_spans(self, width: int) -> Sequence[Span]:
        """Return the fields that fit."""
        fields = [
            self._model_field(),
            self._approval_field(),
            self._context_field(width),
            self._cost_field(),
            self._activity_field(),
            *self._hint_fields(),
        ]
        return fit(fields, width, separator="  " if self._plain else " · ")

    def _activity_field(self) -> Field:
        if not self._has_run:
            return field(0, self.activity, style="muted")
        clock = clock_text(self.stopwatch.elapsed_s)
        if not self._is_busy:
            if self.activity:
                return field(0, f"{clock} {self.activity}", self.activity, style="muted")
            return field(6, clock, style="muted")
        mark = spinner_frame(self._tick, animated=self._animated, plain=self._plain)
        name = self.activity_style
        forms = [
            ((f"{mark} ", name), (clock, ""), (f" {clip(self.activity, cells)}".rstrip(), name))
            for cells in (60, 24, 18)
        ]
        return field(0, *forms)

    def _model_field(self) -> Field:
        effort: tuple[Span, ...] = ((f" {self.effort}", "muted"),) if self.effort else ()
        name = self.model.rsplit("/", 1)[-1]
        if not name and self.approval_mode:
            return field(4, "no model: /setup", "no model", style="warn")
        short = clip(name, 18)
        return field(4, ((name, "strong"), *effort), ((name, "strong"),), ((short, "strong"),)) if name else field(4)

    def _approval_field(self) -> Field:
        mode = self.approval_mode
        word = {"off": "no approvals", "plan": "plan (read only)"}.get(mode, mode)
        return field(1, word, mode, style=_MODE_STYLES.get(mode, ""))

    def _context_field(self, width: int) -> Field:
        tokens, window = self.context_tokens, self.context_window
        if tokens is None:
            return field(2)
        if not window:
            return field(2, f"ctx {short_count(tokens)}", style="muted")
        share = min(1.0, tokens / window)
        name = "bad" if share >= 0.9 else "warn" if share >= 0.75 else "good"
        filled = round(share * _BAR_CELLS)
        on, off = ("#", "-") if self._plain else ("━", "─")
        percent = f"{share:4.0%}"
        amount = f" {short_count(tokens)}/{short_count(window)}"
        bar: tuple[Span, ...] = ((on * filled, name), (off * (_BAR_CELLS - filled), "muted"))
        head: tuple[Span, ...] = (("ctx", "muted"), (percent, name))
        forms = [(*head, (" ", ""), *bar, (amount, "muted")), (*head, (amount, "muted")), head]
        if width < NARROW:
            forms.append(((percent.strip(), name),))
        return field(2, *forms)

    def _cost_field(self) -> Field:
        if self.cost_usd is None or not (self.cost_usd or self.cost_cap_usd):
            return field(5)
        cost, cap = f"${self.cost_usd:.2f}", self.cost_cap_usd
        if cap is None:
            return field(5, cost, style="muted")
        name = "bad" if self.cost_usd >= cap else "warn" if self.cost_usd >= 0.8 * cap else "muted"
        return field(5, f"{cost} (cap ${cap:g})", cost, style=name)

    def _hint_fields(self) -> list[Field]:
        first = 3 if self._is_busy else 7
        return [
            field(8 + order if order else first, ((key, "accent"), (f" {what}", "muted")), align="right")
            for order, (key, what) in enumerate(self.hints)
        ]

    def _on_change(self) -> None:
        self.refresh_line()

    watch_model = watch_effort = watch_approval_mode = watch_context_tokens = watch_context_window = _on_change
    watch_cost_usd = watch_cost_cap_usd = watch_activity = watch_activity_style = watch_hints = _on_change


def short_count(count: int) -> str:
    """Return a token count in few cells: ``950``, ``8.2k``, ``82k``, ``1.2M``."""
    if count < 1_000:
        return str(count)
    for size, unit in ((1_000, "k"), (1_000_000, "M")):
        scaled = count / size
        if scaled < 999.5:
            return f"{scaled:.1f}{unit}" if scaled < 9.95 and round(scaled, 1) % 1 else f"{scaled:.0f}{unit}"
    return f"{count / 1_000_000:.0f}M"
