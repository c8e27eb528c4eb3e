"""Sessions: made, found, listed, named, pinned, ended."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..api import SessionSort
from ..types.ids import new_session_id
from ..types.messages import Message
from ..types.sessions import SessionRow
from . import lineage, live, names
from .base import Part
from .messages import store
from .session_rows import folder, make, to_row

_ORDER: dict[SessionSort, str] = {
    "updated": "updated_at DESC",
    "created": "created_at DESC",
    "title": "CASE WHEN title <> '' THEN title ELSE preview END COLLATE NOCASE, updated_at DESC",
    "cost": "cost_usd DESC, updated_at DESC",
}


class SessionsPart(Part):
    """Whole sessions."""

    _claimed: set[str]

    def create(
        self,
        title: str | None = None,
        source: str = "library",
        cwd: str | Path | None = None,
        model: str | None = None,
        provider: str | None = None,
        parent: str | None = None,
        parent_reason: str = "",
        fork_message_id: int | None = None,
        session_id: str | None = None,
        branch: str | None = None,
        *,
        claim: bool = False,
        messages: Iterable[Message] = (),
    ) -> str:
        """Make a session and return its id. One transaction.

        Args:
            title: Counts as chosen by the user; numbered when taken.
            source: ``tui``, ``run``, ``library``, ``subagent``, ``cron``, ``acp``, ``api`` or ``gateway:NAME``.
            cwd: The folder it works in.
            model: Model name without the provider.
            provider: Provider name.
            parent: Id of the session it comes from; folder, branch and model are taken over when not given.
            parent_reason: ``fork``, ``compression`` or ``delegation``; a parent alone means ``delegation``.
            fork_message_id: The last message that a fork shares.
            session_id: Use this id; an existing session with it is left as it is.
            branch: Git branch.
            claim: Mark it as open in this process, as :meth:`~.state.StatePart.claim` does.
            messages: What it begins with.
        """
        first = [(message, 0) for message in messages]
        values: dict[str, Any] = {
            "id": session_id or new_session_id(),
            "source": source,
            "cwd": folder(cwd),
            "branch": branch or "",
            "model": model or "",
            "provider": provider or "",
            "parent_session_id": parent,
            "parent_reason": parent_reason or ("delegation" if parent else ""),
            "fork_message_id": fork_message_id,
        }

        def job(conn: sqlite3.Connection) -> str:
            if not conn.execute("SELECT 1 FROM sessions WHERE id = ?", (values["id"],)).fetchone():
                no = make(conn, values, self._row(conn, parent) if parent else None)
                if title:
                    names.set_title(conn, no, title, by="user")
                if claim:
                    live.claim(conn, no)
                if first:
                    store(conn, no, first)
            return str(values["id"])

        if claim:
            self._claimed.add(values["id"])
        return self._db.write(job)

    def row(self, session_id: str) -> SessionRow:
        """Return a session as lists show it."""
        with self._db.read() as conn:
            return to_row(self._row(conn, session_id), live.open_elsewhere(conn))

    def resolve(self, text: str) -> str:
        """Return the id of the session with this id, title, or unambiguous start of either.

        A session that was compressed resolves to where the conversation goes on.

        Raises:
            SessionNotFound: None or several match; the hint names the nearest.
        """
        with self._db.read() as conn:
            return lineage.tip(conn, names.find(conn, text.strip()))

    def list_sessions(
        self,
        cwd: str | Path | None = None,
        sort: SessionSort = "updated",
        limit: int = 200,
        offset: int = 0,
        archived: bool = False,
        include_subagents: bool = False,
        source: str | None = None,
    ) -> list[SessionRow]:
        """List sessions, pinned first; compressed ones appear once, as their newest continuation.

        Args:
            cwd: Only this folder.
            sort: What follows "pinned first".
            limit: Rows at most.
            offset: Rows to skip.
            archived: List the archived ones instead.
            include_subagents: Also what subagents did.
            source: Only this source.
        """
        shown = "(no = shown_no OR parent_reason = 'delegation')" if include_subagents else "no = shown_no"
        order = _ORDER.get(sort, _ORDER["updated"])
        condition, values = _only(folder(cwd), source)
        with self._db.read() as conn:
            elsewhere = live.open_elsewhere(conn)
            found = conn.execute(
                f"SELECT * FROM sessions WHERE deleted_at IS NULL AND archived = {int(archived)} AND {shown}"
                f"{condition} ORDER BY pinned DESC, {order} LIMIT ? OFFSET ?",
                (*values, max(0, limit), max(0, offset)),
            )
            return [to_row(row, elsewhere) for row in found]

    def latest(self, cwd: str | Path | None = None, source: str | None = None) -> str | None:
        """Return the id of the session used last that has messages, or None."""
        condition, values = _only(folder(cwd), source)
        with self._db.read() as conn:
            row = conn.execute(
                "SELECT id FROM sessions WHERE deleted_at IS NULL AND archived = 0 AND no = shown_no "
                f"AND message_count > 0{condition} ORDER BY updated_at DESC LIMIT 1",
                values,
            ).fetchone()
        return str(row[0]) if row else None

    def rename(self, session_id: str, title: str) -> str:
        """Give a session a title and return the one stored, numbered when another has it. An empty one removes it."""
        return self._db.write(
            lambda conn: names.set_title(conn, lineage.session_no(conn, session_id), title, by="user")
        )

    def set_auto_title(self, session_id: str, title: str) -> str:
        """Give a title made by a model; never replaces one that the user chose. Returns the present title."""
        return self._db.write(
            lambda conn: names.set_title(conn, lineage.session_no(conn, session_id), title, by="auto")
        )

    def pin(self, session_id: str, pinned: bool = True) -> None:
        """Pin or unpin."""
        self._set(session_id, {"pinned": int(pinned)})

    def archive(self, session_id: str, archived: bool = True) -> None:
        """Archive or bring back."""
        self._set(session_id, {"archived": int(archived)})

    def set_model(self, session_id: str, model: str, provider: str = "") -> None:
        """Remember the model that later requests go to."""
        self._set(session_id, {"model": model, "provider": provider})

    def touch(self, session_id: str) -> None:
        """Mark as used now, and as not ended."""
        self._set(session_id, {"updated_at": time.time(), "ended_at": None, "end_reason": ""})

    def end(self, session_id: str, reason: str = "closed") -> None:
        """Note that a session ended; the first reason stays. An empty one without a title leaves nothing behind."""

        def job(conn: sqlite3.Connection) -> None:
            row = self._row(conn, session_id)
            live.release(conn, session_id)
            if not row["message_count"] and not row["title"] and not row["parent_session_id"]:
                conn.execute("DELETE FROM sessions WHERE no = ?", (row["no"],))
                return
            conn.execute(
                "UPDATE sessions SET ended_at = ?, end_reason = CASE end_reason WHEN '' THEN ? ELSE end_reason END "
                "WHERE no = ? AND ended_at IS NULL",
                (time.time(), reason, row["no"]),
            )

        self._db.write(job)
        self._claimed.discard(session_id)


def _only(cwd: str, source: str | None) -> tuple[str, list[object]]:
    """Return an SQL condition, to be appended, for the filters that are set, and its values."""
    given = [(column, value) for column, value in (("cwd", cwd), ("source", source)) if value]
    return "".join(f" AND {column} = ?" for column, _ in given), [value for _, value in given]
