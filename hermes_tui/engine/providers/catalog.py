"""The providers that are shipped, as data. Users add and change them under ``[providers.NAME]``.

Quirks are words that the API modes understand:

``max_completion_tokens``  the output cap has this name
``short_ids``              tool-call ids must be nine letters and digits
``echo_reasoning``         an assistant row with tool calls must carry its ``reasoning_content`` again
``reasoning_details``      opaque reasoning comes and goes as ``reasoning_details``
``reasoning_object``       the effort is ``{"reasoning": {"effort": ...}}``
``no_stream_options``      ``stream_options`` is an error
``local``                  runs on this machine and needs no key
"""

from __future__ import annotations

from dataclasses import dataclass

from .base import ApiMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider."""

    name: str
    title: str
    base_url: str
    key_envs: tuple[str, ...] = ()
    """Environment variables that may hold the key, best first."""
    base_url_env: str = ""
    """Environment variable that replaces the base URL."""
    key_url: str = ""
    """Where a person gets a key."""
    api_mode: ApiMode | None = None
    """None decides by base URL and model."""
    port: int = 0
    """Where its server listens on this machine; 0 for hosted ones."""
    quirks: frozenset[str] = frozenset()
    models: tuple[str, ...] = ()
    """Suggestions for the picker, best first."""
    price_id: str = ""
    """Name in the price table, where it is another."""

    @property
    def is_local(self) -> bool:
        """True when it runs on this machine and needs no key."""
        return "local" in self.quirks


def _hosted(name: str, title: str, base_url: str, key_env: str, key_url: str, **more: object) -> Provider:
    return Provider(name=name, title=title, base_url=base_url, key_envs=(key_env,), key_url=key_url, **more)  # type: ignore[arg-type]


def _local(name: str, title: str, port: int, base_url_env: str = "") -> Provider:
    return Provider(
        name=name,
        title=title,
        base_url=f"http://127.0.0.1:{port}/v1",
        base_url_env=base_url_env,
        port=port,
        quirks=frozenset({"local"}),
    )


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        _hosted(
            "anthropic",
            "Anthropic",
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            "https://console.anthropic.com/settings/keys",
            base_url_env="ANTHROPIC_BASE_URL",
            api_mode="anthropic_messages",
            models=("claude-sonnet-4-6", "claude-opus-4-6", "claude-haiku-4-5"),
        ),
        _hosted(
            "openai",
            "OpenAI",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            "https://platform.openai.com/api-keys",
            base_url_env="OPENAI_BASE_URL",
            quirks=frozenset({"max_completion_tokens"}),
            models=("gpt-5.2", "gpt-5-mini", "gpt-4.1"),
        ),
        _hosted(
            "openrouter",
            "OpenRouter",
            "https://openrouter.ai/api/v1",
            "OPENROUTER_API_KEY",
            "https://openrouter.ai/keys",
            quirks=frozenset({"reasoning_details", "reasoning_object"}),
            models=("anthropic/claude-sonnet-4.6", "openai/gpt-5.2", "deepseek/deepseek-v3.2"),
        ),
        Provider(
            name="gemini",
            title="Google Gemini",
            base_url="https://generativelanguage.googleapis.com/v1beta/openai",
            key_envs=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            key_url="https://aistudio.google.com/apikey",
            models=("gemini-3-pro-preview", "gemini-2.5-flash"),
            price_id="google",
        ),
        _hosted(
            "deepseek",
            "DeepSeek",
            "https://api.deepseek.com/v1",
            "DEEPSEEK_API_KEY",
            "https://platform.deepseek.com/api_keys",
            quirks=frozenset({"echo_reasoning"}),
            models=("deepseek-chat", "deepseek-reasoner"),
        ),
        _hosted(
            "groq",
            "Groq",
            "https://api.groq.com/openai/v1",
            "GROQ_API_KEY",
            "https://console.groq.com/keys",
            models=("openai/gpt-oss-120b", "moonshotai/kimi-k2-instruct"),
        ),
        _hosted(
            "xai",
            "xAI",
            "https://api.x.ai/v1",
            "XAI_API_KEY",
            "https://console.x.ai",
            models=("grok-4", "grok-code-fast-1"),
            price_id="x-ai",
        ),
        _hosted(
            "mistral",
            "Mistral",
            "https://api.mistral.ai/v1",
            "MISTRAL_API_KEY",
            "https://console.mistral.ai/api-keys",
            quirks=frozenset({"short_ids"}),
            models=("mistral-large-latest", "devstral-medium-latest"),
        ),
        _hosted(
            "together",
            "Together AI",
            "https://api.together.xyz/v1",
            "TOGETHER_API_KEY",
            "https://api.together.ai/settings/api-keys",
            models=("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", "moonshotai/Kimi-K2-Instruct"),
        ),
        _local("ollama", "Ollama", 11434, "OLLAMA_HOST"),
        _local("lmstudio", "LM Studio", 1234),
        _local("llamacpp", "llama.cpp", 8080),
        _local("vllm", "vLLM", 8000),
        Provider(
            name="demo",
            title="Demo (offline, scripted)",
            base_url="",
            api_mode="demo",
            quirks=frozenset({"local"}),
            models=("tour",),
        ),
    )
}
"""By name, in the order in which they are offered."""
