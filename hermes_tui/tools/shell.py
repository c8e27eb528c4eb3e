"""A persistent shell: folder, variables and functions last from call to call.

Each call writes into a pipe of its own, so a background job that keeps it open neither holds the call up nor mixes its
output into a later one. Blocks; calls from several threads queue.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .base import ToolFailure
from .capture import Capture
from .job_process import LeftBehind, TakenOver
from .ports import CancelToken
from .proctree import Member, end_members, end_session, has_process_table, now_ticks, session_members
from .shell_call import CallPipes, Ending, collect, is_held_open
from .shell_drivers import CHILD_ENV, DRIVERS, DROPPED_ENV, STATE_END, Driver

INTERRUPT_GRACE_S = 0.08
TIMEOUT_GRACE_S = 1.0
_STATE_WAIT_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellResult:
    """How a command ended."""

    exit_code: int
    ending: Ending
    cwd: str
    left: LeftBehind | None = None
    """What it started and left running."""
    taken: TakenOver | None = None
    """The command itself, when it was handed over and goes on."""
    notes: tuple[str, ...] = ()


class Shell:
    """One shell process, started on first use and again whenever it was lost.

    Args:
        workspace: Where it starts, and where it goes when its folder disappears.
        env: Environment of its processes.
    """

    def __init__(self, workspace: Path, env: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._env = {k: v for k, v in env.items() if k not in DROPPED_ENV and not k.startswith("BASH_FUNC_")}
        self._env.update(CHILD_ENV)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._driver: Driver = DRIVERS[0]
        self._folder: Path | None = None
        self._calls = 0
        self._states: list[Path] = []
        self._spared: list[tuple[int, list[Member]]] = []
        self._known_jobs: set[int] = set()
        self._bystanders: frozenset[int] = frozenset()
        self.cwd = str(workspace)
        """Where the next command starts."""

    def run(
        self,
        command: str,
        capture: Capture,
        cancel: CancelToken,
        handover: CancelToken,
        *,
        timeout_s: float,
        cwd: str = "",
    ) -> ShellResult:
        """Run a command to its end, or until it is handed over.

        Args:
            command: Shell text.
            capture: Receives the output.
            cancel: Ends the command when set.
            handover: Gives the command away when set: it goes on, and later calls get another shell.
            timeout_s: Ends the command after this time.
            cwd: Folder to change to first.

        Raises:
            ToolFailure: The shell could not be started or the folder not be entered.
        """
        with self._lock:
            notes = self._ensure_running()
            folder = cwd or self._recover_folder(notes)
            self._calls += 1
            since = now_ticks()
            with self._open_pipes() as pipes:
                self._send(command, pipes, folder)
                assert self._process is not None
                ending = collect(pipes, self._process, capture, cancel, handover, timeout_s)
                if ending.kind == "status":
                    return self._after_status(ending, pipes, cwd, notes)
                if ending.kind == "handover":
                    return self._hand_over(ending, pipes, since, notes)
                return self._after_loss(ending, pipes, capture, since, notes)

    def snapshot(self) -> tuple[str, bytes, list[str]]:
        """Return what a job starts with: the folder, the shell's state, and notes on what is not as it was."""
        notes: list[str] = []
        folder = self._existing_folder(notes)
        self._await_state()
        for path in reversed(self._states):
            with suppress(OSError):
                state = path.read_bytes()
                if state.endswith(STATE_END):
                    return folder, state, notes
        return folder, b"", notes

    def _await_state(self) -> None:
        """Wait a moment for a shell that has reported to write its state down; it does so after the report."""
        deadline = time.monotonic() + _STATE_WAIT_S
        while self._states and not _is_complete(self._states[-1]) and time.monotonic() < deadline:
            process = self._process
            if self._lock.locked() or process is None or process.poll() is not None:
                return  # a command runs, or the shell is gone: the state before is what there is
            threading.Event().wait(0.005)

    def close(self) -> None:
        """End the shell and every job it left."""
        with self._lock:
            if self._process is not None:
                self._end(since=0, grace_s=INTERRUPT_GRACE_S)
            for sid, members in self._spared:
                end_members(sid, members)
            self._spared.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def _ensure_running(self) -> list[str]:
        process = self._process
        if process is not None and process.poll() is None and self._folder is not None and self._folder.is_dir():
            return []
        notes: list[str] = []
        if process is not None:
            self._retire()
            notes.append("The shell was lost and started again, with the folder, variables and functions it had.")
        if self._folder is None or not self._folder.is_dir():
            self._folder = Path(tempfile.mkdtemp(prefix="hermes-shell-"))
            self._states = []
        program, self._driver = find_shell(self._env)
        if self._driver.note:
            notes.append(self._driver.note)
        start = self._existing_folder(notes)
        state = next((str(path) for path in reversed(self._states) if _is_complete(path)), "/nonexistent")
        self._process = subprocess.Popen(
            [program, *self._driver.options, "-c", self._driver.script, self._driver.program, state],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=start,
            env=self._env,
            start_new_session=True,
            bufsize=0,
        )
        self.cwd = start
        return notes

    def _existing_folder(self, notes: list[str]) -> str:
        for folder in (self.cwd, str(self._workspace), str(Path.home()), "/"):
            if Path(folder).is_dir() and os.access(folder, os.X_OK):
                if folder != self.cwd:
                    notes.append(f"The folder {self.cwd} is gone: continued in {folder}.")
                return folder
        raise ToolFailure("No folder to run in is left.")

    def _recover_folder(self, notes: list[str]) -> str:
        """Return the folder to change to, empty when the shell stands in one that exists."""
        real = self._real_cwd()
        if Path(self.cwd).is_dir():
            return self.cwd if real.endswith(" (deleted)") else ""  # deleted and made again: enter the new one
        folder = self._existing_folder(notes)
        self.cwd = folder
        return folder

    def _real_cwd(self) -> str:
        try:
            return str(Path(f"/proc/{self._process.pid}/cwd").readlink()) if self._process else ""
        except OSError:
            return ""

    def _open_pipes(self) -> CallPipes:
        assert self._process is not None and self._folder is not None and self._process.stdout is not None
        return CallPipes(self._folder / f"out{self._calls}", self._process.stdout.fileno(), f"call-{self._calls}")

    def _send(self, command: str, pipes: CallPipes, folder: str) -> None:
        assert self._process is not None and self._process.stdin is not None and self._folder is not None
        state = self._folder / f"state{self._calls}"
        if self._states and _is_complete(self._states[-1]):
            for old in self._states[:-1]:
                old.unlink(missing_ok=True)
            del self._states[:-1]
        self._states.append(state)
        text = os.fsencode(command)
        if self._driver.command_in_file:
            script = self._folder / "command"
            script.write_bytes(text + b"\n")
            text = os.fsencode(script)
        head = (pipes.mark, str(pipes.path), str(state), folder)
        fields = [*(os.fsencode(field) for field in head), text]
        data = b"".join(field + self._driver.separator for field in fields)
        with suppress(BrokenPipeError):  # a shell that died is noticed by its exit
            while data:
                data = data[os.write(self._process.stdin.fileno(), data) :]

    def _after_status(self, ending: Ending, pipes: CallPipes, cwd: str, notes: list[str]) -> ShellResult:
        if ending.status == "cd":
            raise ToolFailure(f"The folder {cwd} cannot be entered. Nothing was run.")
        self.cwd = self._checked_cwd(ending.cwd, notes)
        left = self._left_behind(ending, pipes)
        return ShellResult(exit_code=int(ending.status), ending=ending, cwd=self.cwd, left=left, notes=tuple(notes))

    def _left_behind(self, ending: Ending, pipes: CallPipes) -> LeftBehind | None:
        """Return what the call started and left running, as far as it was not left by an earlier one."""
        holds = is_held_open(pipes)
        jobs = set(ending.jobs)
        fresh, self._known_jobs = jobs - self._known_jobs, jobs
        members = self._members() if jobs or holds else []
        known, self._bystanders = self._bystanders, frozenset(member.pid for member in members)
        if not fresh and not holds:
            return None
        found = [member for member in members if member.pid not in known]
        return LeftBehind(found or [Member(pid, 0, 0, 0) for pid in fresh], pipes.release() if holds else -1)

    def _hand_over(self, ending: Ending, pipes: CallPipes, since: int, notes: list[str]) -> ShellResult:
        """Give the shell away with the command that it runs."""
        process, self._process = self._process, None
        assert process is not None
        pipes.close_writer()
        taken = TakenOver(process, pipes.release(), ending.report, pipes.mark, since, self._bystanders)
        self._spare(process.pid)
        self._states.pop()  # what the command does to its shell stays there
        self._bystanders, self._known_jobs = frozenset(), set()
        return ShellResult(exit_code=0, ending=ending, cwd=self.cwd, taken=taken, notes=tuple(notes))

    def _checked_cwd(self, said: str, notes: list[str]) -> str:
        real = self._real_cwd()
        if real.endswith(" (deleted)"):
            gone = self.cwd = said or real
            notes.append(f"The folder {gone} was deleted; the next command starts in {self._workspace}.")
            return str(self._workspace) if self._workspace.is_dir() else gone
        try:
            return said if said and (not real or Path(said).samefile(real)) else real or self.cwd
        except OSError:
            return real or self.cwd

    def _after_loss(
        self, ending: Ending, pipes: CallPipes, capture: Capture, since: int, notes: list[str]
    ) -> ShellResult:
        """Deal with a shell that ended, or has to be ended: interrupt, timeout, ``exit``."""
        assert self._process is not None
        if ending.kind != "exit":
            real = self._real_cwd()
            if real and not real.endswith(" (deleted)"):
                self.cwd = real
            self._end(since=since, grace_s=TIMEOUT_GRACE_S if ending.kind == "timeout" else INTERRUPT_GRACE_S)
            pipes.drain(capture)
            code = 124 if ending.kind == "timeout" else 130
        else:
            code = self._process.wait()
            code = 128 - code if code < 0 else code
            self._retire()
            notes.append("The command ended the shell: a new one has the folder, variables and functions of before.")
        notes.extend(self._ensure_running())
        return ShellResult(exit_code=code, ending=ending, cwd=self.cwd, notes=tuple(notes))

    def _members(self) -> list[Member]:
        """Return the processes of the shell's session, itself left out."""
        if self._process is None or not has_process_table():
            return []
        return [member for member in session_members(self._process.pid) if member.pid != self._process.pid]

    def _end(self, *, since: int, grace_s: float) -> None:
        """End the shell and what started at or after ``since``."""
        if self._process is not None:
            spare = self._bystanders if since else frozenset()
            end_session(self._process.pid, since=since, grace_s=grace_s, spare=spare)
            self._retire()

    def _retire(self) -> None:
        """Forget a shell that ended, but not the jobs it left."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.kill()
            process.wait()
        self._spare(process.pid)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process = None

    def _spare(self, sid: int) -> None:
        """Remember what runs on in a session whose shell is not ours any more."""
        spared = session_members(sid) if has_process_table() else []
        if spared:
            self._spared.append((sid, spared))


def find_shell(env: Mapping[str, str]) -> tuple[str, Driver]:
    """Return the best shell there is.

    Raises:
        ToolFailure: There is none.
    """
    for driver in DRIVERS:
        program = shutil.which(driver.program, path=env.get("PATH", os.defpath))
        if program:
            return program, driver
    raise ToolFailure("Neither bash nor sh was found on PATH: commands cannot run here.")


def _is_complete(path: Path) -> bool:
    try:
        return path.read_bytes().endswith(STATE_END)
    except OSError:
        return False
