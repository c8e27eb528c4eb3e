"""The full-text index: its tables and triggers, whether it can be used, and building it anew.

Both FTS tables are external content over a view, so text is stored once. Triggers pass the old column values and fire
only for columns that the index holds. ``index_state.floor`` is the lowest message id that is indexed: while an index
is refilled from the newest message down, rows below the floor are not in it and must not be deleted from it.
"""

from __future__ import annotations

import sqlite3

from .text import INDEX_VERSION, decode, facets, plain_text, segment

REFILL_ROWS = 400
"""Messages indexed in one transaction while refilling; keeps an append's wait under 50 ms."""

_BODY = "index_body({0}.role, {0}.content, {0}.content_json, {0}.tool_calls, {0}.partial)"
_FACETS = "index_facets({0}.session_no, {0}.role, {0}.tool_name, {0}.tool_calls, {0}.is_error)"
_COLUMNS = "role, content, content_json, tool_calls, partial, session_no, tool_name, is_error, active"


def _insert(row: str) -> str:
    return (
        f"INSERT INTO messages_fts(rowid, body, facets) VALUES ({row}.id, {_BODY.format(row)}, {_FACETS.format(row)})"
    )


def _delete(row: str) -> str:
    return (
        "INSERT INTO messages_fts(messages_fts, rowid, body, facets) "
        f"VALUES ('delete', {row}.id, {_BODY.format(row)}, {_FACETS.format(row)})"
    )


_INDEXED = "{0}.active = 1 AND {0}.id >= (SELECT floor FROM index_state)"

_TABLES = {
    # Three-letter prefixes are kept because they are what people type first: without them a prefix merges the word
    # lists of thousands of words (0.7 s at 300,000 messages); all lengths would double the index.
    "messages_fts": """CREATE VIRTUAL TABLE messages_fts USING fts5(body, facets, content='messages_text',
        content_rowid='id', tokenize='unicode61 remove_diacritics 2', prefix='3')""",
    "titles_fts": """CREATE VIRTUAL TABLE titles_fts USING fts5(title, content='titles_text',
        content_rowid='no', tokenize='unicode61 remove_diacritics 2', prefix='3')""",
}

_TRIGGERS = {
    "messages_fts_insert": f"AFTER INSERT ON messages WHEN new.active = 1 BEGIN {_insert('new')}; END",
    "messages_fts_delete": f"AFTER DELETE ON messages WHEN {_INDEXED.format('old')} BEGIN {_delete('old')}; END",
    "messages_fts_before": f"BEFORE UPDATE OF {_COLUMNS} ON messages WHEN {_INDEXED.format('old')} "
    f"BEGIN {_delete('old')}; END",
    "messages_fts_after": f"AFTER UPDATE OF {_COLUMNS} ON messages WHEN {_INDEXED.format('new')} "
    f"BEGIN {_insert('new')}; END",
    "titles_fts_insert": "AFTER INSERT ON sessions BEGIN "
    "INSERT INTO titles_fts(rowid, title) VALUES (new.no, index_title(new.title)); END",
    "titles_fts_delete": "AFTER DELETE ON sessions BEGIN "
    "INSERT INTO titles_fts(titles_fts, rowid, title) VALUES ('delete', old.no, index_title(old.title)); END",
    "titles_fts_update": "AFTER UPDATE OF title ON sessions BEGIN "
    "INSERT INTO titles_fts(titles_fts, rowid, title) VALUES ('delete', old.no, index_title(old.title)); "
    "INSERT INTO titles_fts(rowid, title) VALUES (new.no, index_title(new.title)); END",
}

VIEWS = f"""
CREATE VIEW messages_text AS
  SELECT m.id AS id, {_BODY.format("m")} AS body, {_FACETS.format("m")} AS facets FROM messages m WHERE m.active = 1;
CREATE VIEW titles_text AS SELECT no, index_title(title) AS title FROM sessions;
"""
"""The content that the FTS tables index; part of the first migration."""


def _index_body(role: object, content: object, is_json: object, tool_calls: object, partial: object) -> str:
    return segment(plain_text(role, content, is_json, tool_calls, partial))


def register(conn: sqlite3.Connection) -> None:
    """Give a connection the functions that views and triggers call."""
    conn.execute("PRAGMA trusted_schema=ON")
    conn.create_function("index_body", 5, _index_body, deterministic=True)
    conn.create_function("index_facets", 5, facets, deterministic=True)
    conn.create_function("index_title", 1, lambda title: segment(decode(title)), deterministic=True)


UNUSABLE_NOTE = "The search index is damaged or missing; it is built anew, and meanwhile the newest messages are read."


def is_unusable(error: sqlite3.Error) -> bool:
    """Whether a search or write failed because of the index and can succeed without it.

    A bare "constraint failed" is FTS5 finding its own tables at odds; a table of ours would be named.
    """
    code = int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
    text = str(error)
    return code == sqlite3.SQLITE_CORRUPT or text == "constraint failed" or "_fts" in text or "fts5" in text


