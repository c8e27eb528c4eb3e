"""Mending a damaged database: a backup first, then everything that still reads goes into a new file.

Damage hits single pages. A table is therefore read in ranges of row ids; a range that fails is halved until only the
rows on the damaged page are left out. The new file takes the old one's place only after it was filled and closed.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..types.errors import StoreError
from . import live
from .db import SessionDB

_NUMBERED = {"sessions": "no", "system_prompts": "session_no", "messages": "id", "prompts": "id"}
"""Tables with row ids -> the column that is it."""
_OTHERS = ("session_state", "usage_days", "drafts", "state_meta")
_BATCH = 500
_SPAN = 4096
"""Row ids that are tried beyond the last one known, as long as some are found."""
_SIDE_FILES = ("-wal", "-shm", "-journal")


def salvage(path: Path) -> dict[str, Any]:
    """Back up a damaged store, rebuild it from what reads, and put the new file in its place. Slow on a large store.

    Returns:
        ``backup`` (path of the damaged file), ``sessions`` and ``messages`` (how many were saved), ``lost`` (per
        session: ``id``, ``title``, ``messages`` missing) and ``unreadable`` (tables of which some rows are gone).

    Raises:
        StoreError: Another process has a session open, or there is no room.
    """
    backup = _backed_up(path)
    fresh = path.with_name(path.name + ".salvage")
    _remove(fresh)
    unreadable: list[str] = []
    with SessionDB(fresh) as target, closing(_open(backup)) as source:
        _refuse_when_open(source, path)
        for table, key in _NUMBERED.items():
            is_whole = True
            for rows in _numbered_rows(source, table, key):
                is_whole = is_whole and rows is not None
                _insert(target, table, rows or [])
            if not is_whole:
                unreadable.append(table)
        for table in _OTHERS:
            rows, is_whole = _keyed_rows(source, table)
            _insert(target, table, rows)
            if not is_whole:
                unreadable.append(table)
        _adopt_orphans(target)
        report = {"backup": str(backup), **_counts(target), "lost": _lost(target), "unreadable": unreadable}
    with closing(sqlite3.connect(fresh)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in _SIDE_FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    fresh.replace(path)
    _remove(fresh)
    return report


def _backed_up(path: Path) -> Path:
    """Copy the file with its journals, as they are."""
    backup = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        if shutil.disk_usage(path.parent).free < 3 * path.stat().st_size:
            raise StoreError(f"There is no room to repair {path}.", hint="Free some disk space and try again.")
        for suffix in ("", *_SIDE_FILES):
            file = path.with_name(path.name + suffix)
            if file.exists():
                target = backup.with_name(backup.name + suffix)
                target.touch(mode=0o600)
                shutil.copyfile(file, target)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be backed up: {error.strerror or error}.", hint="Nothing was changed."
        ) from error
    return backup


def _open(path: Path) -> sqlite3.Connection:
    conn = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=rw", uri=True, isolation_level=None)
    conn.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return conn


def _refuse_when_open(source: sqlite3.Connection, path: Path) -> None:
    with suppress(sqlite3.DatabaseError):  # damaged too: then nobody can work with it
        if live.open_elsewhere(source):
            raise StoreError(f"Another hermes-tui has sessions of {path} open.", hint="Close it and try again.")


def _numbered_rows(source: sqlite3.Connection, table: str, key: str) -> Iterator[list[dict[str, Any]] | None]:
    """Yield the rows of a table in batches; None stands for rows that cannot be read."""
    known = _highest(source, table, key)
    first = 1
    while True:
        found = False
        for rows in _range(source, table, key, first, first + _SPAN - 1):
            found = found or bool(rows)
            yield rows
        first += _SPAN
        if first > known and not found:
            return


def _highest(source: sqlite3.Connection, table: str, key: str) -> int:
    """Return the highest row id that something still tells of."""
    highest = 0
    for sql in (
        f"SELECT max({key}) FROM {table}",
        f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'",
        "SELECT max(last_message_id) FROM sessions",
    ):
        with suppress(sqlite3.DatabaseError):
            row = source.execute(sql).fetchone()
            highest = max(highest, int((row and row[0]) or 0))
    return highest


def _range(
    source: sqlite3.Connection, table: str, key: str, first: int, last: int
) -> Iterator[list[dict[str, Any]] | None]:
    """Yield the rows in a range of ids; a half that cannot be read is halved again."""
    try:
        yield _fetched(source.execute(f"SELECT * FROM {table} WHERE {key} BETWEEN ? AND ?", (first, last)))
    except sqlite3.DatabaseError:
        if first == last:
            yield None
            return
        middle = (first + last) // 2
        yield from _range(source, table, key, first, middle)
        yield from _range(source, table, key, middle + 1, last)


def _keyed_rows(source: sqlite3.Connection, table: str) -> tuple[list[dict[str, Any]], bool]:
    """Return the rows of a table without row ids, from both ends up to the damage, and whether there was none."""
    rows: list[dict[str, Any]] = []
    for order in ("", _reversed_key(source, table)):
        try:
            cursor = source.execute(f"SELECT * FROM {table}{order}")
            names = [column[0] for column in cursor.description]
            rows.extend(dict(zip(names, values, strict=True)) for values in cursor)
        except sqlite3.DatabaseError:
            continue
        return rows, not order
    return rows, False


def _reversed_key(source: sqlite3.Connection, table: str) -> str:
    columns = []
    with suppress(sqlite3.DatabaseError):
        columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})") if row[5]]
    return " ORDER BY " + ", ".join(f"{name} DESC" for name in columns) if columns else " "


def _fetched(cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, values, strict=True)) for values in cursor]


def _insert(target: SessionDB, table: str, rows: Sequence[dict[str, Any]]) -> None:
    """Store rows as they were; a row that the new schema refuses is left out."""
    for at in range(0, len(rows), _BATCH):
        batch = rows[at : at + _BATCH]

        def job(conn: sqlite3.Connection, batch: Sequence[dict[str, Any]] = batch) -> None:
            known = {row[1] for row in conn.execute(f"PRAGMA table_info({table})")}
            for row in batch:
                columns = [name for name in row if name in known]
                marks = ", ".join("?" * len(columns))
                sql = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"
                conn.execute(sql, [row[name] for name in columns])

        target._db.write(job)


def _adopt_orphans(target: SessionDB) -> None:
    """Give messages whose session row is gone a session, for their text is what counts."""

    def job(conn: sqlite3.Connection) -> None:
        conn.execute(
            "INSERT INTO sessions (no, id, shown_no, source, title, created_at, updated_at, message_count, turn_count, "
            "last_message_id) SELECT session_no, 'salvaged-' || session_no, session_no, 'tui', "
            "'Salvaged session ' || session_no, min(created_at), max(created_at), count(*), sum(role = 'user'), "
            "max(id) FROM messages WHERE session_no NOT IN (SELECT no FROM sessions) GROUP BY session_no"
        )
        conn.execute("UPDATE sessions SET shown_no = no WHERE shown_no NOT IN (SELECT no FROM sessions)")

    target._db.write(job)


def _counts(target: SessionDB) -> dict[str, int]:
    with target._db.read() as conn:
        sessions, messages = conn.execute(
            "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM messages)"
        ).fetchone()
    return {"sessions": sessions, "messages": messages}


def _lost(target: SessionDB) -> list[dict[str, Any]]:
    """Return the sessions with fewer messages than they had; a fork's and a continuation's count others' too."""
    with target._db.read() as conn:
        rows = conn.execute(
            "SELECT s.id, coalesce(nullif(s.title, ''), s.preview) AS title, s.message_count - count(m.id) AS messages "
            "FROM sessions s LEFT JOIN messages m ON m.session_no = s.no AND m.active = 1 "
            "WHERE s.parent_reason NOT IN ('fork', 'compression') GROUP BY s.no HAVING messages > 0"
        ).fetchall()
    return [dict(row) for row in rows]


def _remove(path: Path) -> None:
    for suffix in ("", *_SIDE_FILES):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
