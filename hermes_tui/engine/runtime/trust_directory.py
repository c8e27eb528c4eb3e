"""What a folder wants, and what the person said to it. Part of :class:`~.local_engine.LocalEngine`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..api import TrustAnswer
from ..config.project import find_project_config
from ..context.project_files import find_project_file, reveal_hidden
from ..policy.trust import TrustStore
from ..types.choices import TrustItem, TrustRequest


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
        items = [item for item in _wishes(Path(folder).absolute()) if self._is_open(item, again=again)]
        changed = [replace(item, changed=self._trust.state(item.path, item.digest) == "changed") for item in items]
        return TrustRequest(folder=folder, items=tuple(changed)) if changed else None

    def _is_open(self, item: TrustItem, *, again: bool) -> bool:
        state = self._trust.state(item.path, item.digest)
        has_said_no = state == "refused" or item.digest in self._put_off
        return state != "trusted" and (again or not has_said_no)

    def answer_trust(self, request: TrustRequest, answer: TrustAnswer) -> None:
        """Keep the answer; sessions that begin later follow it."""
        files = {item.path: item.digest for item in request.items}
        if answer == "once":
            self._trust.trust_for_now(files)
        elif answer == "later":
            self._put_off.update(files.values())
        else:
            self._trust.remember(files, trusted=answer == "trust")


def _wishes(folder: Path) -> Iterator[TrustItem]:
    """Yield what a folder wants to be used. Reads the disk."""
    if (found := find_project_file(folder)) is not None:
        yield TrustItem(
            kind="instructions",
            path=str(found.path),
            digest=found.digest,
            text=found.text,
            size_bytes=found.size_bytes,
            hidden_count=found.hidden_count,
        )
    if (config := find_project_config(folder)) is not None:
        text, hidden_count = reveal_hidden(config.text)
        yield TrustItem(
            kind="settings",
            path=str(config.path),
            digest=config.digest,
            text=text,
            size_bytes=config.size_bytes,
            hidden_count=hidden_count,
        )
