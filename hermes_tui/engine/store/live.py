"""Which sessions are open in which living process.

A marker is the process id with the process's start time (and, on Linux, the boot id), so that neither a crash, a
reboot nor a reused id makes a session look open.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from functools import cache
from pathlib import Path

_STAT_START_FIELD = 19
"""Index of ``starttime`` in /proc/PID/stat after the name in brackets. Source: proc(5)."""


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _from_proc(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else f"{_boot_id()}:{fields[_STAT_START_FIELD]}"


def _output_of(*command: str) -> str:
    import subprocess

    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _from_tasklist(pid: int) -> str:
    return "running" if str(pid) in _output_of("tasklist", "/NH", "/FI", f"PID eq {pid}") else ""


def _from_ps(pid: int) -> str:
    return _output_of("ps", "-o", "lstart=", "-p", str(pid))


_PROBES = {"linux": _from_proc, "win32": _from_tasklist}


def started(pid: int) -> str:
    """Return a text that identifies the start of a running process; empty when there is no such process."""
    return _PROBES.get(sys.platform, _from_ps)(pid)


@cache
def _own_start(pid: int) -> str:
    return started(pid)


def claim(conn: sqlite3.Connection, session_no: int) -> bool:
    """Mark a session as open here; False, and no mark, when another living process has it."""
    if session_no in open_elsewhere(conn, session_no):
        return False
    pid = os.getpid()
    conn.execute("DELETE FROM live WHERE session_no = ?", (session_no,))
    conn.execute("INSERT INTO live VALUES (?, ?, ?, ?)", (session_no, pid, _own_start(pid), time.time()))
    return True


def release(conn: sqlite3.Connection, session_id: str) -> None:
    """Take this process's mark away."""
    conn.execute(
        "DELETE FROM live WHERE pid = ? AND session_no = (SELECT no FROM sessions WHERE id = ?)",
        (os.getpid(), session_id),
    )


def open_elsewhere(conn: sqlite3.Connection, session_no: int | None = None) -> set[int]:
    """Return the sessions, or whether this one, that other living processes have open."""
    only = "" if session_no is None else " WHERE session_no = ?"
    rows = conn.execute(f"SELECT session_no, pid, started FROM live{only}", () if session_no is None else (session_no,))
    return _alive([(no, pid, start) for no, pid, start in rows if pid != os.getpid()])


def open_now(conn: sqlite3.Connection) -> set[int]:
    """Return the sessions that any living process, this one too, has open."""
    return _alive(conn.execute("SELECT session_no, pid, started FROM live").fetchall())


def _alive(marks: list[tuple[int, int, str]]) -> set[int]:
    processes = {(pid, start) for _, pid, start in marks}
    running = {(pid, start) for pid, start in processes if started(pid) == start}
    return {no for no, pid, start in marks if (pid, start) in running}
