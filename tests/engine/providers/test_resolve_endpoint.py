"""One function says where a model is and how to talk to it."""

from __future__ import annotations

from typing import Any

import pytest

from hermes_tui.engine.config.settings import ModelFacts, ProviderSettings, Settings
from hermes_tui.engine.providers.base_urls import normalise
from hermes_tui.engine.providers.resolve import provider_named, provider_names, resolve
from hermes_tui.engine.types.errors import AuthError, ConfigError

KEYS = {
    "OPENAI_API_KEY": "sk-o",
    "ANTHROPIC_API_KEY": "sk-a",
    "OPENROUTER_API_KEY": "sk-or",
    "DEEPSEEK_API_KEY": "sk-d",
    "GOOGLE_API_KEY": "sk-g",
}
MINE = Settings(
    model="openrouter/qwen/qwen3",
    providers={
        "mine": ProviderSettings(
            base_url="http://127.0.0.1:8080",
            api_key_env="MY_KEY",
            headers={"X-Team": "a"},
            models={"big": ModelFacts(context_window=9_000, api_mode="codex_responses")},
        ),
        "far": ProviderSettings(base_url="https://llm.example/anthropic", api_key="sk-f"),
    },
)


CHAT, RESPONSES, MESSAGES = "chat_completions", "codex_responses", "anthropic_messages"
ROUTER, OPENAI, ANTHROPIC = "https://openrouter.ai/api/v1", "https://api.openai.com/v1", "https://api.anthropic.com"
GEMINI, LOCAL = "https://generativelanguage.googleapis.com/v1beta/openai", "http://127.0.0.1:8080/v1"


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        ("anthropic/claude-x", {}, ("anthropic", "claude-x", MESSAGES, ANTHROPIC, "sk-a")),
        ("openai/gpt-x", {}, ("openai", "gpt-x", CHAT, OPENAI, "sk-o")),
        ("openai/gpt-5.1-codex", {}, ("openai", "gpt-5.1-codex", RESPONSES, OPENAI, "sk-o")),
        ("openai/o3-pro", {}, ("openai", "o3-pro", RESPONSES, OPENAI, "sk-o")),
        ("openrouter/anthropic/claude-x", {}, ("openrouter", "anthropic/claude-x", CHAT, ROUTER, "sk-or")),
        ("gemini/g", {}, ("gemini", "g", CHAT, GEMINI, "sk-g")),
        ("ollama/llama3.2:1b", {}, ("ollama", "llama3.2:1b", CHAT, "http://127.0.0.1:11434/v1", "")),
        ("bare", {}, ("openrouter", "bare", CHAT, ROUTER, "sk-or")),
        ("meta/llama", {}, ("openrouter", "meta/llama", CHAT, ROUTER, "sk-or")),
        ("", {}, ("openrouter", "qwen/qwen3", CHAT, ROUTER, "sk-or")),
        ("mine/m", {}, ("mine", "m", CHAT, LOCAL, "sk-m")),
        ("mine/big", {}, ("mine", "big", RESPONSES, LOCAL, "sk-m")),
        ("far/m", {}, ("far", "m", MESSAGES, "https://llm.example/anthropic", "sk-f")),
        ("m", {"provider": "mine"}, ("mine", "m", CHAT, LOCAL, "sk-m")),
        ("mine/m", {"provider": "mine"}, ("mine", "m", CHAT, LOCAL, "sk-m")),
        ("m", {"base_url": "127.0.0.1:9"}, ("custom", "m", CHAT, "http://127.0.0.1:9/v1", "")),
        ("openai/m", {"base_url": "http://127.0.0.1:9"}, ("openai", "m", CHAT, "http://127.0.0.1:9/v1", "sk-o")),
        ("mine/m", {"api_mode": RESPONSES, "api_key": " k "}, ("mine", "m", RESPONSES, LOCAL, "k")),
        ("mine/m", {"api_mode": MESSAGES}, ("mine", "m", MESSAGES, "http://127.0.0.1:8080", "sk-m")),
        ("demo", {}, ("demo", "tour", "demo", "", "")),
    ],
)  # fmt: skip
def test_a_model_is_found(model: str, options: dict[str, str], expected: tuple[str, ...]) -> None:
    found = resolve(model, MINE, {**KEYS, "MY_KEY": "sk-m"}, **options)
    assert (found.provider, found.model, found.api_mode, found.base_url, found.api_key) == expected


def test_facts_headers_and_patience_come_along() -> None:
    found = resolve("mine/big", MINE, {"MY_KEY": "k"})
    assert (found.context_window, dict(found.headers), found.key_source) == (9_000, {"X-Team": "a"}, "MY_KEY")
    assert found.timeout_s == 900
    assert resolve("openai/x", MINE, KEYS).timeout_s == 180


