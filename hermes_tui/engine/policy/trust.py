"""Which files of a folder a person trusts, by path and content. A change of either makes a file untrusted again."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from ..config.loader import LoadedSettings
from ..config.paths import write_private
from ..config.project import apply_project, find_project_config

TrustState: TypeAlias = Literal["trusted", "refused", "changed", "new"]
"""``refused``: not trusted, and not to be asked about while the content stays the same."""
_FORMAT = 1


class TrustStore:
    """Answers by absolute path and content hash, in one private JSON file. Any thread; read on first use.

    A file that is missing, unreadable or not understood trusts nothing.

    Args:
        file: Where the answers are kept.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._answers: dict[str, tuple[str, bool]] | None = None
        self._for_now: set[tuple[str, str]] = set()

    def state(self, path: str, digest: str) -> TrustState:
        """Return what was said of a file with this content."""
        with self._lock:
            if (path, digest) in self._for_now:
                return "trusted"
            known = self._load().get(path)
        if known is None:
            return "new"
        if known[0] != digest:
            return "changed"
        return "trusted" if known[1] else "refused"

    def is_trusted(self, path: str, digest: str) -> bool:
        """Whether a file with this content may be used."""
        return self.state(path, digest) == "trusted"

    def trust_for_now(self, files: Mapping[str, str]) -> None:
        """Trust files (path -> hash) until the process ends."""
        with self._lock:
            self._for_now.update(files.items())

    def remember(self, files: Mapping[str, str], *, trusted: bool) -> None:
        """Keep an answer about files (path -> hash). Blocks on the disk.

        Raises:
            ConfigError: It cannot be written; the answer holds until the process ends.
        """
        if trusted:
            self.trust_for_now(files)
        with self._lock:
            self._answers = None  # another process may have written meanwhile
            answers = self._load()
            answers.update({path: (digest, trusted) for path, digest in files.items()})
            table = {path: {"hash": digest, "trusted": answer} for path, (digest, answer) in sorted(answers.items())}
            write_private(self._file, json.dumps({"format": _FORMAT, "files": table}, indent=1) + "\n")

    def _load(self) -> dict[str, tuple[str, bool]]:
        if self._answers is None:
            self._answers = _read(self._file)
        return self._answers


def settings_in(folder: Path, loaded: LoadedSettings, trust: TrustStore) -> tuple[LoadedSettings, tuple[str, ...]]:
    """Return the settings that hold in a folder, and what to tell about its own ones. Reads the disk.

    Args:
        folder: Where one works.
        loaded: The user's settings.
        trust: Without its word a project's settings are left out.
    """
    config = find_project_config(folder)
    if config is None:
        return loaded, ()
    if not trust.is_trusted(str(config.path), config.digest):
        return loaded, (f"{config.path} is not used: nobody trusts it with this content yet.",)
    changed = apply_project(loaded, config)
    return changed, tuple(problem.text for problem in changed.problems if problem.origin == str(config.path))


def _read(file: Path) -> dict[str, tuple[str, bool]]:
    try:
        table = json.loads(file.read_text("utf-8"))
        if table["format"] != _FORMAT:
            return {}
        return {path: (str(entry["hash"]), entry["trusted"] is True) for path, entry in table["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
