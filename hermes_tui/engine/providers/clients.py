"""The table of API modes, and the one transport they share."""

from __future__ import annotations

from collections.abc import Mapping

from ..types.errors import ConfigError, HermesError
from .anthropic_messages import AnthropicMessages
from .base import Endpoint, ProviderClient
from .chat_completions import ChatCompletions
from .demo import DemoClient
from .responses import Responses
from .transport import Transport

_SDKS = {"chat_completions": "openai", "codex_responses": "openai", "anthropic_messages": "anthropic"}


class ProviderClients:
    """All API modes; keeps connections between requests. One per process; usable from any thread.

    Args:
        env: The environment, for explaining proxies.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._transport = Transport(env)
        self._by_mode: dict[str, ProviderClient] = {
            "chat_completions": ChatCompletions(self._transport),
            "codex_responses": Responses(self._transport),
            "anthropic_messages": AnthropicMessages(self._transport),
            "demo": DemoClient(),
        }

    def client_for(self, api_mode: str) -> ProviderClient:
        """Return the client of an API mode.

        Raises:
            ConfigError: There is no such mode.
        """
        try:
            return self._by_mode[api_mode]
        except KeyError as error:
            hint = f"Use one of: {', '.join(self._by_mode)}."
            raise ConfigError(f"There is no API mode {api_mode}.", hint=hint) from error

    def warm_up(self, endpoint: Endpoint) -> None:
        """Import the SDK and make a client, so that the first request does not wait. Blocks; call it from a thread.

        What goes wrong here is told when a request is made.
        """
        sdk = _SDKS.get(endpoint.api_mode)
        if sdk is None:
            return
        try:
            self._transport.warm_up(sdk, endpoint)
        except HermesError:
            return

    def close(self) -> None:
        """Close the idle connections."""
        self._transport.close()
