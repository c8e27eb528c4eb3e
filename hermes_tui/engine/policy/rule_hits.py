"""How often each approval rule decided, over all sessions, so that unused rules can be found and deleted."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ..config.paths import write_private


class RuleHits:
    """Counts by rule text. Any thread.

    Args:
        file: Where counts of earlier runs are; None counts from zero and keeps nothing.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._fresh: Counter[str] = Counter()
        self._before: Counter[str] | None = None

    def add(self, rules: Iterable[str]) -> None:
        """Count rules that decided. Never blocks on the disk."""
        with self._lock:
            self._fresh.update(rules)

    def count(self, rule: str) -> int:
        """Return how often a rule decided. Reads the disk on first use."""
        with self._lock:
            if self._before is None:
                self._before = _read(self._file)
            return self._before[rule] + self._fresh[rule]

    def save(self) -> None:
        """Add what was counted since to the file. Blocks on the disk.

        Raises:
            ConfigError: It cannot be written; the counts are kept for the next try.
        """
        with self._lock:
            if self._file is None or not self._fresh:
                return
            total = _read(self._file) + self._fresh  # another process may have written meanwhile
            write_private(self._file, json.dumps(dict(sorted(total.items())), indent=1) + "\n")
            self._before, self._fresh = total, Counter()


def _read(file: Path | None) -> Counter[str]:
    try:
        table = json.loads(file.read_text("utf-8")) if file is not None else {}
        return Counter({str(rule): int(count) for rule, count in table.items()})
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):  # counts are a convenience
        return Counter()
