"""Servers on this machine are found by themselves; windows and prices come from the best source there is."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from typing import Any

import pytest
from support.model_server import ModelServer

from hermes_tui.engine.config.settings import ModelFacts, ProviderSettings, Settings
from hermes_tui.engine.providers.base import Endpoint
from hermes_tui.engine.providers.catalog import PROVIDERS
from hermes_tui.engine.providers.discover import LocalServer, discover
from hermes_tui.engine.providers.windows import cost_usd, known_window, prices, with_window
from hermes_tui.engine.types.usage import Usage

MODELS: list[dict[str, Any]] = [{"id": "qwen3", "object": "model"}, {"id": "smol", "meta": {"n_ctx": 8192}}]


def found_at(servers: list[LocalServer], name: str) -> LocalServer | None:
    return next((server for server in servers if server.provider == name), None)


def test_the_users_own_local_provider_is_found_with_its_models() -> None:
    with ModelServer(models=MODELS) as server:
        settings = Settings(providers={"mine": ProviderSettings(base_url=server.root_url)})
        found = found_at(discover(settings, {}), "mine")
    assert found == LocalServer("mine", server.base_url, ("qwen3", "smol"))


def test_a_server_named_by_a_variable_is_found() -> None:
    with ModelServer(models=MODELS) as server:
        found = discover(Settings(), {"OPENAI_BASE_URL": server.base_url, "OLLAMA_HOST": server.root_url})
    assert found_at(found, "openai") == LocalServer("openai", server.base_url, ("qwen3", "smol"))
    assert found_at(found, "ollama") == LocalServer("ollama", server.base_url, ("qwen3", "smol"))


def test_silent_and_foreign_servers_cost_no_more_than_the_budget() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, ModelServer(models=[]) as empty:
        settings = Settings(
            providers={
                "silent": ProviderSettings(base_url=f"http://127.0.0.1:{silent.getsockname()[1]}"),
                "empty": ProviderSettings(base_url=empty.base_url),
                "broken": ProviderSettings(base_url="http://a b"),
                "far": ProviderSettings(base_url="https://llm.example/v1"),
            }
        )
        begun = time.monotonic()
        found = discover(settings, {}, budget_s=0.2)
        spent = time.monotonic() - begun
    assert not {server.provider for server in found} & set(settings.providers)
    assert spent < 5, "a bound on hanging, not a measurement"


# ------------------------------------------------------------------------------------------------ windows and prices


def endpoint(provider: str, model: str, base_url: str = "https://llm.example/v1") -> Endpoint:
    return Endpoint(provider=provider, model=model, api_mode="chat_completions", base_url=base_url)


def test_the_window_in_the_configuration_wins() -> None:
    facts = {"gpt-5.2": ModelFacts(context_window=1234)}
    settings = Settings(providers={"openai": ProviderSettings(models=facts)})
    assert with_window(endpoint("openai", "gpt-5.2"), settings).context_window == 1234


def test_then_what_a_local_server_says_then_the_table_then_the_default() -> None:
    with ModelServer(models=MODELS) as server:
        assert with_window(endpoint("mine", "smol", server.base_url), Settings()).context_window == 8192
        assert with_window(endpoint("mine", "qwen3", server.base_url), Settings()).context_window == 128_000
    known = with_window(endpoint("openai", "gpt-5.2"), Settings()).context_window
    assert known == known_window("openai", "gpt-5.2") > 128_000
    assert with_window(endpoint("nobody", "x"), Settings()).context_window == 128_000


@pytest.mark.parametrize(
    ("provider", "path", "page"),
    [
        ("ollama", "/api/show", {"model_info": {"general.architecture": "llama", "llama.context_length": 40_960}}),
        ("llamacpp", "/props?model=x", {"default_generation_settings": {"n_ctx": 40_960}}),
    ],
)
def test_ollama_and_llamacpp_are_asked_in_their_own_way(provider: str, path: str, page: dict[str, Any]) -> None:
    with ModelServer(models=[{"id": "x"}], pages={path: page}) as server:
        assert with_window(endpoint(provider, "x", server.base_url), Settings()).context_window == 40_960


def test_cost_is_known_unknown_or_nothing_but_never_a_false_zero() -> None:
    usage = Usage(input_tokens=1_000, output_tokens=100)
    cost = cost_usd(endpoint("openai", "gpt-4.1"), usage)
    table = prices("openai", "gpt-4.1")
    assert cost is not None and table is not None
    assert cost == pytest.approx((1_000 * table.input_usd + 100 * table.output_usd) / 1_000_000)
    assert cost_usd(endpoint("nobody", "x"), usage) is None
    assert prices("nobody", "x") is None
    assert cost_usd(endpoint("ollama", "x", "http://127.0.0.1:1/v1"), usage) == 0.0
    assert cost_usd(replace(endpoint("demo", "tour", ""), api_mode="demo"), usage) == 0.0


def test_cached_input_costs_less() -> None:
    fresh = cost_usd(endpoint("openai", "gpt-4.1"), Usage(input_tokens=10_000))
    cached = cost_usd(endpoint("openai", "gpt-4.1"), Usage(cache_read_tokens=10_000))
    assert fresh is not None and cached is not None and cached < fresh


def test_every_shipped_provider_is_complete() -> None:
    for name, provider in PROVIDERS.items():
        assert name == provider.name and provider.title
        assert provider.is_local or (provider.key_envs and provider.key_url and provider.models), name
        assert provider.base_url or provider.api_mode == "demo", name
