"""The model, approvals, colours, and where things stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from hermes_tui.widgets.usage_text import price_words

from .choosing import cycle, remember

if TYPE_CHECKING:
    from hermes_tui.screens.chat import ChatScreen

Back: TypeAlias = Callable[[], None]
"""Returns to the page from which another was opened."""
APPROVALS = {
    "ask": "asks before danger",
    "strict": "asks before all that is not provably harmless",
    "smart": "another model clears what it is sure about; the rest asks",
    "plan": "read only, until you leave it with /approvals ask",
    "off": "asks nothing; the hard blocks stay",
}


def model(chat: ChatScreen, args: str, *, back: Back | None = None) -> None:
    """Choose a model; ``back`` is called when none was chosen."""
    if args:
        chat.sessions.use_model(args)
        return
    if chat.engine is None:
        chat.say("Still starting; try again in a moment.")
        return
    from hermes_tui.screens.model_picker import ModelPickerScreen

    state = chat.turns.session.state if chat.turns.session else None
    current = f"{state.provider}/{state.model}" if state and state.model else ""

    def chosen(model: str | None) -> None:
        if model:
            chat.sessions.use_model(model)
        elif back is not None:
            back()

    chat.app.push_screen(ModelPickerScreen(chat.engine, current), chosen)


def approvals(chat: ChatScreen, args: str) -> None:
    """Choose when to ask: ask, strict, smart, plan (read only), off."""
    session = chat.turns.session
    if session is None:
        return
    mode = cycle(chat, tuple(APPROVALS), session.state.approval_mode, args)
    if mode is None:
        return
    session.set_approval_mode(mode)
    chat.status.approval_mode = mode
    chat.note("warning" if mode == "off" else "info", f"Approval mode: {mode} ({APPROVALS[mode]})", kind="mode")


def page(chat: ChatScreen, args: str) -> None:
    """Every setting, where it comes from, and a change."""
    if chat.engine is None:
        chat.say("Still starting; try again in a moment.")
        return
    from hermes_tui.screens.settings import SettingsScreen

    def go(wanted: str | None) -> None:
        match wanted:
            case "rules":
                rules(chat, "", back=lambda: page(chat, "page:rules"))
            case "model":
                model(chat, "", back=lambda: page(chat, "model"))
            case "theme":
                theme(chat, "", back=lambda: page(chat, "ui.theme"))
            case "setup":
                setup(chat, "")

    folder = chat.turns.session.state.cwd if chat.turns.session else ""
    chat.app.push_screen(SettingsScreen(chat.engine, folder, select=args), go)


def rules(chat: ChatScreen, args: str, *, back: Back | None = None) -> None:
    """List, edit and delete stored rules; ``back`` is called afterwards."""
    del args
    if chat.engine is None:
        return
    from hermes_tui.screens.rules import RulesScreen

    chat.app.push_screen(RulesScreen(chat.engine), lambda _: back() if back is not None else None)


def trust(chat: ChatScreen, args: str) -> None:
    """See what this folder wants, and answer again."""
    del args
    chat.sessions.ask_trust_again()


def theme(chat: ChatScreen, args: str, *, back: Back | None = None) -> None:
    """Choose colours; ``back`` is called when none were chosen."""
    if args:
        use_theme(chat, args)
        return
    from hermes_tui.screens.palette import PaletteRow, PaletteScreen

    before = chat.hermes.theme
    names = sorted(chat.hermes.theme_names(), key=lambda name: name != before)  # the preview begins with no change
    rows = [PaletteRow(id=name, title=name) for name in names]

    def chosen(name: str | None) -> None:
        if name:
            use_theme(chat, name)
        else:
            chat.hermes.use_theme(before)
            if back is not None:
                back()

    chat.app.push_screen(PaletteScreen(rows, title="Theme", on_highlight=chat.hermes.use_theme), chosen)


def use_theme(chat: ChatScreen, name: str) -> None:
    """Switch the colours and remember them."""
    before = chat.hermes.theme
    problem = chat.hermes.use_theme(name)
    if problem:
        chat.hermes.use_theme(before)
        chat.say(problem, error=True)
    else:
        remember(chat, "ui.theme", name)


def mouse(chat: ChatScreen, args: str) -> None:
    """Leave the mouse to the terminal, or take it back."""
    del args
    on = chat.hermes.toggle_mouse()
    chat.say("The mouse is ours again." if on else "The mouse is the terminal's: select and copy as usual.")


def setup(chat: ChatScreen, args: str) -> None:
    """Connect a model: keys and local servers."""
    del args
    chat.sessions.welcome()


def status(chat: ChatScreen, args: str) -> None:
    """Session, model, tokens, cost, paths."""
    del args
    session = chat.turns.session
    if session is None:
        chat.say("Still starting.")
        return
    state = session.state
    window = f"{state.context_tokens:,} of {state.context_window:,} tokens" if state.context_window else "unknown"
    lines = (
        f"session {state.session_id}  {state.title}",
        f"model {state.provider}/{state.model}" if state.model else "no model yet: /setup",
        f"context {window}, cost: {price_words(state.cost_usd)}, approvals {state.approval_mode}",
        f"folder {state.cwd}" + (f" ({state.branch})" if state.branch else ""),
    )
    chat.note("info", "\n".join(lines), kind="status")


def usage(chat: ChatScreen, args: str) -> None:
    """Tokens and cost by day, model and folder."""
    if chat.engine is None:
        chat.say("Still starting.")
        return
    from hermes_tui.screens.usage import UsageScreen

    chat.app.push_screen(UsageScreen(chat.engine, period=args))


def inspect(chat: ChatScreen, args: str) -> None:
    """What was sent to the model, how it differs from what is stored, times and cache hits."""
    del args
    _inspect(chat)


def context(chat: ChatScreen, args: str) -> None:
    """What fills the model's window, by category."""
    del args
    from hermes_tui.screens.inspector import CONTEXT

    _inspect(chat, CONTEXT)


def _inspect(chat: ChatScreen, view: int = 0) -> None:
    if chat.turns.session is None:
        chat.say("Still starting.")
        return
    from hermes_tui.screens.inspector import InspectorScreen

    chat.app.push_screen(InspectorScreen(chat.turns.session, view))
