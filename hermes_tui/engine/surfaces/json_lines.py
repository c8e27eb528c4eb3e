"""A private file with one JSON object a line, that several threads and processes may add to."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..types.errors import ConfigError


class JsonLines:
    """Appends rows and reads them back. A line that a killed process left half written is skipped.

    Args:
        path: The file; made, readable by its owner only, with the first row.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[dict[str, Any]]:
        """Return the rows; none when there is no file.

        Raises:
            ConfigError: It cannot be read.
        """
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read: {error.strerror}.") from error
        rows = []
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                rows.append(row)
        return rows

    def append(self, row: dict[str, Any]) -> None:
        """Add a row. Values that JSON does not know become their text.

        Raises:
            ConfigError: It cannot be written.
        """
        line = json.dumps(row, default=str).encode() + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "ab", buffering=0) as file:
                size = os.fstat(fd).st_size
                if size and os.pread(fd, 1, size - 1) != b"\n":
                    line = b"\n" + line
                file.write(line)
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be written: {error.strerror}.") from error
