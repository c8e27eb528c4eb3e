"""What a folder wants, and what the person said to it. Part of :class:`~.local_engine.LocalEngine`."""

from __future__ import annotations

from pathlib import Path

from ..api import TrustAnswer, TrustItem, TrustRequest
from ..context.project_files import find_project_file
from ..policy.trust import TrustStore


class TrustDirectory:
    """Lists a folder's wishes and keeps the answers.

    Args:
        trust: The person's answers.
    """

    def __init__(self, trust: TrustStore) -> None:
        self._trust = trust
        self._put_off: set[str] = set()
        """Hashes that were not answered in this process."""

    def pending_trust(self, folder: str, *, again: bool = False) -> TrustRequest | None:
        """What this folder wants that nobody has answered yet; None when there is nothing to ask."""
        found = find_project_file(Path(folder).absolute())
        if found is None:
            return None
        state = self._trust.state(str(found.path), found.digest)
        has_said_no = state == "refused" or found.digest in self._put_off
        if state == "trusted" or (has_said_no and not again):
            return None
        item = TrustItem(
            kind="instructions",
            path=str(found.path),
            digest=found.digest,
            text=found.text,
            size_bytes=found.size_bytes,
            hidden_count=found.hidden_count,
            changed=state == "changed",
        )
        return TrustRequest(folder=folder, items=(item,))

    def answer_trust(self, request: TrustRequest, answer: TrustAnswer) -> None:
        """Keep the answer; sessions that begin later follow it."""
        files = {item.path: item.digest for item in request.items}
        if answer == "once":
            self._trust.trust_for_now(files)
        elif answer == "later":
            self._put_off.update(files.values())
        else:
            self._trust.remember(files, trusted=answer == "trust")
