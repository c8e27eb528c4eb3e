"""``hermes-tui gate explain``: why a command would be allowed, asked, denied or blocked."""

from __future__ import annotations

import argparse
import json
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from ...config.settings import ApprovalSettings
from ...types.errors import ConfigError
from ...types.preferences import ApprovalMode
from .gate import MODES, ShellGate
from .verdict import Verdict

_MARKS = {"safe": "\u2713", "writes": "\u270e", "unknown": "?", "danger": "!", "never": "\u2717"}


def explain(gate: ShellGate, command_id: str, command: str, cwd: str) -> dict[str, Any]:
    """Judge a command and return the answer in the JSON form.

    Args:
        gate: The gate to ask.
        command_id: Travels through.
        command: The command text; lone surrogates stand for undecodable bytes.
        cwd: Absolute folder in which it would run.
    """
    start = time.perf_counter()
    verdict = gate.judge_command(command, cwd=cwd)
    elapsed = (time.perf_counter() - start) * 1000
    return {
        "id": command_id,
        "verdict": "deny" if verdict.verdict == "plan" else verdict.verdict,
        "always": verdict.always,
        "ms": round(elapsed, 3),
        "reasons": list(verdict.reasons),
        "parts": [
            {"argv": list(part.argv), "class": part.danger_class, "reason": part.reason, "rule": part.rule}
            for part in verdict.parts
        ],
    }


def explain_tree(gate: ShellGate, command: str, cwd: str) -> str:
    """Judge a command and return a small tree for people: part, class, reason, rule, then the verdict."""
    verdict = gate.judge_command(command, cwd=cwd)
    lines = [_visible(command)]
    for i, part in enumerate(verdict.parts):
        branch = "\u2514" if i == len(verdict.parts) - 1 else "\u251c"
        words = _visible(" ".join(part.argv)) or "(text)"
        rule = f"  [rule: {_visible(part.rule)}]" if part.rule else ""
        reason = f"  {_visible(part.reason)}" if part.reason else ""
        lines.append(f"{branch} {_MARKS[part.danger_class]} {part.danger_class:<7} {words}{reason}{rule}")
    lines += [f"  because: {_visible(reason)}" for reason in verdict.reasons]
    return "\n".join([*lines, _verdict_line(verdict, gate.mode)])


def _verdict_line(verdict: Verdict, mode: ApprovalMode) -> str:
    always = "; \u201calways\u201d would store: " + ", ".join(verdict.always_rules) if verdict.always else ""
    return f"verdict in mode {mode}: {verdict.verdict}{always}"


def _visible(text: str) -> str:
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode() for char in text
    )


def explain_stream(gate: ShellGate, lines: Iterable[str], cwd: str) -> Iterator[str]:
    """Answer JSON lines ``{"id", "command", "cwd"}``, one JSON line each, in order.

    Raises:
        ConfigError: A line is no such object.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            request = json.loads(line)
            command = request["command"]
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(
                f"Line {number} of the input is no object with a command",
                hint='Write {"id": .., "command": .., "cwd": ..}',
            ) from error
        answer = explain(gate, request.get("id", ""), str(command), str(request.get("cwd") or cwd))
        yield json.dumps(answer)


def load_approvals(path: Path) -> ApprovalSettings:
    """Read the section ``[approvals]`` of a TOML file.

    Raises:
        ConfigError: The file is missing or not valid.
    """
    try:
        section = tomllib.loads(path.read_text(encoding="utf-8")).get("approvals", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"Cannot read {path}: {error}", hint="Check the path and the TOML syntax") from error
    mode = section.get("mode", "ask")
    if mode not in MODES:
        raise ConfigError(f"{path}: approvals.mode is {mode!r}", hint=f"Use one of {', '.join(MODES)}")
    return ApprovalSettings(
        mode=cast("ApprovalMode", mode),
        allow=tuple(section.get("allow", ())),
        deny=tuple(section.get("deny", ())),
        deny_paths=tuple(section.get("deny_paths", ())),
    )


def main(argv: Sequence[str], settings: ApprovalSettings | None = None) -> int:
    """Run ``gate explain``.

    Args:
        argv: Arguments behind ``gate explain``.
        settings: The user's settings, for when ``--config`` is not given.

    Returns:
        Exit code: 0 answered, 2 usage, 3 configuration or input.
    """
    parser = argparse.ArgumentParser(
        prog="hermes-tui gate explain", description="Say what the gate thinks of a command."
    )
    parser.add_argument("command", nargs="?", help="the command text")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--stdin", action="store_true", help='read {"id", "command", "cwd"} lines, answer one JSON line each'
    )
    parser.add_argument("--mode", choices=MODES, help="judge in this mode")
    parser.add_argument("--config", type=Path, metavar="FILE", help="take [approvals] from this file")
    parser.add_argument("--cwd", type=Path, default=None, metavar="DIR", help="folder in which it would run")
    options = parser.parse_args(list(argv))
    if (options.command is None) == (not options.stdin):
        parser.error("give either a command or --stdin")
    cwd = str((options.cwd or Path.cwd()).absolute())
    try:
        approvals = load_approvals(options.config) if options.config else settings or ApprovalSettings()
        gate = ShellGate(approvals, mode=cast("ApprovalMode | None", options.mode))
        _answer(gate, options, cwd)
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 3
    return 0


def _answer(gate: ShellGate, options: argparse.Namespace, cwd: str) -> None:
    if options.stdin:
        for line in explain_stream(gate, sys.stdin, cwd):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    elif options.json:
        sys.stdout.write(json.dumps(explain(gate, "", options.command, cwd)) + "\n")
    else:
        sys.stdout.write(explain_tree(gate, options.command, cwd) + "\n")
