"""A resumed session is shown while the engine is still built, and goes on where it was shown."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest
from support.screens import painted, until
from support.snapshots import StageEngine, StageSession

from hermes_tui.app import HermesApp
from hermes_tui.engine.api import Engine
from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.types.errors import HermesError, SessionNotFound
from hermes_tui.engine.types.events import Event
from hermes_tui.engine.types.preferences import StartRequest, UiSettings
from hermes_tui.engine.types.sessions import SessionState, StoredMessage
from hermes_tui.screens.sessions import SessionsScreen
from hermes_tui.tools.registry import ToolRegistry
from hermes_tui.widgets.entries import UserEntry


class Stored(StageSession):
    """A session with rows."""

    def __init__(self, *texts: str, session_id: str = "s") -> None:
        super().__init__(SessionState(session_id=session_id, title="Kites", model="m", provider="p"))
        self.rows = [
            StoredMessage(id=at, message={"role": ("user", "assistant")[at % 2], "content": text})  # type: ignore[typeddict-item]
            for at, text in enumerate(texts)
        ]
        self.broken = False
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True

    def history(self, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        if self.broken:
            raise HermesError("The disk reports an error.")
        return self.rows[:before_id][-limit:]

    def replay(self, messages: Sequence[StoredMessage]) -> list[Event]:
        return replay(messages, ToolRegistry())


class Resumed:
    """The app resuming a session, its engine held back until :meth:`go`."""

    def __init__(
        self, past: Stored | None, session: Stored, tmp_home: Any, fails: bool = False, start: str = "resume"
    ) -> None:
        self.past, self.session, self.fails = past, session, fails
        self.engine = StageEngine(tmp_home)
        self.engine.open_session = self._open  # type: ignore[method-assign, assignment]
        self.engine.load_draft = lambda key: ""  # type: ignore[method-assign]
        self._may_build = threading.Event()
        request = StartRequest(resume="s") if start == "resume" else StartRequest(continue_last=True)
        self.app = HermesApp(self._build, UiSettings(animation=False), request, find_past=lambda: self.past)

    def go(self) -> None:
        self._may_build.set()

    def _build(self) -> Engine:
        assert self._may_build.wait(20)
        return cast(Engine, self.engine)

    def _open(self, session_id: str | None = None, *, source: str = "tui") -> Stored:
        if self.fails and session_id is not None:
            raise SessionNotFound("No session has the id 's'.")
        return self.session if session_id else Stored(session_id="new")


def asked(app: HermesApp) -> list[str]:
    return [entry.source() for entry in app.chat.transcript.entries if isinstance(entry, UserEntry)]


async def test_it_is_seen_before_the_engine_is_there_and_once(tmp_path: Any) -> None:
    resumed = Resumed(Stored("fly a kite", "In wind."), Stored("fly a kite", "In wind."), tmp_path)
    app = resumed.app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "In wind." in painted(app))
        assert app.engine is None and "Kites" in painted(app) and "starting" in painted(app)
        entries = list(app.chat.transcript.entries)
        resumed.go()
        await until(pilot, lambda: app.chat.turns.session is resumed.session)
        assert list(app.chat.transcript.entries) == entries and asked(app) == ["fly a kite"]


async def test_what_is_typed_meanwhile_is_sent_when_the_session_is_open(tmp_path: Any) -> None:
    resumed = Resumed(Stored("fly a kite", "In wind."), Stored("fly a kite", "In wind."), tmp_path)
    app = resumed.app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "In wind." in painted(app))
        await pilot.press(*"why", "enter")
        await until(pilot, lambda: "1 queued" in painted(app))
        resumed.go()
        await until(pilot, lambda: resumed.session.turns == ["why"])
        assert asked(app) == ["fly a kite", "why"]


async def test_a_key_that_needs_the_engine_is_not_lost_while_it_is_built(tmp_path: Any) -> None:
    resumed = Resumed(Stored("fly a kite", "In wind."), Stored("fly a kite", "In wind."), tmp_path)
    app = resumed.app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "In wind." in painted(app))
        await pilot.press("ctrl+b")
        await until(pilot, lambda: "Files changed" in painted(app), "what needs no engine comes at once")
        await pilot.press("ctrl+r")
        assert not isinstance(app.screen, SessionsScreen)
        resumed.go()
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))


async def test_rows_that_came_meanwhile_replace_what_was_shown(tmp_path: Any) -> None:
    resumed = Resumed(Stored("fly a kite", "In wind."), Stored("fly a kite", "In wind.", "and a boat"), tmp_path)
    app = resumed.app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "In wind." in painted(app))
        resumed.go()
        await until(pilot, lambda: app.chat.turns.session is resumed.session)
        assert asked(app) == ["fly a kite", "and a boat"]


async def test_older_messages_are_read_before_the_engine_is_there(tmp_path: Any) -> None:
    texts = [f"line {number}" for number in range(200)]
    resumed = Resumed(Stored(*texts), Stored(*texts), tmp_path)
    app = resumed.app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "line 199" in painted(app))
        app.chat.sessions.history.load_page()
        await until(pilot, lambda: asked(app)[0] == "line 0")
        resumed.go()
        await until(pilot, lambda: app.chat.turns.session is resumed.session)
        assert asked(app) == texts[::2]


@pytest.mark.parametrize("past", ["none", "broken"])
async def test_what_cannot_be_read_early_is_shown_by_the_engine(tmp_path: Any, past: str) -> None:
    early = None
    if past == "broken":
        early = Stored("x")
        early.broken = True
    resumed = Resumed(early, Stored("fly a kite", "In wind."), tmp_path)
    resumed.go()
    app = resumed.app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.chat.turns.session is resumed.session)
        assert asked(app) == ["fly a kite"]


async def test_a_session_that_cannot_be_opened_after_all_leaves_no_past(tmp_path: Any) -> None:
    resumed = Resumed(Stored("fly a kite", "In wind."), Stored("x"), tmp_path, fails=True)
    app = resumed.app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "In wind." in painted(app))
        resumed.go()
        await until(pilot, lambda: "No session has the id" in painted(app))
        await until(pilot, lambda: app.chat.turns.session is not None)
        assert asked(app) == []


async def test_a_session_that_cannot_be_read_is_closed_and_a_new_one_takes_its_place(tmp_path: Any) -> None:
    broken = Stored("fly a kite")
    broken.broken = True
    resumed = Resumed(None, broken, tmp_path)
    resumed.go()
    app = resumed.app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "The disk reports an error." in painted(app))
        await until(pilot, lambda: app.chat.turns.session is not None)
        assert app.chat.turns.session.state.session_id == "new" and broken.is_closed


async def test_where_the_last_session_cannot_be_found_a_new_one_begins(tmp_path: Any) -> None:
    resumed = Resumed(None, Stored("x"), tmp_path, start="continue")

    def fail(cwd: str | None = None) -> str | None:
        raise HermesError("The database is damaged.")

    resumed.engine.latest_session_id = fail  # type: ignore[attr-defined]
    resumed.go()
    app = resumed.app
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "The database is damaged." in painted(app))
        await until(pilot, lambda: app.chat.turns.session is not None)
        assert app.chat.turns.session.state.session_id == "new"
