"""Messages as plain text for a summary: what was said, asked and found, with long results cut."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..types.messages import Message, text_of

TEXT_CHARS = 6_000
RESULT_CHARS = 1_500
ARGUMENT_CHARS = 800
MAX_FILES = 20
_HEAD_SHARE = 0.7


def clip(text: str, limit: int) -> str:
    """Return the text, or its head and tail with a mark between them."""
    if len(text) <= limit:
        return text
    head = text[: int(limit * _HEAD_SHARE)]
    tail = text[len(text) - (limit - len(head)) :]
    return f"{head} [... {len(text) - limit} characters left out ...] {tail}"


def as_text(message: Message) -> str:
    """Return one message as lines; a summary of earlier messages is given whole."""
    content = text_of(message)
    if "compressed" in message:
        return f"Earlier summary:\n{content}"
    role = message["role"]
    if role == "tool":
        return f"Result of {message.get('tool_name', 'tool')}: {clip(content, RESULT_CHARS)}"
    lines = [f"{'Person' if role == 'user' else 'Agent'}: {clip(content, TEXT_CHARS)}"] if content.strip() else []
    for call in message.get("tool_calls") or ():
        function = call["function"]
        lines.append(f"Agent calls {function['name']}: {clip(function['arguments'], ARGUMENT_CHARS)}")
    return "\n".join(lines)


def chunks(messages: Sequence[Message], max_chars: int) -> list[str]:
    """Return the messages as texts of at most about ``max_chars`` characters, each with whole messages."""
    found: list[list[str]] = []
    size = 0
    for message in messages:
        text = as_text(message)
        if not text:
            continue
        if not found or size + len(text) > max_chars:
            found.append([])
            size = 0
        found[-1].append(text)
        size += len(text) + 2
    return ["\n\n".join(texts) for texts in found]


def files_in_work(messages: Sequence[Message]) -> list[str]:
    """Return the paths that calls named, newest first, each once."""
    found: dict[str, None] = {}
    for message in reversed(messages):
        for path in (*_paths(message), *(message.get("compressed") or {"files": []})["files"]):
            found.setdefault(path)
        if len(found) >= MAX_FILES:
            break
    return list(found)[:MAX_FILES]


def _paths(message: Message) -> Iterator[str]:
    for call in reversed(message.get("tool_calls") or []):
        try:
            arguments: Any = json.loads(call["function"]["arguments"])
        except ValueError:
            continue
        path = arguments.get("path") if isinstance(arguments, dict) else None
        if isinstance(path, str) and path:
            yield path
