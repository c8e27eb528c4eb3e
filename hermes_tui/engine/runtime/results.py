"""The result of a tool call: its shape, its text for the model, and its size limit."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..context.repair import clean_text
from ..types.events import Outcome
from ..types.messages import JsonObject

BATCH_MAX_CHARS = 200_000
"""Characters that all results of one step may hold together."""
MIN_CHARS = 8_000
"""What each result gets even when the batch is full."""
HEAD_SHARE = 0.4
_NOTE_CHARS = 600
"""Room for the other keys of a result that is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """The one result of a call."""

    call_id: str
    name: str
    outcome: Outcome
    text: str
    """The JSON text that the model gets."""
    display: JsonObject = field(default_factory=dict)
    duration_s: float = 0.0


def failure(message: str, **details: Any) -> dict[str, Any]:
    """Return the payload of a call that did not work."""
    return {"ok": False, "error": message, **details}


def as_text(payload: Mapping[str, Any]) -> str:
    """Return a payload as JSON text that every API accepts. Values that JSON does not know become their text.

    Raises:
        ValueError: The payload contains itself.
    """
    return clean_text(json.dumps(payload, ensure_ascii=False, default=str))


def checked(payload: object) -> dict[str, Any]:
    """Return a handler's return value as a payload, or a failure that says what is wrong with it."""
    if not isinstance(payload, dict):
        return failure(f"The tool returned {type(payload).__name__} instead of a result.")
    payload.setdefault("ok", "error" not in payload)
    return payload


def cap(payload: dict[str, Any], max_chars: int, folder: Path, redact: Callable[[str], str] = str) -> dict[str, Any]:
    """Return a payload whose text fits, cutting its longest string and keeping the whole of it in a private file.

    The first 40 % and last 60 % of what fits stay inline: the end of an output usually says how it went.

    Args:
        payload: The result.
        max_chars: What its JSON text may hold.
        folder: Gets the file.
        redact: Takes secrets out of what goes into the file.
    """
    if len(as_text(payload)) <= max_chars:
        return payload
    key = max(payload, key=lambda name: len(_plain(payload[name])))
    whole = _plain(payload[key])
    budget = max(0, max_chars - len(as_text({**payload, key: ""})) - _NOTE_CHARS)
    place = _keep(redact(whole), folder)
    note = f"Cut: {len(whole)} characters in all."
    note += f" The whole text is in {place}; read it in parts with read_file." if place else " The rest was not kept."
    while True:
        small = {**payload, key: _middle_out(whole, budget), "truncated": note}
        if budget == 0 or len(as_text(small)) <= max_chars:
            return small
        budget = budget * 9 // 10 if budget > 100 else 0


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _middle_out(text: str, budget: int) -> str:
    if budget <= 0:
        return ""
    head = int(budget * HEAD_SHARE)
    left_out = len(text) - budget
    return f"{text[:head]}\n[... {left_out} characters left out ...]\n{text[-(budget - head) :]}"


def _keep(text: str, folder: Path) -> str:
    path = folder / f"result-{secrets.token_hex(6)}.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", errors="replace") as file:
            path.chmod(0o600)
            file.write(text)
    except OSError:
        return ""
    return str(path)
