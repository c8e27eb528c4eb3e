"""Sessions out and in: Markdown to read, JSON that gives the same session again."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from ..api import StoredMessage
from ..types.errors import StoreError
from ..types.messages import Message, text_of
from . import lineage, messages, rows
from .base import Part
from .session_rows import COUNT_COLUMNS, insert
from .text import decode, encode
from .usage import ADD_DAY

FORMAT = "hermes-tui-session"
VERSION = 1
_FIELDS = (
    "id", "title", "title_by", "preview", "source", "cwd", "branch", "model", "provider", "created_at", "updated_at",
    "ended_at", "end_reason", "pinned", "archived", "compaction_count", *COUNT_COLUMNS,
)  # fmt: skip
_FENCE = re.compile("`{3,}")


class ExportPart(Part):
    """Export and import."""

    def export(
        self, session_id: str, fmt: Literal["md", "json"] = "md", *, redact: Callable[[str], str] | None = None
    ) -> str:
        """Return a session as text.

        Args:
            session_id: The session; a fork is written with its shared past, a compressed one with all before.
            fmt: ``md`` for people, ``json`` complete and importable.
            redact: Applied to the finished text, to take secrets out.

        Raises:
            StoreError: The format is unknown.
        """
        if fmt not in ("md", "json"):
            raise StoreError(f"There is no export format {fmt!r}.", hint="Use md or json.")
        with self._db.read() as conn:
            text = _markdown(conn, session_id) if fmt == "md" else _json(conn, session_id)
        return redact(text) if redact else text

    def import_(self, source: str | Path | Mapping[str, Any]) -> dict[str, list[str]]:
        """Store the sessions of a JSON export; those whose id exists are skipped, so a second import does nothing.

        Args:
            source: A file's path, or what it holds.

        Returns:
            ``imported`` and ``skipped``: session ids.

        Raises:
            StoreError: The source is no export of ours; nothing was stored.
        """
        document = _document(source)
        sessions = document["sessions"]

        def job(conn: sqlite3.Connection) -> dict[str, list[str]]:
            done: dict[str, list[str]] = {"imported": [], "skipped": []}
            for entry in sessions:
                known = conn.execute("SELECT 1 FROM sessions WHERE id = ?", (entry["session"]["id"],)).fetchone()
                if not known:
                    _insert_session(conn, entry)
                done["skipped" if known else "imported"].append(entry["session"]["id"])
            return done

        try:
            return self._db.write(job)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise StoreError(f"The export is incomplete: {error!r}. Nothing was stored.") from error


def _chain(conn: sqlite3.Connection, session_id: str) -> list[sqlite3.Row]:
    """Return a session and what it continues through compressions, oldest first."""
    chain = [Part._row(conn, session_id)]
    while chain[-1]["parent_reason"] == "compression" and len(chain) < 10_000:
        parent = conn.execute("SELECT * FROM sessions WHERE id = ?", (chain[-1]["parent_session_id"],)).fetchone()
        if parent is None:
            break
        chain.append(parent)
    return chain[::-1]


def _history(conn: sqlite3.Connection, session_id: str) -> list[StoredMessage]:
    parts = lineage.segments(conn, session_id, with_compressed=False)
    return [rows.from_row(row) for row in lineage.rows_before(conn, parts, lineage.NO_BOUND, lineage.NO_BOUND)]


def _json(conn: sqlite3.Connection, session_id: str) -> str:
    """A fork's shared past becomes its own: the file must not need another session."""
    entries = []
    chain = _chain(conn, session_id)
    for at, session in enumerate(chain):
        state = conn.execute("SELECT key, value FROM session_state WHERE session_no = ?", (session["no"],)).fetchall()
        prompt = conn.execute("SELECT text FROM system_prompts WHERE session_no = ?", (session["no"],)).fetchone()
        days = conn.execute("SELECT * FROM usage_days WHERE session_no = ?", (session["no"],)).fetchall()
        entries.append(
            {
                "session": {name: session[name] for name in (*_FIELDS, "message_count", "turn_count")},
                "continues": chain[at - 1]["id"] if at else None,
                "system_prompt": decode(prompt[0]) if prompt else "",
                "state": {row["key"]: json.loads(decode(row["value"])) for row in state},
                "usage": [{key: row[key] for key in row.keys() if key != "session_no"} for row in days],  # noqa: SIM118
                "messages": [stored.message for stored in _history(conn, session["id"])],
            }
        )
    document = {"format": FORMAT, "version": VERSION, "exported_at": time.time(), "sessions": entries}
    text = json.dumps(document, ensure_ascii=False, indent=1)
    # Lone surrogates cannot be written to a file; escaped they can.
    return text if isinstance(encode(text), str) else json.dumps(document, indent=1)


