"""The agents of one ``delegate_task`` call: a row each, its newest calls while it works, its report at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len

from ..inert import clean, one_line
from ..line_text import clip
from ..rendering.rows import BAR, Frame, Piece
from ..rendering.units import DrawnUnit, LinesUnit, Unit
from .reasoning import seconds_text

if TYPE_CHECKING:
    from .tool import ToolEntry

LIVE_CALLS: Final = 3
"""Newest calls shown below an agent that works."""
MAX_CALLS: Final = 500
"""Calls kept for the open card; the child's own session has all of them."""
INDENT: Final = "  "

_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "": ("\u25cf", "active"),
    "done": ("\u2713", "ok"),
    "interrupted": ("\u25a0", "warning"),
}
_FAILED: Final = ("\u2717", "failed")
_CALL_GLYPHS: Final[Mapping[str, str]] = {"": "\u25cf", "ok": "\u2713", "denied": "\u2298", "interrupted": "\u25a0"}


@dataclass(slots=True)
class Subagent:
    """What is known of one agent."""

    goal: str
    status: str = ""
    """How its turn ended (``done``, ``interrupted``, ``error``, ...); empty while it works."""
    activity: str = ""
    report: str = ""
    session_id: str = ""
    call_count: int = 0
    duration_s: float = 0.0
    calls: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Call id -> what it does, and its outcome."""

    def call_started(self, call_id: str, words: str) -> None:
        """It called a tool."""
        self.call_count += 1
        self.activity = ""
        self.calls[call_id] = (words, "")
        if len(self.calls) > MAX_CALLS:
            del self.calls[next(iter(self.calls))]

    def call_finished(self, call_id: str, outcome: str) -> None:
        """A call has its result."""
        if call_id in self.calls:
            self.calls[call_id] = (self.calls[call_id][0], outcome)

    def reported(self, report: Mapping[str, Any]) -> None:
        """Take what the call's result says about it."""
        self.status = str(report.get("status") or "error")
        self.report = str(report.get("summary") or report.get("error") or "")
        self.session_id = str(report.get("session_id") or "")
        self.call_count = max(self.call_count, int(_number(report.get("tool_calls"))))
        self.duration_s = _number(report.get("duration_s")) or self.duration_s

    def source(self) -> str:
        """Return all of it as text."""
        lines = [f"# {self.goal}", *(f"- {words}: {outcome or 'running'}" for words, outcome in self.calls.values())]
        if self.report:
            lines += ["", self.report]
        if self.session_id:
            lines += ["", f"(session {self.session_id}; /resume opens it)"]
        return "\n".join(lines)


def agents_of(display: Mapping[str, Any]) -> list[Subagent]:
    """Return the agents of a call as its card's words tell of them."""
    goals = display.get("goals")
    agents = [Subagent(str(goal)) for goal in goals] if isinstance(goals, Sequence) else []
    take_reports(agents, display)
    return agents


def take_reports(agents: Sequence[Subagent], display: Mapping[str, Any]) -> None:
    """Give each agent what the finished call says about it."""
    reports = display.get("reports")
    for agent, report in zip(agents, reports if isinstance(reports, Sequence) else (), strict=False):
        if isinstance(report, Mapping):
            agent.reported(report)


def draw(entry: ToolEntry, frame: Frame, is_open: bool) -> list[Unit]:
    """Draw the agents of a call."""
    if frame.detail == "compact" and not is_open and entry.outcome:
        return []
    units: list[Unit] = []
    for agent in entry.agents:
        units.append(DrawnUnit(lambda f, agent=agent: [_row(agent, f)]))  # type: ignore[misc]
        shown = list(agent.calls.values())
        shown = shown if is_open else [] if agent.status else shown[-LIVE_CALLS:]
        if shown:
            units.append(DrawnUnit(lambda f, shown=shown: [_call(one, f) for one in shown], rows=len(shown)))  # type: ignore[misc]
        if is_open and agent.report:
            lines = clean(agent.report).strip("\n").split("\n")
            units.append(LinesUnit(lines, prefix=BAR + INDENT * 2, wrap=True))
    return units


def _row(agent: Subagent, frame: Frame) -> Piece:
    glyph, role = _LOOKS.get(agent.status, _FAILED)
    facts = [f"{agent.call_count} call{'s' * (agent.call_count != 1)}"] if agent.call_count else []
    facts += [seconds_text(agent.duration_s)] if agent.duration_s else []
    facts += [] if agent.status in ("", "done") else [agent.status]
    right = "".join(f"  {fact}" for fact in facts)
    room = max(4, frame.inner - cell_len(BAR) - 2 - cell_len(right))
    goal = clip(one_line(agent.goal), max(4, room // 2) if agent.activity or agent.report else room)
    rest = one_line(agent.report) if agent.status else agent.activity
    words = clip(rest, room - cell_len(goal) - 2) if room - cell_len(goal) > 6 else ""
    gap = " " * max(0, room - cell_len(goal) - (cell_len(words) + 2 if words else 0))
    segments = [frame.seg(BAR, "rule"), frame.seg(f"{glyph} ", role), frame.seg(goal, "strong")]
    segments += [frame.seg(f"  {words}", "muted")] if words else []
    return Piece([*segments, frame.seg(gap + right, "muted")], len(BAR))


def _call(call: tuple[str, str], frame: Frame) -> Piece:
    words, outcome = call
    glyph = _CALL_GLYPHS.get(outcome, _FAILED[0])
    text = clip(one_line(words), max(4, frame.inner - cell_len(BAR) - 4))
    return Piece([frame.seg(BAR + INDENT, "rule"), frame.seg(f"{glyph} {text}", "muted")], len(BAR + INDENT))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
