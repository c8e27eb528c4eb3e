"""Walking and searching the prompts of before. Pure."""

from __future__ import annotations

from collections.abc import Sequence


class PromptHistory:
    """Earlier prompts and a place among them; the unsent draft waits at the end.

    Args:
        entries: Oldest first.
    """

    def __init__(self, entries: Sequence[str] = ()) -> None:
        self._entries: list[str] = []
        self._place = 0
        self._draft = ""
        self.replace(entries)

    @property
    def is_walking(self) -> bool:
        """True while an earlier prompt is shown instead of the draft."""
        return self._place < len(self._entries)

    def replace(self, entries: Sequence[str]) -> None:
        """Take another list, oldest first; blank ones and immediate repeats are left out."""
        self._entries = []
        for entry in entries:
            self._append(entry)
        self._place = len(self._entries)

    def add(self, entry: str) -> None:
        """Add a prompt that was just sent and go to the end."""
        self._append(entry)
        self.rest()

    def rest(self) -> None:
        """Go to the end and forget the draft."""
        self._place, self._draft = len(self._entries), ""

    def older(self, draft: str) -> str | None:
        """Return the prompt before, or None at the oldest.

        Args:
            draft: What is in the composer now; kept if this is the first step.
        """
        if self._place == 0:
            return None
        if not self.is_walking:
            self._draft = draft
        self._place -= 1
        return self._entries[self._place]

    def newer(self) -> str | None:
        """Return the prompt after, the draft after the newest one, or None if there is nothing newer."""
        if not self.is_walking:
            return None
        self._place += 1
        return self._entries[self._place] if self.is_walking else self._draft

    def search(self, words: str, limit: int = 200) -> list[str]:
        """Return prompts that hold all the words, newest first, each once."""
        wanted = words.lower().split()
        found: dict[str, None] = {}
        for entry in reversed(self._entries):
            lowered = entry.lower()
            if all(word in lowered for word in wanted):
                found.setdefault(entry)
                if len(found) == limit:
                    break
        return list(found)

    def _append(self, entry: str) -> None:
        if entry.strip() and (not self._entries or self._entries[-1] != entry):
            self._entries.append(entry)
