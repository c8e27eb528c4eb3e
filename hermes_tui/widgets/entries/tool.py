"""One tool call: drafted, waiting, running, done; one row unless there is something to see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, TypeAlias

from rich.cells import cell_len
from typing_extensions import override

from ..inert import clean, one_line
from ..line_text import clip
from ..rendering.rows import BAR, Frame, Piece, wrapped
from ..rendering.units import DrawnUnit, Unit, line_units
from ..rendering.wrapping import clip_middle
from .base import Entry
from .reasoning import seconds_text
from .subagents import Subagent, agents_of, take_reports
from .tool_cards import CARDS, MAX_SUMMARY
from .tool_result import MAX_LIVE, args_text, bounded_display, output_lines, result_text

State: TypeAlias = Literal["draft", "running", "waiting", "ok", "error", "denied", "timeout", "interrupted"]

LIVE_LINES: Final = 5
"""Newest lines of output shown while a call runs."""
SPINNER: Final = "\u280b\u2819\u2839\u2838\u283c\u2834\u2826\u2827\u2807\u280f"
SPINNER_HZ: Final = 8

_STATES: Final[Mapping[str, tuple[str, str, str]]] = {
    # state: (glyph, word, role)
    "draft": ("\u25cc", "preparing", "muted"),
    "running": ("\u25cf", "running", "active"),
    "waiting": ("?", "waiting for you", "warning"),
    "ok": ("\u2713", "ok", "ok"),
    "error": ("\u2717", "failed", "failed"),
    "denied": ("\u2298", "denied", "warning"),
    "timeout": ("\u2717", "timed out", "failed"),
    "interrupted": ("\u25a0", "interrupted", "warning"),
}


class ToolEntry(Entry):
    """A tool call and its card.

    Args:
        call_id: The call's id.
        name: The tool's name.
        args: Arguments, once known.
        display: The tool's own words for the card: ``kind``, ``verb``, ``target``, ``summary`` and more.
    """

    __slots__ = (
        "_draft_size", "_live", "_live_lines", "_notes", "_screen", "_started", "agents", "args", "by_person",
        "call_id", "display", "duration_s", "name", "outcome", "result", "state",
    )  # fmt: skip

    KIND: ClassVar[str] = "tool"

    def __init__(
        self, call_id: str, name: str, args: Mapping[str, Any] | None = None, display: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.call_id = call_id
        self.name = name
        self.args: Mapping[str, Any] = args or {}
        self.display: Mapping[str, Any] = display or {}
        self.state: State = "draft"
        self.agents: list[Subagent] = []
        """Those that a ``delegate_task`` call set to work."""
        self.by_person = False
        """The person ran it and wants to see what came of it."""
        self.outcome = ""
        self.result = ""
        self.duration_s = 0.0
        self._draft_size = 0
        self._live = ""
        self._live_lines = 0
        self._screen = ""
        self._notes: tuple[str, ...] = ()
        self._started: float | None = None

    # -- what happens to it ----------------------------------------------------------------------------------------

    def draft(self, fragment: str) -> None:
        """The model wrote more of the arguments; only their size is shown."""
        self._draft_size += len(fragment.encode("utf-8", "replace"))

    def start(self, args: Mapping[str, Any], display: Mapping[str, Any] | None = None) -> None:
        """The call begins."""
        self.args = args
        self.display = display or self.display
        self.state = "running"
        self._draft_size = 0
        self.agents = agents_of(self.display)

    def waiting(self, is_waiting: bool) -> None:
        """A person is asked about the call, or was."""
        self.state = "waiting" if is_waiting else "running"

    def note(self, text: str) -> None:
        """Keep a line below the header, such as how an approval ended."""
        self._notes += (text,)

    def append_output(self, text: str) -> None:
        """Take live output; only its end is kept."""
        self._live = (self._live + text)[-MAX_LIVE:]
        self._live_lines += text.count("\n")

    def show_screen(self, text: str) -> None:
        """Take all of a terminal's screen, in place of the one before."""
        self._screen = text
        self._live, self._live_lines = "", 0

    def finish(
        self, outcome: str, display: Mapping[str, Any] | None = None, result: str = "", duration_s: float = 0.0
    ) -> None:
        """The call has its result.

        Args:
            outcome: ``ok``, ``error``, ``denied``, ``timeout`` or ``interrupted``.
            display: The tool's words for the finished card.
            result: The JSON text that the model gets.
            duration_s: How long it took.
        """
        self.display = bounded_display({**self.display, **(display or {})})
        self.agents = self.agents or agents_of(self.display)
        take_reports(self.agents, self.display)
        self.state = outcome if outcome in _STATES else "error"  # type: ignore[assignment]
        self.outcome = outcome
        has_text = outcome == "ok" and any(self.display.get(key) for key in ("output", "content"))
        self.result = "" if has_text else result_text(result)
        self.duration_s = duration_s
        self._live, self._live_lines, self._screen = "", 0, ""

    # -- what it looks like ----------------------------------------------------------------------------------------

    @property
    @override
    def is_live(self) -> bool:
        return self.state == "running"

    @override
    def source(self) -> str:
        command = self.args.get("command")
        head = str(command) if isinstance(command, str) else args_text(self.args)
        shown = next((text for key in ("diff", "output", "content") if (text := self.display.get(key))), None)
        body = shown if isinstance(shown, str) else self.result or self._live
        if self.agents:
            body = "\n\n".join(agent.source() for agent in self.agents)
        return "\n".join(part for part in (f"{self.name} {head}".strip(), body) if part)

    @override
    def estimate(self, frame: Frame) -> int:
        if self.is_open(frame):
            return super().estimate(frame)
        return 1 + len(self._notes) + (6 if self.display.get("diff") and frame.detail == "normal" else 0)

    @override
    def follows_closely(self, before: Entry) -> bool:
        return before.KIND == "tool"

    @override
    def make_units(self, frame: Frame) -> Sequence[Unit]:
        units: list[Unit] = [DrawnUnit(self._header)]
        if self._notes:
            notes = self._notes
            units.append(DrawnUnit(lambda f: [piece for note in notes for piece in _note(note, f)], rows=len(notes)))
        if not self.outcome:
            return units + self._live_units(frame)
        card = CARDS.get(str(self.display.get("kind", "")), CARDS["generic"])
        return units + card(self, frame, self.is_open(frame))

    def _live_units(self, frame: Frame) -> list[Unit]:
        if self.agents:
            return CARDS["agents"](self, frame, self.is_open(frame))
        if self._screen:
            return line_units(clean(self._screen).split("\n"), "muted", prefix=BAR)
        if not self._live:
            return []
        return line_units(output_lines(self._live)[-LIVE_LINES:], "muted", prefix=BAR)

    def _header(self, frame: Frame) -> list[Piece]:
        glyph, _, role = _STATES[self.state]
        if self.state == "running" and frame.animate:
            glyph = SPINNER[int(frame.now * SPINNER_HZ) % len(SPINNER)]
        verb = one_line(str(self.display.get("verb") or self.name))
        facts = self._facts(frame)
        width = frame.inner
        left = cell_len(glyph) + 1 + cell_len(verb)
        while len(facts) > 1 and sum(cell_len(fact) + 2 for fact, _ in facts) > max(18, width // 2):
            facts.pop(0)
        right = sum(cell_len(fact) + 2 for fact, _ in facts)
        if left + right + 4 > width:
            facts, right = facts[-1:], cell_len(facts[-1][0]) + 2
        room = width - left - right - 2
        target = (
            clip_middle(one_line(str(self.display.get("target") or self._guess_target())), room) if room > 3 else ""
        )
        segments = [frame.seg(f"{glyph} ", role), frame.seg(clip(verb, max(4, width - right - 2)), "verb")]
        if target:
            segments.append(frame.seg(f"  {target}"))
        used = sum(cell_len(segment.text) for segment in segments)
        segments.append(frame.seg(" " * max(0, width - used - right)))
        for fact, look in facts:
            segments.append(frame.seg(f"  {fact}", look))
        return [Piece(segments)]

    def _facts(self, frame: Frame) -> list[tuple[str, str]]:
        """Return the words at the right end, least important first; a state that needs saying is the last."""
        _, word, role = _STATES[self.state]
        shown, code = self.display, self.display.get("exit_code")
        facts: list[tuple[str, str]] = []
        if self._draft_size:
            facts.append((_bytes_text(self._draft_size), "muted"))
        if (summary := shown.get("summary")) and summary not in {"done", f"exit {code}"}:
            facts.append((clip(one_line(str(summary)), MAX_SUMMARY), "muted"))
        if self._live_lines and not self.agents:
            facts.append((_lines_text(self._live_lines), "muted"))
        if self.outcome == "ok" and isinstance(lines := shown.get("lines"), int) and lines:
            facts.append((_lines_text(lines), "muted"))
        for key, sign, look in (("added", "+", "add"), ("removed", "-", "remove")):
            if isinstance(count := shown.get(key), int) and not isinstance(count, bool):
                facts.append((f"{sign}{count}", look))
        if isinstance(code, int) and self.outcome and not (code == 0 and self.state == "ok"):
            facts.append((f"exit {code}", role))
        if (elapsed := self._elapsed(frame)) is not None:
            facts.append((seconds_text(elapsed), "muted"))
        if self.state != "ok" or not facts:
            facts.append((word, role))
        return facts

    def _elapsed(self, frame: Frame) -> float | None:
        if self.outcome:
            return self.duration_s if self.duration_s >= 0.1 else None
        if self.state == "running":
            if self._started is None:
                self._started = frame.now
            return frame.now - self._started
        return None

    @property
    def place(self) -> tuple[str, int]:
        """The file that the card is about, and the line to look at; an empty path for other cards."""
        path, line = self.display.get("path") or self.display.get("target"), self.display.get("line")
        if not isinstance(path, str) or not isinstance(line, int) or not self.outcome:
            return "", 1
        return path, line

    def _guess_target(self) -> str:
        return next((value for value in self.args.values() if isinstance(value, str) and value), "")


def _note(text: str, frame: Frame) -> list[Piece]:
    rows = wrapped([(clean(text).replace("\n", " "), frame.style("muted"))], max(8, frame.inner - 4))
    return [
        Piece([frame.seg("  \u21b3 " if number == 0 else "    ", "muted"), *row.segments], 4, row.joint)
        for number, row in enumerate(rows)
    ]


def _bytes_text(size: int) -> str:
    return f"{size:,} B" if size < 10_000 else f"{size / 1000:,.0f} kB"


def _lines_text(count: int) -> str:
    return f"{count:,} line{'s' * (count != 1)}"
