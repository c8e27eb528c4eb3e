"""Search over everything ever said: windows of matches, newest first, ranked and folded into sessions.

A query that matches few messages is ranked as a whole by bm25. One that matches more than a window's worth is shown
window by window, newest first, for there a word says little and the date says more; that bounds the first page at any
size. Pages are addressed by message ids, so new messages do not shift them.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..types.errors import Interrupted
from ..types.sessions import SearchPage
from . import index, query, results
from .base import Part
from .connections import Database
from .matching import make_plan
from .query import Query
from .session_rows import folder
from .windows import Cursor, Group, Window, read_window, seen_before

_PAGE_S = 0.04
"""A page that is not yet full takes another window only within this time, unless it is empty."""
_CHECK_OPS = 20_000
"""Virtual-machine steps between looks at whether a newer query made this one pointless."""


class Searcher:
    """Runs searches, each on its own connection. Any thread."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._running: dict[sqlite3.Connection, tuple[str, threading.Event]] = {}

    def interrupt(self, group: str | None) -> None:
        """Stop the running searches of a group, or all; each raises :class:`Interrupted`. Returns at once."""
        with self._lock:
            for conn, (of_group, stopped) in self._running.items():
                if group in (None, of_group):
                    stopped.set()
                    conn.interrupt()

    def search(self, text: str, limit: int, cursor: str, cwd: str, session_id: str, group: str) -> SearchPage:
        """Return a page of sessions; see :meth:`SearchPart.search`."""
        parsed = query.parse(text)
        limit = max(1, limit)
        with self._interruptible(group) as conn:
            start = Cursor.parse(cursor)
            if parsed.is_blank:
                return results.recent(conn, None, start, cwd=cwd, limit=limit)
            if not (parsed.clauses or parsed.filters):
                return SearchPage(note=parsed.note)
            page = self._answer(conn, parsed, limit, start, cwd, session_id)
            if not page.hits and not cursor and (completed := parsed.completed()):
                longer = self._answer(conn, completed, limit, start, cwd, session_id)
                page = longer if longer.hits else page
            return page

    def _answer(
        self, conn: sqlite3.Connection, parsed: Query, limit: int, start: Cursor, cwd: str, session_id: str
    ) -> SearchPage:
        """Answer from the index, or, when that is unusable, from the messages while it is built anew."""
        try:
            page = _page(conn, parsed, limit, start, cwd, session_id, is_indexed=True)
            if page.hits or index.knows_its_ends(conn):
                return page
        except sqlite3.DatabaseError as error:
            if not index.is_unusable(error):
                raise
        self._db.rebuild_index()
        page = _page(conn, parsed, limit, start, cwd, session_id, is_indexed=False)
        return SearchPage(hits=page.hits, cursor=page.cursor, note=f"{index.UNUSABLE_NOTE} {page.note}".strip())

    @contextmanager
    def _interruptible(self, group: str) -> Iterator[sqlite3.Connection]:
        stopped = threading.Event()
        with self._db.read() as conn:
            with self._lock:
                self._running[conn] = (group, stopped)
            # The handler catches an interrupt that comes between two statements.
            conn.set_progress_handler(stopped.is_set, _CHECK_OPS)
            try:
                yield conn
            except sqlite3.OperationalError as error:
                if stopped.is_set():
                    raise Interrupted("The search was replaced by a newer one.") from error
                raise
            finally:
                conn.set_progress_handler(None, 0)
                with self._lock:
                    del self._running[conn]


class SearchPart(Part):
    """Search."""

    _searcher: Searcher

    def search(
        self,
        query: str,
        limit: int = 20,
        cursor: str | None = None,
        cwd: str | Path | None = None,
        session_id: str | None = None,
        group: str = "",
    ) -> SearchPage:
        """Find sessions by what was said in them, by their titles, and by filters. No text is an error.

        Words must all occur in one message; ``"a phrase"``, ``-not``, ``a OR b``, ``prefix*``, and the filters
        ``role: tool: source: cwd: model: title: before: after: has:error``. A blank query lists recent sessions.

        Args:
            query: What was typed.
            limit: Sessions on a page.
            cursor: ``cursor`` of the page before.
            cwd: Only sessions of this folder.
            session_id: Only this session, its past and its subagents.
            group: Names what :meth:`interrupt_searches` stops together, e.g. one search field.

        Raises:
            Interrupted: :meth:`interrupt_searches` was called meanwhile.
        """
        return self._searcher.search(query, limit, cursor or "", folder(cwd), session_id or "", group)

    def interrupt_searches(self, group: str | None = None) -> None:
        """Stop the running searches of a group, or all, for newer text was typed. Any thread, returns at once."""
        self._searcher.interrupt(group)

    def index_progress(self) -> float:
        """Return the indexed share of all messages; below 1 while the index is built anew."""
        with self._db.read() as conn:
            return index.progress(conn)


def _page(
    conn: sqlite3.Connection,
    parsed: Query,
    limit: int,
    cursor: Cursor,
    cwd: str,
    session_id: str,
    *,
    is_indexed: bool,
) -> SearchPage:
    """Collect a page from as many windows as it takes."""
    deadline = time.monotonic() + _PAGE_S
    plan = make_plan(conn, parsed, cwd=cwd, session_id=session_id, is_indexed=is_indexed)
    if plan is None:
        return SearchPage(note=parsed.note)
    if plan.is_about_sessions:
        return results.recent(conn, plan, cursor, cwd=cwd, limit=limit, note=parsed.note)
    cursor = cursor.started(conn, plan)
    seen = seen_before(conn, plan, cursor)
    chosen: list[Group] = []
    while True:
        window = read_window(conn, plan, cursor, want=limit - len(chosen))
        fresh = [group for group in window.groups if group.shown_no not in seen]
        part = fresh[cursor.offset : cursor.offset + limit - len(chosen)]
        chosen += part
        cursor = _advance(cursor, window, len(part), len(fresh))
        seen |= {group.shown_no for group in fresh} if not cursor.offset else set()
        if cursor.is_end or len(chosen) >= limit or (chosen and time.monotonic() > deadline):
            break
    hits = results.to_hits(conn, plan, chosen)
    note = " ".join(filter(None, (parsed.note, index.progress_note(conn) if is_indexed else "")))
    return SearchPage(hits=hits, cursor="" if cursor.is_end else cursor.text(), note=note)


def _advance(cursor: Cursor, window: Window, taken: int, available: int) -> Cursor:
    """Return where the next page, or the next window of this one, begins."""
    if cursor.offset + taken < available:
        return Cursor(cursor.first, cursor.below, cursor.offset + taken)
    if window.is_last:
        return Cursor(is_end=True)
    return Cursor(cursor.first, window.lowest_id, 0)
