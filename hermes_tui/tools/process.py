"""The ``process`` tool: look at background jobs, answer them, wait for them, end them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from .base import Args, Assessment, Result, ToolFailure
from .job import Job
from .job_input import STOPS, judged_text, keys_text, unfinished
from .jobs import JobTable
from .ports import SessionState, ToolContext
from .registry import registry
from .session import JOBS, jobs_of

MAX_WAIT_S: Final = 600.0
MAX_LOG_BYTES: Final = 50_000
LOG_BYTES: Final = 8_000
MAX_DATA_CHARS: Final = 20_000
SETTLE_S: Final = 1.0
"""How long a job may take to answer what it was sent before the call returns."""
MAX_COMMAND_CHARS: Final = 200
DISPLAY_CHARS: Final = 8_000

SCHEMA: Mapping[str, Any] = {
    "description": (
        "Work with the jobs that terminal started with background. list: all jobs. log: output from a cursor on, and "
        "the screen of a job with a terminal. wait: until it ends, or writes a text (until). submit: send a line. "
        "write: send data as it is, or keys. close: end its input. kill: end it. Without a cursor you get what you "
        "have not read yet; the others skip to its end when it is long."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["list", "log", "wait", "submit", "write", "close", "kill"]},
            "job": {"type": "integer", "minimum": 1, "description": "Its number; for all but list."},
            "data": {"type": "string", "maxLength": MAX_DATA_CHARS, "description": "For submit and write."},
            "keys": {
                "type": "array",
                "maxItems": 200,
                "items": {"type": "string"},
                "description": "For write to a job with pty: up, down, enter, esc, tab, ctrl+c, f1, ...",
            },
            "until": {"type": "string", "minLength": 1, "maxLength": 500, "description": "For wait: a text."},
            "timeout_s": {"type": "number", "exclusiveMinimum": 0, "maximum": 600, "description": "For wait; 60."},
            "cursor": {"type": "integer", "description": "For log: where to begin; negative counts from the end."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LOG_BYTES,
                "description": "For log: bytes; 8000.",
            },
        },
        "required": ["action"],
        "additionalProperties": False,
    },
}


def run(args: Args, context: ToolContext) -> Result:
    """Carry out one action."""
    table = jobs_of(context)
    action = str(args["action"])
    if action == "list":
        return _list(table)
    return _ACTIONS[action](_job(args, table), args, context)


def _job(args: Args, table: JobTable) -> Job:
    if args.get("job") is None:
        raise ToolFailure(f"{args.get('action')} needs the number of a job.")
    return table.get(int(args["job"]))


def _list(table: JobTable) -> Result:
    now = time.time()
    rows = []
    for job in table.all():
        row: dict[str, Any] = {"job": job.number, "state": job.state, "command": job.command[:MAX_COMMAND_CHARS]}
        row |= {"pid": job.process.pid, "age_s": round((job.ended_at or now) - job.started_at), "cwd": job.cwd}
        row |= {"exit_code": job.exit_code} if job.exit_code is not None else {}
        row |= {"pty": True} if job.has_terminal else {}
        row |= {"detached": True} if job.is_detached else {}
        row["last_line"] = job.output.last_line()[:MAX_COMMAND_CHARS]
        row["unread_bytes"] = max(0, job.output.size - job.read_to)
        job.is_told = job.is_told or not job.is_running
        rows.append(row)
    return {"ok": True, "jobs": rows}


def _log(job: Job, args: Args, context: ToolContext) -> Result:
    del context
    cursor = args.get("cursor")
    return _told(job, job.read_to if cursor is None else int(cursor), int(args.get("limit") or LOG_BYTES))


def _wait(job: Job, args: Args, context: ToolContext) -> Result:
    until = str(args.get("until") or "")
    timeout_s = min(float(args.get("timeout_s") or 60.0), MAX_WAIT_S)
    is_seen = job.wait(timeout_s, context.cancel, until)
    if context.cancel.cancelled:
        raise ToolFailure(f"Interrupted. Job {job.number} {job.ended_how()}.", job=job.number, state=job.state)
    result = _told(job)
    if until:
        result["seen"] = is_seen
    if job.is_running and not is_seen:
        result["note"] = f"It still runs after {timeout_s:g} s."
    elif until and not is_seen:
        result["note"] = f"It ended without writing {until!r}."
    return result


def _submit(job: Job, args: Args, context: ToolContext) -> Result:
    return _send(job, _sent(job, args), context)


def _send(job: Job, text: str, context: ToolContext) -> Result:
    """Send text, and return what the job makes of it."""
    if not job.is_running:
        raise ToolFailure(f"Job {job.number} {job.ended_how()}: nothing can be sent.", state=job.state)
    job.asked_at = job.output.size
    job.process.write(text.encode("utf-8", "surrogateescape"))
    job.typed = unfinished(job, text)
    if not context.cancel.cancelled:
        job.settle(SETTLE_S)
    return _told(job)


def _close(job: Job, args: Args, context: ToolContext) -> Result:
    del args
    if job.is_running:
        job.process.close_input()
        job.wait(SETTLE_S, context.cancel)
    return _told(job)


def _kill(job: Job, args: Args, context: ToolContext) -> Result:
    del args, context
    job.kill()
    return _told(job)


_ACTIONS: Mapping[str, Callable[[Job, Args, ToolContext], Result]] = {
    "log": _log, "wait": _wait, "submit": _submit, "write": _submit, "close": _close, "kill": _kill
}  # fmt: skip


def _sent(job: Job, args: Args) -> str:
    """Return what is sent: for ``submit`` a line with its end, as the job's kind of input has it."""
    data, keys = str(args.get("data") or ""), args.get("keys") or ()
    if args.get("action") == "submit":
        if keys:
            raise ToolFailure("keys go with write, not with submit.")
        return data + ("\r" if job.has_terminal else "\n")
    if keys and not job.has_terminal:
        raise ToolFailure(f"Job {job.number} has no terminal, so it takes no keys: start it with pty.")
    if not data and not keys:
        raise ToolFailure("write needs data or keys.")
    return data + keys_text(keys)


