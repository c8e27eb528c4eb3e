"""The one thread that writes: jobs queue up, run in one transaction, and are acknowledged after its commit."""

from __future__ import annotations

import logging
import queue
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ..types.errors import StoreBusy, StoreDamaged, StoreError, StoreReadOnly

log = logging.getLogger(__name__)

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

BATCH_JOBS = 256
"""Jobs joined in one transaction at most."""
_PAUSE_S = (0.005, 0.05)
_READ_ONLY = {
    sqlite3.SQLITE_READONLY: "The database cannot be written: it, or its disk, is read-only.",
    sqlite3.SQLITE_FULL: "The disk is full; nothing that was stored is lost.",
    sqlite3.SQLITE_IOERR: "The disk reports an error; nothing that was stored is lost.",
    sqlite3.SQLITE_CANTOPEN: "The database's folder cannot be written.",
}


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's result code without its extension bits; 0 when the error is Python's own."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection is in the way and a retry can succeed."""
    return primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damage(error: sqlite3.Error) -> bool:
    """Whether a page, or the index, cannot be trusted."""
    return primary_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def store_error(error: sqlite3.Error, path: str) -> StoreError:
    """Return the error of our tree for one of SQLite's."""
    code = primary_code(error)
    if code in _READ_ONLY:
        return StoreReadOnly(f"{_READ_ONLY[code]} ({path})", hint="Free space or fix the permissions; then go on.")
    if is_busy(error):
        return StoreBusy(f"Another process holds {path}.", hint="Close it, or wait and try again.")
    if is_damage(error):
        return StoreDamaged(f"{path} is damaged: {error}.", hint="Run `hermes-tui sessions check --repair`.")
    return StoreError(f"{path}: {error}.")


class _Pending(Generic[T]):
    """A job and, once ``done`` is set, its result or error."""

    __slots__ = ("done", "error", "job", "result")

    def __init__(self, job: Job[T]) -> None:
        self.job = job
        self.done = threading.Event()
        self.result: T | None = None
        self.error: BaseException | None = None


class Writer:
    """Owns the write connection.

    Args:
        conn: A connection in autocommit mode, used by the writer thread only from now on.
        path: For messages.
        patience_s: How long another process's lock is waited for.
        mend: Called in the writer thread, outside a transaction, with what made a write fail; returns whether a retry
            makes sense.
    """

    def __init__(
        self,
        conn: sqlite3.Connection,
        path: str,
        *,
        patience_s: float,
        mend: Callable[[sqlite3.Connection, sqlite3.Error], bool],
    ) -> None:
        self._conn = conn
        self._path = path
        self._patience_s = patience_s
        self._mend = mend
        self._queue: queue.SimpleQueue[_Pending[Any] | None] = queue.SimpleQueue()
        self._chore: Job[bool] | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def run(self, job: Job[T]) -> T:
        """Run ``job`` in a transaction and return its result once that is committed. Any thread; blocks.

        A job may run twice (when a batch is repeated), so it must only touch the connection.
        """
        pending = _Pending(job)
        self._enqueue(pending)
        pending.done.wait()
        if pending.error is not None:
            raise pending.error
        return pending.result  # type: ignore[return-value]

    def set_chore(self, chore: Job[bool]) -> None:
        """Run ``chore`` again and again while no job waits, until it returns False. Any thread."""
        self._chore = chore
        self._enqueue(_Pending(lambda conn: None))

    def close(self) -> None:
        """Finish what is queued, then close the connection. Any thread; blocks."""
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._queue.put(None)
            thread.join()
        self._conn.close()

    def _enqueue(self, pending: _Pending[Any]) -> None:
        with self._lock:
            if self._closed:
                raise StoreError("The session database is closed.")
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="store-writer", daemon=True)
                self._thread.start()
            self._queue.put(pending)

    def _loop(self) -> None:
        open_ = True
        while open_:
            batch, open_ = self._next_batch()
            if batch:
                self._run_batch(batch)
            elif open_ and self._chore is not None:
                self._run_chore(self._chore)

    def _next_batch(self) -> tuple[list[_Pending[Any]], bool]:
        """Wait for a job (not while a chore is pending) and take what else is queued; False ends the loop."""
        batch: list[_Pending[Any]] = []
        try:
            first = self._queue.get(block=self._chore is None)
            while first is not None:
                batch.append(first)
                if len(batch) == BATCH_JOBS:
                    return batch, True
                first = self._queue.get_nowait()
        except queue.Empty:
            return batch, True
        return batch, False

    def _run_batch(self, batch: list[_Pending[Any]]) -> None:
        """Commit all jobs together; when one fails, run each alone so that it fails alone."""
        try:
            results = self._transact([pending.job for pending in batch])
        except BaseException as error:  # noqa: BLE001 - whatever it is belongs to the caller's thread and is raised there
            if len(batch) > 1 and not isinstance(error, StoreBusy):
                for pending in batch:
                    self._run_batch([pending])
                return
            for pending in batch:
                pending.error = store_error(error, self._path) if isinstance(error, sqlite3.Error) else error
                pending.done.set()
            return
        for pending, result in zip(batch, results, strict=True):
            pending.result = result
            pending.done.set()

    def _run_chore(self, chore: Job[bool]) -> None:
        try:
            again = self._transact([chore])[0]
        except StoreBusy:
            return
        except Exception:  # whatever a chore does, the jobs behind it must not wait for ever
            log.warning("a chore of the database was given up", exc_info=True)
            again = False  # the next start finds it unfinished and tries again
        if not again and self._chore is chore:
            self._chore = None

    def _transact(self, jobs: list[Job[Any]]) -> list[Any]:
        try:
            return self._attempt(jobs)
        except sqlite3.DatabaseError as error:
            if not self._mend(self._conn, error):
                raise
        return self._attempt(jobs)

    def _attempt(self, jobs: list[Job[Any]]) -> list[Any]:
        self._patiently("BEGIN IMMEDIATE")
        try:
            results = [job(self._conn) for job in jobs]
            self._patiently("COMMIT")
        except BaseException:
            if self._conn.in_transaction:
                self._conn.execute("ROLLBACK")
            raise
        return results

    def _patiently(self, statement: str) -> None:
        """Run a statement that may meet another's lock, pausing at random so that processes do not keep colliding."""
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                self._conn.execute(statement)
                return
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise
                if time.monotonic() > deadline:
                    raise store_error(error, self._path) from error
                time.sleep(random.uniform(*_PAUSE_S))
