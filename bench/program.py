"""What the whole program costs, seen from its terminal, against an empty Textual app in the same run."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from support.model_server import ModelServer

from .pty_run import PtyRun
from .report import Row

PROGRAM = [str(Path(sys.executable).with_name("hermes-tui"))]
EMPTY = [sys.executable, str(Path(__file__).with_name("empty_app.py"))]
LETTER = "\u00a7".encode()
"""A letter that appears nowhere else."""
CONFIG = """\
model = "bench/fast"
[providers.bench]
base_url = "{url}"
api_mode = "chat_completions"
api_key = "sk-bench-000000000000000000000000"
models = {{ fast = {{ context_window = 1000000 }} }}
[auxiliary.title]
enabled = false
"""


@contextmanager
def home(server: ModelServer) -> Iterator[tuple[dict[str, str], Path]]:
    """A fresh home that knows the server; yields the environment and a work folder."""
    with tempfile.TemporaryDirectory() as folder:
        root, work = Path(folder) / "home", Path(folder) / "work"
        root.mkdir(), work.mkdir()
        (root / "config.toml").write_text(CONFIG.format(url=server.base_url))
        kept = {k: os.environ[k] for k in ("PATH", "LANG") if k in os.environ}
        env = {
            **kept, "HOME": str(root), "HERMES_TUI_HOME": str(root), "TERM": "xterm-256color",
            "COLORTERM": "truecolor", "PYTHONPATH": "", "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        yield env, work


def echo_s(run: PtyRun) -> float:
    """Seconds from a key to its letter on the terminal; the letter is taken away again."""
    since = run.mark()
    pressed = run.type(LETTER)
    seen = run.wait(LETTER, since)
    since = run.mark()
    run.type(b"\x7f")
    return seen - pressed


def start_s(command: list[str], env: dict[str, str], work: Path) -> float:
    """Seconds from exec until a typed letter is on the screen."""
    with PtyRun(command, env, work) as run:
        run.wait(b"\x1b[?1004h")
        run.type(LETTER)
        return run.wait(LETTER) - run.started


def median_of(count: int, measure: Callable[[], float]) -> float:
    """Median of some measurements."""
    return statistics.median(measure() for _ in range(count))


def p95(values: list[float]) -> float:
    """The 95th percentile of a small sample."""
    return sorted(values)[max(0, round(len(values) * 0.95) - 1)]


def say(run: PtyRun, directive: str, end: bytes) -> tuple[float, float]:
    """Send a prompt; returns when Enter was pressed and when ``end`` was seen."""
    run.type(f"say <<{directive}>>".encode())
    run.quiet(0.3)
    since = run.mark()
    pressed = run.type(b"\r")
    return pressed, run.wait(end, since)


def start_rows(env: dict[str, str], work: Path) -> Iterator[Row]:
    """Start, against an empty app."""
    start_s(PROGRAM, env, work), start_s(EMPTY, env, work)
    pairs = [(start_s(PROGRAM, env, work), start_s(EMPTY, env, work)) for _ in range(5)]
    ours, empty = (statistics.median(values) for values in zip(*pairs, strict=True))
    yield Row("start to a typed letter, over an empty app", ours / empty, 1.35, shown=f"{ours:.2f} s / {empty:.2f} s")


def idle_row(env: dict[str, str], work: Path) -> Iterator[Row]:
    """CPU of doing nothing, and memory at start."""
    with PtyRun(PROGRAM, env, work) as run:
        run.wait(b"\x1b[?1004h")
        run.quiet(2.0)
        before, size = run.cpu_s(), run.mark()
        time.sleep(10)
        yield Row("idle CPU", (run.cpu_s() - before) * 10, 0.2, "%", f"{run.mark() - size} bytes written in 10 s")
        yield Row("memory at start", run.memory_mb(), 90, "MB", gate=False)


def stream_rows(env: dict[str, str], work: Path) -> Iterator[Row]:
    """First token, bulk text, echo and lag while streaming, interrupt, memory."""
    with PtyRun(PROGRAM, env, work) as run:
        run.wait(b"\x1b[?1004h")
        run.quiet(2.0)
        pressed, seen = say(run, '{"text": "FIRSTTOKEN"}', b"FIRSTTOKEN")
        run.quiet()
        pressed, seen = say(run, '{"text": "SECONDTOKEN"}', b"SECONDTOKEN")
        yield Row("Enter to first token", (seen - pressed) * 1e3, 60, "ms", gate=False)
        run.quiet()
        before, size = run.cpu_s(), run.mark()
        pressed, seen = say(run, '{"tokens": 10000, "after": "ENDOFBULK"}', b"ENDOFBULK")
        run.quiet()
        shown = f"{run.cpu_s() - before:.2f} CPU s, {(run.mark() - size) / 1024:.0f} KiB"
        yield Row("10,000 tokens at once to visible", seen - pressed, 0.5, "s", shown, gate=False)
        before = run.cpu_s()
        run.type(b'say <<{"tokens": 1600, "rate": 400, "after": "ENDOFPACED"}>>')
        run.quiet(0.3)
        run.type(b"\r")
        run.wait(b"esc interrupts", run.mark() - 4000 if run.mark() > 4000 else 0)
        echoes = []
        for _ in range(20):
            echoes.append(echo_s(run))
            time.sleep(0.11)
        yield Row("key echo p95 while 400 tokens/s stream", p95(echoes) * 1e3, 16, "ms", gate=False)
        run.wait(b"ENDOFPACED", max(0, run.mark() - 20000))
        run.quiet()
        yield Row("memory after 12,000 tokens", run.memory_mb(), 110, "MB", gate=False)


def rows() -> Iterator[Row]:
    """All rows of the program."""
    with ModelServer([]) as server, home(server) as (env, work):
        yield from start_rows(env, work)
        yield from idle_row(env, work)
        yield from stream_rows(env, work)
