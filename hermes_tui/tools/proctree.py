"""End what a shell call started, and nothing else.

A shell leads a session of its own. On Linux its members are read from ``/proc``, so that jobs of earlier calls can be
spared; elsewhere the whole process group goes.
"""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Event

_PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_COARSE_S = 0.25
"""How often a process is looked at where the system cannot tell of its end."""


@dataclass(frozen=True, slots=True)
class Member:
    """A live process of a session."""

    pid: int
    parent: int
    session: int
    started: int
    """Clock ticks since boot."""


def now_ticks() -> int:
    """The present in the unit of :attr:`Member.started`."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return int(time.clock_gettime(clock) * _TICKS_PER_S)


def has_process_table() -> bool:
    """True where ``/proc`` tells sessions and start times."""
    return (_PROC / "self" / "stat").exists()


def session_members(sid: int) -> list[Member]:
    """Return the live processes of a session, zombies left out."""
    pids = (int(name) for name in os.listdir(_PROC) if name.isdigit())  # noqa: PTH208 - one call for some hundred names
    found = (_read_member(pid) for pid in pids)
    return [member for member in found if member is not None and member.session == sid]


def _read_member(pid: int) -> Member | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - half the time of Path
            stat = file.read(1_024)
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    if fields[0] in b"ZX":
        return None
    return Member(pid, int(fields[1]), int(fields[3]), int(fields[19]))


def end_session(sid: int, *, since: int, grace_s: float, spare: frozenset[int] = frozenset()) -> None:
    """Ask, then force, a session's leader and the processes that started at or after ``since`` to end. Blocks.

    Older ones are spared, with all that they start.

    Args:
        sid: The session; its leader must be a child that is not reaped yet, or already gone.
        since: Clock ticks; 0 ends all.
        spare: Process ids known to be older, where the clock is too coarse to tell.
        grace_s: How long SIGTERM may take before SIGKILL.
    """
    if not has_process_table():
        _end_group(sid, grace_s)
        return
    for signum, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 1.0)):
        deadline = time.monotonic() + patience_s
        while doomed := _doomed(session_members(sid), sid, since, spare):
            doomed.sort(key=lambda member: member.pid != sid)  # the shell first, so that it starts nothing more
            for member in doomed:
                _signal(member.pid, signum)
            if not _all_gone(doomed, deadline):
                break
        else:
            return


def end_all_below(pid: int, *, grace_s: float) -> None:
    """End a process that leads a session, and all that it started, also where that made sessions of its own. Blocks.

    Args:
        pid: A child of ours, reaped or not.
        grace_s: How long SIGTERM may take before SIGKILL.
    """
    sessions = _sessions_below(pid) if has_process_table() else set()
    for sid in (pid, *(sessions - {pid})):
        end_session(sid, since=0, grace_s=grace_s)


def _sessions_below(pid: int) -> set[int]:
    """Return the sessions that the descendants of a process are in."""
    pids = (int(name) for name in os.listdir(_PROC) if name.isdigit())  # noqa: PTH208
    members = [member for member in map(_read_member, pids) if member is not None]
    below, sessions = {pid}, set[int]()
    while fresh := [member for member in members if member.parent in below and member.pid not in below]:
        below |= {member.pid for member in fresh}
        sessions |= {member.session for member in fresh}
    return sessions


def _all_gone(members: list[Member], deadline: float) -> bool:
    """Wait for these processes to end; looking at them alone is much cheaper than at all of the machine's."""
    left = members
    while left := [member for member in left if _is_alive(member)]:
        if time.monotonic() >= deadline:
            return False
        _pause()
    return True


def _doomed(members: list[Member], sid: int, since: int, spare: frozenset[int]) -> list[Member]:
    spared = {member.pid for member in members if member.started < since or member.pid in spare} - {sid}
    doomed = [member for member in members if member.pid not in spared]
    while children := [member for member in doomed if member.parent in spared]:
        spared.update(member.pid for member in children)
        doomed = [member for member in doomed if member.pid not in spared]
    return doomed


def end_members(sid: int, spared: list[Member]) -> None:
    """End jobs that were spared earlier, with all that they started. A recycled process id is left alone."""
    alive = {(member.pid, member.started) for member in session_members(sid)} if has_process_table() else set()
    if any((member.pid, member.started) in alive for member in spared):
        end_session(sid, since=0, grace_s=0.1)


def end_tree(members: list[Member], grace_s: float) -> None:
    """End these processes with all that they started in their session. Blocks. Recycled ids are left alone."""
    for signum, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 1.0)):
        doomed = _with_descendants(members)
        for member in doomed:
            _signal(member.pid, signum)
        if _all_gone(doomed, time.monotonic() + patience_s):
            return


def _with_descendants(members: list[Member]) -> list[Member]:
    if not has_process_table():
        return [member for member in members if _is_alive(member)]
    wanted = {(member.pid, member.started) for member in members}
    alive = [member for sid in {member.session for member in members} for member in session_members(sid)]
    doomed = [member for member in alive if (member.pid, member.started) in wanted]
    known = {member.pid for member in doomed}
    while children := [member for member in alive if member.parent in known and member.pid not in known]:
        doomed += children
        known.update(member.pid for member in children)
    return doomed


def wait_until_gone(members: list[Member]) -> None:
    """Block until all of these processes have ended."""
    for member in members:
        try:
            fd = os.pidfd_open(member.pid)
        except (OSError, AttributeError):  # gone, or a system without it
            while _is_alive(member):
                Event().wait(_COARSE_S)
            continue
        try:
            if _is_alive(member):
                select.select([fd], [], [])
        finally:
            os.close(fd)


def _is_alive(member: Member) -> bool:
    if has_process_table():
        found = _read_member(member.pid)
        return found is not None and found.started == member.started
    try:
        os.kill(member.pid, 0)
    except OSError:
        return False
    return True


def _end_group(pgid: int, grace_s: float) -> None:
    for signum, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 1.0)):
        deadline = time.monotonic() + patience_s
        try:
            os.killpg(pgid, signum)
            while time.monotonic() < deadline:
                os.killpg(pgid, 0)
                _pause()
        except (ProcessLookupError, PermissionError):
            return


def _signal(pid: int, signum: int) -> None:
    try:
        os.kill(pid, signum)
    except (ProcessLookupError, PermissionError):
        pass


def _pause() -> None:
    Event().wait(0.002)
