"""The session half of the engine's face: find, list, change and export stored sessions.

Delegates to the database; adds only what spans several calls (erasing deleted sessions late, superseding searches).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..api import SessionSort
from ..checkpoints.history import FileHistory
from ..policy.redaction import Redactor
from ..store.checkpoints import CheckpointDB
from ..store.db import SessionDB
from ..store.export import ExportFormat
from ..types.changes import Undone
from ..types.errors import ConfigError, StoreError, StoreReadOnly
from ..types.messages import typed_text
from ..types.sessions import SearchPage, SessionRow, StoredMessage, UsageReport, UsageRow
from .undoing import image_files

UNDO_DELETE_S = 10.0
"""Seconds for which a deleted session can be brought back. Source: design/sessions.md 3."""
_SEARCH_GROUP = "browser"
"""Searches of a front end; the agent's own searches are another group, and go on when one types."""
_EXPORTS: Mapping[str, ExportFormat] = {"md": "md", "json": "json", "html": "html"}


class SessionDirectory:
    """Sessions as a front end sees them. Every method may block on disk.

    Args:
        store: The open database.
        secrets: Returns the values of the keys in use, which no export may hold.
        checkpoints: What was done to files.
        image_dir: Private folder for images of messages that return to the prompt.
    """

    def __init__(
        self,
        store: SessionDB,
        secrets: Callable[[], Collection[str]] = tuple,
        checkpoints: CheckpointDB | None = None,
        image_dir: Path = Path(),
    ) -> None:
        self._store = store
        self._checkpoints = checkpoints
        self._image_dir = image_dir
        self._redactor = Redactor(secrets)

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
            self._store.interrupt_searches(_SEARCH_GROUP)
        return self._store.search(query, cwd=cwd, limit=limit, cursor=cursor, group=_SEARCH_GROUP)

    def preview(self, session_id: str, around_id: int | None = None, limit: int = 40) -> list[StoredMessage]:
        """Messages around a hit, or the last ones."""
        if around_id is None:
            return self._store.messages(session_id, limit=limit)
        return self._store.around(session_id, around_id, limit)

    def rename_session(self, session_id: str, title: str) -> str:
        """Set a title; returns the one stored."""
        return self._store.rename(session_id, self._redactor.text(title))

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

    def fork_session(self, session_id: str, message_id: int | None = None, *, before: bool = False) -> str:
        """Start a session that shares this one's past up to a message (without it if ``before``); returns its id."""
        return self._store.fork(session_id, message_id, before=before)

    def rewind(self, session_id: str, message_id: int, *, files: bool) -> tuple[str, Undone]:
        """Fork a session before a message, and take back what turns from there on did to files if ``files``."""
        found = self._store.around(session_id, message_id, 1)
        message = found[0].message if found and found[0].id == message_id else None
        fork_id = self._store.fork(session_id, message_id, before=True)
        done = Undone()
        if files and self._checkpoints is not None:
            history = FileHistory(self._checkpoints, Path(self._store.row(session_id).cwd), self._store.lineage_of)
            done = history.undo(session_id, message_id, "files", onwards=True, redone_in=fork_id)
        if message is None:
            return fork_id, done
        return fork_id, replace(done, text=typed_text(message), images=image_files(message, self._image_dir))

    def _forget_checkpoints(self) -> None:
        """Take away what was kept for sessions that are erased."""
        if self._checkpoints is not None:
            with suppress(StoreError):
                self._checkpoints.forget(self._store.existing)

    def export_session(self, session_id: str, fmt: str = "md") -> str:
        """Return the session as Markdown, JSON or HTML text, secrets taken out."""
        if fmt not in _EXPORTS:
            raise ConfigError(f"There is no export format {fmt!r}.", hint="Use md, json or html.")
        return self._store.export(session_id, _EXPORTS[fmt], redact=self._redactor.text)

    def usage(self, since_day: str = "") -> UsageReport:
        """What was spent from a day on; all when empty."""
        spending = self._store.spending(since_day)
        return UsageReport(
            by_day=_usage_rows(spending["by_day"], "day"),
            by_model=_usage_rows(spending["by_model"], "model"),
            by_folder=_usage_rows(spending["by_folder"], "folder"),
        )

    def user_messages(self, session_id: str, limit: int = 500) -> list[StoredMessage]:
        """What the user wrote in a session, oldest first, what was compressed included."""
        return self._store.user_messages(session_id, limit)

    def prompt_history(self, cwd: str, limit: int = 500) -> list[str]:
        """What was typed in this folder, oldest first; nothing where that cannot be read."""
        with suppress(StoreError):
            return self._store.prompt_history(cwd, limit)
        return []

    def add_prompt_history(self, cwd: str, text: str) -> None:
        """Remember what was sent; a read-only database forgets it."""
        with suppress(StoreReadOnly):
            self._store.add_prompt(cwd, self._redactor.text(text))

    def save_draft(self, key: str, text: str) -> None:
        """Keep an unsent draft; empty text forgets it."""
        with suppress(StoreReadOnly):
            self._store.save_draft(key, self._redactor.text(text))

    def load_draft(self, key: str) -> str:
        """The kept draft; empty where there is none or it cannot be read."""
        with suppress(StoreError):
            return self._store.load_draft(key)
        return ""


def _usage_rows(rows: Sequence[Mapping[str, Any]], label: str) -> tuple[UsageRow, ...]:
    return tuple(UsageRow(label=row[label], **{key: row[key] for key in row if key != label}) for row in rows)
