"""Reasoning that a model writes inside its answer as ``<think>...</think>``, told apart at any chunking."""

from __future__ import annotations

_TAGS = ("<think>", "<thinking>", "<thought>")


class ThinkSplitter:
    """Splits the answer's text into reasoning and answer.

    A tag opens reasoning only at the beginning of the answer (or directly after a closed block): further on it is text
    that happens to speak of tags. Once plain text was seen, pieces pass through untouched.
    """

    def __init__(self) -> None:
        self._held = ""
        self._end = ""
        self._had_block = False
        self.is_plain = False
        """True when nothing can open reasoning any more, so that the caller may skip this."""

    def feed(self, piece: str) -> tuple[str, str]:
        """Return ``(reasoning, text)`` that this piece completes; either may be empty."""
        if self.is_plain:
            return "", piece
        held = self._held + piece
        reasoning: list[str] = []
        while True:
            if self._end:
                inside, found, rest = held.partition(self._end)
                if not found:
                    keep = _overlap(held, self._end)
                    self._held = held[len(held) - keep :]
                    reasoning.append(held[: len(held) - keep])
                    return "".join(reasoning), ""
                reasoning.append(inside)
                held, self._end, self._had_block = rest, "", True
            start = held.lstrip()
            tag = next((tag for tag in _TAGS if start.startswith(tag)), "")
            if tag:
                held, self._end = start[len(tag) :], f"</{tag[1:]}"
            elif any(tag.startswith(start) for tag in _TAGS):
                self._held = held
                return "".join(reasoning), ""
            else:
                self._held, self.is_plain = "", True
                return "".join(reasoning), start if self._had_block else held

    def close(self) -> tuple[str, str]:
        """Return what is still held when the answer ends."""
        held, self._held = self._held, ""
        if self._end:
            return held, ""
        return "", held


def _overlap(text: str, mark: str) -> int:
    """Return how many characters at the end of ``text`` may be the beginning of ``mark``."""
    return next((size for size in range(min(len(text), len(mark) - 1), 0, -1) if text.endswith(mark[:size])), 0)
