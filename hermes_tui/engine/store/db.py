"""The session database: every session, its messages and their search, in one SQLite file."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from .care import CarePart
from .compression import CompressionPart
from .connections import Database
from .export import ExportPart
from .forks import ForksPart
from .messages import MessagesPart
from .prompts import PromptsPart
from .removal import RemovalPart
from .search import Searcher, SearchPart
from .sessions import SessionsPart
from .state import StatePart
from .usage import UsagePart


def default_path() -> Path:
    """Return where the database is: ``$HERMES_TUI_HOME/state.db``, else the platform's data folder."""
    home = os.environ.get("HERMES_TUI_HOME")
    if home:
        return Path(home).expanduser() / "state.db"
    from platformdirs import user_data_path

    return user_data_path("hermes-tui", appauthor=False) / "state.db"


class SessionDB(
    SessionsPart,
    ForksPart,
    CompressionPart,
    MessagesPart,
    SearchPart,
    StatePart,
    UsagePart,
    PromptsPart,
    RemovalPart,
    CarePart,
    ExportPart,
):
    """All sessions of a person. Usable from any thread and as a context manager; several processes may share a file.

    Args:
        path: The database file, made when missing; :func:`default_path` when None.
        read_only: Never write.

    Raises:
        StoreError: The path holds something else; it is left as it is.
    """

    def __init__(self, path: str | Path | None = None, *, read_only: bool = False) -> None:
        self._db = Database(Path(path) if path is not None else default_path(), read_only=read_only)
        self._searcher = Searcher(self._db)
        self._claimed = set()

    @property
    def path(self) -> Path:
        """The database file."""
        return self._db.path

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about how the database was opened."""
        return tuple(self._db.notices)

    def close(self) -> None:
        """Finish writes, take open marks away and close the file. Blocks; twice does no harm."""
        if self._claimed:
            self.release(*self._claimed)
        self._db.close()

    def __enter__(self) -> SessionDB:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
