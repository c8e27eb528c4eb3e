"""Stored messages as lines to read, much as the chat shows them. Pure."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from hermes_tui.engine.types.messages import ToolCall, text_of
from hermes_tui.engine.types.sessions import SessionRow, Snippet, StoredMessage

from .inert import clean, last_overwrite, one_line
from .line_text import Line, Span, line, shown
from .session_list_text import title_of

MAX_TOOL_LINES = 4
"""Lines of a tool result that are shown unless it holds a hit."""
MAX_LINES = 400
"""Lines of one message that are shown."""
_TARGET_KEYS = ("command", "path", "file_path", "pattern", "query", "url", "question", "goal")


def preview_lines(messages: Sequence[StoredMessage], words: Sequence[str] = ()) -> tuple[list[Line], dict[int, int]]:
    """Return the lines of a conversation and, for each message id, its first line.

    Args:
        messages: Oldest first.
        words: What was searched for; a tool result that holds one of them is shown whole.
    """
    lines: list[Line] = []
    first_of: dict[int, int] = {}
    for stored in messages:
        block = _block(stored, words)
        if not block:
            continue
        if lines:
            lines.append(Line())
        first_of[stored.id] = len(lines)
        lines += block
    return lines, first_of


def searched_words(snippets: Sequence[Snippet]) -> list[str]:
    """Return the different texts that a search marked, longest first."""
    words = {snippet.text[start:end].lower() for snippet in snippets for start, end in snippet.marks}
    return sorted((word for word in words if word.strip()), key=lambda word: (-len(word), word))


def find_words(lines: Sequence[Line], words: Sequence[str]) -> dict[int, list[tuple[int, int]]]:
    """Return where the words stand, per line, in order and apart."""
    marks: dict[int, list[tuple[int, int]]] = {}
    for number, entry in enumerate(lines):
        text = entry.text
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = text
        found: list[tuple[int, int]] = []
        for word in words:
            at = lowered.find(word)
            while at >= 0:
                end = at + len(word)
                if all(end <= start or at >= stop for start, stop in found):
                    found.append((at, end))
                at = lowered.find(word, end)
        if found:
            marks[number] = sorted(found)
    return marks


def _block(stored: StoredMessage, words: Sequence[str]) -> list[Line]:
    message = stored.message
    text = text_of(message)
    if message["role"] == "user":
        return _prefixed(_body(text), ("\u203a ", "accent"), "strong")
    if message["role"] == "tool":
        return _tool_result(message.get("tool_name", ""), text, words)
    if message["role"] == "system":
        return []
    lines = _body(text or message.get("partial", "")) if text or message.get("partial") else []
    return lines + [_call_line(call) for call in message.get("tool_calls", ())]


def _body(text: str) -> list[Line]:
    sources = clean(text).strip("\n").split("\n")
    lines = [line(shown(source)) for source in sources[:MAX_LINES]]
    if len(sources) > MAX_LINES:
        lines.append(line(f"{len(sources) - MAX_LINES:,} more lines", "muted"))
    return lines


def _prefixed(lines: Sequence[Line], prefix: Span, style: str) -> list[Line]:
    pad: Span = (" " * len(prefix[0]), "")
    return [
        Line((pad if number else prefix, *((text, own or style) for text, own in entry.spans)), len(prefix[0]))
        for number, entry in enumerate(lines)
    ]


def _call_line(call: ToolCall) -> Line:
    name = one_line(call["function"]["name"])
    return Line((("\u25b8 ", "muted"), (name, "variable"), ("  " + _target(call["function"]["arguments"]), "")), 2)


def _target(arguments: str) -> str:
    """Return the argument that says most, on one line."""
    try:
        values = json.loads(arguments)
    except ValueError:
        return one_line(arguments)[:200]
    if not isinstance(values, dict):
        return one_line(str(values))[:200]
    value = next((values[key] for key in _TARGET_KEYS if key in values), next(iter(values.values()), ""))
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:200]


def _tool_result(name: str, text: str, words: Sequence[str]) -> list[Line]:
    text = _readable(text)
    sources = last_overwrite(clean(text).strip("\n")).split("\n")
    limit = MAX_LINES if any(word in text.lower() for word in words) else MAX_TOOL_LINES
    lines = [line("  " + shown(source), "muted", 2) for source in sources[:limit]]
    hidden = len(sources) - limit
    if hidden > 0:
        lines.append(line(f"  {hidden:,} more lines of {one_line(name) or 'output'}", "comment"))
    return lines


def _readable(text: str) -> str:
    """Return the text inside a tool's JSON result, if it is one."""
    try:
        values = json.loads(text)
    except ValueError:
        return text
    if not isinstance(values, dict):
        return text
    for key in ("error", "output", "content", "result", "summary"):
        if isinstance(value := values.get(key), str) and value:
            return value
    return text


def heading_lines(row: SessionRow, is_open_here: bool = False) -> list[Line]:
    """Return what stands above a previewed conversation: title, facts, and what is special about it."""
    lines = [line(title_of(row), "heading", 2)]
    facts = [
        one_line(row.id),
        time.strftime("%Y-%m-%d %H:%M", time.localtime(row.created_at)) if row.created_at else "",
        f"{row.message_count} message{'s' * (row.message_count != 1)}" if row.message_count else "",
        one_line(row.model),
        f"branch {one_line(row.branch)}" if row.branch else "",
    ]
    lines.append(line("  ".join(fact for fact in facts if fact), "muted"))
    if is_open_here:
        lines.append(line("This session is open here.", "warning"))
    elif row.open_elsewhere:
        lines.append(line("Another window has it open: it opens read-only, f forks it.", "warning"))
    if row.parent_id and row.parent_reason:
        lines.append(line(f"From {one_line(row.parent_id)} ({one_line(row.parent_reason)})", "muted"))
    return [*lines, Line()]
