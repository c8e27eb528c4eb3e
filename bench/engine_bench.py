"""What a turn costs beyond model and tools: streaming over a raw read, the request copy, a step."""

from __future__ import annotations

import json
import socket
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from support.model_server import ModelServer, Turn
from support.scripted import bench, call, say

from hermes_tui import AIAgent, SessionDB
from hermes_tui.engine.context.window import Window
from hermes_tui.engine.types.events import Event, StepStarted
from hermes_tui.engine.types.messages import Message

from .report import Row

TOKENS = 20_000
STEPS = 60


def raw_cpu_s(base_url: str) -> float:
    """CPU seconds of reading the same stream with a socket and ``json.loads``."""
    url = urlsplit(base_url)
    body = json.dumps({"model": "m", "stream": True, "tools": [{}], "messages": [{"role": "user", "content": "raw"}]})
    head = f"POST {url.path}/chat/completions HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((url.hostname, url.port)) as connection, connection.makefile("rb") as lines:
        before = time.thread_time()
        connection.sendall((head + body).encode())
        for line in lines:
            if line.startswith(b"data: {"):
                json.loads(line[6:])
            elif line.startswith(b"data: [DONE]"):
                break
        return time.thread_time() - before


def stream_row(folder: Path) -> Iterator[Row]:
    """Engine CPU per 1,000 streamed tokens beyond the raw read; the server's own share is measured and taken off."""
    with ModelServer([Turn(tokens=TOKENS, times=9)]) as server, SessionDB(folder / "a.db") as db:
        raw_cpu_s(server.base_url)
        raw = raw_cpu_s(server.base_url)
        served = server_cpu_s(server)
        options = {"base_url": server.base_url, "provider": "llamacpp", "routing": {"auxiliary.title.enabled": False}}
        with AIAgent(model="llamacpp/m", db=db, workspace=folder, **options) as agent:
            agent.chat("warm")
            before = time.process_time()
            agent.chat("measured")
            spent = time.process_time() - before - served
        over = (spent - raw) * 1e3 / (TOKENS / 1000)
        shown = f"raw read {raw * 1e6 / TOKENS:.1f} us a token"
        yield Row("engine CPU per 1,000 streamed tokens, over a raw read", over, 40, "ms", shown, gate=False)


def server_cpu_s(server: ModelServer) -> float:
    """CPU seconds that the server's threads spend on one answer."""
    before, mine = time.process_time(), raw_cpu_s(server.base_url)
    return time.process_time() - before - mine


def window_rows() -> Iterator[Row]:
    """Building the request copy of a long history, first and after one more message."""
    history: list[Message] = []
    for number in range(2_500):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
        history += [
            {"role": "user", "content": f"question {number} " * 20},
            {"role": "assistant", "content": None, "tool_calls": [call]},  # type: ignore[list-item]
            {"role": "tool", "content": "result " * 60, "tool_call_id": f"c{number}", "tool_name": "terminal"},
            {"role": "assistant", "content": "an answer of some length " * 10},
        ]
    window = Window()
    before = time.process_time()
    window.build(history)
    first = time.process_time() - before
    history.append({"role": "user", "content": "one more"})
    before = time.process_time()
    window.build(history)
    again = time.process_time() - before
    yield Row(
        "request copy of 10,000 messages", first * 1e3, 60, "ms", f"{again * 1e3:.2f} ms after one more", gate=False
    )
    yield Row("request copy after one more message, of the first", again / first, 0.1)


def step_ms(folder: Path, message_count: int) -> float:
    """CPU milliseconds of one step, with a scripted model and a tool that do nothing, over a stored history."""
    rows: list[Message] = []
    for number in range(message_count // 2):
        rows.append({"role": "user", "content": f"question {number} " * 20})
        rows.append({"role": "assistant", "content": "an answer of some length " * 10})
    with SessionDB(folder / f"steps{message_count}.db") as db:
        session = db.create(messages=rows)
        calls = [call(("echo", f'{{"text":"{number}"}}'), first_id=number) for number in range(STEPS + 5)]
        made = bench([*calls, say("done")], folder, store=db, session_id=session)
        made.events = deque(maxlen=1)  # type: ignore[assignment]
        made.agent.load()
        spent: list[float] = []
        made.agent.hub.subscribe(lambda event: spent.append(time.process_time()) if is_step(event) else None)
        made.agent.chat("measured")
        return (spent[STEPS] - spent[5]) * 1e3 / (STEPS - 5)


def is_step(event: Event) -> bool:
    """Whether a step begins."""
    return isinstance(event, StepStarted)


def step_rows(folder: Path) -> Iterator[Row]:
    """What a step costs beyond model and tools: the request copy, the gate, commits, events, the record of it."""
    short, long = step_ms(folder, 10), step_ms(folder, 1_000)
    yield Row("a step beyond model and tools, 1,000 messages", long, 5, "ms", f"{short:.2f} ms at 10", gate=False)
    yield Row("a step at 1,000 messages, of one at 10", long / short, 2.0)


def rows() -> Iterator[Row]:
    """All rows of the engine."""
    with tempfile.TemporaryDirectory() as folder:
        yield from stream_row(Path(folder))
        yield from step_rows(Path(folder))
    yield from window_rows()
