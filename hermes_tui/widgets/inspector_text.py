"""The content of a request as blocks that open: messages side by side, and JSON. Pure; knows no widget."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from hermes_tui.engine.types.inspection import Change, MessagePair

from .fold_view import Fold
from .line_text import Line, Span, cells_of, clip, cut, line, shown, wrap
from .usage_text import count_words

SIDE_BY_SIDE = 60
"""Cells from which stored and sent text stand side by side."""
MAX_NEWEST = 200
"""Messages shown at once; older ones are behind one heading."""
MAX_TEXT_LINES = 2_000
"""Lines of one opened message or string."""
MAX_LINE_CHARS = 5_000
"""Of one line."""
PREVIEW_CHARS = 200
LONG_STRING = 100
"""Characters from which a string is a block of its own."""
_STYLES: Mapping[Change, str] = {"same": "muted", "changed": "warning", "added": "success", "dropped": "error"}
_WORDS: Mapping[Change, str] = {
    "same": "same",
    "changed": "changed",
    "added": "only sent",
    "dropped": "not sent",
}
_RULE = " \u2502 "


def message_folds(pairs: Sequence[MessagePair]) -> list[Fold]:
    """Return a block for each message, what differs marked."""
    folds = [_message(number, pair) for number, pair in enumerate(pairs, start=1)]
    older, newest = folds[:-MAX_NEWEST], folds[-MAX_NEWEST:]
    if older:
        changed = sum(pair.change != "same" for pair in pairs[: len(older)])
        words = f"{len(older):,} older messages, {changed:,} of them not sent as stored"
        newest.insert(0, Fold(head=lambda width: [line(words, "muted")], children=lambda: older))
    return newest


def _message(number: int, pair: MessagePair) -> Fold:
    spans: tuple[Span, ...] = (
        (f"{number:>3} ", "muted"),
        (f"{pair.role:<10}", "heading"),
        (f"{_WORDS[pair.change]:<10}", _STYLES[pair.change]),
        (f"{count_words(pair.tokens):>6}", "muted"),
    )
    notes = f"  {'; '.join(pair.notes)}" if pair.notes else ""
    preview = _first_line(pair.sent or pair.stored)

    def head(width: int) -> list[Line]:
        room = width - cells_of(spans)
        first = Line((*spans, (clip(notes, room), "muted")) if room > 12 else spans, prose=False)
        return [first, line(clip(f"    {preview}", width))] if preview else [first]

    return Fold(head=head, body=lambda width: [*_notes(pair), *_texts(pair, width), Line()])


def _first_line(text: str) -> str:
    head = text[:PREVIEW_CHARS].strip()
    return shown(" ".join(head.split()))


def _notes(pair: MessagePair) -> list[Line]:
    return [line(f"- {note}", _STYLES[pair.change], 2) for note in pair.notes]


def _texts(pair: MessagePair, width: int) -> list[Line]:
    stored, sent = marked(pair.stored, pair.sent)
    if width < SIDE_BY_SIDE:
        if pair.change == "same":
            return sent
        return [*_block("stored", stored), *_block("sent", sent)]
    column = (width - len(_RULE)) // 2
    left = [line("stored", "muted"), *(_rows(stored, column) or [Line((("(nothing)", "muted"),))])]
    right = [line("sent", "muted"), *(_rows(sent, column) or [Line((("(nothing)", "muted"),))])]
    lines = []
    for place in range(max(len(left), len(right))):
        a = left[place].spans if place < len(left) else ()
        b = right[place].spans if place < len(right) else ()
        gap = " " * (column - cells_of(a))
        lines.append(Line((*a, (gap + _RULE, "muted"), *b), prose=False))
    return lines


def _block(title: str, lines: Sequence[Line]) -> list[Line]:
    return [line(title, "muted"), *(lines or [line("(nothing)", "muted")])]


def _rows(lines: Sequence[Line], width: int) -> list[Line]:
    """Wrap lines so that each is one row of a column."""
    rows: list[Line] = []
    for entry in lines:
        rows += [Line(tuple(cut(entry.spans, start, end))) for start, end in wrap(entry.text, width)]
    return rows


def marked(stored: str, sent: str) -> tuple[list[Line], list[Line]]:
    """Return both texts as lines, with what only one of them has in another style."""
    first, second = _text_lines(stored), _text_lines(sent)
    if first == second or not first or not second:
        style = "" if first == second else "removed" if first else "added"
        return [line(text, style) for text in first], [line(text, style) for text in second]
    head = _alike(first, second)
    tail = _alike(first[head:][::-1], second[head:][::-1])
    return _differing(first, second, head, tail, "removed"), _differing(second, first, head, tail, "added")


def _alike(first: Sequence[Any], second: Sequence[Any]) -> int:
    """Return how long the common beginning is."""
    return next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def _differing(own: Sequence[str], other: Sequence[str], head: int, tail: int, style: str) -> list[Line]:
    end = len(own) - tail
    lines = [line(text) for text in own[:head]]
    for place in range(head, end):
        text = own[place]
        # One line against one line: only the characters between the common ends differ.
        rival = other[place] if place == head and end == head + 1 and len(other) - tail == head + 1 else None
        if rival is None:
            lines.append(line(text, style))
            continue
        start = _alike(text, rival)
        stop = len(text) - _alike(text[start:][::-1], rival[start:][::-1])
        lines.append(Line(((text[:start], ""), (text[start:stop], style), (text[stop:], ""))))
    return [*lines, *(line(text) for text in own[end:])]


def _text_lines(text: str) -> list[str]:
    lines = [_shown(part) for part in text.split("\n", MAX_TEXT_LINES + 1)] if text else []
    if len(lines) > MAX_TEXT_LINES:
        return [*lines[:MAX_TEXT_LINES], f"... {text.count(chr(10)) + 1 - MAX_TEXT_LINES:,} more lines"]
    return lines


def _shown(text: str) -> str:
    """Return a line as it can be drawn; of one without end, such as an image, the beginning."""
    if len(text) > MAX_LINE_CHARS:
        return f"{shown(text[:MAX_LINE_CHARS])} ... {len(text) - MAX_LINE_CHARS:,} more characters"
    return shown(text)


# JSON


def json_folds(value: Any) -> list[Fold]:
    """Return a block for each field of an object, or each item of a list."""
    return _children(value, 0)


def _children(value: Any, depth: int) -> list[Fold]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [_node(name, item, depth) for name, item in items]


def _node(name: str | int, value: Any, depth: int) -> Fold:
    label = f"{shown(str(name))}: " if isinstance(name, str) else f"{name}  "
    if isinstance(value, dict | list) and value:
        summary = _summary(value)
        return Fold(head=_head(label, summary, "muted"), children=lambda: _children(value, depth + 1), depth=depth)
    if isinstance(value, str) and (len(value) > LONG_STRING or "\n" in value):
        size = f"  ({len(value):,} characters)"
        return Fold(
            head=_head(label, _first_line(value), "string", size),
            body=lambda width: [line(text, "string", 0) for text in _text_lines(value)],
            depth=depth,
        )
    return Fold(head=_head(label, json.dumps(value, ensure_ascii=False), _style(value)), depth=depth)


def _head(label: str, text: str, style: str, tail: str = "") -> Callable[[int], list[Line]]:
    def head(width: int) -> list[Line]:
        room = max(0, width - cell_len(label) - cell_len(tail))
        return [Line(((label, "accent"), (clip(shown(text), room), style), (tail, "muted")), prose=False)]

    return head


def _summary(value: dict[str, Any] | list[Any]) -> str:
    """Say in a few words what is inside."""
    if isinstance(value, list):
        return f"[{len(value)}]"
    said = [str(value[key]) for key in ("role", "type", "name", "id") if isinstance(value.get(key), str)]
    if isinstance(function := value.get("function"), dict) and isinstance(function.get("name"), str):
        said.append(function["name"])
    content: Any = value.get("content") or value.get("text")
    if isinstance(content, list):
        content = next((part.get("text") for part in content if isinstance(part, dict) and part.get("text")), None)
    if isinstance(content, str):
        said.append(_first_line(content))
    return "  ".join(said) or "{" + ", ".join(value) + "}"


def _style(value: object) -> str:
    return "string" if isinstance(value, str) else "variable"
