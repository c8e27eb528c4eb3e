"""The one table of actions. Keys, slash commands, the palette, completion and the help page all read it.

A row names an action; ``screens/chat_actions.py`` says what it does. A test checks that both know the same ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Group: TypeAlias = Literal["Conversation", "Sessions", "Reading", "Writing", "Model and settings", "App"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One action."""

    id: str
    """Stable name, used in ``[keys]``."""
    title: str
    """Shown in the palette."""
    help: str
    """One sentence."""
    group: Group
    slash: str = ""
    """Slash name without the slash; empty when it has none."""
    aliases: tuple[str, ...] = ()
    """Further slash names."""
    args: str = ""
    """Argument hint, e.g. ``[title]``."""
    key: str = ""
    """Default keys, comma-separated; empty when it has none."""
    shown_key: str = ""
    """The key as help shows it, where ``key`` is not readable."""
    footer: bool = False
    """Named in the hints below the prompt."""
    global_key: bool = True
    """False: the key is handled where the focus is (composer, transcript) and only documented here."""


def _row(id: str, title: str, help: str, group: Group, **rest: object) -> Command:
    return Command(id=id, title=title, help=help, group=group, **rest)  # type: ignore[arg-type]


COMMANDS: tuple[Command, ...] = (
    # Conversation
    _row(
        "send", "Send", "Send the message; while a turn runs, queue it.", "Conversation", key="enter", global_key=False
    ),
    _row(
        "steer",
        "Steer the running turn",
        "Hand the text to the model after its next tool call.",
        "Conversation",
        slash="steer",
        args="text",
        key="alt+enter",
        global_key=False,
    ),
    _row(
        "queue", "Queue a message", "Send the text after the running turn.", "Conversation", slash="queue", args="text"
    ),
    _row(
        "interrupt",
        "Interrupt",
        "Stop the running turn; queue, draft and jobs stay, or the jobs end too.",
        "Conversation",
        slash="stop",
        args="[jobs]",
        key="escape",
        shown_key="esc",
        global_key=False,
    ),
    _row(
        "background",
        "Move to the background",
        "Let the running command go on as a job.",
        "Conversation",
        slash="background",
        aliases=("bg",),
        key="alt+m",
    ),
    _row("retry", "Retry", "Take back the last answer and send the same message again.", "Conversation", slash="retry"),
    _row(
        "undo",
        "Undo the last exchange",
        "Take back your last message, what its turn did to files, or both; /redo brings it back.",
        "Conversation",
        slash="undo",
        args="[both|files|message]",
    ),
    _row("redo", "Redo", "Bring back what the last undo took.", "Conversation", slash="redo"),
    _row(
        "diff",
        "Changed files",
        "What the agent did to files: in this session, or in the last turn.",
        "Conversation",
        slash="diff",
        aliases=("changes",),
        args="[turn]",
    ),
    _row(
        "compress",
        "Compress the conversation",
        "Summarise older messages for the model; they stay stored.",
        "Conversation",
        slash="compress",
        aliases=("compact",),
        args="[what to keep in mind]",
    ),
    _row(
        "undo_compress",
        "Undo the compression",
        "Send the whole conversation again.",
        "Conversation",
        slash="undo-compress",
    ),
    _row(
        "new",
        "New session",
        "Start a fresh conversation.",
        "Conversation",
        slash="new",
        aliases=("clear", "reset"),
        key="ctrl+n",
    ),
    # Sessions
    _row(
        "sessions",
        "Sessions",
        "Find anything ever said, resume or fork it.",
        "Sessions",
        slash="sessions",
        aliases=("history",),
        args="[words]",
        key="ctrl+r",
        footer=True,
    ),
    _row("resume", "Resume", "Resume a session by id or title.", "Sessions", slash="resume", args="[id or title]"),
    _row(
        "fork",
        "Fork",
        "Go on in a copy, from here or from the chosen entry.",
        "Sessions",
        slash="fork",
        aliases=("branch",),
    ),
    _row(
        "rewind",
        "Rewind",
        "Go back to one of your messages, edit it, and go on in a fork.",
        "Sessions",
        slash="rewind",
        key="escape",
        shown_key="esc esc (empty prompt)",
        global_key=False,
    ),
    _row("title", "Title", "Show or set the title.", "Sessions", slash="title", aliases=("rename",), args="[title]"),
    _row(
        "export",
        "Export",
        "Write this session to a file (md, json or html).",
        "Sessions",
        slash="export",
        args="[md|json|html] [path]",
    ),
    # Reading
    _row(
        "find",
        "Find",
        "Find in the whole session; n and N walk the hits.",
        "Reading",
        slash="find",
        args="[words]",
        key="ctrl+f",
    ),
    _row("entry_up", "Entry above", "Walk the entries.", "Reading", key="alt+up"),
    _row("entry_down", "Entry below", "Walk the entries.", "Reading", key="alt+down"),
    _row("user_up", "Message above", "Walk your own messages.", "Reading", key="[", global_key=False),
    _row("user_down", "Message below", "Walk your own messages.", "Reading", key="]", global_key=False),
    _row(
        "entry_toggle",
        "Open or close",
        "Open or close the chosen entry.",
        "Reading",
        key="enter",
        shown_key="enter (on an entry)",
        global_key=False,
    ),
    _row(
        "copy",
        "Copy",
        "Copy the chosen entry, or the last answer.",
        "Reading",
        slash="copy",
        key="y",
        shown_key="y (on an entry)",
        global_key=False,
    ),
    _row(
        "view",
        "Open in full screen",
        "Read the chosen entry in full screen, with search.",
        "Reading",
        slash="view",
        key="o",
        shown_key="o (on an entry)",
        global_key=False,
    ),
    _row(
        "entry_editor",
        "Open in the editor",
        "Open the file of the chosen card at its line, or the text of the chosen entry.",
        "Reading",
        key="e",
        shown_key="e (on an entry)",
        global_key=False,
    ),
    _row("page_up", "Page up", "Scroll the conversation.", "Reading", key="pageup"),
    _row("page_down", "Page down", "Scroll the conversation.", "Reading", key="pagedown"),
    _row("top", "First message", "Go to the first message.", "Reading", key="ctrl+home"),
    _row("end", "Newest message", "Go to the end and follow.", "Reading", key="ctrl+end"),
    _row(
        "detail",
        "Detail",
        "Cycle compact, normal, full.",
        "Reading",
        slash="detail",
        args="[compact|normal|full]",
        key="ctrl+o",
    ),
    _row(
        "reasoning",
        "Reasoning",
        "Cycle how reasoning is shown: hidden, line, full.",
        "Reading",
        slash="reasoning",
        args="[hidden|line|full]",
        key="ctrl+t",
    ),
    _row(
        "jobs",
        "Jobs",
        "What runs in the background: read, answer or end it.",
        "Reading",
        slash="jobs",
        key="alt+j",
    ),
    _row("panel", "Side panel", "Todos, context and changed files.", "Reading", slash="panel", key="ctrl+b"),
    # Writing
    _row("newline", "New line", "Start a new line.", "Writing", key="ctrl+j,shift+enter", global_key=False),
    _row("files", "Insert a file", "Type @ and part of a name.", "Writing", key="@", global_key=False),
    _row(
        "shell",
        "Run a command",
        "Type ! and a command: it runs in the session's shell, the model sees the result later.",
        "Writing",
        key="!",
        shown_key="! (empty prompt)",
        global_key=False,
    ),
    _row(
        "note",
        "Keep a note",
        "Type # and a line: later sessions know it. #user: is for notes about you.",
        "Writing",
        key="#",
        shown_key="# (empty prompt)",
        global_key=False,
    ),
    _row(
        "forget",
        "Forget a note",
        "Remove the note kept last, or the one with these words.",
        "Writing",
        slash="forget",
        args="[words]",
    ),
    _row(
        "editor",
        "External editor",
        "Write the message in $EDITOR.",
        "Writing",
        slash="editor",
        key="ctrl+g",
        global_key=False,
    ),
    _row(
        "stash", "Stash the draft", "Put the draft aside, or bring it back.", "Writing", key="ctrl+s", global_key=False
    ),
    # Model and settings
    _row(
        "model", "Model", "Choose a model.", "Model and settings", slash="model", args="[provider/model]", key="ctrl+k"
    ),
    _row(
        "approvals",
        "Approval mode",
        "Choose when to ask: ask, strict, smart, plan (read only), off.",
        "Model and settings",
        slash="approvals",
        aliases=("mode",),
        args="[ask|strict|smart|plan|off]",
    ),
    _row(
        "settings",
        "Settings",
        "Every setting, where it comes from, and a change.",
        "Model and settings",
        slash="settings",
        aliases=("config",),
        args="[name]",
    ),
    _row("rules", "Approval rules", "List, edit and delete stored rules.", "Model and settings", slash="rules"),
    _row(
        "trust",
        "Trust this folder",
        "See what this folder wants, and answer again.",
        "Model and settings",
        slash="trust",
    ),
    _row("theme", "Theme", "Choose colours.", "Model and settings", slash="theme", args="[name]"),
    _row("mouse", "Mouse", "Leave the mouse to the terminal, or take it back.", "Model and settings", slash="mouse"),
    _row("setup", "Setup", "Connect a model: keys and local servers.", "Model and settings", slash="setup"),
    _row(
        "status",
        "Status",
        "Session, model, tokens, cost, paths.",
        "Model and settings",
        slash="status",
    ),
    _row(
        "usage",
        "Usage",
        "Tokens and cost by day, model and folder.",
        "Model and settings",
        slash="usage",
        aliases=("cost",),
        args="[7|30|90|all]",
    ),
    _row(
        "inspect",
        "Inspector",
        "What was sent to the model, how it differs from what is stored, times and cache hits.",
        "Model and settings",
        slash="inspect",
    ),
    _row(
        "context",
        "Context",
        "What fills the model's window, by category.",
        "Model and settings",
        slash="context",
    ),
    # App
    _row("palette", "Command palette", "Everything that can be done.", "App", key="ctrl+p", footer=True),
    _row("help", "Help", "Keys and commands.", "App", slash="help", key="f1", footer=True),
    _row("demo", "Demo", "Watch a scripted demo; needs no model.", "App", slash="demo"),
    _row("suspend", "Suspend", "Back to the shell; fg returns.", "App", key="ctrl+z"),
    _row(
        "quit",
        "Quit",
        "Leave; the session is kept.",
        "App",
        slash="quit",
        aliases=("exit", "q"),
        key="ctrl+d",
        shown_key="ctrl+d, ctrl+c twice",
        global_key=False,
    ),
)

