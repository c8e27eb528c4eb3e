"""Sessions out and in: Markdown and HTML to read, JSON that gives the same session again, and what others wrote."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..types.errors import StoreError
from ..types.inert import clean
from . import entries, export_html, export_markdown
from .base import Part
from .entries import Entry
from .imports.sources import Kind, Skipped, read_source
from .text import encode

ExportFormat: TypeAlias = Literal["md", "json", "html"]
FORMAT = "hermes-tui-session"
VERSION = 1
_BROKEN = (KeyError, TypeError, AttributeError, ValueError)
_MAX_PARTS = 10_000
_HERE = "It is here already."


class ExportPart(Part):
    """Export and import."""

    def export(self, session_id: str, fmt: ExportFormat = "md", *, redact: Callable[[str], str] | None = None) -> str:
        """Return a session as text.

        Args:
            session_id: The session; a fork is written with its shared past, a compressed one with all before.
            fmt: ``md`` and ``html`` (one file that needs no other) for people, inert; ``json`` complete and importable.
            redact: Applied to every text in it, to take secrets out.

        Raises:
            StoreError: The format is unknown.
        """
        if fmt not in ("md", "json", "html"):
            raise StoreError(f"There is no export format {fmt!r}.", hint="Use md, json or html.")
        with self._db.read() as conn:
            chain = _chain(conn, session_id)
        if redact:
            chain = [entry.mapped(redact) for entry in chain]
        if fmt == "json":
            return _json(chain)
        chain = [entry.mapped(clean) for entry in chain]
        return export_markdown.render(chain) if fmt == "md" else export_html.render(chain)

    def import_(
        self,
        source: str | Path | Mapping[str, Any],
        kind: Kind = "auto",
        *,
        dry_run: bool = False,
        progress: Callable[[str], None] = lambda session_id: None,
    ) -> dict[str, Any]:
        """Store sessions from elsewhere; those whose id exists are skipped, so a second import does nothing.

        Each session is stored in a transaction of its own: an import that was stopped goes on when it is repeated.
        The source is never written to.

        Args:
            source: A JSON export (a path or what it holds), a Hermes ``state.db`` or home, a folder or file of Claude
                Code or Codex sessions (JSONL).
            kind: What it is; ``auto`` looks.
            dry_run: Only say what would be stored.
            progress: Called with each session's id after it was stored.

        Returns:
            ``imported`` (ids), ``skipped`` (id or file -> why), ``notes`` (id -> what was left out), ``messages``
            (how many were stored) and ``dry_run``.

        Raises:
            StoreError: The source cannot be read, or is an incomplete export of ours; nothing was stored then.
        """
        found: Iterable[Entry | Skipped] = (
            _from_document(source) if isinstance(source, Mapping) else self._entries(Path(source).expanduser(), kind)
        )
        report = _Report(dry_run)
        for item in found:
            if isinstance(item, Skipped):
                report.skip(item.name, item.why)
            elif item.id in report.seen or self._has(item.id):
                report.skip(item.id, _HERE)
            else:
                self._store(item, report)
                progress(item.id)
        return report.as_dict()

    def _entries(self, path: Path, kind: Kind) -> Iterable[Entry | Skipped]:
        if kind == "json" or (kind == "auto" and path.is_file() and path.suffix.lower() == ".json"):
            return _from_document(_load(path))
        return read_source(path, kind)

    def _has(self, session_id: str) -> bool:
        with self._db.read() as conn:
            return conn.execute("SELECT 1 FROM sessions WHERE id = ?", (session_id,)).fetchone() is not None

    def _store(self, entry: Entry, report: _Report) -> None:
        def job(conn: sqlite3.Connection) -> None:
            # Another process may import the same thing at this moment.
            if not conn.execute("SELECT 1 FROM sessions WHERE id = ?", (entry.id,)).fetchone():
                entries.write(conn, entry)

        if not report.dry_run:
            try:
                self._db.write(job)
            except _BROKEN as error:
                report.skip(entry.id, f"It cannot be stored: {error}.")
                return
        report.add(entry)


class _Report:
    """What an import did so far."""

    def __init__(self, dry_run: bool) -> None:
        self.dry_run = dry_run
        self.seen: set[str] = set()
        self._imported: list[str] = []
        self._skipped: dict[str, str] = {}
        self._notes: dict[str, list[str]] = {}
        self._messages = 0

    def add(self, entry: Entry) -> None:
        self.seen.add(entry.id)
        self._imported.append(entry.id)
        self._messages += len(entry.messages)
        if entry.notes:
            self._notes[entry.id] = entry.notes

    def skip(self, name: str, why: str) -> None:
        if name not in self.seen:
            self._skipped[name] = why

    def as_dict(self) -> dict[str, Any]:
        return {
            "imported": self._imported,
            "skipped": self._skipped,
            "notes": self._notes,
            "messages": self._messages,
            "dry_run": self.dry_run,
        }


def _chain(conn: sqlite3.Connection, session_id: str) -> list[Entry]:
    """Return a session and what it continues through compressions, oldest first."""
    session: sqlite3.Row | None = Part._row(conn, session_id)
    chain: list[Entry] = []
    while session is not None and len(chain) < _MAX_PARTS:
        entry = entries.read(conn, session)
        chain.append(entry)
        origin: sqlite3.Row | None = session
        while origin is not None and origin["parent_reason"] == "fork":
            origin = _parent(conn, origin)
        if origin is None or origin["parent_reason"] != "compression":
            break
        if origin is not session:  # a branch of a session that continues another one continues that one as well
            entry.parent, entry.reason = origin["parent_session_id"], "compression"
        session = _parent(conn, origin)
    return chain[::-1]


def _parent(conn: sqlite3.Connection, session: sqlite3.Row) -> sqlite3.Row | None:
    row = conn.execute("SELECT * FROM sessions WHERE id = ?", (session["parent_session_id"],)).fetchone()
    return row if isinstance(row, sqlite3.Row) else None


def _json(chain: list[Entry]) -> str:
    sessions = [entries.to_json(entry) for entry in chain]
    document = {"format": FORMAT, "version": VERSION, "exported_at": time.time(), "sessions": sessions}
    text = json.dumps(document, ensure_ascii=False, indent=1)
    # Lone surrogates cannot be written to a file; escaped they can.
    return text if isinstance(encode(text), str) else json.dumps(document, indent=1)


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read as a session export: {error}.") from error


def _from_document(document: Any) -> list[Entry]:
    """Return all sessions of an export, or raise before any is stored."""
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise StoreError(
            "This is not a session export of hermes-tui.", hint="Export with `sessions export ID --format json`."
        )
    if document.get("version") != VERSION:
        raise StoreError("The export was made by a newer version of hermes-tui.", hint="Update and import again.")
    try:
        return [entries.from_json(entry) for entry in document["sessions"]]
    except _BROKEN as error:
        raise StoreError(f"The export is incomplete: {error!r}. Nothing was stored.") from error
