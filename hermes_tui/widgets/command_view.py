"""The body of the approval dialog: what is asked, by whom, why, and what it would touch, in one scrolling view."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from hermes_tui.engine.types.requests import ApprovalRequest, CommandPart

from .command_view_text import command_lines, hidden_count
from .diff_view import DiffLine, parse_diff
from .inert import one_line
from .line_text import Line, Span, line
from .line_view import LineView
from .rendering.code import CodeStyler, LineLexer, language_of

_GROUNDS = {"add": "added-ground", "remove": "removed-ground"}
_SIGNS = {"add": ("+", "added"), "remove": ("-", "removed"), "same": (" ", "muted")}
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
        self._request, self._home = request, home
        self.is_coloured = False
        """Whether the code of its diff is in colours."""
        super().__init__(request_lines(request, home), id=id)

    def on_mount(self) -> None:
        """Colour the code of a diff once its language is loaded, in a thread."""
        if self._request.diff:
            self.run_worker(self._colour, thread=True, group="colours")

    def _colour(self) -> None:
        self.call_later(self._show_colours, request_lines(self._request, self._home, CodeStyler()))

    def _show_colours(self, lines: Sequence[Line]) -> None:
        self.is_coloured = True
        self.set_lines(lines, keep_scroll=True)


def request_lines(request: ApprovalRequest, home: str = "", styler: CodeStyler | None = None) -> list[Line]:
    """Return all lines of a request: context, the text itself, reasons, what it touches, its diff.

    Args:
        request: What waits.
        home: The home folder, shown as ``~``.
        styler: Where colours of code come from; plain without.
    """
    text, reasons = _text_lines(request), _reason_lines(request)
    is_short = len(text) <= _SHORT_LINES and len(request.text) <= _SHORT_CHARS
    parts = [text, reasons] if is_short else [reasons, text]
    if request.touched and not (request.diff and len(request.touched) == 1 and not request.touched[0].note):
        touched = [_touched_line(item.kind, _home(item.path, home), item.note) for item in request.touched]
        parts.append([line(_touch_title(request), "heading"), *touched])
    if request.diff:
        parts.append(_diff_lines(request.diff, request.text, styler))
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


def _diff_lines(diff: str, path: str, styler: CodeStyler | None) -> list[Line]:
    """Draw a unified diff as the transcript does; its text is as visible as a command's."""
    entries = parse_diff(diff, clean=str)
    files = [entry.text for entry in entries if entry.kind == "file"]
    name = files[0] if len(files) == 1 else path
    lexer = LineLexer(styler, language_of(name.rsplit(".", 1)[-1]) if "." in name else "") if styler else None
    digits = len(str(max((max(entry.old, entry.new) for entry in entries), default=1)))
    lines: list[Line] = []
    for entry in entries:
        if entry.kind == "file":
            lines += [Line(command_lines(entry.text, language="")[0].spans, 2)] * (len(files) > 1)
        elif entry.kind == "hunk":
            lines += [line(f"{'':{digits}} \u22ef  {one_line(entry.text)}".rstrip(), "muted")] * bool(
                lines or entry.text
            )
        else:
            lines.append(_diff_line(entry, digits, lexer))
    return lines


def _diff_line(entry: DiffLine, digits: int, lexer: LineLexer | None) -> Line:
    """Draw one line: number, sign, code."""
    ground = _GROUNDS.get(entry.kind, "")
    sign, style = _SIGNS[entry.kind]
    pieces = lexer.roles(entry.text) if lexer else [(entry.text, ())]
    styles = [f"{ground} {roles[0]}".strip() if roles else ground for text, roles in pieces for _ in text]
    margin: tuple[Span, ...] = (
        (f"{entry.new or entry.old or '':>{digits}} ", f"{ground} muted".strip()),
        (f"{sign} ", style),
    )
    code = command_lines(entry.text, language="", styles=styles)[0].spans
    return Line((*margin, *code), digits + 3, prose=False, ground=ground)


def _home(path: str, home: str) -> str:
    """Shorten the home folder to ``~``."""
    if home and (path == home or PurePath(path).is_relative_to(home)):
        return "~" + path[len(home.rstrip("/")) :]
    return path
