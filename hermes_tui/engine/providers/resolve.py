"""From a model's name to an endpoint: the one place that decides provider, URL, key and API mode. No network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import cast, get_args
from urllib.parse import urlsplit

from ..config.paths import find_paths
from ..config.secrets import FoundKey, Keys, clean
from ..config.settings import ModelFacts, ProviderSettings, Settings
from ..types.errors import AuthError, ConfigError
from .base import ApiMode, Endpoint
from .base_urls import for_mode, normalise
from .catalog import PROVIDERS, Provider
from .proxies import is_loopback

CUSTOM_KEY_ENV = "HERMES_TUI_API_KEY"
"""Variable with the key of an endpoint that is given by its URL alone."""
DEFAULT_WINDOW = 128_000
STALL_S, STALL_LOOPBACK_S = 180.0, 900.0
"""A model on this machine may read a long prompt for minutes before its first token."""

_RESPONSES_ONLY = re.compile(r"-pro(?:-|$)|codex|deep-research|computer-use")
"""Source: the model pages of OpenAI; these models have no chat-completions endpoint."""


def resolve(
    model: str,
    settings: Settings,
    env: Mapping[str, str],
    *,
    provider: str | None = None,
    api_mode: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    keys: Keys | None = None,
) -> Endpoint:
    """Return where and how to reach a model.

    Args:
        model: ``provider/model``, or a bare id for the given or configured provider; empty takes the configured one.
        settings: For ``model`` and ``[providers]``.
        env: For keys and base URLs.
        provider: Overrides the provider in ``model``.
        api_mode: Overrides what provider and URL say.
        base_url: Overrides the provider's URL.
        api_key: Overrides every other key.
        keys: Where keys are looked for; made from ``env`` when omitted. Blocks when a key comes from a command.

    Raises:
        ConfigError: The model, provider, URL or mode makes no sense.
        AuthError: The provider needs a key and there is none.
    """
    name, wire_model = _split(model.strip(), settings, env, provider, base_url)
    own = settings.providers.get(name, ProviderSettings())
    known = provider_named(name, settings)
    if known.api_mode == "demo":
        return Endpoint(provider=name, model=wire_model, api_mode="demo", base_url="", context_window=DEFAULT_WINDOW)
    facts = own.models.get(wire_model, ModelFacts())
    url = _url(known, own, env, base_url)
    mode = _mode(api_mode or facts.api_mode or own.api_mode, known, url, wire_model)
    key = _key(known, own, api_key, keys or Keys(env, find_paths(env)), is_loopback(url))
    return Endpoint(
        provider=name,
        model=wire_model,
        api_mode=mode,
        base_url=for_mode(url, mode),
        api_key=key.values[0],
        key_source=key.source,
        spare_keys=key.values[1:],
        context_window=facts.context_window or DEFAULT_WINDOW,
        headers=own.headers,
        quirks=known.quirks,
        timeout_s=STALL_LOOPBACK_S if is_loopback(url) else STALL_S,
    )


def provider_named(name: str, settings: Settings) -> Provider:
    """Return a provider: shipped, changed by the user, or the user's own."""
    own = settings.providers.get(name)
    known = PROVIDERS.get(name) or Provider(name=name, title=name, base_url="", key_envs=_custom_key_envs(name))
    if own is None:
        return known
    key_envs = (own.api_key_env, *known.key_envs) if own.api_key_env else known.key_envs
    models = (*own.models, *(model for model in known.models if model not in own.models))
    return replace(
        known,
        base_url=own.base_url or known.base_url,
        key_envs=key_envs,
        models=models,
        quirks=known.quirks | frozenset(own.quirks),
    )


def provider_names(settings: Settings) -> list[str]:
    """Return all providers' names: the user's own first, then the shipped ones."""
    return [*(name for name in settings.providers if name not in PROVIDERS), *PROVIDERS]


