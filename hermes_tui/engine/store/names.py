"""Titles: made fit for one line, kept apart, and found again."""

from __future__ import annotations

import re
import sqlite3
import unicodedata

from ..types.errors import SessionNotFound

MAX_TITLE_CHARS = 200
_NEAREST = 3
_HIDDEN = frozenset({"Cc", "Cf", "Cs"})
_UNSAFE = re.compile("[\0\ud800-\udfff]")


def one_line(text: str) -> str:
    """Return ``text`` on one line, without control, direction and zero-width characters, cut to a title's length."""
    visible = "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in _HIDDEN)
    return re.sub(" +", " ", visible).strip()[:MAX_TITLE_CHARS]


def set_title(conn: sqlite3.Connection, no: int, title: str, *, by: str) -> str:
    """Store a title, numbered when another conversation has it; one chosen by the user beats one made by a model.

    Returns:
        The title that the session has now.
    """
    row = conn.execute("SELECT title, title_by, shown_no FROM sessions WHERE no = ?", (no,)).fetchone()
    wanted = one_line(title)
    if by == "auto" and row["title"] and row["title_by"] == "user":
        return str(row["title"])
    stored = _free(conn, wanted, row["shown_no"]) if wanted else ""
    conn.execute("UPDATE sessions SET title = ?, title_by = ? WHERE no = ?", (stored, by if stored else "", no))
    return stored


def _free(conn: sqlite3.Connection, wanted: str, shown_no: int) -> str:
    """Return ``wanted``, or its first free numbering (``Title #2``)."""
    number, title = 1, wanted
    while conn.execute(
        "SELECT 1 FROM sessions WHERE title = ? AND shown_no <> ? AND deleted_at IS NULL", (title, shown_no)
    ).fetchone():
        number += 1
        title = f"{wanted} #{number}"
    return title


def find(conn: sqlite3.Connection, text: str) -> str:
    """Return the id of the session with this id or title, or whose id or title alone begins with ``text``.

    Raises:
        SessionNotFound: None or several match; the hint names the nearest.
    """
    begins = re.sub(r"([!%_])", r"!\1", text) + "%"
    steps = (
        ("id = ?", text),
        ("title = ? COLLATE NOCASE AND no = shown_no ORDER BY updated_at DESC", text),
        ("id LIKE ? ESCAPE '!' LIMIT 2", begins),
        ("title LIKE ? ESCAPE '!' AND no = shown_no LIMIT 2", begins),
    )
    for condition, value in steps if text and not _UNSAFE.search(text) else ():
        found = conn.execute(f"SELECT id FROM sessions WHERE deleted_at IS NULL AND {condition}", (value,)).fetchall()
        if len(found) == 1 or (found and value is text):
            return str(found[0][0])
        if found:
            break
    raise SessionNotFound(f"No single session is called {one_line(text)!r}.", hint=_nearest(conn, text))


def _nearest(conn: sqlite3.Connection, text: str) -> str:
    from difflib import get_close_matches

    recent = conn.execute(
        "SELECT id, title FROM sessions WHERE deleted_at IS NULL AND no = shown_no ORDER BY updated_at DESC LIMIT 2000"
    ).fetchall()
    ids = {name: row["id"] for row in reversed(recent) for name in (row["id"], row["title"].lower()) if name}
    close = get_close_matches(text.lower(), ids, n=_NEAREST, cutoff=0.5)
    contained = [name for name in ids if text and text.lower() in name]
    nearest = list(dict.fromkeys([*close, *contained]))[:_NEAREST]
    return f"Nearest: {', '.join(nearest)}." if nearest else "Look with `hermes-tui sessions list`."
