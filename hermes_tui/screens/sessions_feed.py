"""What the session browser lists: recent sessions or hits of a search, page by page. No widget; calls the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hermes_tui.engine.api import Engine, SessionSort
from hermes_tui.widgets.session_list_text import SessionItem

SORTS: tuple[SessionSort, ...] = ("updated", "created", "title", "cost")
_PAGES = (100, 400, 2000)
"""Sessions of the first, second and later pages: the first is quick, the later ones few."""
_SEARCH_PAGE = 50


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows and where the next ones begin."""

    items: tuple[SessionItem, ...]
    done: bool
    cursor: str = ""
    note: str = ""
    scope: str = ""
    """The folder that was really listed; empty for all."""


@dataclass(slots=True)
class SessionFeed:
    """The question that the list answers, and how far it has been answered. UI thread only."""

    engine: Engine
    cwd: str
    query: str = ""
    here_only: bool = True
    """List this folder, if there is anything in it."""
    archived: bool = False
    sort: SessionSort = "updated"
    done: bool = False
    scope: str = ""
    """The folder that is shown; empty for all."""
    _cursor: str = ""
    _offset: int = 0
    _page: int = 0

    def restart(self) -> None:
        """Begin with the first page again."""
        self.done, self._cursor, self._offset, self._page = False, "", 0, 0
        self.scope = self.cwd if self.here_only else ""

    def next_sort(self) -> None:
        """Go to the next order."""
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]

    def switch_scope(self) -> None:
        """Go from what is shown, this folder or all, to the other."""
        self.here_only = not self.scope

    @property
    def grouping(self) -> str:
        """The time by which days are headed, empty where days make no sense."""
        return "" if self.query.strip() else {"updated": "updated_at", "created": "created_at"}.get(self.sort, "")

    def call(self) -> Callable[[], Page]:
        """Return the engine call for the next page; it holds a copy of the question and may run in a thread.

        A first page that finds nothing in this folder looks everywhere.
        """
        fetch = self._search() if self.query.strip() else self._listing()
        scope, is_first = self.scope, not self._page

        def first_that_finds() -> Page:
            page = fetch(scope)
            return fetch("") if is_first and scope and not page.items else page

        return first_that_finds

    def take(self, page: Page) -> None:
        """Note how far a page went."""
        self.done, self._cursor, self.scope = page.done, page.cursor, page.scope
        self._offset += len(page.items)
        self._page += 1

    def _search(self) -> Callable[[str], Page]:
        engine, query, cursor = self.engine, self.query.strip(), self._cursor

        def search(scope: str) -> Page:
            found = engine.search(query, cwd=scope or None, limit=_SEARCH_PAGE, cursor=cursor)
            items = tuple(SessionItem(hit.session, hit.snippets, hit.hit_count, hit.title_marks) for hit in found.hits)
            return Page(items, not found.cursor, found.cursor, found.note, scope)

        return search

    def _listing(self) -> Callable[[str], Page]:
        engine, sort, archived, offset = self.engine, self.sort, self.archived, self._offset
        limit = _PAGES[min(self._page, len(_PAGES) - 1)]

        def listing(scope: str) -> Page:
            rows = engine.list_sessions(cwd=scope or None, sort=sort, limit=limit, offset=offset, archived=archived)
            return Page(tuple(SessionItem(row) for row in rows), len(rows) < limit, scope=scope)

        return listing
