"""The settings page: every setting with its value, where that comes from and what it means; most change here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.engine.api import Engine
from hermes_tui.engine.types.choices import SettingRow
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.widgets.choice_list import Choice
from hermes_tui.widgets.field import Field
from hermes_tui.widgets.fuzzy_list import FuzzyList, FuzzyRow
from hermes_tui.widgets.hint_line import HintLine

from .modal import Modal

Page = Literal["rules", "model", "setup", "theme"]
"""A page of its own that changes some settings."""
_PAGES: dict[Page, tuple[str, str]] = {
    "rules": ("Approval rules", "What was allowed and denied for good, and how often that counted."),
    "setup": ("Providers and keys", "Find keys and local servers, test them, store a key."),
}
_OWN_PAGE: dict[str, Page] = {"model": "model", "ui.theme": "theme"}
"""Settings that are better chosen on their page."""
_TOP = "general"
_HINTS = {
    "list": (("enter", "change"), ("ctrl+d", "default"), ("\u2191\u2193", "move"), ("esc", "close")),
    "edit": (("enter", "save"), ("esc", "back")),
}


class SettingsScreen(Modal[Page]):
    """Lists and changes the settings. Result: another page that was asked for, or None.

    Args:
        engine: Where they are kept.
        folder: Where the session works: a trusted project may have settings of its own.
        select: Key of the row to begin at, or words to search for.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "settings.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "back", "Back", show=False, priority=True),
        Binding("delete,ctrl+d", "reset", "Default", show=False, priority=True),
    ]

    def __init__(self, engine: Engine, folder: str = "", *, select: str = "") -> None:
        super().__init__()
        self._engine = engine
        self._folder = folder
        self._select = select
        self._rows: dict[str, SettingRow] = {}
        self._edited: SettingRow | None = None
        self._said = ""

    def compose(self) -> ComposeResult:
        """Lay out the list, what the row means, and the field of a change."""
        with Vertical(classes="dialog", id="settings") as dialog:
            dialog.border_title = "Settings"
            yield FuzzyList(placeholder="Type to search", empty="No setting fits.")
            yield Static("", id="about", markup=False)
            yield Static("", id="origin", markup=False)
            yield Horizontal(Static("\u203a", classes="prompt", markup=False), Field(id="value"), classes="field-row")
            yield Static("", id="said", classes="note", markup=False)
            yield HintLine(_HINTS["list"])

    def on_mount(self) -> None:
        """Ask for the settings."""
        self._load(self._select)

    def _load(self, select: str) -> None:
        self._select = select
        self.ask("settings", lambda: self._engine.list_settings(self._folder), self._show)

    def _show(self, rows: Sequence[SettingRow]) -> None:
        self._rows = {row.key: row for row in rows}
        pages = [FuzzyRow(f"page:{page}", title, words, "", "pages") for page, (title, words) in _PAGES.items()]
        listed, shown = self.query_one(FuzzyList), [*map(_list_row, rows), *pages]
        listed.set_rows(shown, self._select)
        if self._select and self._select not in {row.id for row in shown}:
            listed.query_one(Field).value, self._select = self._select, ""

    # What the row under the cursor means

    @on(FuzzyList.Changed)
    def _explain(self, event: FuzzyList.Changed) -> None:
        row = self._rows.get(event.row.id) if event.row is not None else None
        about, origin = self.query_one("#about", Static), self.query_one("#origin", Static)
        about.update(row.doc.replace("``", "") if row else event.row.detail if event.row else "")
        origin.update(_origin_words(row) if row else "")
        if row is None or row.key != self._select:
            self._say("")

    @property
    def _current(self) -> SettingRow | None:
        found = self.query_one(FuzzyList).view.current
        return self._rows.get(found.id) if found is not None else None

    # Changing

    @on(FuzzyList.Picked)
    def _picked(self, event: FuzzyList.Picked) -> None:
        if event.row is None:
            return
        if event.row.id.startswith("page:"):
            self.finish(next(page for page in _PAGES if event.row.id == f"page:{page}"))
            return
        row = self._rows[event.row.id]
        if row.note:
            self._say(f"{row.key}: {row.note}.", bad=True)
        elif row.key in _OWN_PAGE:
            self.finish(_OWN_PAGE[row.key])
        elif row.kind == "switch":
            self._change(row, "false" if row.text == "true" else "true")
        elif row.kind == "choice":
            self._choose(row)
        else:
            self._edit(row)

    def _choose(self, row: SettingRow) -> None:
        from .choose import ChooseScreen

        answers = [
            Choice(str(number), name, detail="as it is" if name == row.text else "")
            for number, name in enumerate(row.choices, 1)
        ]

        def chosen(key: str | None) -> None:
            if key is not None:
                self._change(row, row.choices[int(key) - 1])

        self.app.push_screen(ChooseScreen(row.key, row.doc.replace("``", ""), answers), chosen)

    def _edit(self, row: SettingRow) -> None:
        self._edited = row
        field = self.query_one("#value", Field)
        field.value = row.text
        field.placeholder = "a list, with commas between" if row.kind == "list" else f"as it is: {row.value}"
        field.cursor_position = len(row.text)
        self._set_editing(True)
        field.focus()

    def _set_editing(self, editing: bool) -> None:
        self.query_one("#settings").set_class(editing, "-edit")
        self.query_one(HintLine).set_hints(_HINTS["edit" if editing else "list"])
        if not editing:
            self._edited = None
            self.query_one(FuzzyList).query_one(Field).focus()

    @on(Field.Submitted, "#value")
    def _submitted(self, event: Field.Submitted) -> None:
        event.stop()
        if self._edited is not None:
            self._change(self._edited, event.value.strip())

    def _change(self, row: SettingRow, text: str | None) -> None:
        """Write a value; a wrong one is explained and stays in the field."""
        self.ask(
            "change",
            lambda: self._engine.change_setting(row.key, text),
            lambda said: self._changed(row, said),
            self._refused,
        )

    def _changed(self, row: SettingRow, said: str) -> None:
        if self._edited is not None:
            self._set_editing(False)
        self._load(row.key)
        self._say(said)

    def _refused(self, error: HermesError) -> None:
        self._say(str(error), bad=True)

    def _say(self, text: str, *, bad: bool = False) -> None:
        self._said = text
        note = self.query_one("#said", Static)
        note.update(text)
        note.set_class(bad, "-error")
        note.set_class(bool(text) and not bad, "-good")
        note.display = bool(text)

    def action_reset(self) -> None:
        """Take the setting under the cursor out of the files: back to its default."""
        row = self._current
        if row is None or self._edited is not None:
            return
        if row.note or row.is_default:
            self._say(f"{row.key} {'has its default' if row.is_default else 'is not changed here: ' + row.note}.")
        else:
            self._change(row, None)

    def action_back(self) -> None:
        """Leave the field, then the page."""
        if self._edited is not None:
            self._say("")
            self._set_editing(False)
        else:
            self.finish(None)

    def on_click(self, event: events.Click) -> None:
        """A click beside the field leaves it alone."""
        if self._edited is not None and event.widget is not self.query_one("#value"):
            self.query_one("#value").focus()


def _list_row(row: SettingRow) -> FuzzyRow:
    name = row.key.removeprefix(f"{row.section}.") if row.section else row.key
    mark, origin = ("", "") if row.is_default else ("\u2022", _short(row.origin))
    return FuzzyRow(row.key, name, row.value, origin, row.section or _TOP, mark=mark)


def _short(origin: str) -> str:
    """Return an origin as it fits a column: a project's file is named by its line only."""
    folder, _, file = origin.rpartition("/")
    return f"project{file.removeprefix('config.toml')}" if folder else origin


def _origin_words(row: SettingRow) -> str:
    if row.is_default:
        return f"default; {_accepts(row)}"
    firm = ", which wins over files" if row.is_firm else ""
    return f"from {row.origin}{firm}; default {row.default}; {_accepts(row)}"


def _accepts(row: SettingRow) -> str:
    kinds = {"number": "a number", "list": "a list", "table": "a table"}
    return row.note or " | ".join(row.choices) or kinds.get(row.kind, "text")
