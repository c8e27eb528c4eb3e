"""The child process of ``execute_code``: runs one script, whose calls of tools go to the parent.

Run as a program of its own, with the standard library only: ``python -I -S code_runner.py LINK LIFELINE``. ``LINK`` is
an inherited socket: the first line from the parent is ``{"code", "tools": {name: [parameter, ...]}}``, then one line
``{"tool", "args"}`` is answered by one line of result at a time. ``LIFELINE`` ends with the parent.
"""

from __future__ import annotations

import builtins
import json
import linecache
import os
import socket
import sys
import threading
import traceback
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

SCRIPT = "<script>"
MODULE = "hermes_tools"


class Link:
    """The way to the parent. Any thread; one call at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._reader: BinaryIO = connection.makefile("rb")
        self._lock = threading.Lock()

    def read(self) -> Any:
        """Return the next line's value."""
        line = self._reader.readline()
        if not line:
            raise ConnectionError("The agent is gone.")
        return json.loads(line)

    def call(self, tool: str, args: Mapping[str, Any]) -> Any:
        """Return what a tool answers."""
        text = json.dumps({"tool": tool, "args": args})
        with self._lock:
            self._socket.sendall(text.encode() + b"\n")
            return self.read()


def make_tool(link: Link, name: str, parameters: Sequence[str]) -> Callable[..., Any]:
    """Return the function that calls a tool; what stands in order is named by the tool's parameters."""

    def tool(*args: Any, **named: Any) -> Any:
        if len(args) > len(parameters):
            raise TypeError(f"{name}() takes at most {len(parameters)} arguments: {', '.join(parameters)}")
        given = dict(zip(parameters, args, strict=False))
        if twice := sorted(given.keys() & named.keys()):
            raise TypeError(f"{name}() got several values for {', '.join(twice)}")
        merged = {key: value for key, value in {**given, **named}.items() if value is not None}
        if isinstance(merged.get("urls"), str):
            merged["urls"] = [merged["urls"]]
        return link.call(name, merged)

    tool.__name__ = tool.__qualname__ = name
    return tool


def run(code: str, tools: Mapping[str, Callable[..., Any]]) -> int:
    """Run a script and return its exit code; a failure's traceback goes to stderr, without this file's lines."""
    module = types.ModuleType(MODULE)
    vars(module).update(tools)
    sys.modules[MODULE] = module
    sys.argv = [SCRIPT]
    linecache.cache[SCRIPT] = (len(code), None, code.splitlines(keepends=True), SCRIPT)
    try:
        program = compile(code, SCRIPT, "exec", dont_inherit=True)
        exec(program, {"__name__": "__main__", "__builtins__": builtins, **tools})
    except Exception as error:  # noqa: BLE001 - the script is somebody else's: whatever it raises is its result
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != SCRIPT:
            frames = frames.tb_next
        traceback.print_exception(error.with_traceback(frames))
        return 1
    return 0


def end_with(lifeline: int) -> None:
    """End this process when the parent has."""
    os.read(lifeline, 1)
    os._exit(137)


def main() -> int:
    """Take the script from the parent and run it."""
    link_fd, lifeline = (int(word) for word in sys.argv[1:3])
    for fd in (link_fd, lifeline):
        os.set_inheritable(fd, False)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    threading.Thread(target=end_with, args=(lifeline,), daemon=True).start()
    link = Link(socket.socket(fileno=link_fd))
    start = link.read()
    return run(start["code"], {name: make_tool(link, name, order) for name, order in start["tools"].items()})


if __name__ == "__main__":
    sys.exit(main())
