"""The chat: transcript, composer, status; and what a person does there.

It wires widgets to the turn controller and the actions; what an event looks like is the presenter's business, what an
action does is in ``chat_actions``. What the first paint does not need (presenter, dialogs, side panel, events) is
loaded after it, in :meth:`ChatScreen.painted`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Static

from hermes_tui.commands import BY_ID, BY_SLASH, COMMANDS, WITHOUT_ENGINE, greeting_keys, key_of, slash_rows
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.preferences import StartRequest, UiSettings
from hermes_tui.widgets.composer import Composer
from hermes_tui.widgets.composer_commands import SubmitKind
from hermes_tui.widgets.header_bar import HeaderBar
from hermes_tui.widgets.queue_list import QueueList
from hermes_tui.widgets.status_bar import StatusBar
from hermes_tui.widgets.transcript import Greeting, Transcript

from .chat_input import ChatInput
from .turns import QueuedMessage, Turns

if TYPE_CHECKING:
    from hermes_tui.engine.api import Engine
    from hermes_tui.engine.types.choices import KeptNote
    from hermes_tui.presenter import Presenter
    from hermes_tui.widgets.side_panel import SidePanel

    from .app_port import AppPort
    from .chat_history import FirstPage
    from .chat_sessions import ChatSessions
    from .chat_shell import ChatShell
    from .dialogs import Dialogs

HINTS_IDLE = (("sessions", "sessions"), ("palette", "palette"), ("help", "help"))
HINTS_BY_KIND: Mapping[SubmitKind, tuple[tuple[str, str], ...]] = {
    "shell": (("enter", "runs it, no model asked"),),
    "note": (("enter", "keeps the note"), ("#user:", "a note about you")),
}
"""What the bottom line says while something other than a message is typed."""
HINTS_BUSY = (("interrupt", "interrupts"), ("steer", "steers"), ("palette", "palette"))
HINTS_COMMAND = (("interrupt", "interrupts"), ("background", "to the background"), ("palette", "palette"))
"""Action id -> what the bottom line says it does."""

COMMAND_RUNS = "running terminal"
"""What the presenter says is done while a command runs that can be moved to the background."""

MIN_COLUMNS, MIN_ROWS = 20, 6
"""Below this only a one-line notice is shown. Source: design/ui.md 1."""


class ChatScreen(Screen[None]):
    """One conversation.

    Args:
        ui: The screen's settings.
        start: What the command line asked for.
    """

    AUTO_FOCUS = "#composer"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-wide")]  # noqa: RUF012 - as Screen declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        # Priority: acted on in the order of typing, before the prompt sees the next key.
        Binding(command.key, f"command('{command.id}')", command.title, id=command.id, show=False, priority=True)
        for command in COMMANDS
        if command.key and command.global_key
    ]

    header: HeaderBar
    transcript: Transcript
    panel: SidePanel
    shell: ChatShell
    sessions: ChatSessions
    queue: QueueList
    composer: Composer
    status: StatusBar
    dialogs: Dialogs
    presenter: Presenter

    def __init__(self, ui: UiSettings, start: StartRequest) -> None:
        super().__init__()
        self.ui = ui
        self.engine: Engine | None = None
        self.turns: Turns = Turns(self)
        self.input: ChatInput = ChatInput(self)
        self.last_note: KeptNote | None = None
        """The note that was kept last, for taking it back."""
        self.is_complete = False
        """False until :meth:`painted` has run: only typing works, and what is sent waits."""
        self._has_no_engine = False
        """It could not be built; why was said."""
        self._start = start

    def compose(self) -> ComposeResult:
        """Lay out the parts that are seen first."""
        self.header = HeaderBar(id="header")
        ui = self.ui
        self.transcript = Transcript(detail=ui.detail, reasoning=ui.reasoning, animate=ui.animation, id="transcript")
        if not (self._start.resume or self._start.continue_last or self._start.prompt):
            self.transcript.greeting = Greeting("hermes-tui", greeting_keys(ui.keys))
        self.queue = QueueList(plain=ui.plain, id="queue")
        self.composer = Composer(
            "Ask anything, / for commands, @ for files", root=Path.cwd(), plain=ui.plain, id="composer"
        )
        self.status = StatusBar(animated=ui.animation, plain=ui.plain, id="status")
        yield Static("The window is too small.", id="too-small", markup=False)
        yield self.header
        with Horizontal(id="body"):
            yield self.transcript
        yield self.queue
        yield self.composer
        yield self.status

    def on_mount(self) -> None:
        """Show what is known before the engine is there."""
        self.composer.set_commands(slash_rows(), tuple(BY_SLASH))
        self.status.activity = "starting"
        self.show_hints()
        if self.ui.keys:
            self.hermes.set_keymap(dict(self.ui.keys))

    def painted(self) -> None:
        """The first frame is on the screen: get ready for everything that may come."""
        from hermes_tui.presenter import Presenter
        from hermes_tui.widgets.side_panel import SidePanel

        from .chat_sessions import ChatSessions
        from .chat_shell import ChatShell
        from .dialogs import Dialogs

        self.panel = SidePanel(plain=self.ui.plain, id="panel")
        self.query_one("#body").mount(self.panel)
        self.shell = ChatShell(self)
        self.presenter = Presenter(self.transcript, self.shell)
        self.dialogs = Dialogs(self.app, lambda: self.ring_if_unfocused("hermes-tui: a question"))
        self.sessions = ChatSessions(self, self._start)
        self.is_complete = True
        self.sessions.show_start()

    @property
    def hermes(self) -> AppPort:
        """What the app can do for the chat."""
        return cast("AppPort", self.app)

    # The engine

    def show_past(self, page: FirstPage, then: Callable[[], object]) -> None:
        """Show what a stored session ends with, before there is an engine; ``then`` is called when it is painted."""
        self.sessions.show_past(page)
        self.call_after_refresh(then)

    def engine_ready(self, engine: Engine) -> None:
        """The engine was built: open what was asked for."""
        self.engine = engine
        self.status.activity = ""
        self.sessions.open_first(engine)

    def engine_failed(self, error: HermesError) -> None:
        """Say why there is no engine; what was typed stays."""
        self.status.activity = ""
        self._has_no_engine = True
        self.note("error", error.message, error.hint, kind="engine")
        self.input.release()

    def can_act(self, action_id: str) -> bool:
        """Whether an action can be run already: what it needs is loaded, or will never be."""
        return self.is_complete and (self.engine is not None or self._has_no_engine or action_id in WITHOUT_ENGINE)

    def run_in_thread(self, work: Callable[[], object], name: str, failed: Callable[[], object] = lambda: None) -> None:
        """Run blocking work in a worker thread; an error becomes a notice, and then ``failed`` is called."""

        def guarded() -> None:
            try:
                work()
            except HermesError as error:
                self.app.call_later(self.note, "error", error.message, error.hint)
                self.app.call_later(failed)

        self.run_worker(guarded, thread=True, name=name, exit_on_error=True)

    # What the turn controller shows

    def show_sent(self, text: str) -> None:
        """Show a message at once, before the engine confirms it."""
        from hermes_tui.widgets.entries import UserEntry

        entry = UserEntry(text)
        self.transcript.append(entry)
        self.transcript.go_to_end()
        self.presenter.entries.expect_user(entry)

    def show_refused(self, message: QueuedMessage) -> None:
        """Put a message back that a session which is only read cannot take."""
        self.composer.put_back(message.text, message.draft)
        self.say("Open in another window; /fork goes on in a copy.", error=True)

    def show_failed(self, message: QueuedMessage) -> None:
        """Put a message back that was sent and is stored nowhere; why was said."""
        from hermes_tui.widgets.entries import UserEntry

        sent = next((entry for entry in reversed(self.transcript.entries) if isinstance(entry, UserEntry)), None)
        if sent is not None and sent.message_id is None:
            self.transcript.remove(sent)
        self.composer.put_back(message.text, message.draft)

    def show_queue(self, texts: Sequence[str], *, held: bool = False) -> None:
        """Show what waits."""
        self.queue.set_items(texts, held=held)

    def show_busy(self, busy: bool) -> None:
        """A turn runs, or none does."""
        self.composer.busy = busy
        if busy and not self.status.is_busy:
            self.status.start("waiting for the model")
        elif not busy and self.status.is_busy:
            self.status.stop()
        self.show_hints()

    def show_hints(self) -> None:
        """Name the keys that count now."""
        hints = HINTS_BUSY if self.turns.running else HINTS_IDLE
        if self.turns.running and self.status.activity == COMMAND_RUNS:
            hints = HINTS_COMMAND
        by_key = tuple((key_of(BY_ID[name], self.ui.keys).split(",")[0], what) for name, what in hints)
        self.status.hints = HINTS_BY_KIND.get(self.composer.kind, by_key)

    def note(self, level: str, text: str, hint: str = "", kind: str = "") -> None:
        """Add a notice to the transcript."""
        from hermes_tui.widgets.entries import NoticeEntry

        self.transcript.append(NoticeEntry(level, text, hint, kind))

    def say(self, text: str, *, error: bool = False) -> None:
        """Show a passing word."""
        self.app.notify(text, severity="error" if error else "information", markup=False, timeout=4)

    def ring_if_unfocused(self, text: str) -> None:
        """Ring when the terminal has no focus."""
        if self.ui.notify and not self.app.app_focus:
            self.hermes.notify_terminal(text)

    # Input

    def action_command(self, command_id: str) -> None:
        """Run an action of the table."""
        self.input.act(command_id)

    @on(Composer.Submitted)
    def _submitted(self, event: Composer.Submitted) -> None:
        event.stop()
        self.input.submitted(event)

    @on(Composer.KindChanged)
    def _kind_changed(self) -> None:
        self.show_hints()

    @on(Composer.Escape)
    def _escape(self) -> None:
        self.input.escape()

    @on(Composer.QuitArmed)
    def _quit_armed(self) -> None:
        self.input.quit_armed()

    @on(Composer.QuitRequested)
    def _quit_requested(self) -> None:
        self.input.act("quit")

    @on(Composer.HelpRequested)
    def _help_requested(self) -> None:
        self.input.act("help")

    @on(Composer.EditorRequested)
    def _editor_requested(self, event: Composer.EditorRequested) -> None:
        self.input.open_editor(event.text)

    @on(Composer.CopyRequested)
    @on(Transcript.CopyRequested)
    async def _copy_requested(self, event: Composer.CopyRequested | Transcript.CopyRequested) -> None:
        await self.input.copy(event.text)

    @on(Transcript.LinkClicked)
    async def _link_clicked(self, event: Transcript.LinkClicked) -> None:
        """Nothing is opened behind the screen; the address goes to the clipboard."""
        await self.input.copy(event.url)

    @on(Composer.Refused)
    def _refused(self, event: Composer.Refused) -> None:
        self.say(event.text, error=True)

    @on(Composer.StashChanged)
    def _stash_changed(self, event: Composer.StashChanged) -> None:
        self.say(f"{event.count} stashed; ctrl+s on an empty prompt brings it back." if event.count else "Unstashed.")

    @on(QueueList.EditRequested)
    def _queue_edit(self, event: QueueList.EditRequested) -> None:
        if (message := self.turns.take_back(event.index)) is not None:
            self.composer.put_back(message.text, message.draft)
            self.composer.focus()

    @on(QueueList.DeleteRequested)
    def _queue_delete(self, event: QueueList.DeleteRequested) -> None:
        self.turns.take_back(event.index)

    @on(QueueList.MoveRequested)
    def _queue_move(self, event: QueueList.MoveRequested) -> None:
        self.turns.move(event.index, event.to)

    @on(QueueList.Left)
    def _queue_left(self) -> None:
        self.composer.focus()

    @on(Transcript.OlderWanted)
    def _older_wanted(self) -> None:
        self.sessions.history.load_page()

    def on_key(self, event: events.Key) -> None:
        """Keys of the reader while an entry is chosen."""
        if self.input.reader_key(event):
            event.stop()
            event.prevent_default()

    def on_resize(self, event: events.Resize) -> None:
        """Show a notice where nothing would fit."""
        size = event.size
        self.set_class(size.width < MIN_COLUMNS or size.height < MIN_ROWS, "-too-small")

    # The end

    @property
    def has_messages(self) -> bool:
        """Whether anything that is shown is stored."""
        return any(entry.message_id is not None for entry in self.transcript.entries)

    def goodbye(self) -> str:
        """What to print after leaving: how to come back."""
        session = self.turns.session
        if session is None or not self.has_messages:
            return ""
        return f"To go on: hermes-tui -r {session.state.session_id}"

    def prepare_to_leave(self) -> None:
        """Stop what runs and keep the draft."""
        self.turns.interrupt()
        if self.is_complete:
            self.sessions.keep_draft()
