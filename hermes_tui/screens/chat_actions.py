"""What each action of ``commands.py`` does in the chat. One table: id -> function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from hermes_tui.commands import BY_ID, COMMANDS, key_of
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.widgets.entries import AssistantEntry, ToolEntry
from hermes_tui.widgets.rendering.rows import Detail, ReasoningLevel

if TYPE_CHECKING:
    from .chat import ChatScreen

Value = TypeVar("Value", bound=str)
Action: TypeAlias = "Callable[[ChatScreen, str], None]"
"""Gets the screen and what was typed after the slash command."""

DETAILS: tuple[Detail, ...] = ("compact", "normal", "full")
REASONING: tuple[ReasoningLevel, ...] = ("hidden", "line", "full")
APPROVALS = {
    "ask": "asks before danger",
    "strict": "asks before all that is not provably harmless",
    "smart": "another model clears what it is sure about; the rest asks",
    "plan": "read only, until you leave it with /approvals ask",
    "off": "asks nothing; the hard blocks stay",
}


def run(chat: ChatScreen, action_id: str, args: str) -> None:
    """Run an action; an unknown id is a programming error."""
    ACTIONS[action_id](chat, args.strip())


def _cycle(values: tuple[Value, ...], now: str, args: str) -> Value | None:
    """The value asked for, or the next one; None when it is not one of them."""
    names = [str(value) for value in values]
    if args:
        return values[names.index(args)] if args in names else None
    return values[(names.index(now) + 1) % len(values)] if now in names else values[0]


# Conversation


def _interrupt(chat: ChatScreen, args: str) -> None:
    del args
    if not chat.turns.interrupt():
        chat.say("Nothing is running.")


def _steer(chat: ChatScreen, args: str) -> None:
    chat.turns.steer(args) if args else chat.say("Write what to tell: /steer TEXT", error=True)


def _queue(chat: ChatScreen, args: str) -> None:
    chat.turns.send(args) if args else chat.say("Write what to queue: /queue TEXT", error=True)


def _undo(chat: ChatScreen, args: str, *, resend: bool = False) -> None:
    del args
    session = chat.turns.session
    if session is None:
        return
    if chat.turns.running:
        chat.say("Stop the turn first (esc).", error=True)
        return

    def work() -> None:
        text = session.undo()
        chat.app.call_later(done, text)

    def done(text: str) -> None:
        if not text:
            chat.say("There is nothing to take back.")
            return
        chat.sessions.drop_last_exchange()
        if resend:
            chat.turns.send(text)
        else:
            chat.composer.set_value(text)

    chat.run_in_thread(work, "undo")


def _retry(chat: ChatScreen, args: str) -> None:
    _undo(chat, args, resend=True)


def _compress(chat: ChatScreen, args: str, *, undo: bool = False) -> None:
    """Change what the model gets; esc stops it like a turn."""
    session = chat.turns.session
    if session is None:
        return
    occupied = chat.turns.occupy()

    def work() -> None:
        try:
            words = session.undo_compression() if undo else session.compress(args)
        except HermesError as error:
            words = str(error)
        chat.app.call_later(done, words)

    def done(words: str) -> None:
        chat.note("info", words, kind="compression")
        if occupied:
            chat.turns.finished()

    chat.run_in_thread(work, "compress")


def _undo_compress(chat: ChatScreen, args: str) -> None:
    _compress(chat, args, undo=True)


def _new(chat: ChatScreen, args: str) -> None:
    chat.sessions.keep_draft()
    chat.sessions.open(None)
    if args:
        chat.turns.send(args)


# Sessions


def _sessions(chat: ChatScreen, args: str) -> None:
    chat.sessions.browse(args)


def _resume(chat: ChatScreen, args: str) -> None:
    if args:
        chat.sessions.open(args)
    else:
        chat.sessions.browse("")


def _fork(chat: ChatScreen, args: str) -> None:
    del args
    session, entry = chat.turns.session, chat.transcript.cursor
    if session is None or not chat.transcript.entries:
        chat.say("There is nothing to fork yet.")
        return
    chat.sessions.fork(session.state.session_id, entry.message_id if entry else None)


def _title(chat: ChatScreen, args: str) -> None:
    session = chat.turns.session
    if session is None:
        return
    if not args:
        chat.say(f"Title: {session.state.title or '(none yet)'}")
        return
    chat.run_in_thread(lambda: chat.app.call_later(chat.shell.show_title, session.rename(args)), "rename")


def _export(chat: ChatScreen, args: str) -> None:
    session, engine = chat.turns.session, chat.engine
    if session is None or engine is None:
        return
    words = args.split(maxsplit=1)
    fmt = words.pop(0) if words and words[0] in ("md", "json", "html") else "md"
    path = Path(words[0]).expanduser() if words else Path(f"{session.state.session_id}.{fmt}")

    def work() -> None:
        text = engine.export_session(session.state.session_id, fmt)
        try:
            with path.open("x", encoding="utf-8") as file:
                path.chmod(0o600)
                file.write(text)
        except OSError as error:
            raise HermesError(f"{path} was not written: {error.strerror}.", hint="Name another file.") from error
        chat.app.call_later(chat.say, f"Wrote {path.resolve()}")

    chat.run_in_thread(work, "export")


# Reading


def _find(chat: ChatScreen, args: str) -> None:
    if args:
        chat.sessions.find(args)
        return
    from .find import FindScreen

    chat.app.push_screen(FindScreen(chat.transcript.find), lambda words: chat.sessions.find(words or ""))


def _walk(chat: ChatScreen, step: int, *, user_only: bool = False) -> None:
    chat.transcript.focus()
    chat.transcript.move_cursor(step, user_only=user_only)


def _toggle(chat: ChatScreen, args: str) -> None:
    del args
    if chat.transcript.cursor is not None:
        chat.transcript.toggle(chat.transcript.cursor)


def _source(chat: ChatScreen) -> str:
    """The chosen entry's text, else the last answer's."""
    if chat.transcript.cursor is not None:
        return chat.transcript.cursor.source()
    answers = (entry for entry in reversed(chat.transcript.entries) if isinstance(entry, AssistantEntry))
    return next((entry.source() for entry in answers), "")


def _copy(chat: ChatScreen, args: str) -> None:
    del args
    chat.run_worker(chat.input.copy(_source(chat)), name="copy")


def _view(chat: ChatScreen, args: str) -> None:
    del args
    text = _source(chat)
    if not text:
        chat.say("There is nothing to show yet.")
        return
    from .entry_view import EntryView

    chat.app.push_screen(EntryView(text, prose=not isinstance(chat.transcript.cursor, ToolEntry)))


def _detail(chat: ChatScreen, args: str) -> None:
    level = _cycle(DETAILS, chat.transcript.detail, args)
    if level is None:
        chat.say(f"Choose one of: {', '.join(DETAILS)}.", error=True)
        return
    chat.transcript.set_detail(level)
    _remember(chat, "ui.detail", level)
    chat.say(f"Detail: {level}")


def _reasoning(chat: ChatScreen, args: str) -> None:
    level = _cycle(REASONING, chat.transcript.reasoning_level, args)
    if level is None:
        chat.say(f"Choose one of: {', '.join(REASONING)}.", error=True)
        return
    chat.transcript.set_reasoning_level(level)
    _remember(chat, "ui.reasoning", level)
    chat.say(f"Reasoning: {level}")


def _panel(chat: ChatScreen, args: str) -> None:
    del args
    chat.panel.display = not chat.panel.display


def _remember(chat: ChatScreen, key: str, value: str) -> None:
    engine = chat.engine
    if engine is not None:
        chat.run_in_thread(lambda: engine.save_choice(key, value), "save choice")


# Model and settings


def _model(chat: ChatScreen, args: str) -> None:
    if args:
        chat.sessions.use_model(args)
        return
    if chat.engine is None:
        chat.say("Still starting; try again in a moment.")
        return
    from .model_picker import ModelPickerScreen

    state = chat.turns.session.state if chat.turns.session else None
    current = f"{state.provider}/{state.model}" if state and state.model else ""
    chat.app.push_screen(
        ModelPickerScreen(chat.engine, current), lambda model: chat.sessions.use_model(model) if model else None
    )


def _approvals(chat: ChatScreen, args: str) -> None:
    session = chat.turns.session
    if session is None:
        return
    mode = _cycle(tuple(APPROVALS), session.state.approval_mode, args)
    if mode is None:
        chat.say(f"Choose one of: {', '.join(APPROVALS)}.", error=True)
        return
    session.set_approval_mode(mode)
    chat.status.approval_mode = mode
    chat.note("warning" if mode == "off" else "info", f"Approval mode: {mode} ({APPROVALS[mode]})", kind="mode")


def _rules(chat: ChatScreen, args: str) -> None:
    del args
    if chat.engine is None:
        return
    from .rules import RulesScreen

    chat.app.push_screen(RulesScreen(chat.engine))


def _trust(chat: ChatScreen, args: str) -> None:
    del args
    chat.sessions.ask_trust_again()


def _theme(chat: ChatScreen, args: str) -> None:
    if args:
        _use_theme(chat, args)
        return
    from .palette import PaletteRow, PaletteScreen

    before = chat.hermes.theme
    rows = [PaletteRow(id=name, title=name, group="Themes") for name in chat.hermes.theme_names()]
    chat.app.push_screen(
        PaletteScreen(rows, title="Theme", on_highlight=chat.hermes.use_theme),
        lambda name: _use_theme(chat, name or before),
    )


def _use_theme(chat: ChatScreen, name: str) -> None:
    problem = chat.hermes.use_theme(name)
    if problem:
        chat.say(problem, error=True)
    else:
        _remember(chat, "ui.theme", name)


def _mouse(chat: ChatScreen, args: str) -> None:
    del args
    on = chat.hermes.toggle_mouse()
    chat.say("The mouse is ours again." if on else "The mouse is the terminal's: select and copy as usual.")


def _setup(chat: ChatScreen, args: str) -> None:
    del args
    chat.sessions.welcome()


def _status(chat: ChatScreen, args: str) -> None:
    del args
    session = chat.turns.session
    if session is None:
        chat.say("Still starting.")
        return
    state = session.state
    window = f"{state.context_tokens:,} of {state.context_window:,} tokens" if state.context_window else "unknown"
    cost = "unknown" if state.cost_usd is None else f"${state.cost_usd:.4f}"
    lines = (
        f"session {state.session_id}  {state.title}",
        f"model {state.provider}/{state.model}" if state.model else "no model yet: /setup",
        f"context {window}, cost {cost}, approvals {state.approval_mode}",
        f"folder {state.cwd}" + (f" ({state.branch})" if state.branch else ""),
    )
    chat.note("info", "\n".join(lines), kind="status")


def _usage(chat: ChatScreen, args: str) -> None:
    if chat.engine is None:
        chat.say("Still starting.")
        return
    from .usage import UsageScreen

    chat.app.push_screen(UsageScreen(chat.engine, period=args))


# App


def _palette(chat: ChatScreen, args: str) -> None:
    del args
    from .palette import PaletteRow, PaletteScreen

    keymap = chat.ui.keys
    rows = [
        PaletteRow(id=c.id, title=c.title, help=c.help, key=key_of(c, keymap), group=c.group)
        for c in COMMANDS
        if c.id in PALETTE_IDS
    ]
    chat.app.push_screen(PaletteScreen(rows), lambda chosen: run(chat, chosen, "") if chosen else None)


def _help(chat: ChatScreen, args: str) -> None:
    del args
    from .help import HelpScreen

    rows = [
        (c.group, "  ".join(filter(None, (key_of(c, chat.ui.keys), f"/{c.slash}" if c.slash else ""))), c.title, c.help)
        for c in COMMANDS
    ]
    chat.app.push_screen(HelpScreen(rows))


def _demo(chat: ChatScreen, args: str) -> None:
    del args
    chat.sessions.start_demo()


def _suspend(chat: ChatScreen, args: str) -> None:
    del args
    chat.app.action_suspend_process()


def _quit(chat: ChatScreen, args: str) -> None:
    del args
    if not chat.turns.running:
        chat.hermes.leave()
        return
    from .confirm import ConfirmScreen

    chat.app.push_screen(
        ConfirmScreen("A turn is running. Stop it and leave?"), lambda yes: chat.hermes.leave() if yes else None
    )


ACTIONS: Mapping[str, Action] = {
    "steer": _steer,
    "queue": _queue,
    "interrupt": _interrupt,
    "retry": _retry,
    "undo": _undo,
    "compress": _compress,
    "undo_compress": _undo_compress,
    "new": _new,
    "sessions": _sessions,
    "resume": _resume,
    "fork": _fork,
    "title": _title,
    "export": _export,
    "find": _find,
    "find_next": lambda chat, args: chat.sessions.find_step(1),
    "find_previous": lambda chat, args: chat.sessions.find_step(-1),
    "entry_up": lambda chat, args: _walk(chat, -1),
    "entry_down": lambda chat, args: _walk(chat, 1),
    "user_up": lambda chat, args: _walk(chat, -1, user_only=True),
    "user_down": lambda chat, args: _walk(chat, 1, user_only=True),
    "entry_toggle": _toggle,
    "entry_editor": lambda chat, args: chat.input.open_editor(_source(chat)),
    "copy": _copy,
    "view": _view,
    "page_up": lambda chat, args: chat.transcript.action_page_up(),
    "page_down": lambda chat, args: chat.transcript.action_page_down(),
    "top": lambda chat, args: chat.transcript.go_to_start(),
    "end": lambda chat, args: chat.transcript.go_to_end(),
    "detail": _detail,
    "reasoning": _reasoning,
    "panel": _panel,
    "editor": lambda chat, args: chat.composer.action_open_editor(),
    "stash": lambda chat, args: chat.composer.action_stash(),
    "model": _model,
    "approvals": _approvals,
    "rules": _rules,
    "trust": _trust,
    "theme": _theme,
    "mouse": _mouse,
    "setup": _setup,
    "status": _status,
    "usage": _usage,
    "palette": _palette,
    "help": _help,
    "demo": _demo,
    "suspend": _suspend,
    "quit": _quit,
}

READER_ACTIONS = frozenset({"find_next", "find_previous", "entry_editor"})
"""Actions that exist as the reader's keys only."""
DOCUMENTED_KEYS = frozenset({"send", "newline", "files"})
"""Rows of the table that the composer handles itself."""
_ONLY_AS_KEYS = frozenset({"entry_up", "entry_down", "user_up", "user_down", "entry_toggle", "palette"})
PALETTE_IDS = BY_ID.keys() - _ONLY_AS_KEYS - DOCUMENTED_KEYS
"""Actions that make sense when chosen from a list."""
