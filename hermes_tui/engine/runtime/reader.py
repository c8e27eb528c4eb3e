"""A stored session before there is an engine: read from the database alone, so that a resume shows the past at once.

Loads no settings, no provider and no agent. What cannot be read here is left to the engine, which says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...tools.registry import load_builtin_tools
from ..store.connections import Database
from ..store.messages import MessagesPart
from ..store.migrations import MIGRATIONS, schema_version
from ..store.sessions import SessionsPart
from ..types.errors import HermesError
from ..types.events import Event
from ..types.sessions import SessionState, StoredMessage
from .replay import replay


class _Shelf(SessionsPart, MessagesPart):
    """The few parts of the session database that reading takes. Writes nothing."""

    def __init__(self, path: Path) -> None:
        self._db = Database(path, read_only=True)

    def is_current(self) -> bool:
        """Whether the store has the format that this program reads."""
        with self._db.read() as conn:
            return schema_version(conn) == len(MIGRATIONS)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


class SessionReader:
    """Implements :class:`~hermes_tui.engine.api.StoredSession`. Opens the file for each call and leaves no mark in it.

    Args:
        database: The session database.
        state: What its row says.
    """

    def __init__(self, database: Path, state: SessionState) -> None:
        self._database = database
        self.state = state

    def history(self, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        """Return up to ``limit`` messages before ``before_id`` (the newest when None), oldest first."""
        shelf = _Shelf(self._database)
        try:
            return shelf.messages(self.state.session_id, before_id, limit)
        finally:
            shelf.close()

    def replay(self, messages: Sequence[StoredMessage]) -> list[Event]:
        """Turn stored messages into the events that showed them live; loads only the tools that were used."""
        calls = [call for stored in messages for call in stored.message.get("tool_calls") or ()]
        names = {call["function"]["name"] for call in calls}
        names |= {stored.message.get("tool_name", "") for stored in messages}
        return replay(messages, load_builtin_tools(names))


def find_session(database: Path, wanted: str, folder: str) -> SessionReader | None:
    """Return the session that a start goes on with, or None when only the engine can tell. Blocks for a few reads.

    Args:
        database: The session database; it need not exist.
        wanted: Id or title; empty for the session used last.
        folder: Of the last ones, one of this folder goes first.
    """
    if not database.is_file():
        return None
    try:
        shelf = _Shelf(database)
        try:
            if not shelf.is_current():
                return None
            known = shelf.resolve(wanted) if wanted else shelf.latest(folder) or shelf.latest()
            row = shelf.row(known) if known else None
        finally:
            shelf.close()
    except HermesError:
        return None
    if row is None:
        return None
    state = SessionState(
        session_id=row.id, title=row.title, model=row.model, provider=row.provider, cwd=row.cwd, branch=row.branch
    )
    return SessionReader(database, state)
