"""Estimates of token counts, good enough to decide when a window fills up."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

from ..types.messages import JsonObject

IMAGE_TOKENS = 1_000
"""Source: what the vendors charge for a screenshot of about a megapixel."""
MIN_SHARE = 1 / 3
"""Tokens counted for each estimated one, at least. Source: prose comes to 0.8, code to 1.2, rows of blanks to 0.4."""
MIN_MISSING = 2_000
"""Tokens that a count may be too small by without a word: of a short text the share says little."""
MESSAGE_TOKENS = 4
"""Role and separators of one message. Source: OpenAI's counting recipe for chat models."""


def text_tokens(text: str) -> int:
    """Estimate a text: about four ASCII characters a token, about one token per CJK character.

    The UTF-8 length tells the two apart without looking at each character: CJK has two bytes more than characters.
    """
    if text.isascii():
        return (len(text) + 3) // 4
    wide = (len(text.encode("utf-8", "surrogatepass")) - len(text)) // 2
    return wide + (len(text) - wide + 3) // 4


def content_tokens(content: object) -> int:
    """Estimate a message's content, text or parts."""
    if isinstance(content, str):
        return text_tokens(content)
    if not isinstance(content, list):
        return 0
    return sum(_part_tokens(part) for part in content)


def message_tokens(message: Any) -> int:
    """Estimate one message as it is sent."""
    total = MESSAGE_TOKENS + content_tokens(message.get("api_content") or message.get("content"))
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            total += MESSAGE_TOKENS + text_tokens(f"{function.get('name')}{function.get('arguments')}")
    return total


def tool_tokens(tools: Sequence[JsonObject]) -> int:
    """Estimate the tool definitions of a request."""
    return text_tokens(json.dumps(list(tools), ensure_ascii=False)) if tools else 0


def _part_tokens(part: object) -> int:
    if not isinstance(part, dict):
        return text_tokens(str(part))
    return text_tokens(str(part.get("text", ""))) if part.get("type") == "text" else IMAGE_TOKENS


class RoleTokens:
    """Estimates of a history by who spoke; each row is looked at once. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._history: Sequence[Any] = ()
        self._count = 0
        self._sums: dict[str, int] = {}

    def of(self, history: Sequence[Any]) -> dict[str, int]:
        """Return the sums by role, ``summary`` for what stands for compressed messages.

        Args:
            history: Rows that only grow; another list is counted anew.
        """
        with self._lock:
            if history is not self._history:
                self._history, self._count, self._sums = history, 0, {}
            for row in history[self._count :]:
                group = "summary" if "compressed" in row else str(row.get("role"))
                self._sums[group] = self._sums.get(group, 0) + message_tokens(row)
                self._count += 1
            return dict(self._sums)


class Calibration:
    """Scales estimates by what the provider counted last time."""

    def __init__(self) -> None:
        self._factor = 1.0
        self._is_known = False

    @property
    def factor(self) -> float:
        """Tokens that the provider counts for each estimated one."""
        return self._factor

    def apply(self, estimate: int) -> int:
        """Return the estimate as the provider would probably count it."""
        return round(estimate * self._factor)

    def learn(self, estimate: int, counted: int) -> bool:
        """Remember how a request's raw estimate compares to the prompt tokens that the provider reported.

        False, and nothing is learnt, when the count is so small that a part of the request was not read: far below
        what any tokenizer makes of such a text, or below half of what this one made of the conversation before.
        """
        if estimate <= 0 or counted <= 0:
            return True
        share = counted / estimate
        if estimate - counted > MIN_MISSING and share < max(MIN_SHARE, self._factor / 2 if self._is_known else 0.0):
            return False
        self._factor, self._is_known = min(4.0, max(0.25, share)), True
        return True
