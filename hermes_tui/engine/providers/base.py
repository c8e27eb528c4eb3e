"""The port between the loop and an API mode.

A provider adapter translates: neutral request -> wire, wire events -> neutral deltas. No retries, prompts, storage or
policy here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from ..types.deltas import StreamDelta
from ..types.messages import ApiMessage, JsonObject

ApiMode: TypeAlias = Literal["chat_completions", "codex_responses", "anthropic_messages", "demo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where and how to reach one model; made by ``resolve.py`` only."""

    provider: str
    model: str
    """The id that goes on the wire, without the provider's name."""
    api_mode: ApiMode
    base_url: str
    api_key: str = ""
    key_source: str = ""
    """Where the key came from, for messages: ``OPENAI_API_KEY``, ``credentials file``, ..."""
    spare_keys: tuple[str, ...] = field(default=(), repr=False)
    """Further keys for the same endpoint, in order."""
    context_window: int = 128_000
    headers: Mapping[str, str] = field(default_factory=dict)
    quirks: frozenset[str] = frozenset()
    timeout_s: float = 180.0
    """Longest silence before the stream counts as stalled."""

    @property
    def id(self) -> str:
        """``provider/model``."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request, independent of the API that carries it."""

    endpoint: Endpoint
    messages: Sequence[ApiMessage]
    tools: Sequence[JsonObject] = ()
    """OpenAI-style ``{"type": "function", "function": {...}}``."""
    max_tokens: int | None = None
    reasoning_effort: str = ""
    """Empty leaves it to the provider."""
    stream: bool = True
    session_id: str = ""
    cache_marks: tuple[int, ...] = ()
    """Positions of messages up to which the prompt may be cached; only some APIs want to be told."""
    cache_ttl: str = "5m"
    """How long: ``5m`` or ``1h``."""


class StreamControl(Protocol):
    """Lets the caller end a request from another thread."""

    def on_open(self, close: Callable[[], None]) -> None:
        """Called by the adapter as soon as there is something to close."""
        ...

    def received(self, data: bytes) -> None:
        """Called by the adapter for each read that brought bytes, also when they hold no delta (comments, pings)."""
        ...


class ProviderClient(Protocol):
    """One API mode. Stateless between calls, usable from any thread."""

    def wire(self, request: ModelRequest) -> tuple[str, JsonObject] | None:
        """Return the URL and the exact JSON that the request is sent as; None when nothing goes over a wire."""
        ...

    def stream(self, request: ModelRequest, control: StreamControl) -> Iterator[StreamDelta]:
        """Send the request and yield deltas as they arrive; blocks between them.

        Raises:
            ProviderError: Classified by ``classify.py``. A stream that ends without the provider's end mark raises
                ``StreamBroken``.
        """
        ...
