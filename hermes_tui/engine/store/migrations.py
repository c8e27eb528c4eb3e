"""The schema and its history: ordered functions, each in the transaction that records it.

``PRAGMA user_version`` is the number of migrations applied; ``schema_version`` keeps their names and times. A store
that was made by a newer program is never changed.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from ..types.errors import MigrationFailed, StoreError
from . import index

APPLICATION_ID = 0x48545549
"""Marks the file as ours (``HTUI``)."""

_V1 = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL);
CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE index_state (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, floor INTEGER NOT NULL);
INSERT INTO index_state VALUES (1, 0, 0);

CREATE TABLE sessions (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  shown_no INTEGER NOT NULL,          -- the session that stands for this one in lists: parent of a subagent, newest
                                      -- continuation of a compressed one; itself otherwise
  title TEXT NOT NULL DEFAULT '',
  title_by TEXT NOT NULL DEFAULT '',  -- 'user', 'auto' or ''
  preview TEXT NOT NULL DEFAULT '',   -- the first line the user wrote
  source TEXT NOT NULL,
  cwd TEXT NOT NULL DEFAULT '',
  branch TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT '',
  provider TEXT NOT NULL DEFAULT '',
  parent_session_id TEXT,
  parent_reason TEXT NOT NULL DEFAULT '',
  fork_message_id INTEGER,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  ended_at REAL,
  end_reason TEXT NOT NULL DEFAULT '',
  deleted_at REAL,
  pinned INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0,
  message_count INTEGER NOT NULL DEFAULT 0,
  turn_count INTEGER NOT NULL DEFAULT 0,
  last_message_id INTEGER NOT NULL DEFAULT 0,
  compaction_count INTEGER NOT NULL DEFAULT 0,
  request_count INTEGER NOT NULL DEFAULT 0,
  unpriced_count INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0
);
CREATE INDEX sessions_recent ON sessions(pinned DESC, updated_at DESC)
  WHERE deleted_at IS NULL AND archived = 0 AND no = shown_no;
CREATE INDEX sessions_folder ON sessions(cwd, updated_at DESC);
CREATE INDEX sessions_shown ON sessions(shown_no);
CREATE INDEX sessions_parent ON sessions(parent_session_id);
CREATE INDEX sessions_title ON sessions(title) WHERE title <> '';

CREATE TABLE system_prompts (session_no INTEGER PRIMARY KEY, text TEXT NOT NULL);

-- Narrow columns first: a row's long texts then lie on overflow pages that lists never read.
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_no INTEGER NOT NULL,
  role TEXT NOT NULL,
  active INTEGER NOT NULL DEFAULT 1,      -- 0 once taken back
  undone_at REAL,
  is_error INTEGER NOT NULL DEFAULT 0,
  created_at REAL NOT NULL,
  tokens INTEGER NOT NULL DEFAULT 0,
  tool_name TEXT,
  tool_call_id TEXT,
  finish_reason TEXT,
  content_json INTEGER NOT NULL DEFAULT 0,
  content TEXT,
  tool_calls TEXT,
  partial TEXT,
  reasoning TEXT,
  reasoning_details TEXT,
  api_content TEXT,
  extra TEXT
);
CREATE INDEX messages_session ON messages(session_no);
CREATE INDEX messages_meta ON messages(id, session_no, created_at);

CREATE TABLE session_state (
  session_no INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (session_no, key)
) WITHOUT ROWID;
-- Spending outlives the sessions: rows of an erased session move to session_no 0.
CREATE TABLE usage_days (
  session_no INTEGER NOT NULL, day TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, cwd TEXT NOT NULL,
  request_count INTEGER NOT NULL, unpriced_count INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
  PRIMARY KEY (session_no, day, provider, model, cwd)
) WITHOUT ROWID;
CREATE TABLE live (
  session_no INTEGER NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL, claimed_at REAL NOT NULL,
  PRIMARY KEY (session_no, pid, started)
) WITHOUT ROWID;
CREATE TABLE prompts (id INTEGER PRIMARY KEY, cwd TEXT NOT NULL, text TEXT NOT NULL, created_at REAL NOT NULL);
CREATE INDEX prompts_folder ON prompts(cwd);
CREATE TABLE drafts (key TEXT PRIMARY KEY, text TEXT NOT NULL, updated_at REAL NOT NULL) WITHOUT ROWID;
"""


def _run(conn: sqlite3.Connection, script: str) -> None:
    """Run a script statement by statement; ``executescript`` would commit the open transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            conn.execute(statement)
            statement = ""


def m001_first_schema(conn: sqlite3.Connection) -> None:
    """Make all tables and the full-text index."""
    _run(conn, _V1 + index.VIEWS)
    index.create(conn)
    conn.execute("UPDATE index_state SET floor = 0")
    conn.execute(f"PRAGMA application_id={APPLICATION_ID}")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (m001_first_schema,)
"""In order of application; released ones are never edited."""


def schema_version(conn: sqlite3.Connection) -> int:
    """Return how many migrations a store has seen.

    Raises:
        StoreError: The file is another program's database.
    """
    version = int(conn.execute("PRAGMA user_version").fetchone()[0])
    if conn.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        tables = conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables:
            raise StoreError("The file is another program's database.", hint="Use `sessions import` to read it.")
    return version


def backup(conn: sqlite3.Connection, path: Path, label: str) -> Path:
    """Copy a store beside itself, whole and consistent, and return the copy's path."""
    copy = path.with_name(f"{path.name}.{label}-{time.strftime('%Y%m%d-%H%M%S')}")
    if shutil.disk_usage(path.parent).free < 2 * path.stat().st_size:
        raise MigrationFailed(f"There is no room to back up {path}.", hint="Free some disk space and start again.")
    copy.touch(mode=0o600)
    target = sqlite3.connect(copy)
    try:
        conn.backup(target)
    finally:
        target.close()
    return copy


def migrate(conn: sqlite3.Connection, path: Path) -> None:
    """Bring a store to the present schema; another process may do the same at the same time.

    Raises:
        MigrationFailed: The store was left as it was.
    """
    if 0 < schema_version(conn) < len(MIGRATIONS):
        backup(conn, path, "before-migration")
    while True:
        conn.execute("BEGIN IMMEDIATE")
        try:
            version = schema_version(conn)
            if version >= len(MIGRATIONS):
                conn.execute("ROLLBACK")
                return
            step = MIGRATIONS[version]
            step(conn)
            conn.execute("INSERT INTO schema_version VALUES (?, ?, ?)", (version + 1, step.__name__, time.time()))
            conn.execute(f"PRAGMA user_version={version + 1}")
            conn.execute("COMMIT")
        except sqlite3.Error as error:
            if conn.in_transaction:
                conn.execute("ROLLBACK")
            raise MigrationFailed(f"{path} could not be brought to the current format: {error}.") from error
