"""The real app on a stage: its clock stands still, its engine answers from memory, and nothing is waited for by time.

``Stage`` drives it for the pictures of ``tests/snapshot`` and for the README's screenshot; what is played on it is in
``support/scenes.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

from support import inspected
from support.fake_engine import FakeEngine
from support.fake_jobs import FakeJobs
from support.screens import Clock, painted, until
from textual.pilot import Pilot
from textual.screen import Screen
from textual.types import CSSPathType

import hermes_tui.app
from hermes_tui.app import HermesApp
from hermes_tui.bridge import coalesce
from hermes_tui.engine.api import Engine, EventSink, UndoScope
from hermes_tui.engine.types.changes import FileChange, Undone, UndoPlan
from hermes_tui.engine.types.events import Event
from hermes_tui.engine.types.inspection import ContextReport, RequestDetail, RequestRow
from hermes_tui.engine.types.preferences import UiSettings
from hermes_tui.engine.types.sessions import SessionState, StoredMessage
from hermes_tui.screens.chat import ChatScreen

_APP_FOLDER = Path(hermes_tui.app.__file__).parent

NOW = 1_773_481_290.0
"""Unix time on the stage: Saturday, 14 March 2026, 09:41:30 UTC."""


class StageSession:
    """A session that does what the stage plays; its own turns say nothing."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.turns: list[str] = []
        self.images: list[Sequence[str]] = []
        self.edits: tuple[FileChange, ...] = ()
        self.plan = UndoPlan()
        self.undone = Undone()
        self.redone = Undone()
        self.undos: list[str] = []
        """Scopes that were taken back, and what else was asked for."""
        self.jobs = FakeJobs()

    def subscribe(self, sink: EventSink) -> Callable[[], None]:
        return lambda: None

    def run_turn(self, text: str, images: Sequence[str] = ()) -> Mapping[str, Any]:
        self.turns.append(text)
        self.images.append(images)
        return {}

    def interrupt(self, reason: str = "user") -> None:
        pass

    def history(self, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        return []

    def changes(self, message_id: int = 0) -> tuple[FileChange, ...]:
        return self.edits[:1] if message_id else self.edits

    def last_message_id(self) -> int:
        return 7

    def plan_undo(self, since_id: int = 0) -> UndoPlan:
        return replace(self.plan, message_id=since_id or self.plan.message_id)

    def undo(self, scope: UndoScope = "message") -> Undone:
        self.undos.append(scope)
        return self.undone

    def redo(self) -> Undone:
        self.undos.append("redo")
        return self.redone

    def replay(self, messages: Sequence[StoredMessage]) -> list[Event]:
        return []

    def requests(self) -> Sequence[RequestRow]:
        return inspected.ROWS

    def request(self, number: int) -> RequestDetail:
        return inspected.detail(number)

    def context(self) -> ContextReport:
        return inspected.REPORT

    def close(self) -> None:
        pass


class StageEngine(FakeEngine):
    """An engine with one open session."""

    notices: Sequence[tuple[str, str]] = ()
    default_model = "anthropic/claude-opus-4-6"

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.session = StageSession(
            SessionState(
                session_id="20260314-094102-7f3a",
                model="claude-opus-4-6",
                provider="anthropic",
                cwd=str(home / "src/lighthouse"),
                branch="main",
                context_window=200_000,
            )
        )

    def open_session(self, session_id: str | None = None, *, source: str = "tui") -> StageSession:
        return self.session

    def pending_trust(self, folder: str, *, again: bool = False) -> None:
        return None

    def prompt_history(self, cwd: str, limit: int = 500) -> list[str]:
        return []

    def add_prompt_history(self, cwd: str, text: str) -> None:
        pass

    def load_draft(self, key: str) -> str:
        return ""

    def save_draft(self, key: str, text: str) -> None:
        pass

    def save_choice(self, key: str, value: str) -> None:
        pass

    def close(self) -> None:
        pass


class StageApp(HermesApp):
    """The app with an engine from memory; nothing in it moves by itself."""

    # Sheets are looked for beside the class.
    CSS_PATH: ClassVar[CSSPathType | None] = [_APP_FOLDER / name for name in ("app.tcss", "screens/chat.tcss")]

    def __init__(self, theme: str = "hermes-dark", **ui: Any) -> None:
        self.stage_engine = StageEngine(Path.home())
        super().__init__(lambda: cast(Engine, self.stage_engine), UiSettings(theme=theme, animation=False, **ui))


class Stage:
    """Leads the app to the state that a picture shows."""

    def __init__(self, pilot: Pilot[Any]) -> None:
        self.pilot = pilot
        self.app = cast(StageApp, pilot.app)
        self.engine = self.app.stage_engine
        self.clock = Clock()
        """Monotonic time of the chat."""
        self.dialog_clock = Clock()
        """Monotonic time of a dialog over it: one can arm while the other stands still."""

    @property
    def chat(self) -> ChatScreen:
        """The chat."""
        return self.app.chat

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Let the app run until a condition holds."""
        await until(self.pilot, condition, what)

    async def open(self, **state: Any) -> None:
        """Wait for the chat, stop its clocks, and give its session a state."""
        await self.until(
            lambda: self.app.is_running and self.chat.is_mounted and self.chat.query("#status"), "the chat"
        )
        self.chat.transcript.clock = self.clock
        self.chat.status.stopwatch.clock = self.clock
        await self.until(lambda: self.chat.turns.session is not None, "an open session")
        session = self.engine.session
        session.state = replace(session.state, **state)
        self.chat.shell.show_state(session.state)

    async def say(self, text: str) -> None:
        """Type a message and send it."""
        self.chat.composer.set_value(text)
        await self.pilot.press("enter")
        await self.until(lambda: not self.chat.composer.value, "the message is sent")

    async def play(self, *events: Event) -> None:
        """Show events as if the engine had sent them, and wait until they are drawn in full."""
        self.chat.presenter.present_all(coalesce(events))
        await self.drawn()

    def wait(self, seconds: float) -> None:
        """Let time pass in the chat, and have everything that shows it look at the clock."""
        self.clock.advance(seconds)
        self.chat.status.refresh_line()
        self.chat.transcript._tick()

    async def drawn(self) -> None:
        """Wait until the transcript has caught up and has its lexers."""
        transcript = self.chat.transcript
        styler = transcript._column.frame.code

        def is_still() -> bool:
            return not (transcript._is_due or transcript._dirty or transcript._late or styler._thread)

        await self.pilot.pause()
        await self.until(is_still, "the transcript is drawn")
        await self.pilot.pause()

    async def show(self, screen: Screen[Any]) -> None:
        """Open a dialog or page over the chat."""
        self.app.push_screen(screen)
        await self.until(lambda: self.app.screen is screen and screen.is_mounted, type(screen).__name__)
        await self.idle()

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            await self.pilot.press(key)

    async def shows(self, words: str) -> None:
        """Wait until words are on the screen."""
        await self.until(lambda: words in painted(self.app), words)

    async def idle(self) -> None:
        """Wait until no worker runs and what they brought is shown."""
        await self.pilot.pause()
        await self.app.workers.wait_for_complete()
        await self.pilot.pause()
