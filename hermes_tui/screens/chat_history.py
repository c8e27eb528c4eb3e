"""Older messages of the shown session: a page at a time while scrolling up, all of them for finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_tui.engine.api import StoredSession
from hermes_tui.engine.types.events import Event
from hermes_tui.engine.types.sessions import StoredMessage
from hermes_tui.presenter import EntryPresenter
from hermes_tui.widgets.entries import Entry

if TYPE_CHECKING:
    from .chat import ChatScreen

PAGE = 200
"""Messages loaded at once while scrolling up."""
SLOW_S = 0.7
"""Loading that takes longer is told."""
FIRST_PAGE = 60
"""Messages shown of a resumed session at first; the rest follows as the reader scrolls."""


@dataclass(frozen=True, slots=True)
class FirstPage:
    """What a session ends with."""

    session: StoredSession
    messages: Sequence[StoredMessage]
    events: Sequence[Event]

    def is_same(self, other: FirstPage) -> bool:
        """Whether both are the same rows of the same session."""
        ours, theirs = ((page.session.state.session_id, [m.id for m in page.messages]) for page in (self, other))
        return ours == theirs


class EntryList(list[Entry]):
    """A log that only collects; older messages are presented into it."""

    def changed(self, entry: Entry) -> None:
        """Nothing is drawn yet."""


class ChatHistory:
    """Puts older messages above those that are shown; the reader's line does not move. UI thread only.

    Args:
        chat: The screen.
    """

    def __init__(self, chat: ChatScreen) -> None:
        self._chat = chat
        self._session: StoredSession | None = None
        self._number = 0
        """Counts the sessions that were shown."""
        self._oldest_id: int | None = None
        self._is_loading = False
        self._afterwards: list[Callable[[], None]] = []

    def begin(self, page: FirstPage) -> None:
        """Another session is in the transcript, with this page."""
        self._session, self._oldest_id = page.session, page.messages[0].id if page.messages else None
        self._number += 1
        self._is_loading = False
        self._afterwards.clear()

    def go_on(self, session: StoredSession) -> None:
        """Read the same session from somewhere else from now on."""
        self._session = session

    def load_page(self) -> None:
        """Load the page before the oldest shown message."""
        if not self._is_loading:
            self._load(None)

    def load_back_to(self, message_id: int, then: Callable[[], None]) -> None:
        """Load all from a message on, then call ``then``; 0 loads everything.

        Args:
            message_id: The oldest row that is needed.
            then: Called even if nothing was left to load, but not after the session was left.
        """
        if self._is_loading:
            self._afterwards.append(lambda: self.load_back_to(message_id, then))
        elif self._oldest_id is None or self._oldest_id <= message_id:
            then()
        else:
            self._afterwards.append(then)
            self._load(message_id)

    def _load(self, until_id: int | None) -> None:
        session, before, number = self._session, self._oldest_id, self._number
        if session is None or before is None:
            return
        self._is_loading = True
        if until_id is not None:
            self._chat.set_timer(SLOW_S, lambda: self._tell_slow(number))

        def load() -> None:
            messages: list[StoredMessage] = []
            oldest: int | None = before
            try:
                while oldest is not None:
                    page = read_page(session, oldest, PAGE)
                    messages[:0] = page
                    oldest = page[0].id if page else None
                    if until_id is None or (oldest is not None and oldest <= until_id):
                        break
            finally:
                entries = present_into_list(session.replay(messages))
                self._chat.app.call_later(self._loaded, number, oldest, entries)

        self._chat.run_in_thread(load, "older messages")

    def _tell_slow(self, number: int) -> None:
        if self._is_loading and number == self._number:
            self._chat.say("Loading the older messages ...")

    def _loaded(self, number: int, oldest_id: int | None, entries: Sequence[Entry]) -> None:
        if number != self._number:
            return
        self._is_loading, self._oldest_id = False, oldest_id
        if entries:
            self._chat.transcript.prepend(entries)
        waiting, self._afterwards = self._afterwards, []
        for call in waiting:
            call()


def first_page(session: StoredSession) -> FirstPage:
    """Read what a session ends with. Blocks."""
    messages = read_page(session, None, FIRST_PAGE)
    return FirstPage(session, messages, session.replay(messages))


def read_page(session: StoredSession, before_id: int | None, limit: int) -> list[StoredMessage]:
    """Return up to ``limit`` messages that begin with no tool result: its call belongs to the same page. Blocks."""
    page = session.history(before_id=before_id, limit=limit)
    first = next((at for at, stored in enumerate(page) if stored.message["role"] != "tool"), 0)
    return page[first:]


def present_into_list(events: Sequence[Event]) -> list[Entry]:
    """Present events into a plain list."""
    entries = EntryList()
    presenter = EntryPresenter(entries)
    for event in events:
        presenter.present(event)
    return entries
