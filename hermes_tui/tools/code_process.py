"""One run of a script in a child process: its output, its calls of tools, its end, whichever comes first."""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .capture import Capture
from .ports import CancelToken
from .proctree import end_all_below

RUNNER = Path(__file__).with_name("code_runner.py")
MAX_REQUEST_BYTES = 10_000_000
"""Of one call's arguments."""
EXIT_WAIT_S = 0.05
"""How often the end of a script is looked for once it has closed its link."""
SEND_WAIT_S = 10.0
"""How long a script may leave an answer unread."""
_CHUNK = 65_536

Answer = Callable[[str, Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CodeEnd:
    """How a script ended."""

    kind: Literal["exit", "timeout", "interrupt", "flood"]
    exit_code: int


class Clock:
    """Counts down a script's own time; what a person needs to decide is given back."""

    def __init__(self, limit_s: float) -> None:
        self._deadline = time.monotonic() + limit_s

    @property
    def left_s(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._deadline - time.monotonic())

    def give_back(self, seconds: float) -> None:
        """Add to the time left."""
        self._deadline += seconds


class CodeProcess:
    """Starts a script at once; :meth:`run` sees it to its end. One thread, an interrupt from any.

    Args:
        cwd: Folder to run in.
        env: Its environment.
        cancel: Ends it and all that it started.
    """

    def __init__(self, cwd: str, env: Mapping[str, str], cancel: CancelToken) -> None:
        self._cancel = cancel
        self._link, theirs = socket.socketpair()
        lifeline_read, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-X", "utf8", str(RUNNER), str(theirs.fileno()), str(lifeline_read)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env=dict(env),
                pass_fds=(theirs.fileno(), lifeline_read),
                start_new_session=True,
            )
        except BaseException:
            self._link.close()
            os.close(self._lifeline)
            raise
        finally:
            theirs.close()
            os.close(lifeline_read)
        assert self._process.stdout is not None
        self._out = self._process.stdout.fileno()
        os.set_blocking(self._out, False)
        self._link.settimeout(SEND_WAIT_S)
        self._requests = b""

    def run(
        self, code: str, tools: Mapping[str, Sequence[str]], answer: Answer, capture: Capture, clock: Clock
    ) -> CodeEnd:
        """Run the script to its end, and end whatever it leaves behind. Blocks.

        Args:
            code: The script.
            tools: Names and parameters of the tools that it may call.
            answer: Makes one call; blocks meanwhile.
            capture: Gets its output.
            clock: Its time.
        """
        with ExitStack() as stack:
            stack.callback(self._close)
            stack.callback(self._cancel.on_cancel(self._end))
            with suppress(OSError):  # ended already: its output says why
                self._link.sendall(json.dumps({"code": code, "tools": tools}).encode() + b"\n")
            selector = stack.enter_context(selectors.DefaultSelector())
            selector.register(self._out, selectors.EVENT_READ, "output")
            selector.register(self._link, selectors.EVENT_READ, "call")
            kind = self._watch(selector, answer, capture, clock)
            self._end()
            _take(self._out, capture, whole=True)
            return CodeEnd(kind, self._process.wait())

    def _watch(
        self, selector: selectors.BaseSelector, answer: Answer, capture: Capture, clock: Clock
    ) -> Literal["exit", "timeout", "interrupt", "flood"]:
        is_linked = True
        while True:
            frame_s = capture.live.wait_s(time.monotonic())
            wait_s = min(clock.left_s, 1.0 if is_linked else EXIT_WAIT_S, *([] if frame_s is None else [frame_s]))
            ready = {key.data for key, _ in selector.select(wait_s)}
            if self._cancel.cancelled:
                return "interrupt"
            if "output" in ready and not _take(self._out, capture):
                selector.unregister(self._out)
            if capture.live.wait_s(time.monotonic()) == 0.0:
                capture.live.flush(time.monotonic())
            if "call" in ready:
                is_linked = self._take_calls(answer, capture)
                if not is_linked:
                    selector.unregister(self._link)
            if len(self._requests) > MAX_REQUEST_BYTES:
                return "flood"
            if not is_linked and self._process.poll() is not None:
                return "exit"
            if not clock.left_s:
                return "timeout"

    def _take_calls(self, answer: Answer, capture: Capture) -> bool:
        """Answer what was asked; returns whether more may come."""
        try:
            piece = self._link.recv(_CHUNK)
        except OSError:
            return False
        self._requests += piece
        while b"\n" in self._requests:
            line, _, self._requests = self._requests.partition(b"\n")
            capture.live.flush(time.monotonic())
            result = _answer(line, answer)
            with suppress(OSError):  # the script is gone
                self._link.sendall(json.dumps(result).encode() + b"\n")
        return bool(piece)

    def _end(self) -> None:
        end_all_below(self._process.pid, grace_s=0.0)

    def _close(self) -> None:
        self._link.close()
        os.close(self._lifeline)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _answer(line: bytes, answer: Answer) -> dict[str, Any]:
    try:
        asked = json.loads(line)
        tool, args = asked["tool"], asked["args"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {"ok": False, "error": "The call could not be read."}
    if not isinstance(tool, str) or not isinstance(args, dict):
        return {"ok": False, "error": "The call could not be read."}
    return answer(tool, args)


def _take(fd: int, capture: Capture, *, whole: bool = False) -> bool:
    """Take output that is there; returns whether more may come."""
    while True:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return True
        if not data:
            return False
        capture.feed(data)
        if not whole:
            return True
