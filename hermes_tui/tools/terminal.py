"""The ``terminal`` tool: run a command in the session's persistent shell.

``ok`` says that the command ran to its end, whatever its exit code; a timeout or an interrupt is not ok.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from contextlib import suppress
from typing import Any

from .base import Args, Assessment, Result, ToolFailure
from .capture import Capture, Captured
from .job import Job
from .paths import resolve
from .ports import ToolContext
from .registry import registry
from .session import jobs_of, shell_of
from .shell import ShellResult, find_shell
from .signal import Signal
from .terminal_jobs import INTERRUPTED, follow, is_detached, moved, run_in_background, run_on_terminal

MAX_TIMEOUT_S = 600.0
MAX_COMMAND_CHARS = 100_000
MAX_WATCHED = 8
DISPLAY_CHARS = 8_000

SCHEMA = {
    "description": (
        "Run a command in a persistent bash shell. The folder, variables and functions last from call to call. "
        "stdin is empty and nobody can answer: pass -y, -m and the like. stdout and stderr come together; of long "
        "output the middle is cut and the full log kept. With background the call returns at once with a job number: "
        "for servers, watchers and whatever takes minutes; process reads, answers, awaits and ends jobs, and you are "
        "told when one ends. With pty the program gets a terminal; what it changes in its shell does not last. "
        "Use read_file, search_files and patch rather than cat, grep and sed for files."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "Shell text; may have several lines."},
            "timeout_s": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": 600,
                "description": "Seconds until it is ended, 180 unless given.",
            },
            "cwd": {"type": "string", "description": "Folder to change to first; the shell stays there."},
            "background": {
                "type": "boolean",
                "description": "Run it as a job, with its input open. It ends with this program unless it begins "
                "with nohup.",
            },
            "pty": {"type": "boolean", "description": "Give it a terminal of 80x24; only for programs that need one."},
            "watch": {
                "type": "array",
                "maxItems": MAX_WATCHED,
                "items": {"type": "string", "minLength": 1, "maxLength": 200},
                "description": "With background: tell me of lines that hold one of these texts.",
            },
            "description": {"type": "string", "description": "What it is for, in a few words, for the person."},
        },
        "required": ["command"],
        "additionalProperties": False,
    },
}

# What programs say when they miss a person at the terminal.
_WANTS_A_PERSON = re.compile(
    r"a terminal is required|no tty present|a password is required|not a (?:tty|terminal)|not from a terminal"
    r"|not to a terminal|/dev/tty|Host key verification failed|terminal prompts disabled|Terminal is dumb"
    r"|problem with the editor|EOFError: EOF when reading a line|must be run from a terminal|askpass",
    re.IGNORECASE,
)
_READS_A_LINE = re.compile(r"(?:^|[;&]\s*)read\s(?![^;&\n]*<)", re.MULTILINE)
_NEEDS_INPUT = "It needs interactive input, and nobody can type here: pass the answer as an option, a file or a pipe."


def run(args: Args, context: ToolContext) -> Result:
    """Run the command and wait for its end."""
    command = _checked(str(args["command"]))
    timeout_s = min(float(args.get("timeout_s") or context.timeout_s), MAX_TIMEOUT_S)
    cwd = _checked_cwd(args, context)
    has_terminal = bool(args.get("pty"))
    with suppress(OSError):  # told when a log is needed
        context.spill_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    if args.get("background"):
        watch = [str(words) for words in args.get("watch") or ()]
        return run_in_background(command, context, cwd=cwd, has_terminal=has_terminal, watch=watch)
    with jobs_of(context).foreground(context.call_id) as handover:
        if has_terminal:
            return run_on_terminal(command, context, cwd=cwd, timeout_s=timeout_s, handover=handover)
        return _run_in_shell(command, context, cwd, timeout_s, handover)


def _run_in_shell(command: str, context: ToolContext, cwd: str, timeout_s: float, handover: Signal) -> Result:
    name = f"terminal-{re.sub(r'[^A-Za-z0-9_.-]', '_', context.call_id)[:80]}-{secrets.token_hex(3)}"
    capture = Capture(context.spill_dir / f"{name}.log", context.emit_output, context.redact)
    started = time.monotonic()
    ran = shell_of(context).run(command, capture, context.cancel, handover, timeout_s=timeout_s, cwd=cwd)
    captured = capture.finish()
    capture.live.flush(time.monotonic())
    if ran.taken is not None:
        return moved(follow(ran.taken, command, ran.cwd, context, captured.text))
    notes = list(ran.notes)
    left = follow(ran.left, command, ran.cwd, context) if ran.left is not None else None
    if left is not None:
        notes.append(_describe_left(left))
    if ran.exit_code and _wants_a_person(command, captured.text):
        notes.append(_NEEDS_INPUT)
    result = _result(ran, captured, notes, timeout_s, time.monotonic() - started)
    return result if left is None else {**result, "left_job": left.number}


def _checked(command: str) -> str:
    if not command.strip():
        raise ToolFailure("The command is empty.")
    if len(command) > MAX_COMMAND_CHARS:
        raise ToolFailure("The command is too long: write it to a file with write_file and run that.")
    if "\0" in command:
        raise ToolFailure(r"The command holds a NUL character, which no shell can take: use printf '\0'.")
    try:
        command.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ToolFailure("The command holds half a Unicode character: send it again.") from None
    return command


def _checked_cwd(args: Args, context: ToolContext) -> str:
    raw = str(args.get("cwd") or "")
    if not raw:
        return ""
    folder = resolve(context, raw)
    if not folder.is_dir():
        raise ToolFailure(f"{raw} is not a folder. Nothing was run.", cwd=shell_of(context).cwd)
    return str(folder)


def _describe_left(job: Job) -> str:
    who = f", process {job.process.pid}" if job.process.pid else ""
    return (
        f"It left something running in the background: job {job.number}{who}. process reads its later output and ends "
        "it."
    )


def _wants_a_person(command: str, output: str) -> bool:
    if _WANTS_A_PERSON.search(output[-4_000:]):
        return True
    return not output.strip() and _READS_A_LINE.search(command) is not None


def _result(ran: ShellResult, captured: Captured, notes: list[str], timeout_s: float, duration_s: float) -> Result:
    result: Result = {"ok": True, "exit_code": ran.exit_code, "output": captured.text, "cwd": ran.cwd}
    result["duration_s"] = round(duration_s, 3)
    if ran.ending.kind == "timeout":
        result.update(ok=False, timed_out=True)
        result["error"] = (
            f"Timed out after {timeout_s:g} s and ended with all it had started. Give it more time (timeout_s, at "
            "most 600), or run it with background and look at it later."
        )
    elif ran.ending.kind == "interrupt":
        result.update(ok=False, interrupted=True, error=INTERRUPTED)
    if captured.truncated:
        result["truncated"] = True
        if captured.log_path:
            result["log_path"] = captured.log_path
    if captured.note:
        notes.append(captured.note)
    if notes:
        result["note"] = " ".join(notes)
    return result


def assess(args: Args, context: ToolContext) -> Assessment:
    """Say which command would run, and where."""
    raw = str(args.get("cwd") or "")
    cwd = str(resolve(context, raw)) if raw else shell_of(context).cwd
    command = str(args.get("command", ""))
    if args.get("background") and is_detached(command):  # it outlives the session, as it would with &
        return Assessment(command=f"{command} &", cwd=cwd, is_editable=False)
    return Assessment(command=command, cwd=cwd)


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    command = str(args.get("command", "")).strip()
    shown: dict[str, Any] = {
        "kind": "terminal",
        "verb": "terminal",
        "target": command.partition("\n")[0],
        "command": command,
        "summary": str(args.get("description") or ""),
        "cwd": str(args.get("cwd") or ""),
    }
    if result is None:
        return shown
    output = str(result.get("screen") or result.get("output", ""))
    tail = output[-DISPLAY_CHARS:]
    shown["output"] = tail or ("(no output)" if "exit_code" in result else "")
    shown["lines"] = output.count("\n") + (not output.endswith("\n") and bool(output))
    shown["output_cut"] = len(output) > len(tail) or bool(result.get("truncated"))
    shown["cwd"] = str(result.get("cwd", shown["cwd"]))
    shown["exit_code"] = result.get("exit_code")
    shown["summary"] = _summary(result)
    return shown


def _summary(result: Result) -> str:
    if result.get("timed_out"):
        return "timed out"
    if result.get("interrupted"):
        return "interrupted"
    if "job" in result:
        return f"job {result['job']}" + (" (moved)" if result.get("moved") else "")
    if "exit_code" not in result:
        return str(result.get("error", ""))
    if "left_job" in result and not result["exit_code"]:
        return f"left job {result['left_job']}"
    return f"exit {result['exit_code']}" if result["exit_code"] else "done"


def check() -> str:
    """Say why no command can run here, if so."""
    try:
        find_shell(os.environ)
    except ToolFailure as failure:
        return failure.message
    return ""


registry.register("terminal", SCHEMA, run, toolset="terminal", check=check, assess=assess, display=display)