def test_environment_variables_move_a_provider() -> None:
    found = resolve("openai/m", Settings(), {"OPENAI_BASE_URL": "http://127.0.0.1:7/v1/"})
    assert (found.base_url, found.api_key) == ("http://127.0.0.1:7/v1", "")
    bare = resolve("m", Settings(), {"OPENAI_BASE_URL": "http://127.0.0.1:7"})
    assert (bare.provider, bare.model) == ("openai", "m")
    assert resolve("ollama/m", Settings(), {"OLLAMA_HOST": "0.0.0.0:1234"}).base_url == "http://127.0.0.1:1234/v1"


@pytest.mark.parametrize("model", ["test-model", "org/test-model", "custom/test-model"])
def test_an_endpoint_found_again_by_its_id_asks_for_the_same_model(model: str) -> None:
    first = resolve(model, Settings(), KEYS, base_url="http://127.0.0.1:1/v1")
    again = resolve(first.id, Settings(), KEYS, base_url="http://127.0.0.1:1/v1")
    assert (again.provider, again.model) == (first.provider, first.model)
    assert first.model == model.removeprefix("custom/")


def test_a_suggested_model_needs_no_provider() -> None:
    assert resolve("claude-sonnet-4-6", Settings(), KEYS).provider == "anthropic"


@pytest.mark.parametrize(
    ("model", "settings", "options", "words"),
    [
        ("", Settings(), {}, ["No model is chosen", "/model"]),
        ("custom/m", Settings(model="openai/gpt-5"), {}, ["address of custom/m", "--base-url", "[providers.custom]"]),
        ("mystery", Settings(), {}, ["mystery", "provider/model", "openrouter"]),
        ("m", Settings(), {"provider": "nope"}, ["no provider nope", "[providers.nope]"]),
        ("ollama", Settings(), {}, ["Which model of ollama"]),
        ("openai/m", Settings(), {"api_mode": "soap"}, ["no API mode soap", "chat_completions"]),
        ("openai/m", Settings(), {"base_url": "ftp://x"}, ["--base-url", "ftp://x"]),
        ("a/m", Settings(providers={"a": ProviderSettings()}), {}, ["a has no base_url", "[providers.a]"]),
        ("a/m", Settings(providers={"a": ProviderSettings(base_url="http://a b")}), {}, ["providers.a.base_url"]),
        ("openai/m", Settings(), {"api_key": "s\u043a-x"}, ["position 2"]),
    ],
)
def test_what_makes_no_sense_is_said(model: str, settings: Settings, options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(model, settings, KEYS, **options)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("model", "words"),
    [("anthropic/x", ["ANTHROPIC_API_KEY", "console.anthropic.com"]), ("far2/x", ["[providers.far2]"])],
)
def test_a_missing_key_names_its_variable(model: str, words: list[str]) -> None:
    settings = Settings(providers={"far2": ProviderSettings(base_url="https://llm.example/v1")})
    with pytest.raises(AuthError) as caught:
        resolve(model, settings, {})
    for word in words:
        assert word in str(caught.value)


def test_the_users_providers_come_first_and_change_shipped_ones() -> None:
    settings = Settings(
        providers={
            "mine": ProviderSettings(base_url="http://x"),
            "openai": ProviderSettings(api_key_env="WORK_KEY", models={"special": ModelFacts()}, quirks=("short_ids",)),
        }
    )
    assert provider_names(settings)[:2] == ["mine", "anthropic"]
    openai = provider_named("openai", settings)
    assert openai.key_envs == ("WORK_KEY", "OPENAI_API_KEY")
    assert openai.models[0] == "special"
    assert openai.base_url == "https://api.openai.com/v1"
    assert openai.quirks == {"max_completion_tokens", "short_ids"}


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000//v1//", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1/chat/completions", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1/chat/completions/", "http://127.0.0.1:8000/v1"),
        ("https://h.example/api/v1/models", "https://h.example/api/v1"),
        ("https://h.example/v1/messages", "https://h.example/v1"),
        ("  'http://127.0.0.1:8000/v1' \n", "http://127.0.0.1:8000/v1"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("box.lan:8000", "http://box.lan:8000/v1"),
        ("api.h.example/v1", "https://api.h.example/v1"),
        ("http://0.0.0.0:8000", "http://127.0.0.1:8000/v1"),
        ("HTTP://H.example/V1", "http://H.example/V1"),
        ("http://[::1]:8000", "http://[::1]:8000/v1"),
    ],
)
def test_base_urls_are_normalised(text: str, url: str) -> None:
    assert normalise(text, "x") == url


@pytest.mark.parametrize(
    "text", ["ftp://h", "http://", "http://a b/v1", "http://h:port", "http://[::1", "http://h:99999"]
)
def test_what_is_no_url_is_explained(text: str) -> None:
    with pytest.raises(ConfigError, match=r"providers\.x\.base_url is not a URL"):
        normalise(text, "providers.x.base_url")
