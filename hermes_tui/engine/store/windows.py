"""Windows of matching messages, and the sessions in them, ranked."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass, field

from .matching import Plan, body_query

WINDOW_ROWS = 1000
"""Matches ranked together; reading that many takes about 4 ms."""
_COMMON = 20_000
"""A word in more messages than this is not weighed: bm25 would count them all first."""
_COMPARE_S = 1.0
"""How long texts are compared for one page that has hits already."""
_LOOK_ROWS = 64
_MAX_TITLES = 2000


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins. ``below`` is the id that bounds the window, ``first`` the one of the first page."""

    first: int = 0
    below: int = 0
    offset: int = 0
    is_end: bool = False

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Return the cursor of a text; anything odd is the beginning."""
        parts = text.split(".")
        if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
            return cls()
        first, below, offset = map(int, parts)
        return cls(first, below, offset)

    def text(self) -> str:
        """Return the form that pages carry."""
        return f"{self.first}.{self.below}.{self.offset}"

    def started(self, conn: sqlite3.Connection, plan: Plan) -> Cursor:
        """Return the cursor with bounds, so that messages stored later do not move the pages."""
        if self.first:
            return self
        newest = conn.execute("SELECT coalesce(max(id), 0) FROM messages").fetchone()[0]
        top = min(newest, plan.top_id) + 1
        return Cursor(top, top, 0)

    @property
    def is_first_window(self) -> bool:
        """Whether no window lies before this one."""
        return self.first == self.below


@dataclass(slots=True)
class Group:
    """A session with its hits in one window."""

    shown_no: int
    message_ids: list[int] = field(default_factory=list)
    """Best first."""
    newest_at: float = 0.0
    score: float = 0.0
    """bm25 of the best hit; lower is better."""
    is_title_hit: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A window of matches."""

    groups: list[Group]
    """Best first."""
    lowest_id: int
    is_last: bool
    """No match lies below."""


def read_window(conn: sqlite3.Connection, plan: Plan, cursor: Cursor, *, want: int) -> Window:
    """Return the matches below the cursor, ranked.

    Args:
        conn: Where to read.
        plan: The query.
        cursor: Bounds the window.
        want: When texts must be compared, that many sessions are enough.
    """
    groups: dict[int, Group] = {}
    lowest = cursor.below
    is_last = True
    started = time.monotonic()
    compares = plan.compares_text
    for count, row in enumerate(_rows(conn, plan, "m.id < ?", cursor.below)):
        if count >= WINDOW_ROWS or (compares and groups and _is_enough(groups, want, count, started)):
            is_last = False
            break
        lowest, shown_no, created_at = row[:3]
        if not compares or plan.accepts(row[3:]):
            shown_no = plan.shown_no or shown_no
            group = groups.get(shown_no)
            if group is None:
                group = groups[shown_no] = Group(shown_no)
            group.message_ids.append(lowest)
            group.newest_at = max(group.newest_at, created_at)
    is_whole = is_last and cursor.is_first_window
    if is_whole and groups:
        _score(conn, plan, groups)
    if cursor.is_first_window:
        _add_titles(conn, plan, groups)
    ranked = sorted(groups.values(), key=lambda g: (not g.is_title_hit, round(g.score, 2), -g.newest_at, -g.shown_no))
    return Window(ranked, lowest, is_last)


def _is_enough(groups: dict[int, Group], want: int, count: int, started: float) -> bool:
    return count % _LOOK_ROWS == 0 and (len(groups) >= want or time.monotonic() - started > _COMPARE_S)


def _rows(conn: sqlite3.Connection, plan: Plan, condition: str, *bounds: int) -> sqlite3.Cursor:
    """Run the plan; bare tuples, for there are thousands of rows."""
    cursor = conn.cursor()
    cursor.row_factory = None
    return cursor.execute(plan.sql(condition), plan.values(*bounds))


def _score(conn: sqlite3.Connection, plan: Plan, groups: dict[int, Group]) -> None:
    """Weigh hits by bm25, unless a word is so common that weighing costs more than it says."""
    body = body_query(plan.query)
    if not plan.match or not body or not _is_cheap(conn, plan, body):
        return
    scores: dict[int, float] = dict(
        conn.execute(
            "SELECT rowid, bm25(messages_fts) FROM messages_fts WHERE messages_fts MATCH ?", (f"body : ({body})",)
        )
    )
    for group in groups.values():
        group.message_ids.sort(key=lambda message_id: (scores.get(message_id, 0.0), -message_id))
        group.score = scores.get(group.message_ids[0], 0.0)


def _is_cheap(conn: sqlite3.Connection, plan: Plan, body: str) -> bool:
    words = [word for term in plan.query.terms for word in term.index_words]
    limits = [*((word, _COMMON) for word in words), (body, 2 * WINDOW_ROWS)]
    sql = "SELECT count(*) FROM (SELECT 1 FROM messages_fts WHERE messages_fts MATCH ? LIMIT ?)"
    return all(conn.execute(sql, (f"body : ({text})", limit + 1)).fetchone()[0] <= limit for text, limit in limits)


def _add_titles(conn: sqlite3.Connection, plan: Plan, groups: dict[int, Group]) -> None:
    for row in _title_rows(conn, plan):
        group = groups.setdefault(row["shown_no"], Group(row["shown_no"]))
        group.is_title_hit = True
        group.newest_at = max(group.newest_at, row["updated_at"])


def _title_rows(conn: sqlite3.Connection, plan: Plan) -> list[sqlite3.Row]:
    """Return the sessions whose own title matches the whole query, latest first."""
    if not plan.title_match:
        return []
    where = "".join(f" AND {item.sql}" for item in plan.session_conditions)
    values = [value for item in plan.session_conditions for value in item.values]
    found = conn.execute(
        "SELECT s.shown_no, s.title, s.updated_at FROM titles_fts CROSS JOIN sessions s ON s.no = titles_fts.rowid "
        f"WHERE titles_fts MATCH ? AND s.deleted_at IS NULL AND (? = 0 OR s.shown_no = ?){where} "
        "ORDER BY s.updated_at DESC LIMIT ?",
        (plan.title_match, plan.shown_no, plan.shown_no, *values, _MAX_TITLES),
    ).fetchall()
    return [row for row in found if plan.accepts_title(row["title"])]


def seen_before(conn: sqlite3.Connection, plan: Plan, cursor: Cursor) -> set[int]:
    """Return the sessions that earlier windows showed."""
    if cursor.is_first_window:
        return set()
    rows = _rows(conn, plan, "m.id >= ? AND m.id < ?", cursor.below, cursor.first)
    seen = {plan.shown_no or row[1] for row in rows if not plan.compares_text or plan.accepts(row[3:])}
    return seen | {int(row["shown_no"]) for row in _title_rows(conn, plan)}
