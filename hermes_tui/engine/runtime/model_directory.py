"""The model half of the engine's face: providers and their keys, models, a test call, the app's own choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..config.choices import save_choice, set_config
from ..config.listing import list_settings
from ..config.loader import COMMAND_LINE, ENV_PREFIX, LoadedSettings
from ..config.secrets import Keys, save_api_key
from ..config.settings import ProviderSettings, Settings
from ..policy.trust import TrustStore, settings_in
from ..providers.base import Endpoint, ModelRequest, ProviderClient
from ..providers.catalog import Provider
from ..providers.discover import LocalServer, discover
from ..providers.resolve import provider_named, provider_names, resolve
from ..providers.windows import known_window, prices
from ..types.choices import AllowRuleRow, SettingRow
from ..types.errors import ConfigError, HermesError
from ..types.models import ConnectionCheck, ModelRow, ProviderRow
from .interrupt import CancelToken
from .rule_book import RuleBook

TEST_PROMPT = "Answer with the word ok."


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParts:
    """What the directory works with."""

    loaded: Callable[[], LoadedSettings]
    """The settings as they are now."""
    reload: Callable[[], LoadedSettings]
    """Reads them again."""
    trust: TrustStore
    env: Mapping[str, str]
    keys: Keys
    client_for: Callable[[str], ProviderClient]
    rules: RuleBook
    """The stored approval rules."""


class ModelDirectory:
    """Models and providers as a front end sees them. Every method may block.

    Args:
        parts: What it works with.
    """

    def __init__(self, parts: ModelParts) -> None:
        self._model_parts = parts

    @property
    def _settings(self) -> Settings:
        return self._model_parts.loaded().settings

    def list_providers(self, *, probe: bool = True) -> list[ProviderRow]:
        """All providers with their key state; ``probe`` looks for local servers (300 ms at most)."""
        found = {server.provider: server for server in discover(self._settings, self._model_parts.env)} if probe else {}
        rows = [self._provider_row(name, found.get(name)) for name in provider_names(self._settings)]
        order = {"ready": 0, "no_key": 1, "not_running": 2}
        return sorted(rows, key=lambda row: order[row.state])

    def _provider_row(self, name: str, server: LocalServer | None) -> ProviderRow:
        provider = provider_named(name, self._settings)
        return ProviderRow(
            name=name,
            title=provider.title,
            base_url=server.base_url if server else provider.base_url,
            key_env=provider.key_envs[0] if provider.key_envs and not provider.is_local and server is None else "",
            state="ready" if server or self._has_key(provider) else "not_running" if provider.is_local else "no_key",
            models=server.models if server else provider.models,
        )

    def _has_key(self, provider: Provider) -> bool:
        own = self._settings.providers.get(provider.name, ProviderSettings())
        if provider.api_mode == "demo":
            return True
        if provider.is_local:
            return False
        try:
            return self._model_parts.keys.find(provider.name, own, provider.key_envs) is not None
        except ConfigError:  # a key is there but unusable; the test call says why
            return True

    def list_models(self) -> list[ModelRow]:
        """All providers' models, usable ones first."""
        rows = [
            self._model_row(provider, name)
            for provider in self.list_providers()
            for name in provider.models
            if provider.state != "not_running"
        ]
        return sorted(rows, key=lambda row: not row.usable)

    def _model_row(self, provider: ProviderRow, name: str) -> ModelRow:
        price = prices(provider.name, name)
        own = self._settings.providers.get(provider.name, ProviderSettings()).models.get(name)
        return ModelRow(
            id=f"{provider.name}/{name}",
            provider=provider.name,
            name=name,
            context_window=(own.context_window if own else 0) or known_window(provider.name, name),
            input_usd_per_mtok=price.input_usd if price else None,
            output_usd_per_mtok=price.output_usd if price else None,
            usable=provider.state == "ready",
            note="" if provider.state == "ready" else f"needs {provider.key_env}",
        )

    def check_model(self, model: str, api_key: str = "") -> ConnectionCheck:
        """Make a one-token call and say in words how it went."""
        parts = self._model_parts
        try:
            endpoint = resolve(model, self._settings, parts.env, api_key=api_key or None, keys=parts.keys)
            self._ask_one_token(endpoint)
        except HermesError as error:
            return ConnectionCheck(ok=False, text=error.message, hint=error.hint)
        return ConnectionCheck(ok=True, text=f"{endpoint.id} answers.")

    def _ask_one_token(self, endpoint: Endpoint) -> None:
        request = ModelRequest(
            endpoint=endpoint, messages=[{"role": "user", "content": TEST_PROMPT}], max_tokens=16, stream=True
        )
        for _ in self._model_parts.client_for(endpoint.api_mode).stream(request, _NoControl()):
            pass

    def save_choice(self, key: str, value: str) -> None:
        """Remember one of the app's own choices in settings.toml."""
        save_choice(self._model_parts.loaded().paths, key, value)

    def save_api_key(self, provider: str, api_key: str) -> str:
        """Store a key in the system's keyring or the private credentials file, and return in which."""
        place = save_api_key(self._model_parts.loaded().paths, provider, api_key)
        self._model_parts.keys.forget(provider)
        return place

    def list_rules(self) -> list[AllowRuleRow]:
        """The approval rules in force."""
        return self._model_parts.rules.rows()

    def delete_rule(self, rule: AllowRuleRow) -> None:
        """Forget a stored rule."""
        self._model_parts.rules.change(rule, None)

    def change_rule(self, rule: AllowRuleRow, text: str) -> None:
        """Put another text in a rule's place."""
        self._model_parts.rules.change(rule, text.strip())

    def list_settings(self, folder: str = "") -> list[SettingRow]:
        """Every setting as it holds in a folder, and where it comes from."""
        parts = self._model_parts
        loaded, _ = settings_in(Path(folder or Path.home()), parts.reload(), parts.trust)
        return list_settings(loaded)

    def change_setting(self, key: str, text: str | None) -> str:
        """Write a setting into config.toml, or take it out; returns what came of it in words."""
        parts = self._model_parts
        paths = parts.loaded().paths
        backup = set_config(paths, key, text)
        if text is None:
            save_choice(paths, key, None)
        origin = parts.reload().origin_of(key)
        kept = f" The file as it was: {backup.name}." if backup.exists() else ""
        if origin == COMMAND_LINE or origin.startswith(ENV_PREFIX):
            return f"{key} is written to {paths.config_file.name}, but {origin} wins while it is set.{kept}"
        start = "the next start" if key.startswith("ui.") else "the next session (/new)"
        done = "back to its default" if text is None else f"set to {text or 'nothing'}"
        return f"{key} is {done}, from {start} on.{kept}"


class _NoControl:
    """A test call is short: nobody interrupts it."""

    token = CancelToken()

    def on_open(self, close: Callable[[], None]) -> None:
        """Nothing to do."""

    def received(self, data: bytes) -> None:
        """Nothing to do."""
