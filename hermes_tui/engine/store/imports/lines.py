"""JSON lines: read one by one, broken ones counted, and the small conversions that every such format needs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from ...types.messages import ToolCall
from ..entries import Entry

JsonLine: TypeAlias = dict[str, Any]
_SNIFFED_LINES = 20


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was passed over."""

    name: str
    """A session's id, or a file."""
    why: str
    """One sentence."""


Reader: TypeAlias = Callable[[Path], Iterator[Entry | Skipped]]
"""Reads one file."""


@dataclass(slots=True)
class Lines:
    """The readable objects of a JSONL file, and how many lines were not."""

    objects: list[JsonLine] = field(default_factory=list)
    broken_count: int = 0

    def notes(self) -> list[str]:
        """Say what could not be read."""
        one = self.broken_count == 1
        return [f"{self.broken_count} line{'' if one else 's'} could not be read."] if self.broken_count else []


def read_lines(path: Path) -> Lines:
    """Read a whole file. A last line that is still being written counts as broken."""
    lines = Lines()
    with path.open("rb") as file:
        for raw in file:
            if not raw.strip():
                continue
            value = _parse(raw)
            if isinstance(value, dict):
                lines.objects.append(value)
            else:
                lines.broken_count += 1
    return lines


def first_lines(path: Path) -> Iterator[JsonLine]:
    """Yield the first readable objects of a file."""
    with path.open("rb") as file:
        for raw in itertools.islice(file, _SNIFFED_LINES):
            value = _parse(raw)
            if isinstance(value, dict):
                yield value


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def seconds(stamp: object, default: float = 0.0) -> float:
    """Return Unix seconds for an ISO 8601 time."""
    try:
        return datetime.fromisoformat(str(stamp)).timestamp()
    except ValueError:
        return default


def items(value: object) -> list[JsonLine]:
    """Return the objects of a list; nothing for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """Return a value as text: texts as they are, absent ones empty, others as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def joined(parts: Iterable[str]) -> str:
    """Join the texts that are not empty, a line each."""
    return "\n".join(part for part in parts if part)


def tool_call(call_id: object, name: object, arguments: object) -> ToolCall:
    """Return a tool call; arguments that are no text become JSON."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return {"id": text(call_id), "type": "function", "function": {"name": text(name), "arguments": given or "{}"}}
