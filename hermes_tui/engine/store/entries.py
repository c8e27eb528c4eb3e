"""One session outside the database: what an export writes, what every import makes, and how it is stored."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ..types.messages import JsonValue, Message
from . import lineage, messages, names, rows
from .session_rows import COUNT_COLUMNS, insert
from .text import decode, encode
from .usage import ADD_DAY

_FIELDS = (
    "id", "title", "title_by", "preview", "source", "cwd", "branch", "model", "provider", "created_at", "updated_at",
    "ended_at", "end_reason", "pinned", "archived", "compaction_count", *COUNT_COLUMNS,
)  # fmt: skip
_TOTALS = ("message_count", "turn_count")
_REQUIRED: Mapping[str, type | tuple[type, ...]] = {
    "id": str,
    "source": str,
    "created_at": (int, float),
    "updated_at": (int, float),
}
_DAY = ("day", "provider", "model", "cwd", *COUNT_COLUMNS)
REASONS = frozenset({"compression", "fork", "delegation"})
"""How a session may come from another."""


@dataclass(slots=True, kw_only=True)
class Entry:
    """A session with everything that belongs to it."""

    session: dict[str, Any]
    """Columns of its row. Counters that are absent are computed; foreign sources leave them out."""
    messages: list[Message] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    """Estimated size of each message; may be empty."""
    undone_at: dict[int, float] = field(default_factory=dict)
    """Position of each message that was taken back, and when (Unix seconds)."""
    parent: str = ""
    """Id of the session it comes from."""
    reason: str = ""
    """``compression``, ``fork``, ``delegation`` or empty."""
    system_prompt: str = ""
    state: dict[str, JsonValue] = field(default_factory=dict)
    usage: list[dict[str, Any]] = field(default_factory=list)
    """Spending by day, as rows of ``usage_days`` without the session."""
    notes: list[str] = field(default_factory=list)
    """What could not be taken over, for people."""

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self.session["id"])

    def mapped(self, change: Callable[[str], str]) -> Entry:
        """Return a copy with every text in it changed, e.g. redacted."""
        return from_json(_each_text(to_json(self), change))


def to_json(entry: Entry) -> dict[str, Any]:
    """Return the entry as it stands in an export."""
    return {
        "session": entry.session,
        "parent": {"id": entry.parent, "reason": entry.reason} if entry.parent else None,
        "system_prompt": entry.system_prompt,
        "state": entry.state,
        "usage": entry.usage,
        "messages": entry.messages,
        "tokens": entry.tokens,
        "undone_at": {str(at): when for at, when in entry.undone_at.items()},
    }


def from_json(value: Mapping[str, Any]) -> Entry:
    """Return the entry of an export.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: It is not one.
    """
    session = {key: item for key, item in dict(value["session"]).items() if key in (*_FIELDS, *_TOTALS)}
    for name, kind in _REQUIRED.items():
        if not isinstance(session[name], kind):
            raise ValueError(f"session.{name} is {type(session[name]).__name__}")
    past = [dict(message) for message in value["messages"]]
    for message in past:
        if not isinstance(message["role"], str):
            raise ValueError("a message has no role")
    parent = value.get("parent") or {}
    return Entry(
        session=session,
        messages=cast(list[Message], past),
        tokens=[int(count) for count in value.get("tokens") or ()],
        undone_at={int(at): float(when) for at, when in (value.get("undone_at") or {}).items()},
        parent=str(parent.get("id") or ""),
        reason=str(parent.get("reason") or ""),
        system_prompt=str(value.get("system_prompt") or ""),
        state=dict(value.get("state") or {}),
        usage=[{name: day[name] for name in _DAY} for day in value.get("usage") or ()],
    )


def read(conn: sqlite3.Connection, session: sqlite3.Row) -> Entry:
    """Return a stored session. A fork's shared past becomes its own: an export must not need the other branch."""
    no = session["no"]
    stored = _stored(conn, session)
    prompt = conn.execute("SELECT text FROM system_prompts WHERE session_no = ?", (no,)).fetchone()
    state = conn.execute("SELECT key, value FROM session_state WHERE session_no = ?", (no,)).fetchall()
    days = conn.execute(f"SELECT {', '.join(_DAY)} FROM usage_days WHERE session_no = ?", (no,)).fetchall()
    return Entry(
        session={name: session[name] for name in (*_FIELDS, *_TOTALS)},
        messages=[message for message, _, _ in stored],
        tokens=[tokens for _, tokens, _ in stored],
        undone_at={at: undone for at, (_, _, undone) in enumerate(stored) if undone is not None},
        parent=session["parent_session_id"] or "",
        reason=session["parent_reason"],
        system_prompt=decode(prompt[0]) if prompt else "",
        state={row["key"]: json.loads(decode(row["value"])) for row in state},
        usage=[dict(row) for row in days],
    )