def _custom_key_envs(name: str) -> tuple[str, ...]:
    return (CUSTOM_KEY_ENV,) if name == "custom" else ()


def _split(
    model: str, settings: Settings, env: Mapping[str, str], provider: str | None, base_url: str | None
) -> tuple[str, str]:
    """Return provider and wire model."""
    names = provider_names(settings)
    head, _, rest = model.partition("/")
    if provider:
        if provider not in names and not base_url:
            raise _unknown_provider(provider, names)
        model = rest if head == provider and rest else model
        return provider, model or _first_model(provider, settings)
    if not model:
        if not settings.model:
            raise ConfigError("No model is chosen.", hint='Choose one with /model, or set model = "provider/model".')
        return _split(settings.model, replace(settings, model=""), env, None, base_url)
    if head in names:
        return head, rest or _first_model(head, settings)
    if base_url:
        return "custom", rest if head == "custom" and rest else model
    if head == "custom" and rest:
        raise ConfigError(
            f"The address of {model} is not known any more.",
            hint="Start with --base-url URL again, or keep it as base_url under [providers.custom].",
        )
    configured = settings.model.partition("/")[0]
    if configured in names and settings.model != model:
        return configured, model
    for name in names:
        if model in provider_named(name, settings).models:
            return name, model
    if env.get("OPENAI_BASE_URL", "").strip():
        return "openai", model
    raise ConfigError(
        f"Which provider has the model {model}?", hint=f"Write provider/model. Providers: {', '.join(names)}."
    )


def _first_model(provider: str, settings: Settings) -> str:
    models = provider_named(provider, settings).models
    if not models:
        raise ConfigError(f"Which model of {provider}?", hint=f"Write {provider}/model, or choose one with /model.")
    return models[0]


def _unknown_provider(name: str, names: list[str]) -> ConfigError:
    hint = f"Known: {', '.join(names)}. Others need base_url under [providers.{name}]."
    return ConfigError(f"There is no provider {name}.", hint=hint)


def _url(known: Provider, own: ProviderSettings, env: Mapping[str, str], explicit: str | None) -> str:
    from_env = env.get(known.base_url_env, "") if known.base_url_env else ""
    for text, source in (
        (explicit, "--base-url"),
        (own.base_url, f"providers.{known.name}.base_url"),
        (from_env, known.base_url_env),
        (known.base_url, f"providers.{known.name}.base_url"),
    ):
        if text and text.strip():
            return normalise(text, source)
    raise ConfigError(f"{known.name} has no base_url.", hint=f"Set base_url under [providers.{known.name}].")


def _mode(wanted: str, known: Provider, url: str, model: str) -> ApiMode:
    if wanted and wanted not in get_args(ApiMode):
        modes = ", ".join(mode for mode in get_args(ApiMode) if mode != "demo")
        raise ConfigError(f"There is no API mode {wanted}.", hint=f"Use one of: {modes}.")
    if wanted:
        return cast(ApiMode, wanted)
    if known.api_mode:
        return known.api_mode
    parts = urlsplit(url)
    if parts.hostname == "api.anthropic.com" or parts.path.removesuffix("/v1").endswith("/anthropic"):
        return "anthropic_messages"
    if parts.hostname == "api.openai.com" and _RESPONSES_ONLY.search(model):
        return "codex_responses"
    return "chat_completions"


def _key(known: Provider, own: ProviderSettings, explicit: str | None, keys: Keys, needs_none: bool) -> FoundKey:
    if explicit and (value := clean(explicit, "the given key")):
        return FoundKey(value, "the given key")
    found = keys.find(known.name, own, known.key_envs)
    if found:
        return found
    if needs_none or known.is_local:
        return FoundKey("", "")
    wanted = known.key_envs[0] if known.key_envs else f"api_key_env under [providers.{known.name}]"
    page = f" Get one at {known.key_url}." if known.key_url else ""
    raise AuthError(f"There is no key for {known.title}.", hint=f"Set {wanted}, or run /setup.{page}")
