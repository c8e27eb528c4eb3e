"""The filters of a query (``role:user before:2026-10``): which values they take and what they ask of rows."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from .text import facet

_ROLES = frozenset({"system", "user", "assistant", "tool"})
_UNIT_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter as typed, with a value that it can use."""

    key: str
    value: str
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """An SQL condition and its values."""

    sql: str
    values: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Facet:
    """A property of a message, as a word of the index and as a condition for when there is no index."""

    words: str
    """One index word, or several alternatives joined with OR."""
    condition: Condition


def parse_time(text: str, now_s: float) -> float | None:
    """Return the start (Unix seconds, local time) of ``2026``, ``2026-10``, ``2026-10-05``, ``7d``, ``today``."""
    today = datetime.fromtimestamp(now_s).replace(hour=0, minute=0, second=0, microsecond=0)
    named = {"today": today, "yesterday": today - timedelta(days=1)}.get(text.lower())
    if named is not None:
        return named.timestamp()
    if ago := re.fullmatch(r"(\d{1,4})([hdwmy])", text.lower()):
        return now_s - int(ago[1]) * _UNIT_DAYS[ago[2]] * 86400
    if date := re.fullmatch(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", text):
        try:
            return datetime(int(date[1]), int(date[2] or 1), int(date[3] or 1)).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    return None


def _like(text: str) -> str:
    return "%" + re.sub(r"([!%_])", r"!\1", text) + "%"


def _source(value: str) -> Condition:
    return Condition("(s.source = ? OR s.source LIKE ? ESCAPE '!')", (value, _like(value + ":")[1:]))


def _cwd(value: str) -> Condition:
    if value[:1] in ("/", "~") or Path(value).is_absolute():
        path = str(Path(value).expanduser().absolute()) if value != "/" else ""
        return Condition("(s.cwd = ? OR s.cwd LIKE ? ESCAPE '!')", (path or "/", _like(path + "/")[1:]))
    return Condition("s.cwd LIKE ? ESCAPE '!'", (_like(value),))


def _model(value: str) -> Condition:
    return Condition("(s.provider || '/' || s.model) LIKE ? ESCAPE '!'", (_like(value),))


def _title(value: str) -> Condition:
    return Condition("(CASE WHEN s.title <> '' THEN s.title ELSE s.preview END) LIKE ? ESCAPE '!'", (_like(value),))


def _role(value: str) -> Facet:
    return Facet(facet("r", value), Condition("m.role = ?", (value.lower(),)))


def _tool(value: str) -> Facet:
    called = _like(f'"name":"{value}"')
    condition = Condition("(lower(m.tool_name) = ? OR m.tool_calls LIKE ? ESCAPE '!')", (value.lower(), called))
    return Facet(facet("t", value), condition)


def _has(value: str) -> Facet:
    return Facet(value.lower(), Condition("m.is_error = 1"))


_FACETS: dict[str, Callable[[str], Facet]] = {"role": _role, "tool": _tool, "has": _has}
_SESSION: dict[str, Callable[[str], Condition]] = {"source": _source, "cwd": _cwd, "model": _model, "title": _title}
_TIMES = {"before": "<", "after": ">="}
KEYS = frozenset({*_FACETS, *_SESSION, *_TIMES})
"""The words that start a filter."""


def accepts(key: str, value: str) -> bool:
    """Whether ``key:value`` is a filter; otherwise it is searched as text."""
    if key == "role":
        return value.lower() in _ROLES
    if key == "has":
        return value.lower() == "error"
    if key in _TIMES:
        return parse_time(value, time.time()) is not None
    return key in KEYS and bool(value)


@dataclass(frozen=True, slots=True)
class FilterPlan:
    """The filters of a query, sorted by where they are answered."""

    facets: tuple[Facet, ...] = ()
    """What every hit has."""
    no_facets: tuple[Facet, ...] = ()
    """What no hit has."""
    session: tuple[Condition, ...] = ()
    """Conditions on ``sessions s``."""
    times: tuple[tuple[str, float], ...] = ()
    """Comparison operator and Unix seconds for a message's time."""

    @property
    def on_messages(self) -> bool:
        """Whether single messages, not only sessions, are selected."""
        return bool(self.facets or self.no_facets)


def plan(filters: tuple[Filter, ...], now_s: float) -> FilterPlan:
    """Sort filters; several values of one key are alternatives, different keys must all hold."""
    wanted: dict[str, list[str]] = {}
    for item in filters:
        if not item.is_negated and item.key not in _TIMES:
            wanted.setdefault(item.key, []).append(item.value)
    facets = [_any_facet([_FACETS[key](value) for value in values]) for key, values in wanted.items() if key in _FACETS]
    session = [_any([_SESSION[key](value) for value in values]) for key, values in wanted.items() if key in _SESSION]
    unwanted = [item for item in filters if item.is_negated]
    session += [
        Condition(f"NOT {(condition := _SESSION[item.key](item.value)).sql}", condition.values)
        for item in unwanted
        if item.key in _SESSION
    ]
    times = []
    for item in filters:
        moment = parse_time(item.value, now_s) if item.key in _TIMES else None
        if moment is not None:
            operator = _TIMES[item.key]
            times.append(({"<": ">=", ">=": "<"}[operator] if item.is_negated else operator, moment))
    return FilterPlan(
        facets=tuple(facets),
        no_facets=tuple(_FACETS[item.key](item.value) for item in unwanted if item.key in _FACETS),
        session=tuple(session),
        times=tuple(times),
    )


def _any_facet(facets: list[Facet]) -> Facet:
    return Facet(" OR ".join(item.words for item in facets), _any([item.condition for item in facets]))


def _any(conditions: list[Condition]) -> Condition:
    sql = " OR ".join(condition.sql for condition in conditions)
    return Condition(f"({sql})", tuple(value for condition in conditions for value in condition.values))
