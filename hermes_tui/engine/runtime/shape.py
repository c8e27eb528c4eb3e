"""Makes the request for one endpoint: what it is known not to take is left out."""

from __future__ import annotations

from collections.abc import Sequence

from ..context.cache_plan import plan_cache
from ..context.window import without_images, without_reasoning_blocks
from ..providers.base import Endpoint, ModelRequest
from ..types.messages import ApiMessage, JsonObject

CACHE_TTLS = ("5m", "1h")


def shaped(
    endpoint: Endpoint,
    messages: Sequence[ApiMessage],
    tools: Sequence[JsonObject] = (),
    *,
    max_tokens: int | None = None,
    reasoning_effort: str = "",
    session_id: str = "",
    cache_ttl: str = "",
) -> ModelRequest:
    """Return the request; the quirks that concern the wire form alone are the adapter's.

    Args:
        endpoint: Where it goes.
        messages: The whole request.
        tools: Tool definitions.
        max_tokens: Output cap; None leaves it to the provider.
        reasoning_effort: Empty leaves it to the provider.
        session_id: Lets providers find what they cached.
        cache_ttl: ``5m`` or ``1h``; anything else marks nothing.
    """
    quirks = endpoint.quirks
    if "no_images" in quirks:
        messages = without_images(messages)
    if "no_reasoning_blocks" in quirks:
        messages = without_reasoning_blocks(messages)
    wants_marks = endpoint.api_mode == "anthropic_messages" and "no_cache_control" not in quirks
    marks = plan_cache(messages) if wants_marks and cache_ttl in CACHE_TTLS else ()
    return ModelRequest(
        endpoint=endpoint,
        messages=messages,
        tools=() if "no_tools" in quirks else tools,
        max_tokens=max_tokens,
        reasoning_effort="" if "no_reasoning" in quirks else reasoning_effort,
        stream="no_stream" not in quirks,
        session_id=session_id,
        cache_marks=marks,
        cache_ttl=cache_ttl,
    )