BY_ID: Mapping[str, Command] = {command.id: command for command in COMMANDS}

BY_SLASH: Mapping[str, Command] = {
    name: command for command in COMMANDS if command.slash for name in (command.slash, *command.aliases)
}

DOCUMENTED_KEYS = frozenset({"send", "newline", "files", "shell", "note"})
"""Rows that the composer handles itself."""
FIXED_KEYS = frozenset({"send", "interrupt", "rewind", "files", "shell", "note", "quit"})
"""Rows whose key depends on what is there; ``[keys]`` cannot move them."""
WITHOUT_ENGINE = frozenset(command.id for command in COMMANDS if command.group in ("Reading", "Writing")) - {
    "forget", "jobs",
} | {"interrupt", "mouse", "palette", "help", "suspend", "quit", "find_next", "find_previous"}  # fmt: skip
"""Actions that need nothing but the screen; the others wait for the engine's start."""
_ONLY_AS_KEYS = frozenset({"entry_up", "entry_down", "user_up", "user_down", "entry_toggle", "palette"})
PALETTE_IDS = BY_ID.keys() - _ONLY_AS_KEYS - DOCUMENTED_KEYS
"""Actions that make sense when chosen from a list."""


def slash_rows() -> list[tuple[str, str, str, str]]:
    """Rows for completion: ``(name, args, help, group)``, aliases left out."""
    return [(c.slash, c.args, c.help, c.group) for c in COMMANDS if c.slash]