def _told(job: Job, cursor: int | None = None, limit: int = LOG_BYTES) -> Result:
    """Return a job's state and a part of its output; of what was not read before the newest part."""
    start = job.read_to if cursor is None else cursor
    if cursor is None and job.output.size - start > limit:
        start = -limit
    piece = job.output.read(start, limit)
    age_s = round((job.ended_at or time.time()) - job.started_at, 1)
    result: Result = {"ok": True, "job": job.number, "state": job.state, "age_s": age_s}
    if job.exit_code is not None:
        result["exit_code"] = job.exit_code
    is_at_end = piece.cursor >= job.output.size
    text = piece.text + (job.output.partial() if is_at_end and job.is_running else "")
    result |= {"output": text, "cursor": piece.cursor}
    if piece.lost_bytes:
        result["lost_bytes"] = piece.lost_bytes
    skipped = piece.cursor - len(piece.text.encode()) - job.read_to
    if cursor is None and skipped > 0:
        result["skipped_bytes"] = skipped
    if not is_at_end:
        result["more"] = True
    if (screen := job.output.screen_text()) is not None and job.is_running:
        result["screen"] = screen
    if job.output.size:
        result["log_path"] = str(job.output.log_path)
    if job.output.note:
        result["note"] = job.output.note
    job.read_to = max(job.read_to, piece.cursor)
    job.is_told = job.is_told or not job.is_running
    return result


def assess(args: Args, context: ToolContext) -> Assessment:
    """Say what sending text makes the job do; looking at jobs and ending one's own changes nothing else."""
    if args.get("action") not in ("submit", "write"):
        return Assessment(read_only=True)
    job = _job(args, jobs_of(context))
    text = _sent(job, args)
    if not job.typed and text and set(text) <= STOPS:
        return Assessment(read_only=True)
    judged = judged_text(job, text)
    return Assessment(command=judged, cwd=job.cwd, is_editable=False, read_only=not judged)


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    action, number = str(args.get("action", "")), args.get("job")
    sent = str(args.get("data") or "") + " ".join(f"<{name}>" for name in args.get("keys") or ())
    words = (f"job {number}" if number is not None else "", sent.partition("\n")[0], str(args.get("until") or ""))
    shown: dict[str, Any] = {
        "kind": "terminal", "verb": f"process {action}".strip(), "target": "  ".join(filter(None, words)), "summary": ""
    }  # fmt: skip
    if result is None:
        return shown
    if not result.get("ok", True):
        return shown | {"summary": str(result.get("error", ""))}
    if "jobs" in result:
        rows = result["jobs"]
        lines = [f"{row['job']:>3}  {row['state']:<8} {row['command']}" for row in rows]
        running = sum(row["state"] == "running" for row in rows)
        return shown | {"summary": f"{len(rows)} jobs, {running} running", "output": "\n".join(lines) or "(no jobs)"}
    output = str(result.get("screen") or result.get("output") or "")
    shown |= {"summary": str(result.get("state", "")), "output": output[-DISPLAY_CHARS:] or "(no output)"}
    if "screen" in result:
        shown["screen"] = True
    return shown


def pin(state: SessionState) -> str:
    """Return the jobs that run, for a compressed conversation."""
    lines = [f"- job {job.number}: {job.command}" for job in state.get(JOBS, JobTable).all() if job.is_running]
    return "\n".join(["# Background jobs that run", *lines]) if lines else ""


registry.register("process", SCHEMA, run, toolset="terminal", assess=assess, display=display, pin=pin)
