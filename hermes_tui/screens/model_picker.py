"""The model picker: all providers' models, what they hold and cost, and whether they can be used now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.engine.api import Engine
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.models import ModelRow
from hermes_tui.widgets.fuzzy_list import FuzzyList, FuzzyRow
from hermes_tui.widgets.hint_line import HintLine

from .modal import Modal


class ModelPickerScreen(Modal[str]):
    """Chooses a model. Result: ``provider/model``, or None.

    Args:
        engine: Where the models come from.
        current: The present model.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "model_picker.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c,ctrl+k", "back", "Back", show=False)]

    def __init__(self, engine: Engine, current: str = "") -> None:
        super().__init__()
        self._engine = engine
        self._current = current
        self._models: dict[str, ModelRow] = {}

    def compose(self) -> ComposeResult:
        """Lay out the list; it fills when the models are known."""
        with Vertical(classes="dialog", id="models") as dialog:
            dialog.border_title = "Choose a model"
            yield FuzzyList(
                placeholder="Type a name, or any provider/model", empty="Not listed. Enter uses it as typed."
            )
            yield Static("Looking up the models\u2026", id="why", classes="note", markup=False)
            yield HintLine((("enter", "use"), ("\u2191\u2193", "move"), ("esc", "cancel")))

    def on_mount(self) -> None:
        """Ask for the models."""
        self.ask("models", self._engine.list_models, self._show_models, self._cannot_list)

    def action_back(self) -> None:
        """Keep the present model."""
        self.finish(None)

    def _show_models(self, models: Sequence[ModelRow]) -> None:
        self._models = {model.id: model for model in models}
        self._say("")
        self.query_one(FuzzyList).set_rows([self._row(model) for model in models], self._current)

    def _cannot_list(self, error: HermesError) -> None:
        self._say(f"The models cannot be listed: {error} Type provider/model.", bad=True)

    def _row(self, model: ModelRow) -> FuzzyRow:
        facts = [window_words(model.context_window), "" if model.usable else model.note or "no key"]
        return FuzzyRow(
            model.id,
            model.name or model.id,
            ", ".join(fact for fact in facts if fact),
            price_words(model.input_usd_per_mtok, model.output_usd_per_mtok),
            model.provider,
            model.usable,
            "\u2713" if model.id == self._current else "",
        )

    @on(FuzzyList.Changed)
    def _explain(self, event: FuzzyList.Changed) -> None:
        """Say of the model under the cursor why it cannot be used."""
        model = self._models.get(event.row.id) if event.row is not None else None
        if model is not None:
            self._say("" if model.usable else _why_not(model), bad=not model.usable)

    @on(FuzzyList.Picked)
    def _picked(self, event: FuzzyList.Picked) -> None:
        typed = "".join(event.query.split())
        if event.row is None:
            if "/" in typed.strip("/"):
                self.finish(typed)
            elif typed:
                self._say("Write it as provider/model, for example openai/gpt-5.2.", bad=True)
        elif (model := self._models[event.row.id]).usable:
            self.finish(model.id)
        else:
            self._say(_why_not(model), bad=True)

    def _say(self, text: str, *, bad: bool = False) -> None:
        note = self.query_one("#why", Static)
        note.update(text)
        note.set_class(bad, "-error")


def _why_not(model: ModelRow) -> str:
    return f"{model.id} cannot be used: {model.note or 'no key for ' + model.provider}. /setup adds a key."


def window_words(tokens: int) -> str:
    """Return a context window as people say it: ``200k``, ``1M``."""
    if tokens <= 0:
        return ""
    unit = 1024 if tokens % 1024 == 0 else 1000
    if tokens >= unit * unit:
        return f"{tokens / unit / unit:.1f}".removesuffix(".0") + "M"
    return f"{round(tokens / unit)}k" if tokens >= unit else str(tokens)


def price_words(input_usd: float | None, output_usd: float | None) -> str:
    """Return prices per million tokens, in and out."""
    if input_usd is None or output_usd is None:
        return ""
    if input_usd == output_usd == 0:
        return "free"
    return f"${input_usd:g} / ${output_usd:g}"
