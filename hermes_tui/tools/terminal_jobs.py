"""Commands that become jobs: started in the background, run on a terminal of their own, or moved there midway."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .base import Result
from .capture import HEAD_CHARS, KEPT_CHARS, TAIL_CHARS
from .job import Job
from .job_output import JobOutput, RawOutput
from .job_process import Process
from .job_spawn import Launch, Spawned
from .ports import ToolContext
from .screen import COLUMNS, ROWS
from .session import jobs_of, shell_of
from .shell import find_shell
from .signal import Signal

SCREEN_FRAME_S: Final = 0.1
"""A screen is shown live at most this often."""
EARLY_S: Final = 0.25
"""A command that fails at once is told as failed, not as a job."""
INTERRUPT_GRACE_S: Final = 0.06
INTERRUPT_READ_S: Final = 0.04
INTERRUPTED: Final = "Interrupted: the command was ended with all it had started."
_NOHUP = re.compile(r"\s*nohup\s")


def is_detached(command: str) -> bool:
    """Tell whether a background command is to outlive the program."""
    return _NOHUP.match(command) is not None


def start(
    command: str,
    context: ToolContext,
    *,
    cwd: str,
    has_terminal: bool,
    watch: Sequence[str] = (),
    is_foreground: bool = False,
) -> Job:
    """Start a command as a job, in the shell's folder and with its variables and functions.

    Raises:
        ToolFailure: It cannot be started, or too much runs already.
    """
    table = jobs_of(context)
    table.check_room()
    shell = shell_of(context)
    folder, state, _ = shell.snapshot()
    program, driver = find_shell(context.env)
    detached = is_detached(command) and not has_terminal
    log = log_path(context)
    launch = Launch(
        command=command,
        program=program,
        shell=driver.program,
        cwd=cwd or folder,
        env=context.env,
        state=state,
        has_terminal=has_terminal,
        detached_log=log if detached else None,
    )

    output = JobOutput(log, context.redact, has_screen=has_terminal)
    if detached:
        output = RawOutput(log, context.redact)
    process = Spawned(launch, ROWS, COLUMNS)
    return table.add(
        command, launch.cwd, process, output, watch=watch, is_detached=detached, is_foreground=is_foreground
    )


def follow(process: Process, command: str, cwd: str, context: ToolContext, said: str = "") -> Job:
    """Make a job of what a foreground command became; ``said`` is its output so far."""
    output = JobOutput(log_path(context), context.redact)
    if said:
        output.feed(said.encode("utf-8", "replace"))
    return jobs_of(context).add(command, cwd, process, output)


def log_path(context: ToolContext) -> Path:
    """Return where a job's log goes."""
    return context.spill_dir / f"job-{secrets.token_hex(6)}.log"


def run_in_background(
    command: str, context: ToolContext, *, cwd: str, has_terminal: bool, watch: Sequence[str]
) -> Result:
    """Start a job and return at once, with its first output."""
    job = start(command, context, cwd=cwd, has_terminal=has_terminal, watch=watch)
    job.wait(EARLY_S, context.cancel)
    return describe(job) | {"note": _note(job, context)}


def describe(job: Job) -> Result:
    """Return what a call that made a job says of it."""
    piece = job.output.read(job.read_to, KEPT_CHARS)
    job.read_to = piece.cursor
    job.is_told = not job.is_running
    result: Result = {"ok": True, "job": job.number, "state": job.state, "pid": job.process.pid, "cwd": job.cwd}
    if job.exit_code is not None:
        result["exit_code"] = job.exit_code
    result["output"] = piece.text + (job.output.partial() if job.is_running else "")
    if (screen := job.output.screen_text()) is not None and job.is_running:
        result["screen"] = screen
    result["log_path"] = str(job.output.log_path)
    return result


def _note(job: Job, context: ToolContext) -> str:
    if not job.is_running:
        return "It ended at once."
    if job.is_detached:
        return f"It goes on when this program ends; then only kill {job.process.pid} ends it. It has no input."
    words = "Use process to read, write to, wait for or kill it. You are told when it ends."
    return f"{words} {jobs_of(context).lifetime}".rstrip()


def run_on_terminal(command: str, context: ToolContext, *, cwd: str, timeout_s: float, handover: Signal) -> Result:
    """Run a command on a terminal of its own to its end, showing its screen live."""
    started = time.monotonic()
    job = start(command, context, cwd=cwd, has_terminal=True, is_foreground=True)
    removers = [token.on_cancel(job.touch) for token in (context.cancel, handover)]
    try:
        is_late = not _show_live(job, context, handover, started + timeout_s)
    finally:
        for remove in removers:
            remove()
    if handover.cancelled and job.is_running and not context.cancel.cancelled:
        jobs_of(context).reveal(job)
        return moved(job)
    job.is_told = True
    screen = job.output.screen_text() if job.is_running else None
    if job.is_running:
        job.kill(INTERRUPT_GRACE_S, INTERRUPT_READ_S)
    text, is_cut = _whole(job)
    result: Result = {"ok": True, "exit_code": job.exit_code, "output": text, "cwd": job.cwd}
    result["duration_s"] = round(time.monotonic() - started, 3)
    if screen is not None:
        result["screen"] = screen
    if is_cut:
        result |= {"truncated": True, "log_path": str(job.output.log_path)}
    if context.cancel.cancelled:
        result |= {"ok": False, "interrupted": True, "exit_code": 130, "error": INTERRUPTED}
    elif is_late:
        result |= {"ok": False, "timed_out": True, "exit_code": 124}
        result["error"] = (
            f"Timed out after {timeout_s:g} s and ended. Its last screen is in screen. To answer a program that "
            "waits for keys, run it with background and use process."
        )
    return result


def _show_live(job: Job, context: ToolContext, handover: Signal, deadline: float) -> bool:
    """Show the screen until the job ends or is to be left; False when the time was over first."""
    shown = ""
    while job.is_running and not context.cancel.cancelled and not handover.cancelled:
        version = job.version
        screen = job.output.screen_text() or ""
        if screen != shown:
            shown = screen
            context.emit_screen(screen)
            context.cancel.wait(SCREEN_FRAME_S)
        elif not job.await_change(version, deadline):
            return False
        if time.monotonic() >= deadline:
            return not job.is_running
    return True


def moved(job: Job) -> Result:
    """Return the result of a call whose command goes on as a job."""
    note = f"The person moved this to the background: it goes on as job {job.number}. You are told when it ends."
    return describe(job) | {"moved": True, "note": note}


def _whole(job: Job) -> tuple[str, bool]:
    """Return all that a job wrote, the middle cut when it is long, and whether it was."""
    text = job.output.read(0, 4 * KEPT_CHARS).text
    if job.output.size <= 4 * KEPT_CHARS and len(text) <= KEPT_CHARS:
        return text, False
    tail = job.output.read(-4 * TAIL_CHARS, 4 * TAIL_CHARS).text[-TAIL_CHARS:]
    mark = f"\n[… the middle is cut here; the full log is {job.output.log_path} …]\n"
    return text[:HEAD_CHARS] + mark + tail, True
