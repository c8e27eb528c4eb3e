"""The stored approval rules: what they allow or deny, where, and how often they decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.types import CSSPathType

from hermes_tui.engine.api import AllowRuleRow, Engine
from hermes_tui.widgets.fuzzy_list import FuzzyList, FuzzyRow
from hermes_tui.widgets.hint_line import HintLine

from .modal import Modal

_GROUPS = {"allow": "Allowed", "deny": "Denied", "deny_path": "Denied paths"}


class RulesScreen(Modal[None]):
    """Lists the rules and deletes them.

    Args:
        engine: Where the rules are kept.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "rules.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "back", "Back", show=False),
        Binding("delete,ctrl+d", "forget", "Delete", show=False, priority=True),
    ]

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._rules: list[AllowRuleRow] = []

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical(classes="dialog", id="rules") as dialog:
            dialog.border_title = "Approval rules"
            yield FuzzyList(placeholder="Type to filter", empty="No rule fits.")
            yield HintLine((("ctrl+d", "delete"), ("\u2191\u2193", "move"), ("esc", "close")))

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
        self.query_one("#rules").border_subtitle = "" if rows else "No rules yet: answer a request with 'always'."
        self.query_one(FuzzyList).set_rows(rows)

    def action_back(self) -> None:
        """Leave."""
        self.finish(None)

    def action_forget(self) -> None:
        """Delete the rule under the cursor."""
        row = self.query_one(FuzzyList).view.current
        if row is not None:
            rule = self._rules[int(row.id)]
            self.ask("forget", lambda: self._engine.delete_rule(rule), lambda _: self._load())


def _hits(count: int) -> str:
    return "never used" if not count else f"used {count} time{'s' * (count != 1)}"
