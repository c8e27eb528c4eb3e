"""What a tool's result holds, for the card: bounded text, picked out of the JSON that the model gets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..inert import clean, last_overwrite

MAX_KEPT: Final = 32_000
"""Characters of a result kept for the card; the store has all of it."""
MAX_LIVE: Final = 8_000
"""Characters of live output kept."""

_TEXT_KEYS: Final = ("output", "content", "text", "stdout", "matches", "result")


def bounded(text: str, limit: int = MAX_KEPT) -> str:
    """Return the head and tail of a long text, with a line between that says how much is missing."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n\u2026 {len(text) - limit:,} characters not shown \u2026\n{text[-half:]}"


def bounded_display(display: Mapping[str, Any]) -> dict[str, Any]:
    """Return a card's words with long texts cut; a diff keeps more, because a part of it misleads."""
    return {
        key: bounded(value, 8 * MAX_KEPT if key == "diff" else MAX_KEPT) if isinstance(value, str) else value
        for key, value in display.items()
    }


def output_lines(text: str) -> list[str]:
    """Return output as lines that are safe to draw; what a progress bar overwrote is gone."""
    return clean(last_overwrite(text.replace("\r\n", "\n"))).strip("\n").split("\n") if text.strip() else []


def result_text(result: str) -> str:
    """Return the readable part of a result: its output if it has one, else its JSON with line breaks."""
    try:
        value = json.loads(result)
    except ValueError:
        return bounded(result)
    if not isinstance(value, dict):
        return bounded(json.dumps(value, ensure_ascii=False, indent=2))
    parts = [text for key in _TEXT_KEYS if (text := _as_text(value.get(key)))]
    if error := value.get("error"):
        parts.append(str(error))
    if not parts:
        rest = {key: item for key, item in value.items() if key != "ok"}
        parts = [json.dumps(rest, ensure_ascii=False, indent=2)] if rest else []
    return bounded("\n".join(parts))


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "\n".join(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value)
    return ""


def args_text(args: Mapping[str, Any]) -> str:
    """Return arguments as ``name: value`` lines."""
    lines = []
    for name, value in args.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{name}: {bounded(text, 2_000)}")
    return "\n".join(lines)
