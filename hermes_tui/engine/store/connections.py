"""A store's file and its connections: opened safely, one for writing, a pool for reading.

Durability: WAL with ``synchronous=NORMAL``. A committed row is in the operating system's hands, so it survives a
killed process; only a power failure can take the last commits, and never the file's integrity. ``FULL`` would add an
fsync, 2 to 10 ms, to every message. Without WAL (some network file systems) a rollback journal with ``FULL`` is used.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from ..types.errors import StoreBusy, StoreError, StoreReadOnly
from . import index
from .migrations import MIGRATIONS, migrate, schema_version
from .writer import Job, Writer, is_busy, store_error

T = TypeVar("T")

PATIENCE_S = 60.0
"""How long another process's lock is waited for; a lock of 30 s must not lose a message."""
_MAGIC = b"SQLite format 3\0"
_READ_CACHE_KB = 16_000


class Database:
    """One open store. All methods may be called from any thread.

    Args:
        path: The file; made, with its folder, when it does not exist.
        read_only: Never write, not even to make the file.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only_reason = "It was opened for reading only." if read_only else ""
        """Why nothing can be stored; empty when it can."""
        self.notices: list[str] = []
        """What a person should know about how the store was opened."""
        self.index_damaged = False
        """The index failed and is being built anew."""
        self._uri = ""
        self._anchor: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._writer: Writer | None = None
        self._open()

    def write(self, job: Job[T]) -> T:
        """Run ``job`` in a write transaction; returns after the commit.

        Raises:
            StoreReadOnly: Nothing can be written; ``read_only_reason`` says why.
            StoreBusy: Another process held the store for a minute.
        """
        if self._writer is None:
            raise StoreReadOnly(
                f"Sessions cannot be saved: {self.read_only_reason}", hint="What is stored can be read."
            )
        return self._writer.run(job)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Borrow a connection for reading; one transaction is open, so that several reads see one state."""
        try:
            conn = self._borrow()
            try:
                conn.execute("BEGIN")
                yield conn
            finally:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
                self._give_back(conn)
        except sqlite3.DatabaseError as error:
            raise store_error(error, str(self.path)) from error

    def rebuild_index(self) -> None:
        """Build the index anew in the background, newest messages first; writes go on meanwhile."""
        if self._writer is not None and not self.index_damaged:
            self.index_damaged = True
            self._writer.set_chore(self._recreate_index)

    def resume_index(self) -> None:
        """Go on with an index that is missing or was left half built."""
        if self._writer is not None:
            self._writer.set_chore(self._refill_index)

    def size_bytes(self) -> int:
        """Return the size of the file and its write-ahead log."""
        files = (self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Finish writes and close every connection. Twice does no harm."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            idle, self._idle = self._idle, []
        for conn in idle:
            conn.close()
        if self._writer is not None:
            self._writer.close()
        if self._anchor is not None:
            self._anchor.close()

    # Opening

    def _open(self) -> None:
        if not self.read_only_reason:
            self.read_only_reason = self._prepare_file()
        if not self.path.exists():
            self._open_empty()
            return
        self._check_file()
        if not self.read_only_reason:
            self._open_for_writing()
        if self.read_only_reason:
            self._uri = self._file_uri("ro")
            self._open_for_reading()

    def _prepare_file(self) -> str:
        """Make folder and file private; returns why the store cannot be written, or an empty text."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600)
            with suppress(OSError):  # somebody else's file keeps its mode
                os.fchmod(fd, 0o600)
            os.close(fd)
        except IsADirectoryError as error:
            raise StoreError(f"{self.path} is a folder, not a session database.", hint="Move it away.") from error
        except (FileExistsError, NotADirectoryError):
            return f"{self.path} cannot be written: {self.path.parent} is not a folder."
        except OSError as error:
            return f"{self.path} cannot be written ({error.strerror or error})."
        if not os.access(self.path.parent, os.W_OK):
            return f"The folder {self.path.parent} cannot be written."
        return ""

    def _check_file(self) -> None:
        """Refuse what is not SQLite before SQLite touches it."""
        try:
            with self.path.open("rb") as file:
                head = file.read(len(_MAGIC))
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read ({error.strerror or error}).", hint="Check its permissions."
            ) from error
        if head not in (b"", _MAGIC):
            raise StoreError(
                f"{self.path} is not a session database; it was left as it is.", hint="Move it away and start again."
            )

    def _file_uri(self, mode: str) -> str:
        return f"file:{quote(str(self.path.resolve()))}?mode={mode}"

    def _open_empty(self) -> None:
        """Serve an empty store from memory, so that a home that cannot be written still lists nothing."""
        self._uri = f"file:hermes-{os.getpid()}-{id(self)}?mode=memory&cache=shared"
        self._anchor = _connect(self._uri)
        index.register(self._anchor)
        migrate(self._anchor, self.path)

    def _open_for_writing(self) -> None:
        self._uri = self._file_uri("rw")
        conn = _connect(self._uri)
        try:
            version = _patiently(lambda: schema_version(conn))
            if version > len(MIGRATIONS):
                self.read_only_reason = (
                    f"{self.path} was made by a newer version of hermes-tui (format {version}, this one knows "
                    f"{len(MIGRATIONS)}). Update to write to it."
                )
                conn.close()
                return
            if version == 0:
                conn.execute("PRAGMA auto_vacuum=INCREMENTAL")
            _patiently(lambda: self._set_journal(conn))
            index.register(conn)
            if version < len(MIGRATIONS):
                _patiently(lambda: migrate(conn, self.path))
            is_whole = index.is_complete(conn) and index.progress(conn) == 1.0
        except (sqlite3.Error, StoreError) as error:
            conn.close()
            if isinstance(error, StoreError):
                raise
            mapped = store_error(error, str(self.path))
            if not isinstance(mapped, StoreReadOnly):
                raise mapped from error
            self.read_only_reason = mapped.message
            return
        self._writer = Writer(conn, str(self.path), patience_s=PATIENCE_S, mend=self._mend)
        if not is_whole:
            self.resume_index()

    def _set_journal(self, conn: sqlite3.Connection) -> None:
        try:
            mode = conn.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if is_busy(error):
                raise
            mode = conn.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
        if mode != "wal":
            self.notices.append(f"The file system of {self.path} refuses WAL; the sessions use a slower journal.")
        conn.execute(f"PRAGMA synchronous={'NORMAL' if mode == 'wal' else 'FULL'}")
        conn.execute("PRAGMA journal_size_limit=67108864")

    def _open_for_reading(self) -> None:
        """Make sure that reading works: a WAL store in a folder without write permission needs ``immutable``."""
        try:
            with self.read() as conn:
                schema_version(conn)
        except StoreReadOnly:
            self._uri += "&immutable=1"
            with self.read() as conn:
                schema_version(conn)

    # Connections

    def _borrow(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise StoreError("The session database is closed.")
            if self._idle:
                return self._idle.pop()
        conn = _connect(self._uri)
        try:
            conn.execute("PRAGMA query_only=ON")
            conn.execute(f"PRAGMA cache_size=-{_READ_CACHE_KB}")
            index.register(conn)
        except sqlite3.Error:
            conn.close()
            raise
        return conn

    def _give_back(self, conn: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(conn)
                return
        conn.close()

    def _recreate_index(self, conn: sqlite3.Connection) -> bool:
        index.create(conn)
        self.resume_index()
        return False

    def _refill_index(self, conn: sqlite3.Connection) -> bool:
        more = index.refill(conn)
        self.index_damaged = self.index_damaged and more
        return more

    def _mend(self, conn: sqlite3.Connection, error: sqlite3.Error) -> bool:
        """Drop an index that makes writes fail; the messages matter more. Writer thread only."""
        if not index.is_unusable(error):
            return False
        self.index_damaged = True
        conn.execute("BEGIN IMMEDIATE")
        index.create(conn)
        conn.execute("COMMIT")
        self.resume_index()
        return True


def _connect(uri: str) -> sqlite3.Connection:
    # The timeout also covers a commit that meets readers in rollback-journal mode; longer waits are the writer's.
    conn = sqlite3.connect(uri, uri=True, timeout=1.0, isolation_level=None, check_same_thread=False)
    conn.row_factory = sqlite3.Row
    return conn


def _patiently(step: Callable[[], T]) -> T:
    """Repeat an opening step while another process that opens or migrates the store is in the way."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return step()
        except (sqlite3.OperationalError, StoreError) as error:
            cause = error.__cause__ if isinstance(error, StoreError) else error
            if not isinstance(cause, sqlite3.Error) or not is_busy(cause):
                raise
            if time.monotonic() > deadline:
                raise StoreBusy(f"Another process holds the session database: {cause}.") from error
            time.sleep(random.uniform(0.01, 0.05))
