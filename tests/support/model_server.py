"""A fake model server on loopback for tests, end-to-end runs and benchmarks. Standard library only.

It speaks OpenAI chat completions (``/v1/chat/completions``), OpenAI responses (``/v1/responses``), Anthropic messages
(``/v1/messages``) and ``/v1/models``, each streamed or whole as the request asks, and records what it was asked::

    call = Call(name="terminal", args={"command": "ls"})
    with ModelServer([Turn(text="Hello."), Turn(tool_calls=(call,))]) as server:
        ask(base_url=server.base_url)                    # http://127.0.0.1:PORT/v1
        server.requests[0].body["messages"]              # what arrived
        server.requests[0].wait_gone()                   # monotonic second at which the client hung up

Which turn answers a request, first match wins:

1. a prompt with ``<<{JSON}>>`` in it is answered by exactly that turn: ``<<{"tokens": 500, "rate": 100}>>``;
2. a request without tools gets ``aux`` when that is set (titles, summaries);
3. a turn whose ``match`` is part of the last user message, as often as it comes (only for requests whose last message
   is that user message, so a tool result goes on with the ordered turns);
4. the turns without ``match``, in order, ``times`` requests each;
5. ``fallback`` (``ok``).

:class:`Turn` in ``model_script.py`` documents text, pieces, reasoning, tool calls, pacing, exact bytes, error statuses
and faults. As a program::

    python tests/support/model_server.py --script file.json --port 0

prints ``{"base_url": ...}`` as its first line. The file holds a list of turns, or an object with ``turns``, ``aux``,
``fallback``, ``models`` and ``pages``. ``GET /_log`` returns what was recorded as JSON; times are ``time.monotonic()``.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

try:
    from support.model_script import MALFORMED, Api, Call, Chunk, Turn, chunks_of, error_body, error_event, whole_answer
except ImportError:  # run as a program: this folder is the import path
    from model_script import MALFORMED, Api, Call, Chunk, Turn, chunks_of, error_body, error_event, whole_answer

__all__ = ["Call", "ModelServer", "Recorded", "Turn"]

_APIS: dict[str, Api] = {"/chat/completions": "chat", "/responses": "responses", "/messages": "anthropic"}
_INLINE = re.compile(r"<<(\{.*?\})>>", re.S)


@dataclass
class Recorded:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int
    """Number of the TCP connection that carried it, from 1."""
    at: float
    first_at: float = 0.0
    """When the first content chunk was written."""
    last_at: float = 0.0
    gone_at: float = 0.0
    """When the client was seen to hang up early; 0 while it has not."""
    done: threading.Event = field(default_factory=threading.Event)
    """Set when the answer is over, whatever ended it."""
    sent: threading.Event = field(default_factory=threading.Event)
    """Set after the first content chunk."""
    gone: threading.Event = field(default_factory=threading.Event)

    def wait_gone(self, timeout_s: float = 10.0) -> float:
        """Block until the client hung up and return when that was.

        Raises:
            TimeoutError: It did not.
        """
        if not self.gone.wait(timeout_s):
            raise TimeoutError("the client kept its connection")
        return self.gone_at

    def as_json(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if not isinstance(v, threading.Event)}


class _Gone(Exception):
    """The client hung up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ModelServer

    def setup(self) -> None:
        super().setup()
        self.number = self.server.count_connection()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        path = self.path.removeprefix("/v1")
        if path == "/_log":
            self._whole(200, json.dumps([r.as_json() for r in self.server.requests]))
        elif path == "/models":
            self._whole(200, json.dumps({"object": "list", "data": self.server.models}))
        else:
            self._page()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        api = _APIS.get(self.path.removeprefix("/v1"))
        if api is None:
            self._page()
            return
        request = json.loads(body)
        recorded = Recorded(self.path, dict(self.headers.items()), request, self.number, time.monotonic())
        turn = self.server.pick(recorded)
        try:
            self._answer(turn, api, recorded)
        except (_Gone, OSError):
            recorded.gone_at = time.monotonic()
            recorded.gone.set()
            self.close_connection = True
        finally:
            recorded.done.set()

    def _page(self) -> None:
        page = self.server.pages.get(self.path)
        self._whole(404 if page is None else 200, error_body("chat", 404) if page is None else json.dumps(page))

    def _answer(self, turn: Turn, api: Api, recorded: Recorded) -> None:
        self._pause(turn.first_delay_s)
        if turn.status != 200 or turn.body:
            self._whole(turn.status, turn.body or error_body(api, turn.status), turn.headers)
            return
        model = str(recorded.body.get("model", "fake"))
        if not recorded.body.get("stream"):
            self._whole(200, whole_answer(turn, api, model).decode(), turn.headers)
            return
        self.send_response(200)
        for name, value in {"Content-Type": "text/event-stream", **turn.headers}.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self._play(turn, chunks_of(turn, api, model), api, recorded):
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _play(self, turn: Turn, chunks: Iterator[Chunk], api: Api, recorded: Recorded) -> bool:
        """Write the events; False when the fault ends the connection."""
        shown = 0
        due = time.monotonic()
        for chunk in chunks:
            if chunk.content:
                if turn.fault and shown == turn.after and not self._fault(turn, api):
                    return False
                due += 1 / turn.rate if turn.rate and shown else 0.0
                self._pause(due - time.monotonic())
                shown += 1
            self._write(chunk.body, turn.byte_wise)
            if chunk.content:
                recorded.last_at = time.monotonic()
                recorded.first_at = recorded.first_at or recorded.last_at
                recorded.sent.set()
        if turn.fault and turn.fault != "linger" and shown <= turn.after:
            return self._fault(turn, api)
        if turn.fault == "linger":
            self._pause(turn.seconds)
        return True

    def _fault(self, turn: Turn, api: Api) -> bool:
        match turn.fault:
            case "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return False
            case "eof":
                return False
            case "stall":
                self._pause(turn.seconds)
            case "malformed":
                self._write(MALFORMED)
            case "error_event":
                self._write(error_event(api))
                self.wfile.write(b"0\r\n\r\n")
                return False
        return True

    def _write(self, body: bytes, byte_wise: bool = False) -> None:
        parts = [body[i : i + 1] for i in range(len(body))] if byte_wise else [body]
        for part in parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self._pause(0)

    def _pause(self, seconds: float) -> None:
        """Wait, but notice at once when the client hangs up or the server stops."""
        end = time.monotonic() + seconds
        while True:
            left = max(0.0, end - time.monotonic())
            readable, _, _ = select.select([self.connection, self.server.stop_signal], [], [], left)
            if self.server.stop_signal in readable:
                raise _Gone
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise _Gone
            if readable or time.monotonic() >= end:
                return

    def _whole(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        raw = body.encode()
        kind = "text/html" if body.lstrip().startswith("<") else "application/json"
        self.send_response(status)
        for name, value in {"Content-Type": kind, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


class ModelServer(ThreadingHTTPServer):
    """The server; a context manager that serves from its own threads.

    Args:
        turns: What to answer, see the module's docstring.
        aux: Text for requests that carry no tools; None treats them like the others.
        fallback: Text when the turns are used up.
        models: Rows of ``/v1/models``.
        pages: JSON for other paths, such as ``/api/show``.
        port: 0 takes a free one.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self,
        turns: Sequence[Turn] = (),
        *,
        aux: str | None = None,
        fallback: str = "ok",
        models: Sequence[dict[str, Any]] = ({"id": "fake-model", "object": "model"},),
        pages: dict[str, Any] | None = None,
        port: int = 0,
    ) -> None:
        self.requests: list[Recorded] = []
        self.models = list(models)
        self.pages = pages or {}
        self._lock = threading.Lock()
        self._connections = 0
        self._arrived = threading.Condition(self._lock)
        self._matching = [turn for turn in turns if turn.match]
        self._queue = [turn for turn in turns if not turn.match for _ in range(turn.times)]
        self._aux = aux
        self._fallback = fallback
        self.stop_signal, self._stopper = socket.socketpair()
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def base_url(self) -> str:
        """The OpenAI-style root, ending in ``/v1``."""
        return f"{self.root_url}/v1"

    @property
    def root_url(self) -> str:
        """The root without a path, as the Anthropic client wants it."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> ModelServer:
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stopper.send(b"x")
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet about clients that hang up; everything else is a bug of a test."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def add(self, *turns: Turn) -> None:
        """Append turns while running."""
        with self._lock:
            self._matching += [turn for turn in turns if turn.match]
            self._queue += [turn for turn in turns if not turn.match for _ in range(turn.times)]

    def forget(self) -> None:
        """Drop the turns that are left; ``fallback`` answers from now on."""
        with self._lock:
            self._matching, self._queue = [], []

    def last_message(self) -> str:
        """Return the content of the last message of the newest request, as text."""
        return str(self.requests[-1].body["messages"][-1]["content"])

    def wait_request(self, count: int = 1, timeout_s: float = 10.0) -> Recorded:
        """Block until the ``count``-th request arrived and return it.

        Raises:
            TimeoutError: It did not.
        """
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= count, timeout_s):
                raise TimeoutError(f"request {count} did not arrive")
            return self.requests[count - 1]

    def count_connection(self) -> int:
        """Number a new connection."""
        with self._lock:
            self._connections += 1
            return self._connections

    def pick(self, recorded: Recorded) -> Turn:
        """Record the request and choose its answer."""
        prompt, is_last = _last_user_text(recorded.body)
        with self._arrived:
            self.requests.append(recorded)
            self._arrived.notify_all()
            inline = _INLINE.search(prompt) if is_last else None
            if inline:
                return Turn.from_json(json.loads(inline[1]))
            if self._aux is not None and not recorded.body.get("tools"):
                return Turn(text=self._aux)
            matched = next((turn for turn in self._matching if is_last and turn.match in prompt), None)
            if matched:
                return matched
            return self._queue.pop(0) if self._queue else Turn(text=self._fallback)


def _last_user_text(body: dict[str, Any]) -> tuple[str, bool]:
    """Return the last user message's text, and whether it is the request's last message."""
    rows = body.get("messages") or body.get("input") or []
    if isinstance(rows, str):
        return rows, True
    for position, row in enumerate(reversed(rows)):
        if row.get("role") == "user":
            content = row.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            answers = any(part.get("type") == "tool_result" for part in parts)
            return "".join(str(part.get("text") or "") for part in parts), position == 0 and not answers
    return "", False


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until standard input closes or the process is ended."""
    parser = argparse.ArgumentParser(description="A fake model server on loopback.")
    parser.add_argument("--script", type=Path, help="JSON file with the turns")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args(argv)
    script = json.loads(options.script.read_text("utf-8")) if options.script else {}
    if isinstance(script, list):
        script = {"turns": script}
    turns = [Turn.from_json(row) for row in script.pop("turns", ())]
    with ModelServer(turns, port=options.port, **script) as server:
        print(json.dumps({"base_url": server.base_url}), flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
