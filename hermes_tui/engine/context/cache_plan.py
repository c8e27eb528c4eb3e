"""Where a request says "up to here the prompt may be cached", for APIs that want to be told.

The marks move from request to request, the bytes between them do not: what is cached is found again by its content.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..types.messages import ApiMessage

MAX_MARKS = 4
"""Source: Anthropic's prompt caching page; a fifth mark is an error."""


def plan_cache(messages: Sequence[ApiMessage]) -> tuple[int, ...]:
    """Return the positions of the messages to mark: the system prompt, and the ends of the last three turns of speech.

    Tool results and the user's words that follow an assistant's row are one turn: they travel as one message.
    """
    ends = [
        place
        for place, message in enumerate(messages)
        if message["role"] != "system"
        and (place + 1 == len(messages) or _speaker(messages[place + 1]) != _speaker(message))
    ]
    system = [0] if messages and messages[0]["role"] == "system" else []
    return (*system, *ends[len(system) - MAX_MARKS :])


def _speaker(message: ApiMessage) -> str:
    return "assistant" if message["role"] == "assistant" else "user"
