"""Sessions of Hermes Agent: the tables ``sessions`` and ``messages`` of its ``state.db``, schema 22 and older.

Older schemas lack columns, so every column is optional here. The source is never opened for writing: a database with
a journal beside it is read from a copy, for even a reader would touch the files of a write-ahead log.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from ...types.errors import StoreError
from ...types.messages import JsonObject, Message, ReasoningDetail
from ..entries import Entry
from ..session_rows import TOKEN_COLUMNS
from .lines import Skipped, items, text, tool_call

Row = Mapping[str, Any]
_JOURNALS = ("-wal", "-journal")
_COPY_TRIES = 5
_JSON_CONTENT = "\0json:"
"""Marks content that is a list of parts. Source: hermes_state.py of the original system, 0.19."""
_ROLES = frozenset({"system", "user", "assistant", "tool"})
_SOURCES = {"cli": "tui", "tui": "tui", "cron": "cron", "acp": "acp", "api_server": "api", "subagent": "subagent"}
_DETAIL_COLUMNS = {"reasoning_details": "chat_completions", "codex_reasoning_items": "responses"}
"""Columns of opaque reasoning -> the API mode that issued it."""


def read(path: Path) -> Iterator[Entry | Skipped]:
    """Yield the sessions of a ``state.db``, oldest first, parents before children.

    Raises:
        StoreError: The file is no such database.
    """
    with _opened(path) as conn:
        tables = {row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"sessions", "messages"} <= tables or "index_state" in tables:
            raise StoreError(f"{path} is not a Hermes database.", hint="Ours are exported with `sessions export`.")
        sessions = [dict(row) for row in conn.execute("SELECT * FROM sessions ORDER BY started_at, id")]
        has_usage = "session_model_usage" in tables
        by_id = {row["id"]: row for row in sessions}
        for session in _parents_first(sessions, by_id):
            past = [
                dict(row)
                for row in conn.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY id", (session["id"],))
                if row["role"] in _ROLES
            ]
            if not past:
                yield Skipped(session["id"], "It has no messages.")
                continue
            usage = (
                [
                    dict(row)
                    for row in conn.execute("SELECT * FROM session_model_usage WHERE session_id = ?", (session["id"],))
                ]
                if has_usage
                else []
            )
            yield from _entries(session, past, usage, by_id)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="hermes-tui-import-") as folder:
        try:
            journals = [file for suffix in _JOURNALS if (file := path.with_name(path.name + suffix)).exists()]
            if any(journal.stat().st_size for journal in journals):
                uri = f"file:{quote(str(_copied(path, Path(folder))))}?mode=rw"
            else:
                uri = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
            with closing(sqlite3.connect(uri, uri=True)) as conn:
                conn.row_factory = sqlite3.Row
                conn.text_factory = lambda raw: raw.decode("utf-8", "replace")
                yield conn
        except (OSError, sqlite3.DatabaseError) as error:
            raise StoreError(f"{path} cannot be read: {error}.", hint="Close Hermes and try again.") from error


def _copied(path: Path, folder: Path) -> Path:
    """Copy a database with its journals, of one moment: again when it changed meanwhile."""
    files = [path, *(path.with_name(path.name + suffix) for suffix in _JOURNALS)]
    for _ in range(_COPY_TRIES):
        before = _state_of(files)
        for file in files:
            target = folder / file.name
            target.unlink(missing_ok=True)
            if file.exists():
                shutil.copyfile(file, target)
        if _state_of(files) == before:
            return folder / path.name
    raise OSError("it is being written to")


def _state_of(files: list[Path]) -> list[tuple[int, int] | None]:
    stats = [file.stat() if file.exists() else None for file in files]
    return [(stat.st_size, stat.st_mtime_ns) if stat else None for stat in stats]


def _parents_first(sessions: list[dict[str, Any]], by_id: Mapping[str, Row]) -> Iterator[dict[str, Any]]:
    """Yield each session after the one it comes from; a circle is entered at its oldest member."""
    done: set[str] = set()
    for session in sessions:
        chain = []
        current: Any = session
        while current is not None and current["id"] not in done:
            done.add(current["id"])
            chain.append(current)
            current = by_id.get(current.get("parent_session_id") or "")
        yield from reversed(chain)


def _entries(
    session: dict[str, Any], past: list[dict[str, Any]], usage: list[dict[str, Any]], by_id: Mapping[str, Row]
) -> Iterator[Entry]:
    """Yield a session; what it compressed in place comes before, as a session that it continues."""
    compacted = [row for row in past if row.get("compacted") and not row.get("active", 1)]
    live = [row for row in past if row not in compacted] if compacted else past
    parent, reason = _parent(session, by_id)
    entry = _entry(session, live)
    if compacted:
        earlier = _entry({**session, "title": None}, compacted)
        earlier.session |= {"id": f"{session['id']}.1", "end_reason": "compression"}
        earlier.undone_at = {}
        earlier.parent, earlier.reason = parent, reason
        parent, reason = earlier.id, "compression"
        yield earlier
    entry.parent, entry.reason = parent, reason
    entry.usage = [_day(session, row, row.get("first_seen")) for row in usage] or [_day(session, session, None)]
    entry.system_prompt = session.get("system_prompt") or ""
    yield entry


def _entry(session: Row, past: list[dict[str, Any]]) -> Entry:
    times = [row["timestamp"] for row in past] or [session["started_at"]]
    provider = session.get("billing_provider") or ""
    source = session.get("source") or "cli"
    return Entry(
        session={
            "id": session["id"],
            "title": session.get("title") or "",
            "title_by": "user" if session.get("title") else "",
            "source": _SOURCES.get(source, f"gateway:{source}"),
            "cwd": session.get("cwd") or "",
            "branch": session.get("git_branch") or "",
            "model": session.get("model") or "",
            "provider": provider,
            "created_at": session["started_at"],
            "updated_at": max(times),
            "ended_at": session.get("ended_at"),
            "end_reason": session.get("end_reason") or "",
            "archived": int(session.get("archived") or 0),
        },
        messages=[_message(row, provider) for row in past],
        tokens=[int(row.get("token_count") or 0) for row in past],
        undone_at={at: row["timestamp"] for at, row in enumerate(past) if not row.get("active", 1)},
    )


def _parent(session: Row, by_id: Mapping[str, Row]) -> tuple[str, str]:
    """Return the session that this one comes from, and how; nothing when that is gone or the links form a circle."""
    parent = by_id.get(session.get("parent_session_id") or "")
    if parent is None or _is_in_circle(session, by_id):
        return "", ""
    config = _loads(session.get("model_config"))
    marks = config if isinstance(config, dict) else {}
    if marks.get("_delegate_from") or session.get("source") == "subagent":
        return str(parent["id"]), "delegation"
    is_branch = marks.get("_branched_from") or parent.get("end_reason") != "compression"
    return str(parent["id"]), "fork" if is_branch else "compression"


def _is_in_circle(session: Row, by_id: Mapping[str, Row]) -> bool:
    seen = {session["id"]}
    current = by_id.get(session.get("parent_session_id") or "")
    while current is not None:
        if current["id"] in seen:
            return True
        seen.add(current["id"])
        current = by_id.get(current.get("parent_session_id") or "")
    return False


def _message(row: Row, provider: str) -> Message:
    content = row.get("content")
    if isinstance(content, str) and content.startswith(_JSON_CONTENT):
        content = _loads(content.removeprefix(_JSON_CONTENT))
    message: dict[str, Any] = {"role": row["role"], "content": content}
    calls = items(_loads(row.get("tool_calls")))
    if calls:
        functions = [(call, call.get("function") or {}) for call in calls]
        message["tool_calls"] = [
            tool_call(call.get("id"), function.get("name"), function.get("arguments")) for call, function in functions
        ]
    reasoning = row.get("reasoning") or row.get("reasoning_content")
    optional = {
        "tool_call_id": row.get("tool_call_id"),
        "tool_name": row.get("tool_name"),
        "finish_reason": row.get("finish_reason"),
        "api_content": row.get("api_content"),
        "reasoning": text(reasoning) if reasoning else None,
        "reasoning_details": _details(row, provider),
    }
    message |= {name: value for name, value in optional.items() if value}
    message["created_at"] = row["timestamp"]
    return cast(Message, message)


def _details(row: Row, provider: str) -> list[ReasoningDetail]:
    """Return opaque reasoning with its issuer's name, which ours needs before it sends one back."""
    return [
        {"provider": provider, "api_mode": mode, "position": position, "block": cast(JsonObject, block)}
        for column, mode in _DETAIL_COLUMNS.items()
        for position, block in enumerate(items(_loads(row.get(column))))
    ]


def _day(session: Row, spent: Row, first_seen: float | None) -> dict[str, Any]:
    """Return what was spent; Hermes keeps no days, so all counts for the first."""
    requests = int(spent.get("api_call_count") or 0)
    cost = spent.get("actual_cost_usd") or spent.get("estimated_cost_usd") or 0.0
    is_known = bool(cost) or spent.get("cost_status") in ("included", "actual", "estimated", "free")
    return {
        "day": time.strftime("%Y-%m-%d", time.localtime(first_seen or session["started_at"])),
        "provider": spent.get("billing_provider") or "",
        "model": spent.get("model") or "",
        "cwd": session.get("cwd") or "",
        "request_count": requests,
        "unpriced_count": 0 if is_known else requests,
        **{name: int(spent.get(name) or 0) for name in TOKEN_COLUMNS},
        "cost_usd": float(cost),
    }


def _loads(value: object) -> Any:
    if not isinstance(value, str) or not value:
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
