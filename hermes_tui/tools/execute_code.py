"""The ``execute_code`` tool: a Python script that calls tools; only what it prints comes back.

The script is code like any other: the gate reads it first. Each call that it makes takes the way of a call by the
model, with its own verdict.
"""

from __future__ import annotations

import ast
import re
import secrets
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from .base import Args, Assessment, Result, ToolFailure
from .capture import Capture, Captured
from .code_process import Clock, CodeEnd, CodeProcess
from .ports import CALLS, InnerCalls, ToolContext
from .registry import registry
from .session import shell_of

NAME = "execute_code"
TOOLS = ("patch", "read_file", "search_files", "terminal", "web_extract", "web_search", "write_file")
MAX_TIMEOUT_S = 300.0
MAX_CALLS = 50
MAX_CODE_CHARS = 100_000
SHOWN_CALLS = 20
DISPLAY_CHARS = 8_000

SCHEMA = {
    "description": (
        "Run a Python script that calls tools as functions; only what it prints comes back, so that many steps cost "
        f"little context. Functions: {', '.join(TOOLS)}; they take the tools' arguments and return their results as "
        'dicts: read_file("a.py")["content"] (without line numbers), terminal("ls")["output"], '
        'search_files("x")["output"]. Look at result["ok"]; a refused call is a result like any other. '
        "Standard library only, no state between scripts. A script that only computes and calls tools runs at once; "
        "one that opens files, starts programs, uses the network or defines classes asks the person first."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "code": {"type": "string", "minLength": 1, "description": "The script. Print what you need to see."},
            "description": {"type": "string", "description": "What it is for, in a few words, for the person."},
            "timeout_s": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": MAX_TIMEOUT_S,
                "description": "Seconds until it is ended, 300 unless given; a person's thinking does not count.",
            },
        },
        "required": ["code"],
        "additionalProperties": False,
    },
}


