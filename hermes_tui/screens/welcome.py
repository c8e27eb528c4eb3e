"""The first run: find a model that answers, or try the demo.

Steps: choose a provider, enter its key if it has none, choose a model, test it with one token. Every error is a
sentence and leaves the person where they can mend it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.types import CSSPathType
from textual.widgets import Static

from hermes_tui.engine.api import Engine
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.models import ConnectionCheck, ModelRow, ProviderRow
from hermes_tui.widgets.field import Field, odd_character
from hermes_tui.widgets.fuzzy_list import FuzzyList, FuzzyRow
from hermes_tui.widgets.hint_line import Hint, HintLine

from .modal import Modal

_STATES = {"ready": ("\u2713", ""), "no_key": ("", "needs a key"), "not_running": ("", "not running")}
_ORDER = ("ready", "no_key", "not_running")
_GROUPS = {"ready": "Ready to use", "no_key": "With an API key", "not_running": "Local servers, not running"}
_HINTS: dict[str, tuple[Hint, ...]] = {
    "provider": (("enter", "choose"), ("d", "try the demo"), ("ctrl+r", "look again"), ("esc", "skip")),
    "key": (("enter", "save the key"), ("esc", "back")),
    "model": (("enter", "test it"), ("esc", "back")),
    "test": (("esc", "cancel"),),
}
_DEMO = "demo"


@dataclass(frozen=True, slots=True)
class WelcomeChoice:
    """How the person wants to begin."""

    action: Literal["demo", "model", "skip"]
    model: str = ""
    """``provider/model`` that was tested, with ``model``."""


class WelcomeScreen(Modal[WelcomeChoice]):
    """Helps to connect a model. Result: a :class:`WelcomeChoice`.

    Args:
        engine: None until it is ready; :meth:`set_engine` hands it in.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "welcome.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("ctrl+c", "skip", "Skip", show=False, priority=True),
        Binding("ctrl+d", "demo", "Try the demo", show=False, priority=True),
        Binding("ctrl+r", "again", "Look again", show=False),
    ]

    def __init__(self, engine: Engine | None = None) -> None:
        super().__init__()
        self._engine = engine
        self._step: Literal["provider", "key", "model", "test"] = "provider"
        self._providers: list[ProviderRow] = []
        self._provider: ProviderRow | None = None
        self._model = ""

    def compose(self) -> ComposeResult:
        """Lay out all steps; one is visible."""
        with Vertical(classes="dialog", id="welcome") as dialog:
            dialog.border_title = "Welcome to hermes-tui"
            yield Static("", id="lead", markup=False)
            yield Static("", id="said", classes="note", markup=False)
            yield FuzzyList(placeholder="Type to search", empty="Nothing fits.", id="list")
            yield Field(placeholder="The key; it is not shown", secret=True, id="key")
            yield HintLine()

    def on_mount(self) -> None:
        """Begin with the providers."""
        self._go("provider")
        self._look()

    def set_engine(self, engine: Engine) -> None:
        """Take the engine once it is ready."""
        self._engine = engine
        if self.is_mounted:
            self._look()

    # Steps

    def _go(self, step: Literal["provider", "key", "model", "test"]) -> None:
        self._step = step
        leads = {
            "provider": "Choose where answers come from. d starts the demo.",
            "key": f"Paste the API key for {self._provider_title}. It stays on this machine.",
            "model": f"Choose a model of {self._provider_title}. One token tests it.",
            "test": f"Asking {self._model} for one token\u2026",
        }
        self.query_one("#lead", Static).update(leads[step])
        dialog = self.query_one("#welcome")
        for name in _HINTS:
            dialog.set_class(name == step, f"-{name}")
        self.query_one(HintLine).set_hints(_HINTS[step])
        if step == "key":
            self.query_one("#key", Field).focus()
        elif step == "model":
            self.query_one("#list Field", Field).focus()
        elif step == "provider":
            self.query_one("#list", FuzzyList).view.focus()

    @property
    def _provider_title(self) -> str:
        return (self._provider.title or self._provider.name) if self._provider else ""

    def _say(self, text: str, kind: Literal["", "error", "good"] = "") -> None:
        note = self.query_one("#said", Static)
        note.update(text)
        note.display = bool(text)
        note.set_class(kind == "error", "-error")
        note.set_class(kind == "good", "-good")

    def _look(self) -> None:
        """Find keys and local servers."""
        if self._engine is None:
            self._say("Starting\u2026")
            return
        self._say("Looking for keys and local servers\u2026")
        self.ask("providers", self._engine.list_providers, self._show_providers, self._failed)

    def _failed(self, error: HermesError) -> None:
        self._say(str(error), "error")

    def _show_providers(self, providers: Sequence[ProviderRow]) -> None:
        self._providers = sorted(providers, key=lambda row: _ORDER.index(row.state))
        ready = [row for row in self._providers if row.state == "ready" and row.name != _DEMO]
        found = f"Found {_names(ready)}." if ready else "No key and no local server was found."
        self._say(found, "good" if ready else "")
        if self._step == "provider":
            self._list_providers()

    def _list_providers(self) -> None:
        rows = [
            FuzzyRow(
                row.name,
                row.title or row.name,
                _provider_note(row),
                "",
                _GROUPS[row.state],
                True,
                _STATES[row.state][0],
            )
            for row in self._providers
            if row.name != _DEMO
        ]
        rows.append(FuzzyRow(_DEMO, "Try the demo", "offline, nothing to set up", "d", "Just look around"))
        self._fill(rows)

    def _fill(self, rows: Sequence[FuzzyRow]) -> None:
        view = self.query_one("#list", FuzzyList)
        view.query_one(Field).value = ""
        view.set_rows(rows)

    @on(FuzzyList.Picked, "#list")
    def _picked(self, event: FuzzyList.Picked) -> None:
        if self._step == "model":
            typed = "".join(event.query.split())
            if event.row is not None or typed:
                self._test(event.row.id if event.row is not None else f"{self._provider_name}/{typed}")
        elif event.row is not None and self._step == "provider":
            self._choose_provider(event.row.id)

    @property
    def _provider_name(self) -> str:
        return self._provider.name if self._provider else ""

    def _choose_provider(self, name: str) -> None:
        if name == _DEMO:
            self.action_demo()
            return
        self._provider = next(row for row in self._providers if row.name == name)
        if self._provider.state == "not_running":
            self._say(f"Nothing answers at {self._provider.base_url}. Start the server, then ctrl+r.", "error")
        elif self._provider.state == "no_key":
            self._say(f"Or set {self._provider.key_env} and start again." if self._provider.key_env else "")
            self._go("key")
        else:
            self._list_models()

    # The key

    @on(Field.Submitted, "#key")
    def _key_entered(self, event: Field.Submitted) -> None:
        event.stop()
        key = event.value.strip()
        engine, name = self._engine, self._provider_name
        problem = odd_character(key)
        if problem or engine is None:
            self._say(problem, "error")
            return
        self.ask("key", lambda: engine.save_api_key(name, key), self._key_saved, self._failed)

    def _key_saved(self, where: str) -> None:
        self.query_one("#key", Field).value = ""
        if self._provider is not None:
            self._providers = [_with_key(row) if row.name == self._provider.name else row for row in self._providers]
        self._say(f"Saved in {where}.", "good")
        self._list_models(keep_note=True)

    # The model

    def _list_models(self, *, keep_note: bool = False) -> None:
        engine, name = self._engine, self._provider_name
        if engine is None:
            return
        self._go("model")
        if not keep_note:
            self._say("")
        seen = self._provider.models if self._provider else ()
        self._fill([FuzzyRow(f"{name}/{model}", model) for model in seen])
        self.ask("models", engine.list_models, self._show_models, self._failed)

    def _show_models(self, models: Sequence[ModelRow]) -> None:
        """Join what the catalogue knows with what the endpoint itself said."""
        from .model_picker import price_words, window_words

        name = self._provider_name
        known = {model.id: model for model in models if model.provider == name}
        seen = self._provider.models if self._provider else ()
        ids = list(dict.fromkeys([f"{name}/{model}" for model in seen] + list(known)))
        rows = []
        for model_id in ids:
            model = known.get(model_id)
            window = window_words(model.context_window) if model else ""
            price = price_words(model.input_usd_per_mtok, model.output_usd_per_mtok) if model else ""
            rows.append(FuzzyRow(model_id, model_id.partition("/")[2], window, price))
        if self._step == "model":
            self._fill(rows)
            if not rows:
                self._say("No model is known here: type its name.")

    # The test

    def _test(self, model: str) -> None:
        engine = self._engine
        if engine is None:
            return
        self._model = model
        self._say("")
        self._go("test")
        self.set_focus(None)
        self.ask("check", lambda: engine.check_model(model), self._tested, self._test_failed)

    def _tested(self, check: ConnectionCheck) -> None:
        if check.ok:
            self.finish(WelcomeChoice("model", self._model))
            return
        self._say(f"{check.text} {check.hint}".strip(), "error")
        self._go("model")

    def _test_failed(self, error: HermesError) -> None:
        self._say(str(error), "error")
        self._go("model")

    # Keys

    def on_key(self, event: events.Key) -> None:
        """Among the providers ``d`` begins the demo; other letters search."""
        view = self.query_one("#list", FuzzyList)
        if self._step != "provider" or not view.view.has_focus or not event.character or not event.is_printable:
            return
        event.stop()
        event.prevent_default()
        if event.key == "d":
            self.action_demo()
        else:
            field = view.query_one(Field)
            field.focus()
            field.insert_text_at_cursor(event.character)

    def action_back(self) -> None:
        """One step back; from the first one, skip."""
        if self._step == "provider":
            self.action_skip()
            return
        self.forget("check")
        self.query_one("#key", Field).value = ""
        self._say("")
        if self._step == "test":
            self._go("model")
        else:
            self._go("provider")
            self._list_providers()

    def action_skip(self) -> None:
        """Go to the chat without a model."""
        self.finish(WelcomeChoice("skip"))

    def action_demo(self) -> None:
        """Begin the demo."""
        self.finish(WelcomeChoice("demo"))

    def action_again(self) -> None:
        """Look for keys and servers again."""
        if self._step == "provider":
            self._look()


def _with_key(row: ProviderRow) -> ProviderRow:
    from dataclasses import replace

    return replace(row, state="ready")


def _names(rows: Sequence[ProviderRow]) -> str:
    names = [row.title or row.name for row in rows]
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def _provider_note(row: ProviderRow) -> str:
    if row.state == "ready":
        return f"key from {row.key_env}" if row.key_env else row.base_url
    return f"{_STATES[row.state][1]}: {row.key_env or row.base_url}"
