"""The session half of the engine's face: find, list, change and export stored sessions.

Delegates to the database; adds only what spans several calls (erasing deleted sessions late, superseding searches).
"""

from __future__ import annotations

from contextlib import suppress

from ..api import SearchPage, SessionRow, SessionSort, StoredMessage
from ..store.db import SessionDB
from ..types.errors import ConfigError, StoreReadOnly

UNDO_DELETE_S = 10.0
"""Seconds for which a deleted session can be brought back. Source: design/sessions.md 3."""


class SessionDirectory:
    """Sessions as a front end sees them. Every method may block on disk.

    Args:
        store: The open database.
    """

    def __init__(self, store: SessionDB) -> None:
        self._store = store

    def latest_session_id(self, cwd: str | None = None) -> str | None:
        """The most recently used session, of this folder when given."""
        return self._store.latest(cwd=cwd)

    def list_sessions(
        self,
        *,
        cwd: str | None = None,
        sort: SessionSort = "updated",
        limit: int = 200,
        offset: int = 0,
        archived: bool = False,
    ) -> list[SessionRow]:
        """List sessions, pinned first, subagents hidden."""
        return self._store.list_sessions(cwd=cwd, sort=sort, limit=limit, offset=offset, archived=archived)

    def search(self, query: str, *, cwd: str | None = None, limit: int = 50, cursor: str = "") -> SearchPage:
        """Search everything ever said; a newer call supersedes an older one that still runs."""
        if not cursor:
            self._store.interrupt_searches()
        return self._store.search(query, cwd=cwd, limit=limit, cursor=cursor)

    def preview(self, session_id: str, around_id: int | None = None, limit: int = 40) -> list[StoredMessage]:
        """Messages around a hit, or the last ones."""
        if around_id is None:
            return self._store.messages(session_id, limit=limit)
        return self._store.around(session_id, around_id, limit)

    def rename_session(self, session_id: str, title: str) -> str:
        """Set a title; returns the one stored."""
        return self._store.rename(session_id, title)

    def delete_session(self, session_id: str) -> None:
        """Hide a session now; it is erased once it can no longer be brought back."""
        self._store.delete(session_id)
        self._store.purge_deleted(UNDO_DELETE_S)

    def undelete_session(self, session_id: str) -> None:
        """Bring back a session deleted a moment ago."""
        self._store.undelete(session_id)

    def pin_session(self, session_id: str, pinned: bool) -> None:
        """Pin or unpin."""
        self._store.pin(session_id, pinned)

    def archive_session(self, session_id: str, archived: bool) -> None:
        """Archive or bring back."""
        self._store.archive(session_id, archived)

    def fork_session(self, session_id: str, message_id: int | None = None) -> str:
        """Start a session that shares this one's past up to a message; returns its id."""
        return self._store.fork(session_id, message_id)

    def export_session(self, session_id: str, fmt: str = "md") -> str:
        """Return the session as Markdown or JSON text."""
        if fmt not in ("md", "json"):
            raise ConfigError(f"There is no export format {fmt!r}.", hint="Use md or json.")
        return self._store.export(session_id, "md" if fmt == "md" else "json")

    def prompt_history(self, cwd: str, limit: int = 500) -> list[str]:
        """What was typed in this folder, oldest first."""
        return self._store.prompt_history(cwd, limit)

    def add_prompt_history(self, cwd: str, text: str) -> None:
        """Remember what was sent; a read-only database forgets it."""
        with suppress(StoreReadOnly):
            self._store.add_prompt(cwd, text)

    def save_draft(self, key: str, text: str) -> None:
        """Keep an unsent draft; empty text forgets it."""
        with suppress(StoreReadOnly):
            self._store.save_draft(key, text)

    def load_draft(self, key: str) -> str:
        """The kept draft, or empty."""
        return self._store.load_draft(key)
