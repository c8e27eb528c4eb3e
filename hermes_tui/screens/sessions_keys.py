"""What can be done in the session browser: one table for its keys, key page, palette and hints."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_tui.widgets.hint_line import Hint


@dataclass(frozen=True, slots=True)
class BrowserAction:
    """One action."""

    action: str
    """What Textual runs on the screen, e.g. ``hit(1)``."""
    title: str
    key: str = ""
    """Textual's name of the key that does it while the list has the focus; in the field letters search."""
    shown: str = ""
    """Its keys as help shows them, where ``key`` is not readable."""
    group: str = "Session"

    @property
    def keys(self) -> str:
        """Its keys for people; empty when it has none."""
        return self.shown or self.key


ACTIONS: tuple[BrowserAction, ...] = (
    BrowserAction("resume", "Resume the session", shown="enter"),
    BrowserAction("open_at_hit", "Open it at the hit", "o", "o, ctrl+enter"),
    BrowserAction("fork", "Fork from the hit or the end", "f"),
    BrowserAction("hit(1)", "Next hit", "n"),
    BrowserAction("hit(-1)", "Previous hit", "N"),
    BrowserAction("rename", "Rename in place", "r"),
    BrowserAction("pin", "Pin or unpin", "p"),
    BrowserAction("archive", "Archive or bring back", "a"),
    BrowserAction("delete", "Delete, with ten seconds to undo", "d"),
    BrowserAction("undo", "Undo the delete", "u"),
    BrowserAction("export('md')", "Export to a Markdown file here", "e"),
    BrowserAction("export('json')", "Export to a JSON file here, which can be imported"),
    BrowserAction("export('html')", "Export to an HTML file here"),
    BrowserAction("mark", "Mark several", "space", group="List"),
    BrowserAction("mark_all", "Mark all that are listed, or none", "M", group="List"),
    BrowserAction("scope", "This folder or all folders", "t", group="List"),
    BrowserAction("sort", "Sort: used, created, title, cost", "s", group="List"),
    BrowserAction("archived", "Show the archived ones", "A", group="List"),
    BrowserAction("preview", "Show or hide the preview", "v", group="List"),
    BrowserAction("to_search", "Back to the search field", "slash", "/, tab", group="List"),
    BrowserAction("palette", "All actions", shown="ctrl+p, right click", group="List"),
    BrowserAction("keys", "All keys", "question_mark", "?", group="List"),
    BrowserAction("back", "Clear the search, then leave", shown="esc", group="List"),
)

LIST_KEYS = {action.key: action.action for action in ACTIONS if action.key}
"""Letters are keys only while the list has the focus; in the field they search."""

SEARCH_HINTS: tuple[Hint, ...] = (
    ("enter", "resume"), ("\u2193 tab", "to the list"), ("ctrl+enter", "open at the hit"), ("esc", "back"),
    ("ctrl+p", "actions"),
)  # fmt: skip
LIST_HINTS: tuple[Hint, ...] = (
    ("enter", "resume"), ("/", "search"), ("?", "all keys"), ("t", "folder"), ("f", "fork"), ("r", "rename"),
    ("d", "delete"), ("p", "pin"), ("o", "at hit"),
)  # fmt: skip
PREVIEW_KEYS = {
    "up": "scroll_preview(-1)", "down": "scroll_preview(1)", "pageup": "scroll_preview(-10)",
    "pagedown": "scroll_preview(10)", "enter": "resume",
}  # fmt: skip
"""While the preview has taken the place of the list."""