def _document(source: str | Path | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        document: Any = source
    else:
        try:
            document = json.loads(Path(source).expanduser().read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(f"{source} cannot be read as a session export: {error}.") from error
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise StoreError("This is not a session export of hermes-tui.", hint="Export with `sessions export ID --json`.")
    if document.get("version") != VERSION or not isinstance(document.get("sessions"), Sequence):
        raise StoreError("The export was made by a newer version of hermes-tui.", hint="Update and import again.")
    return document


def _insert_session(conn: sqlite3.Connection, entry: Mapping[str, Any]) -> None:
    session = entry["session"]
    values = {name: session[name] for name in _FIELDS if session.get(name) is not None}
    continues = entry.get("continues")
    parent = conn.execute("SELECT shown_no FROM sessions WHERE id = ?", (continues,)).fetchone() if continues else None
    if parent:
        values |= {"parent_session_id": continues, "parent_reason": "compression"}
    no = insert(conn, values)
    if parent:
        conn.execute("UPDATE sessions SET shown_no = ? WHERE shown_no = ?", (no, parent["shown_no"]))
    past = cast(list[Message], entry["messages"])
    counts = (session["message_count"], session["turn_count"])
    if past:
        messages.store(conn, no, ((message, 0) for message in past))
    conn.execute(
        "UPDATE sessions SET message_count = ?, turn_count = ?, updated_at = ?, ended_at = ?, end_reason = ? "
        "WHERE no = ?",
        (*counts, values["updated_at"], values.get("ended_at"), values.get("end_reason", ""), no),
    )
    if entry.get("system_prompt"):
        conn.execute("INSERT INTO system_prompts VALUES (?, ?)", (no, encode(entry["system_prompt"])))
    for key, value in (entry.get("state") or {}).items():
        conn.execute("INSERT INTO session_state VALUES (?, ?, ?)", (no, key, encode(json.dumps(value))))
    for day in entry.get("usage") or ():
        conn.execute(ADD_DAY, (no, *(day[name] for name in ("day", "provider", "model", "cwd", *COUNT_COLUMNS))))


def _markdown(conn: sqlite3.Connection, session_id: str) -> str:
    session = Part._row(conn, session_id)
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session["created_at"]))
    facts = [when, session["model"], session["cwd"]]
    lines = [f"# {session['title'] or session['preview'] or session_id}", "", " \u00b7 ".join(filter(None, facts)), ""]
    for part in _chain(conn, session_id):
        for stored in _history(conn, part["id"]):
            lines += _markdown_message(stored.message)
    return "\n".join(lines).rstrip() + "\n"


def _markdown_message(message: Message) -> list[str]:
    text = text_of(message)
    if message["role"] == "tool":
        return [f"**Result of {message.get('tool_name', 'tool')}**", "", *_fenced(text), ""]
    lines = [f"## {message['role'].capitalize()}", ""] if text or message.get("partial") else []
    lines += [text, ""] if text else []
    if message.get("partial"):
        lines += [message["partial"], "", "*(interrupted)*", ""]
    for call in message.get("tool_calls") or ():
        lines += [f"**Call of {call['function']['name']}**", "", *_fenced(call["function"]["arguments"]), ""]
    return lines


def _fenced(text: str) -> list[str]:
    """Fence a text with more backticks than it holds in a row."""
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return [fence, text, fence]