def key_of(command: Command, keymap: Mapping[str, str] | None = None) -> str:
    """The key to show for a command, after rebinding."""
    rebound = "" if command.id in FIXED_KEYS else (keymap or {}).get(command.id)
    return rebound or command.shown_key or command.key


def greeting_keys(keymap: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The first keys to know, and what they do."""
    told = {"sessions": "earlier sessions", "palette": "all actions", "help": "help"}
    keys = tuple((key_of(BY_ID[name], keymap).partition(",")[0], words) for name, words in told.items())
    return (("/", "commands"), ("@", "files"), *keys)


def keymap_problems(keymap: Mapping[str, str]) -> list[str]:
    """Say what is wrong with a ``[keys]`` table: unknown ids, fixed keys, and keys that two actions share."""
    problems = [f"[keys] {name}: there is no such action." for name in keymap if name not in BY_ID]
    problems += [f"[keys] {name}: this key cannot be changed." for name in keymap if name in FIXED_KEYS]
    owners: dict[str, str] = {}
    for command in COMMANDS:
        if not command.global_key:
            continue
        for key in filter(None, keymap.get(command.id, command.key).split(",")):
            if key in owners:
                problems.append(f"[keys] {key} is bound to both {owners[key]} and {command.id}; {owners[key]} wins.")
            else:
                owners[key] = command.id
    return problems