class _Script:
    """One run's calls: counted, limited, told in the card."""

    def __init__(self, context: ToolContext, clock: Clock) -> None:
        self._context = context
        self._clock = clock
        self._calls = cast(InnerCalls, context.service(CALLS))
        self._at_line_start = True
        self.lines: list[str] = []
        self.count = 0

    @property
    def tools(self) -> dict[str, list[str]]:
        """The tools that this script may call, with their parameters in order."""
        return {name: list(order) for name, order in self._calls.signatures.items() if name in TOOLS}

    def emit(self, text: str) -> None:
        """Show output in the card."""
        self._at_line_start = text.endswith("\n")
        self._context.emit_output(text)

    def answer(self, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Make one call."""
        if name not in self.tools:
            return {"ok": False, "error": f"A script cannot call {name[:80]}. It can: {', '.join(self.tools)}."}
        if self.count >= MAX_CALLS:
            return {"ok": False, "error": f"This script has made its {MAX_CALLS} calls. Do the rest in another one."}
        self.count += 1
        done = self._calls.call(name, args, self._context, max(self._clock.left_s, 0.1), by=NAME)
        self._clock.give_back(done.waited_s)
        self.lines.append(done.line[:200])
        self.emit(f"{'' if self._at_line_start else chr(10)}→ {done.line[:200]}\n")
        return done.result


def run(args: Args, context: ToolContext) -> Result:
    """Run the script to its end."""
    code = _checked(args)
    timeout_s = min(float(args.get("timeout_s") or MAX_TIMEOUT_S), MAX_TIMEOUT_S)
    clock = Clock(timeout_s)
    script = _Script(context, clock)
    call_id = re.sub(r"[^A-Za-z0-9_.-]", "_", context.call_id)[:80]
    log_path = context.spill_dir / f"script-{call_id}-{secrets.token_hex(3)}.log"
    capture = Capture(log_path, script.emit, context.redact)
    started = time.monotonic()
    try:
        process = CodeProcess(_folder(context), context.env, context.cancel)
    except OSError as error:
        raise ToolFailure(f"Python could not be started: {error.strerror}.") from error
    end = process.run(code, script.tools, script.answer, capture, clock)
    captured = capture.finish()
    capture.live.flush(time.monotonic())
    return _result(end, captured, script, timeout_s, time.monotonic() - started)


def _checked(args: Args) -> str:
    """Return the code as it will run.

    Raises:
        ToolFailure: It cannot run; nobody need be asked.
    """
    code = str(args["code"]).replace("\r\n", "\n")
    if not code.strip():
        raise ToolFailure("The script is empty.")
    if len(code) > MAX_CODE_CHARS:
        raise ToolFailure(f"The script is longer than {MAX_CODE_CHARS:,} characters: read its data from a file.")
    try:
        ast.parse(code)
    except SyntaxError as error:
        line = f" in line {error.lineno}: {(error.text or '').strip()[:200]}" if error.lineno else ""
        raise ToolFailure(f"The script is no valid Python ({error.msg}{line}). Nothing was run.") from None
    except (ValueError, RecursionError, MemoryError):
        raise ToolFailure("The script cannot be parsed: it is too deep or holds a NUL. Nothing was run.") from None
    return code


def _folder(context: ToolContext) -> str:
    cwd = shell_of(context).cwd
    return cwd if Path(cwd).is_dir() else str(context.workspace)


def _result(end: CodeEnd, captured: Captured, script: _Script, timeout_s: float, duration_s: float) -> Result:
    result: Result = {"ok": end.kind == "exit" and end.exit_code == 0, "exit_code": end.exit_code}
    result["output"] = captured.text
    if script.count:
        more = script.count - SHOWN_CALLS
        result["calls"] = script.lines[:SHOWN_CALLS] + ([f"… and {more} more"] if more > 0 else [])
        result["call_count"] = script.count
    result["duration_s"] = round(duration_s, 3)
    match end.kind:
        case "timeout":
            result |= {"timed_out": True, "error": f"Ended after {timeout_s:g} s with all that it had started."}
        case "interrupt":
            result |= {"interrupted": True, "error": "Interrupted: the script was ended with all it had started."}
        case "flood":
            result["error"] = "A call's arguments were too large, so the script was ended."
        case "exit" if end.exit_code:
            result["error"] = _last_line(captured.text) or f"The script ended with exit code {end.exit_code}."
    if captured.truncated:
        result["truncated"] = True
        if captured.log_path:
            result["log_path"] = captured.log_path
    if captured.note:
        result["note"] = captured.note
    return result


def _last_line(text: str) -> str:
    return next((line.strip()[:300] for line in reversed(text.split("\n")) if line.strip()), "")


def assess(args: Args, context: ToolContext) -> Assessment:
    """Say what would run, and where."""
    return Assessment(code=_checked(args), cwd=_folder(context))


def display(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe the card."""
    code = str(args.get("code", "")).strip()
    about = str(args.get("description") or "") or code.partition("\n")[0]
    shown: dict[str, Any] = {"kind": "code", "verb": "run script", "target": about, "summary": "", "code": code}
    if result is None:
        return shown
    output = str(result.get("output", ""))
    shown["output"] = output[-DISPLAY_CHARS:] or str(result.get("error") or "(no output)")
    shown["output_cut"] = len(output) > DISPLAY_CHARS or bool(result.get("truncated"))
    shown["calls"] = [str(line) for line in result.get("calls") or ()]
    shown["exit_code"] = None if result.get("timed_out") or result.get("interrupted") else result.get("exit_code")
    count = int(result.get("call_count") or 0)
    calls = f"{count} call{'s' * (count != 1)}" if count else ""
    return shown | {"summary": calls if result.get("ok") else str(result.get("error") or "")}


def check() -> str:
    """Say why no script can run here, if so."""
    return "" if sys.executable else "There is no Python program to run scripts with."


registry.register(
    NAME,
    SCHEMA,
    run,
    toolset="code",
    check=check,
    assess=assess,
    display=display,
    needs=CALLS,
    is_bounded=False,
)