def is_about_index(problem: str) -> bool:
    """Whether a line of SQLite's integrity check tells of the index, which can be built anew."""
    return "_fts" in problem


def lacks_fts5(error: sqlite3.Error) -> bool:
    """Whether the error says that this SQLite was built without FTS5."""
    return "no such module" in str(error)


def is_complete(conn: sqlite3.Connection) -> bool:
    """Whether all tables and triggers exist in the present version; reads the schema only."""
    names = [*_TABLES, *_TRIGGERS]
    marks = ",".join("?" * len(names))
    found = conn.execute(f"SELECT count(*) FROM sqlite_master WHERE name IN ({marks})", names).fetchone()[0]
    version = conn.execute("SELECT version FROM index_state").fetchone()
    return bool(found == len(names) and version and version[0] == INDEX_VERSION)


def drop(conn: sqlite3.Connection) -> None:
    """Remove the index, damaged or not. Runs inside a transaction of the writer."""
    for name in _TRIGGERS:
        conn.execute(f"DROP TRIGGER IF EXISTS {name}")
    for name in _TABLES:
        try:
            conn.execute(f"DROP TABLE IF EXISTS {name}")
        except sqlite3.DatabaseError:
            _drop_by_force(conn, name)


def _drop_by_force(conn: sqlite3.Connection, name: str) -> None:
    """Remove a virtual table that cannot even be opened: forget it, then drop its shadow tables."""
    conn.execute("PRAGMA writable_schema=ON")
    try:
        conn.execute("DELETE FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
        version = conn.execute("PRAGMA schema_version").fetchone()[0]
        conn.execute(f"PRAGMA schema_version={version + 1}")
    finally:
        conn.execute("PRAGMA writable_schema=OFF")
    for suffix in ("data", "idx", "docsize", "config", "content"):
        conn.execute(f"DROP TABLE IF EXISTS {name}_{suffix}")


def create(conn: sqlite3.Connection) -> None:
    """Make the index empty, to be filled by :func:`refill`; new messages go into it at once.

    Without FTS5 nothing is made; the store works, and search reads the messages themselves.
    """
    drop(conn)
    try:
        for statement in _TABLES.values():
            conn.execute(statement)
    except sqlite3.OperationalError as error:
        if not lacks_fts5(error):
            raise
        return
    for name, body in _TRIGGERS.items():
        conn.execute(f"CREATE TRIGGER {name} {body}")
    conn.execute("INSERT INTO titles_fts(titles_fts) VALUES ('rebuild')")
    conn.execute(
        "UPDATE index_state SET version = ?, floor = (SELECT coalesce(max(id), 0) + 1 FROM messages)", (INDEX_VERSION,)
    )


def refill(conn: sqlite3.Connection) -> bool:
    """Make what is missing, then index the next messages below the floor, newest first. Returns whether more remain."""
    if not is_complete(conn):
        create(conn)
        return is_complete(conn)
    floor = conn.execute("SELECT floor FROM index_state").fetchone()[0]
    ids = [
        row[0]
        for row in conn.execute("SELECT id FROM messages WHERE id < ? ORDER BY id DESC LIMIT ?", (floor, REFILL_ROWS))
    ]
    low = ids[-1] if len(ids) == REFILL_ROWS else 0
    conn.execute(
        "INSERT INTO messages_fts(rowid, body, facets) "
        "SELECT id, body, facets FROM messages_text WHERE id >= ? AND id < ?",
        (low, floor),
    )
    conn.execute("UPDATE index_state SET floor = ?", (low,))
    return low > 0


def progress(conn: sqlite3.Connection) -> float:
    """The indexed share of all messages, 0 to 1."""
    floor, top = conn.execute("SELECT floor, (SELECT max(id) FROM messages) FROM index_state").fetchone()
    return 1.0 if not floor or not top else max(0.0, 1.0 - floor / (top + 1))


def knows_its_ends(conn: sqlite3.Connection) -> bool:
    """Whether the newest and the oldest indexed message are found; cheap, and tells an emptied index from no hits."""
    floor = conn.execute("SELECT floor FROM index_state").fetchone()[0]
    for order in ("DESC", "ASC"):
        end = conn.execute(
            f"SELECT id, session_no FROM messages WHERE active = 1 AND id >= ? ORDER BY id {order} LIMIT 1", (floor,)
        ).fetchone()
        sql = "SELECT 1 FROM messages_fts WHERE messages_fts MATCH ? AND rowid = ?"
        if end and not conn.execute(sql, (f"facets : s{end['session_no']}", end["id"])).fetchone():
            return False
    return True


def progress_note(conn: sqlite3.Connection) -> str:
    """Return a word on an index that is not yet whole, or an empty text."""
    share = progress(conn)
    return "" if share == 1.0 else f"The index is {share:.0%} built; older messages are not found yet."


def verify(conn: sqlite3.Connection) -> str:
    """Compare the index with the text it was made from. Returns what is wrong, or an empty text. Slow."""
    for name in _TABLES:
        try:
            conn.execute(f"INSERT INTO {name}({name}, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError as error:
            return f"{name}: {error}"
    return ""
