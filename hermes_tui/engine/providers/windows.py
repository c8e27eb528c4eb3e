"""How much a model can read, and what it costs: facts from configuration, the endpoint, and the price table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote

from ..config.settings import ModelFacts, ProviderSettings, Settings
from ..types.usage import Usage
from .base import Endpoint
from .catalog import PROVIDERS
from .probe import fetch_json
from .proxies import is_loopback
from .resolve import DEFAULT_WINDOW

ASK_S = 2.0
_WINDOW_NAMES = ("context_length", "context_window", "max_model_len", "max_context_length", "n_ctx", "inputTokenLimit")


class Prices(NamedTuple):
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float


def with_window(endpoint: Endpoint, settings: Settings, *, ask: bool = True) -> Endpoint:
    """Return the endpoint with its real context window. Blocks: it may ask a local server and loads the price table.

    Configuration wins, then what the endpoint itself says (local ones only), then the price table, then 128,000.
    """
    own = settings.providers.get(endpoint.provider, ProviderSettings())
    window = own.models.get(endpoint.model, ModelFacts()).context_window
    if not window and ask and endpoint.base_url and is_loopback(endpoint.base_url):
        window = _asked(endpoint)
    window = window or known_window(endpoint.provider, endpoint.model) or DEFAULT_WINDOW
    return replace(endpoint, context_window=window)


def known_window(provider: str, model: str) -> int:
    """Return the price table's window, 0 when it has none. Loads the table (0.3 s) on first use."""
    found = _priced_model(provider, model)
    return int(getattr(found, "context_window", 0) or 0)


def prices(provider: str, model: str) -> Prices | None:
    """Return what a model costs, None when unknown. Loads the table on first use."""
    # A small request, because large ones may cost more per token.
    cost_in = _cost(provider, model, Usage(input_tokens=1_000))
    cost_out = _cost(provider, model, Usage(output_tokens=1_000))
    return None if cost_in is None or cost_out is None else Prices(cost_in * 1_000, cost_out * 1_000)


def cost_usd(endpoint: Endpoint, usage: Usage) -> float | None:
    """Return what a request cost, None when the price is unknown; 0.0 on this machine."""
    if endpoint.api_mode == "demo" or is_loopback(endpoint.base_url):
        return 0.0
    return _cost(endpoint.provider, endpoint.model, usage)


def _cost(provider: str, model: str, usage: Usage) -> float | None:
    from genai_prices import Usage as PricedUsage
    from genai_prices import calc_price

    # There the input count includes what the cache served and took.
    priced = PricedUsage(
        input_tokens=usage.prompt_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        return float(calc_price(priced, model, provider_id=_price_id(provider)).total_price)
    except (LookupError, ValueError, TypeError):
        return None


def _priced_model(provider: str, model: str) -> Any | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(model, None, _price_id(provider), None)
    except (LookupError, ValueError):
        return None
    return found


def _price_id(provider: str) -> str:
    known = PROVIDERS.get(provider)
    return (known.price_id if known else "") or provider


def _asked(endpoint: Endpoint) -> int:
    """Ask a local server: its list of models, llama.cpp's properties, or Ollama's ``show``."""
    base = endpoint.base_url
    root = base.removesuffix("/v1")
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    listing = fetch_json(f"{base}/models", ASK_S, headers)
    rows = listing.get("data") if isinstance(listing, dict) else None
    row = next((row for row in rows or () if isinstance(row, dict) and row.get("id") == endpoint.model), {})
    if window := _window_in(row):
        return window
    if endpoint.provider == "ollama":
        return _window_in(fetch_json(f"{root}/api/show", ASK_S, headers, {"model": endpoint.model}))
    if endpoint.provider == "llamacpp":
        return _window_in(fetch_json(f"{root}/props?model={quote(endpoint.model)}", ASK_S, headers))
    return 0


def _window_in(facts: object, depth: int = 0) -> int:
    """Return a window stated anywhere in nested facts; keys such as ``llama.context_length`` count."""
    if not isinstance(facts, Mapping) or depth > 3:
        return 0
    for name, value in facts.items():
        if str(name).rpartition(".")[2] in _WINDOW_NAMES and isinstance(value, int) and value > 0:
            return value
    return next((window for value in facts.values() if (window := _window_in(value, depth + 1))), 0)
