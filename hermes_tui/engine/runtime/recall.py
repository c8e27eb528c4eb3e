"""What the ``session_search`` tool sees of the store: hits with what was said around them, in a bounded size."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..types.errors import SessionNotFound, ToolError
from ..types.messages import text_of
from ..types.sessions import SearchHit, SessionRow, StoredMessage
from .ports import SessionArchive

HIT_PLACES = 3
AROUND_HIT = 2
"""Messages on each side of a hit."""
HIT_CHARS = 600
READ_CHARS = 3_000


class StoreRecall:
    """Implements ``tools.ports.Recall``. Any thread; blocks on the disk.

    Args:
        archive: The session database.
        present: Returns the id of the session that asks; what the model sees of it anyway is no hit.
    """

    def __init__(self, archive: SessionArchive, present: Callable[[], str]) -> None:
        self._archive = archive
        self._present = present

    def search(self, query: str, limit: int, cursor: str) -> dict[str, Any]:
        """Return matching sessions, best first."""
        page = self._archive.search(query, limit=limit, cursor=cursor)
        present = self._present()
        hits = [self._unseen(hit) if hit.session.id == present else hit for hit in page.hits]
        found: dict[str, Any] = {"sessions": [self._hit(hit) for hit in hits if hit.snippets or hit.title_marks]}
        if page.cursor:
            found["cursor"] = page.cursor
        if page.note:
            found["note"] = page.note
        return found

    def read(self, session_id: str, around_id: int | None, window: int) -> dict[str, Any]:
        """Return messages around one, or the last ones.

        Raises:
            ToolError: There is no such session or message.
        """
        try:
            known = self._archive.resolve(session_id)
            row = self._archive.row(known)
            if around_id is None:
                messages = self._archive.messages(known, limit=2 * window)
            else:
                messages = self._archive.around(known, around_id, 2 * window)
        except SessionNotFound as error:
            raise ToolError(error.message, hint=error.hint) from error
        found = {**_session(row), "messages": _rows(messages, READ_CHARS)}
        if messages:
            found["note"] = "For older messages read around the first message's id, for newer ones around the last."
        return found

    def recent(self, limit: int) -> dict[str, Any]:
        """Return the latest sessions."""
        return {"sessions": [_session(row) for row in self._archive.list_sessions(limit=limit)]}

    def _unseen(self, hit: SearchHit) -> SearchHit:
        """Keep the places that were compressed away."""
        seen = {stored.id for stored in self._archive.history(hit.session.id)}
        kept = tuple(snippet for snippet in hit.snippets if snippet.message_id not in seen)
        return replace(hit, snippets=kept, hit_count=len(kept), title_marks=())

    def _hit(self, hit: SearchHit) -> dict[str, Any]:
        places = []
        for snippet in hit.snippets[:HIT_PLACES]:
            near = self._archive.around(hit.session.id, snippet.message_id, 2 * AROUND_HIT + 1)
            places.append(
                {"message_id": snippet.message_id, "snippet": snippet.text, "messages": _rows(near, HIT_CHARS)}
            )
        return {**_session(hit.session), "hit_count": hit.hit_count, "places": places}


def _session(row: SessionRow) -> dict[str, Any]:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.updated_at))
    return {"session_id": row.id, "title": row.title, "when": when, "folder": row.cwd, "model": row.model}


def _rows(messages: Sequence[StoredMessage], max_chars: int) -> list[dict[str, Any]]:
    found = []
    for stored in messages:
        message = stored.message
        text = text_of(message) or message.get("partial", "")
        calls = [
            f"{call['function']['name']}({call['function']['arguments']})" for call in message.get("tool_calls") or ()
        ]
        whole = "\n".join(part for part in (text, *calls) if part)
        cut = (
            whole if len(whole) <= max_chars else f"{whole[:max_chars]} [... {len(whole) - max_chars} more characters]"
        )
        found.append({"message_id": stored.id, "role": message["role"], "text": cut})
    return found
