"""``hermes-tui run``: one turn without a screen.

Text mode writes the answer to stdout and everything else to stderr. JSON mode writes one event a line to stdout and
nothing else; the last line is ``turn_finished`` with the library's result keys.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Mapping
from types import FrameType
from typing import Any, TextIO

from ..api import AgentSession, Engine
from ..types import events as ev
from ..types.inert import clean

EXIT_BY_REASON: Mapping[str, int] = {"done": 0, "interrupted": 130}
"""Exit code by ``exit_reason``; any other is a failed turn."""
EXIT_BY_NOTICE: Mapping[str, int] = {"config": 3, "auth": 4, "provider": 4}
"""Exit code by the kind of the notice that ended the turn."""

_MODE_BY_APPROVAL = {"never": "strict", "plan": "plan", "all": "off"}


def run_once(
    engine: Engine, prompt: str, *, session: str = "", json_lines: bool = False, approve: str = "rules"
) -> int:
    """Run one turn and return the exit code.

    Args:
        engine: An open engine.
        prompt: The user's message.
        session: Id or title of the session to go on with; a new one when empty.
        json_lines: Write events instead of text.
        approve: ``never`` denies all that is not provably harmless, ``rules`` denies what the rules would ask about,
            ``plan`` only reads, ``all`` asks nothing (hard blocks stay).
    """
    agent = engine.open_session(session or None, source="run")
    if approve in _MODE_BY_APPROVAL:
        agent.set_approval_mode(_MODE_BY_APPROVAL[approve])
    writer = _JsonWriter(sys.stdout) if json_lines else _TextWriter(sys.stdout, sys.stderr)
    ending = _Ending()

    def write(event: ev.Event) -> None:
        try:
            writer.write(event)
        except BrokenPipeError:  # the reader of our output left: nobody waits for the rest
            agent.interrupt("terminated")

    unsubscribers = [agent.subscribe(sink) for sink in (ending.watch, write)]
    restore = _interrupt_on_signals(agent)
    try:
        result = agent.run_turn(prompt)
    finally:
        restore()
        for unsubscribe in unsubscribers:
            unsubscribe()
        left = [row for row in agent.jobs.rows() if row.state == "running" and not row.is_detached]
        agent.close()
        if not json_lines:
            for row in left:
                sys.stderr.write(clean(f"job {row.number} ended with the run: {row.command}") + "\n")
        writer.close()
    return EXIT_BY_REASON.get(str(result["exit_reason"]), ending.code)


class _Ending:
    """Remembers the exit code that the last error of the main agent means."""

    code = 1

    def watch(self, event: ev.Event) -> None:
        if isinstance(event, ev.Notice) and event.level == "error" and not event.agent_id:
            self.code = EXIT_BY_NOTICE.get(event.kind, 1)


def _interrupt_on_signals(agent: AgentSession) -> Any:
    """Let Ctrl+C and SIGTERM end the turn cleanly; a second signal ends the process. Main thread only."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        agent.interrupt("user" if number == signal.SIGINT else "terminated")
        restore()

    def restore() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler)

    for number in previous:
        signal.signal(number, stop)
    return restore


class _JsonWriter:
    """One event a line, up to the end of the turn; what comes later (a title) is dropped."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_over = False

    def write(self, event: ev.Event) -> None:
        if self._is_over:
            return
        self._is_over = isinstance(event, ev.TurnFinished) and not event.agent_id
        self._out.write(json.dumps(ev.as_json(event), default=str) + "\n")
        self._out.flush()

    def close(self) -> None:
        self._out.flush()


class _TextWriter:
    """The answer to stdout as it streams, the rest to stderr."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out = out
        self._err = err
        self._line_open = False

    def write(self, event: ev.Event) -> None:
        match event:
            case ev.TextDelta(text=text) if text and not event.agent_id:
                self._out.write(clean(text) if self._out.isatty() else text)
                self._out.flush()
                self._line_open = not text.endswith("\n")
            case ev.ToolFinished(name=name, outcome=outcome, duration_s=duration_s):
                target = event.display.get("target", "")
                self._say(f"{name} {target}: {outcome} ({duration_s:.1f} s)")
            case ev.ApprovalResolved(decision=decision) if decision.choice == "deny":
                self._say("denied: nobody to ask; see --approve" if decision.by == "no_surface" else "denied")
            case ev.RequestRetrying(reason=reason, attempt=attempt, max_attempts=most):
                self._say(f"{reason}; attempt {attempt} of {most}")
            case ev.Notice(text=text, hint=hint):
                self._say(f"{text} {hint}".rstrip())

    def _say(self, line: str) -> None:
        self._end_line()
        self._err.write(f"{clean(line)}\n")
        self._err.flush()

    def _end_line(self) -> None:
        if self._line_open:
            self._out.write("\n")
            self._out.flush()
            self._line_open = False

    def close(self) -> None:
        self._end_line()
