"""The stored approval rules: what they allow or deny, where, and how often they decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.engine.api import Engine
from hermes_tui.engine.types.choices import AllowRuleRow
from hermes_tui.widgets.field import Field
from hermes_tui.widgets.fuzzy_list import FuzzyList, FuzzyRow
from hermes_tui.widgets.hint_line import HintLine

from .modal import Modal

_NONE = "No rules yet: answer a request with \u201calways\u201d."
_HINTS = {
    "list": (("enter", "edit"), ("ctrl+d", "delete"), ("\u2191\u2193", "move"), ("esc", "close")),
    "edit": (("enter", "save"), ("esc", "back")),
}
_GROUPS = {"allow": "Allowed", "deny": "Denied", "deny_path": "Denied paths"}


class RulesScreen(Modal[None]):
    """Lists the rules, edits and deletes them.

    Args:
        engine: Where the rules are kept.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "rules.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "back", "Back", show=False, priority=True),
        Binding("delete,ctrl+d", "forget", "Delete", show=False, priority=True),
    ]

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._rules: list[AllowRuleRow] = []
        self._edited: AllowRuleRow | None = None

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical(classes="dialog", id="rules") as dialog:
            dialog.border_title = "Approval rules"
            yield FuzzyList(placeholder="Type to filter", empty="No rule fits.")
            yield Static(_NONE, id="none", classes="note", markup=False)
            yield Horizontal(Static("\u203a", classes="prompt", markup=False), Field(id="rule"), classes="field-row")
            yield HintLine(_HINTS["list"])

    def on_mount(self) -> None:
        """Ask for the rules."""
        self._load()

    def _load(self) -> None:
        self.ask("rules", self._engine.list_rules, self._show)

    def _show(self, rules: Sequence[AllowRuleRow]) -> None:
        self._rules = list(rules)
        rows = [
            FuzzyRow(str(number), rule.rule, rule.scope, _hits(rule.hits), _GROUPS[rule.kind])
            for number, rule in enumerate(self._rules)
        ]
        self.query_one("#none").display = not rows
        self.query_one(FuzzyList).set_rows(rows)

    @on(FuzzyList.Picked)
    def _picked(self, event: FuzzyList.Picked) -> None:
        """Edit the rule under the cursor."""
        if event.row is not None:
            self._edited = self._rules[int(event.row.id)]
            field = self.query_one("#rule", Field)
            field.value = self._edited.rule
            field.cursor_position = len(field.value)
            self._show_mode()
            field.focus()

    def _show_mode(self) -> None:
        self.query_one("#rules").set_class(self._edited is not None, "-edit")
        self.query_one(HintLine).set_hints(_HINTS["edit" if self._edited is not None else "list"])

    @on(Field.Submitted, "#rule")
    def _submitted(self, event: Field.Submitted) -> None:
        event.stop()
        rule, text = self._edited, event.value.strip()
        if rule is not None:
            self.ask("edit", lambda: self._engine.change_rule(rule, text), lambda _: self._leave_field(reload=True))

    def _leave_field(self, *, reload: bool = False) -> None:
        self._edited = None
        self._show_mode()
        self.query_one(FuzzyList).query_one(Field).focus()
        if reload:
            self._load()

    def action_back(self) -> None:
        """Leave the field, then the page."""
        if self._edited is not None:
            self._leave_field()
        else:
            self.finish(None)

    def action_forget(self) -> None:
        """Delete the rule under the cursor."""
        row = self.query_one(FuzzyList).view.current
        if row is not None and self._edited is None:
            rule = self._rules[int(row.id)]
            self.ask("forget", lambda: self._engine.delete_rule(rule), lambda _: self._load())


def _hits(count: int) -> str:
    return "never used" if not count else f"used {count} time{'s' * (count != 1)}"
