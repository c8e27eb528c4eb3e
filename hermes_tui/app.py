"""The app: themes, the terminal, the engine's start, and how it all ends. Wires, decides nothing."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.types import CSSPathType

from .crash_log import write_crash_log
from .engine.types.errors import HermesError
from .engine.types.preferences import StartRequest, UiSettings
from .screens.chat import ChatScreen
from .themed_app import ThemedApp

if TYPE_CHECKING:
    from textual import events
    from textual.screen import Screen

    from .engine.api import Engine, EngineFactory, PastReader
    from .screens.approval import ApprovalScreen
    from .screens.approval_modal import GuardedModal
    from .screens.chat_history import FirstPage
    from .screens.clarify import ClarifyScreen
    from .screens.entry_view import EntryView

LATE_MODULES = (
    "hermes_tui.presenter",
    "hermes_tui.widgets.entries.assistant",
    "hermes_tui.widgets.entries.notice",
    "hermes_tui.widgets.entries.user",
    "hermes_tui.widgets.side_panel",
    "hermes_tui.screens.chat_sessions",
    "hermes_tui.screens.chat_shell",
    "hermes_tui.screens.chat_actions",
    "hermes_tui.screens.dialogs",
)
"""What :meth:`ChatScreen.painted` needs, imported in a thread after the first paint."""

HANGUP_EXIT = 129
"""Exit code after the terminal vanished: 128 + SIGHUP."""
LOAD_AFTER_S = 0.04
"""A moment after the first paint for the first keys to show before loading competes with them."""
PAINT_S = 1.0
"""The engine waits no longer than this for the painting of what a session ends with."""
SWITCH_S = 0.001
"""How long a thread may keep the interpreter while another wants it: a key waits for a loading or decoding thread no
longer than this (Python's own 5 ms add up over the few hand-overs of one key)."""
CLOSE_S = 2.0
"""How long the engine may take to save and end what runs."""


class HermesApp(ThemedApp):
    """The full-screen program.

    Args:
        build_engine: Makes the engine; called once, in a thread, after the first paint.
        ui: The screen's settings.
        start: What the command line asked for.
        find_past: Finds the session that ``start`` goes on with, before there is an engine.
        config_home: Folder of user themes and crash logs; None keeps to what is shipped.
    """

    TITLE = "hermes-tui"
    CSS_PATH: ClassVar[CSSPathType | None] = ["app.tcss", "screens/chat.tcss"]
    # Textual loads no sheet of its own for the default screen.
    ENABLE_COMMAND_PALETTE = False
    PAUSE_GC_ON_SCROLL = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "noop", show=False)]

    def __init__(
        self,
        build_engine: EngineFactory,
        ui: UiSettings,
        start: StartRequest | None = None,
        *,
        find_past: PastReader = lambda: None,
        config_home: Path | None = None,
    ) -> None:
        super().__init__(has_mouse=ui.mouse, is_plain=ui.plain)
        self.ui = ui
        self.start = start or StartRequest()
        self.engine: Engine | None = None
        self.goodbye = ""
        """Printed on the normal screen after leaving."""
        self._build_engine = build_engine
        self._find_past = find_past
        self._config_home = config_home
        self._leaving = False
        self._has_failed = False
        self._engine_end: threading.Thread | None = None
        self.set_class(ui.plain, "-plain")
        self.start_themes(ui.theme, config_home / "themes" if config_home else None)

    def get_default_screen(self) -> Screen[Any]:
        """The chat."""
        return ChatScreen(self.ui, self.start)

    @property
    def chat(self) -> ChatScreen:
        """The chat, also under a dialog."""
        chat = self.screen_stack[0]
        assert isinstance(chat, ChatScreen)
        return chat

    # Start

    def before_key(self, event: events.Key) -> None:
        """Let the chat say who gets a key."""
        if (stack := self.screen_stack) and isinstance(chat := stack[-1], ChatScreen):
            chat.input.aim(event)

    def on_ready(self) -> None:
        """The first frame is painted: hand over what was typed already, then load what is heavy."""
        self._watch_signals()
        self.follow_theme_file()
        self.release_keys(first=True)
        if self.start.goes_on:  # the past is waited for
            self._start_loading()
        else:
            self.set_timer(LOAD_AFTER_S, self._start_loading)

    def _start_loading(self) -> None:
        threading.Thread(target=self._load, name="engine-start", daemon=True).start()

    def _load(self) -> None:
        """Import what the chat needs next, then build the engine; in a thread, so that typing goes on."""
        try:
            for module in LATE_MODULES:
                import_module(module)
            past = self._read_past() if self.start.goes_on else None
            self.call_later(self.chat.painted)
            if past is not None:  # loading the engine would compete with its painting
                is_painted = threading.Event()
                self.call_later(self.chat.show_past, past, is_painted.set)
                is_painted.wait(PAINT_S)
            self._start_engine()
        except Exception as error:  # noqa: BLE001 - the wall around a thread: nothing else would tell
            self.call_later(self._handle_exception, error)
        finally:
            gc.freeze()  # what is loaded now stays: collections need not walk it
            gc.enable()

    def _read_past(self) -> FirstPage | None:
        """Read what a stored session ends with."""
        from .screens.chat_history import first_page

        try:
            past = self._find_past()
            return first_page(past) if past is not None else None
        except HermesError:  # the engine meets it again and says what to do
            return None

    def _start_engine(self) -> None:
        try:
            engine = self._build_engine()
        except HermesError as error:
            self.call_later(self.chat.engine_failed, error)
            return
        self.engine = engine
        self.call_later(self.chat.engine_ready, engine)

    # Answers of the dialogs; they lie over the chat and are loaded when one is needed

    def on_approval_screen_decided(self, event: ApprovalScreen.Decided) -> None:
        """Pass the answer on; the engine's own word closes the dialog."""
        self.chat.turns.answer_approval(event.request_id, event.decision)

    def on_clarify_screen_answered(self, event: ClarifyScreen.Answered) -> None:
        """Pass the answer on."""
        self.chat.turns.answer_clarify(event.request_id, event.answer)

    def on_guarded_modal_typed_early(self, event: GuardedModal.TypedEarly) -> None:
        """What was typed into a dialog that was not armed goes on into the draft."""
        self.chat.input.typed_early(event.text, event.key)

    async def on_entry_view_copy_wanted(self, event: EntryView.CopyWanted) -> None:
        """Copy what the reader chose."""
        await self.chat.input.copy(event.text)

    def on_guarded_modal_interrupt_wanted(self) -> None:
        """Stop the turn; that closes the dialog as denied."""
        self.chat.turns.interrupt()

    # The terminal's end

    def _watch_signals(self) -> None:
        if threading.current_thread() is not threading.main_thread() or self.is_headless:
            return
        import asyncio

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.leave)
        loop.add_signal_handler(signal.SIGHUP, self.terminal_lost)

    def terminal_lost(self) -> None:
        """Nobody can see or type any more: save, end child processes, leave."""
        if self._leaving:
            return
        self._leaving = True
        from .driver import quiet_exit

        quiet_exit(self._close_engine, HANGUP_EXIT)

    # The end

    def leave(self) -> None:
        """Quit; the session is kept."""
        if self._leaving:
            return
        self._leaving = True
        self.goodbye = self.chat.goodbye()
        self.chat.prepare_to_leave()
        self.run_worker(self._close_and_exit, thread=True, name="leave")

    def _close_and_exit(self) -> None:
        self.close_engine()
        self.call_from_thread(self.exit, 0)

    def close_engine(self, wait_s: float = CLOSE_S) -> None:
        """Save and end child processes, and wait a moment for it; twice does no harm."""
        if self._engine_end is None:
            self._engine_end = threading.Thread(target=self._close_engine, daemon=True)
            self._engine_end.start()
        self._engine_end.join(wait_s)

    def _close_engine(self) -> None:
        if self.engine is not None:
            self.engine.close()

    def _fatal_error(self) -> None:
        """Say in two lines what happened; the traceback goes to a file."""
        if self._has_failed:
            return
        self._has_failed = True
        from textual.worker import WorkerFailed

        error = self._exception or sys.exc_info()[1]
        if isinstance(error, WorkerFailed):
            error = error.error
        path = write_crash_log(error, self._config_home / "logs" if self._config_home else None)
        self.goodbye = f"hermes-tui stopped on an internal error: {type(error).__name__}: {error}\nDetails: {path}"
        self.close_engine(wait_s=0)  # the loop ends only when the turn's thread does
        self._close_messages_no_wait()


def run_app(
    build_engine: Callable[[], Engine],
    ui: UiSettings,
    start: StartRequest,
    *,
    find_past: PastReader = lambda: None,
    config_home: Path | None = None,
) -> int:
    """Run the program until it is left and return the exit code. Blocks."""
    sys.setswitchinterval(SWITCH_S)
    app = HermesApp(build_engine, ui, start, find_past=find_past, config_home=config_home)
    app.run(mouse=ui.mouse)
    app.close_engine()  # after a fault nothing else did
    if app.goodbye:
        sys.stdout.write(app.goodbye + "\n")
    return app.return_code or 0
