"""The body of the approval dialog: what is asked, by whom, why, and what it would touch, in one scrolling view."""

from __future__ import annotations

from pathlib import PurePath

from hermes_tui.engine.types.requests import ApprovalRequest, CommandPart

from .command_view_text import command_lines, hidden_count, joined_spans
from .inert import one_line
from .line_text import Line, Span, line
from .line_view import LineView

_DIFF_STYLES = {"+": "added", "-": "removed", "@": "muted"}
_SHORT_LINES, _SHORT_CHARS = 4, 300
"""A text up to this stands above the reasons; a longer one below, for they must be seen without scrolling."""
_TOUCH_STYLES = {"delete": "error", "write": "warning", "read": "muted"}


class CommandView(LineView, can_focus=False):
    """Shows one approval request, whole.

    Args:
        request: What waits.
        home: The home folder, shown as ``~``.
    """

    DEFAULT_CSS = "CommandView { height: auto; }"

    def __init__(self, request: ApprovalRequest, *, home: str = "", id: str | None = None) -> None:
        super().__init__(request_lines(request, home), id=id)


def request_lines(request: ApprovalRequest, home: str = "") -> list[Line]:
    """Return all lines of a request: context, the text itself, reasons, what it touches, its diff."""
    text, reasons = _text_lines(request), _reason_lines(request)
    is_short = len(text) <= _SHORT_LINES and len(request.text) <= _SHORT_CHARS
    parts = [text, reasons] if is_short else [reasons, text]
    if request.touched and not (request.diff and len(request.touched) == 1 and not request.touched[0].note):
        touched = [_touched_line(item.kind, _home(item.path, home), item.note) for item in request.touched]
        parts.append([line(_touch_title(request), "heading"), *touched])
    if request.diff:
        parts.append(_diff_lines(request.diff))
    shown = [part for part in parts if part]
    lines = [_context(request, home), *shown[0]]
    for part in shown[1:]:
        lines += [Line(), *part]
    return lines


def _text_lines(request: ApprovalRequest) -> list[Line]:
    lines = [
        Line((("\u2502 ", "muted"), *entry.spans), 2, prose=False)
        for entry in command_lines(request.text, request.parts, language=request.action)
    ]
    if hidden := hidden_count(request.text):
        lines.append(line(f"  {hidden} hidden or look-alike character{'s' * (hidden > 1)} above", "warning", 2))
    return lines


def _context(request: ApprovalRequest, home: str) -> Line:
    spans: list[Span] = [(one_line(request.tool), "strong")]
    if request.cwd:
        spans += [(" in ", "muted"), (one_line(_home(request.cwd, home)), "")]
    if request.agent_id:
        spans += [(", asked by ", "muted"), (f"subagent {one_line(request.agent_id)}", "heading")]
    if request.within:
        spans += [(", called by a script of ", "muted"), (one_line(request.within), "heading")]
    if len(request.call_ids) > 1:
        spans.append((f", {len(request.call_ids)} identical calls", "muted"))
    return Line(tuple(spans), 2)


def _reason_lines(request: ApprovalRequest) -> list[Line]:
    """Say why it asks: each marked part with its reason, then what is true of the whole."""
    risky = [part for part in request.parts if part.danger_class in {"danger", "never", "unknown"} and part.reason]
    told = {part.reason for part in risky}
    lead: Span = ("\u25b2 ", "warning")
    lines = [Line((lead, *_part_name(part, request.text), (one_line(part.reason), "")), 2) for part in risky]
    whole = [reason for reason in request.reasons if reason not in told]
    return lines + [Line((lead, (one_line(reason), "warning")), 2) for reason in whole]


def _part_name(part: CommandPart, text: str) -> tuple[Span, ...]:
    """Name the part before its reason, unless it is all there is."""
    source = text[part.start : part.end] if part.end > part.start else " ".join(part.argv)
    name = one_line(source)
    style = "unknown" if part.danger_class == "unknown" else "danger"
    never: tuple[Span, ...] = (("[never runs] ", "error"),) * (part.danger_class == "never")
    if source.strip() == text.strip():
        return never
    return (name if len(name) <= 60 else name[:59] + "\u2026", style), (": ", ""), *never


def _touch_title(request: ApprovalRequest) -> str:
    count = len(request.touched)
    return f"Touches {count} path{'s' * (count != 1)}"


def _touched_line(kind: str, path: str, note: str) -> Line:
    spans: list[Span] = [(f"  {kind:<7}", _TOUCH_STYLES.get(kind, "muted")), (one_line(path), "")]
    if note:
        spans.append((f"  {one_line(note)}", "muted"))
    return Line(tuple(spans), 9)


def _diff_lines(diff: str) -> list[Line]:
    """Colour a unified diff; its text is as visible as a command's. The name above the first hunk is said already."""
    sources = diff.rstrip("\n").split("\n")
    if len(sources) > 2 and sources[0].startswith("--- ") and sources[2].startswith("@@"):
        del sources[:2]
    lines = []
    for source in sources:
        style = _DIFF_STYLES.get(source[:1], "")
        spans = command_lines(source[1:], language="")[0].spans
        shown = tuple((text, own or style) for text, own in ((source[:1], ""), *spans) if text)
        lines.append(Line(joined_spans(shown), 2, prose=False))
    return lines


def _home(path: str, home: str) -> str:
    """Shorten the home folder to ``~``."""
    if home and (path == home or PurePath(path).is_relative_to(home)):
        return "~" + path[len(home.rstrip("/")) :]
    return path