def _stored(conn: sqlite3.Connection, session: sqlite3.Row) -> list[tuple[Message, int, float | None]]:
    """Return messages with their sizes and when they were taken back: the visible past and all rows of its own."""
    parts = lineage.segments(conn, session["id"], with_compressed=False)
    visible = [rows.from_row(row) for row in lineage.rows_before(conn, parts, lineage.NO_BOUND, lineage.NO_BOUND)]
    undone = conn.execute(
        f"SELECT {rows.SELECT} FROM messages m JOIN sessions s ON s.no = m.session_no "
        "WHERE m.session_no = ? AND m.active = 0",
        (session["no"],),
    )
    every = {stored.id: stored.message for stored in (*visible, *map(rows.from_row, undone))}
    numbers = ", ".join({str(part.session_no) for part in parts})
    facts = {
        row[0]: (row[1], row[2])
        for row in conn.execute(f"SELECT id, tokens, undone_at FROM messages WHERE session_no IN ({numbers})")
    }
    shown = {stored.id for stored in visible}
    return [
        (message, facts[id_][0], None if id_ in shown else float(facts[id_][1] or 0.0))
        for id_, message in sorted(every.items())
    ]


def write(conn: sqlite3.Connection, entry: Entry) -> None:
    """Store a session that is not there yet. Its parent, when it is known, must have been stored before."""
    session = entry.session
    parent = conn.execute("SELECT * FROM sessions WHERE id = ?", (entry.parent,)).fetchone()
    values = {name: session[name] for name in _FIELDS if session.get(name) is not None and name != "title"}
    if entry.parent and entry.reason in REASONS:
        values |= {"parent_session_id": entry.parent, "parent_reason": entry.reason}
        # A shared past came along as own rows.
        values |= {"fork_message_id": 0} if entry.reason == "fork" else {}
    no = insert(conn, values)
    _place(conn, no, entry, parent)
    if session.get("title"):
        names.set_title(conn, no, session["title"], by=session.get("title_by") or "user")
    _write_messages(conn, no, entry)
    _write_totals(conn, no, entry, parent if entry.reason == "compression" else None)
    if entry.system_prompt:
        conn.execute("INSERT INTO system_prompts VALUES (?, ?)", (no, encode(entry.system_prompt)))
    for key, value in entry.state.items():
        conn.execute(
            "INSERT INTO session_state VALUES (?, ?, ?)", (no, key, encode(json.dumps(value, ensure_ascii=False)))
        )
    for day in entry.usage:
        conn.execute(ADD_DAY, (no, *(day[name] for name in _DAY)))


def _place(conn: sqlite3.Connection, no: int, entry: Entry, parent: sqlite3.Row | None) -> None:
    """Say which session stands for the new one in lists, and for those that waited for it."""
    if parent is not None and entry.reason == "delegation":
        conn.execute("UPDATE sessions SET shown_no = ? WHERE no = ?", (parent["shown_no"], no))
    elif parent is not None and entry.reason == "compression" and parent["shown_no"] == parent["no"]:
        conn.execute("UPDATE sessions SET shown_no = ? WHERE shown_no = ?", (no, parent["shown_no"]))
    conn.execute(
        "UPDATE sessions SET shown_no = (SELECT shown_no FROM sessions WHERE no = ?) "
        "WHERE parent_session_id = ? AND parent_reason = 'delegation'",
        (no, entry.id),
    )


def _write_messages(conn: sqlite3.Connection, no: int, entry: Entry) -> None:
    if not entry.messages:
        return
    sizes: Sequence[int] = entry.tokens or [0] * len(entry.messages)
    ids = messages.store(conn, no, zip(entry.messages, sizes, strict=True))
    conn.executemany(
        "UPDATE messages SET active = 0, undone_at = ? WHERE id = ?",
        [(when, ids[at]) for at, when in entry.undone_at.items()],
    )


def _write_totals(conn: sqlite3.Connection, no: int, entry: Entry, before: sqlite3.Row | None) -> None:
    """Set what storing the messages changed, and compute totals: a continuation counts what came before it too."""
    session = entry.session
    kept = [message for at, message in enumerate(entry.messages) if at not in entry.undone_at]
    computed: dict[str, Any] = {
        "message_count": len(kept),
        "turn_count": sum(message["role"] == "user" and not message.get("synthetic") for message in kept),
        "compaction_count": int(before is not None),
        **{name: sum(day[name] for day in entry.usage) for name in COUNT_COLUMNS},
    }
    totals = {name: count + (before[name] if before is not None else 0) for name, count in computed.items()}
    values = {name: session[name] if session.get(name) is not None else total for name, total in totals.items()}
    values |= {
        "created_at": session["created_at"],
        "updated_at": session["updated_at"],
        "ended_at": session.get("ended_at"),
        "end_reason": session.get("end_reason") or "",
    }
    if session.get("preview") is not None:
        values["preview"] = session["preview"]
    columns = ", ".join(f"{name} = ?" for name in values)
    conn.execute(f"UPDATE sessions SET {columns} WHERE no = ?", (*values.values(), no))


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return value if value.startswith("data:") else change(value)
    if isinstance(value, dict):
        return {key: _each_text(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_each_text(item, change) for item in value]
    return value
