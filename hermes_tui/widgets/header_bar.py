"""The top line: where this is, what it is about, how much is open and runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import ClassVar, Final

from rich.segment import Segment
from textual.geometry import Size
from textual.reactive import Reactive, var
from textual.strip import Strip

from .line_text import Span, clip
from .status_bar_fields import Field, field, fit
from .status_bar_line import BarLine

APP_NAME = "hermes-tui"
RULE_FROM: Final = 20
"""Rows of the terminal from which a rule stands below the header."""


class HeaderBar(BarLine):
    """The header. All values are plain."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"bar--rule"}
    DEFAULT_CSS = """
    HeaderBar { background: $background; height: auto; }
    HeaderBar > .bar--rule { color: $rule; }
    """

    folder: Reactive[str] = var("")
    """The working folder; the home folder shortened to ``~`` by the caller or by ``short_folder``."""
    branch: Reactive[str] = var("")
    """Git branch; empty for none."""
    session_title: Reactive[str] = var("")
    """Title of the session."""
    open_todos: Reactive[int] = var(0)
    """Todos that are not done."""
    running_jobs: Reactive[int] = var(0)
    """Background jobs that run."""
    note: Reactive[str] = var("")
    """Something that must stay visible, e.g. ``demo``."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row, and a rule where rows are not short."""
        del container, width
        return 2 if viewport.height >= RULE_FROM else 1

    def render_line(self, y: int) -> Strip:
        """Draw the row or the rule."""
        if y != 1:
            return super().render_line(y)
        style = self.rich_style + self.get_component_rich_style("bar--rule", partial=True)
        return Strip([Segment("\u2500" * self.size.width, style)], self.size.width)

    def compose_spans(self, width: int) -> Sequence[Span]:
        """Return the fields that fit."""
        return fit([self._place(), self._note(), self._title(), self._todos()], width)

    def _place(self) -> Field:
        branch: tuple[Span, ...] = ((f" ({self.branch})", "muted"),) if self.branch else ()
        name: Span = (APP_NAME, "strong")
        last = PurePath(self.folder).name or self.folder
        gap = " " if self.folder else ""
        return field(
            2,
            (name, (f"  {self.folder}" if gap else "", "muted"), *branch),
            (name, (f"  {last}" if gap else "", "muted"), *branch),
            (name, (f"  {last}" if gap else "", "muted")),
            (name,),
        )

    def _note(self) -> Field:
        return field(0, self.note, style="warn")

    def _title(self) -> Field:
        title = " ".join(self.session_title.split())
        return field(1, *(clip(title, cells) for cells in (60, 40, 28, 20)), align="right")

    def _todos(self) -> Field:
        counts = {"job": self.running_jobs, "todo": self.open_todos}
        words = [f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items() if count]
        if not words:
            return field(3)
        short = " ".join(str(count) for count in counts.values() if count)
        return field(3, f"[{', '.join(words)}]", f"[{short}]", style="accent", align="right")

    def _on_change(self) -> None:
        self.refresh_line()

    watch_folder = watch_branch = watch_session_title = watch_open_todos = watch_running_jobs = watch_note = _on_change


def short_folder(folder: str, home: str, cells: int = 32) -> str:
    """Return a folder with ``~`` for home and the middle left out when it is long."""
    inside = home and (folder == home or folder.startswith(home.rstrip("/") + "/"))
    short = "~" + folder[len(home.rstrip("/")) :] if inside else folder
    parts = short.split("/")
    while len(short) > cells and len(parts) > 3:
        parts = [parts[0], "…", *parts[3 if parts[1] == "…" else 2 :]]
        short = "/".join(parts)
    return short
