"""Makes the request for one endpoint: what it is known not to take is left out."""

from __future__ import annotations

from collections.abc import Sequence

from ..context.window import without_images, without_reasoning_blocks
from ..providers.base import Endpoint, ModelRequest
from ..types.messages import ApiMessage, JsonObject


def shaped(
    endpoint: Endpoint,
    messages: Sequence[ApiMessage],
    tools: Sequence[JsonObject] = (),
    *,
    max_tokens: int | None = None,
    reasoning_effort: str = "",
    session_id: str = "",
) -> ModelRequest:
    """Return the request; the quirks that concern the wire form alone are the adapter's."""
    quirks = endpoint.quirks
    if "no_images" in quirks:
        messages = without_images(messages)
    if "no_reasoning_blocks" in quirks:
        messages = without_reasoning_blocks(messages)
    return ModelRequest(
        endpoint=endpoint,
        messages=messages,
        tools=() if "no_tools" in quirks else tools,
        max_tokens=max_tokens,
        reasoning_effort="" if "no_reasoning" in quirks else reasoning_effort,
        stream="no_stream" not in quirks,
        session_id=session_id,
    )
