"""What the whole program costs, seen from its terminal, against an empty Textual app in the same run."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from support.model_script import generated
from support.model_server import ModelServer, Turn

from hermes_tui import SessionDB

from .pty_run import PtyRun
from .report import Row

PROGRAM = [sys.executable, "-m", "hermes_tui"]
EMPTY = [sys.executable, str(Path(__file__).with_name("empty_app.py"))]
LETTER = "\u00a7".encode()
"""A letter that appears nowhere else."""
STARTED = b"\x1b[?1004h"
"""The driver asks for focus events: it reads keys from now on."""
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


def turns() -> list[Turn]:
    """Answers by a word of the prompt; each ends with a mark of its own."""
    words = [f"{word} " for word in generated(10_000).split(" ")]
    return [
        Turn(match="warm", text="WARMED"),
        Turn(match="first", text="FIRSTTOKEN"),
        Turn(match="bulk", pieces=(*words, "\n\nENDOFBULK")),
        Turn(match="paced", pieces=(*words[:2400], "\n\nENDOFPACED"), rate=400),
        Turn(match="slow", pieces=tuple(words), rate=100),
    ]


@contextmanager
def home(url: str) -> Iterator[tuple[dict[str, str], Path]]:
    """A fresh home that knows the server at ``url``; yields the environment and a work folder."""
    with tempfile.TemporaryDirectory() as folder:
        root, work = Path(folder) / "home", Path(folder) / "work"
        for place in (root, work):
            place.mkdir()
        (root / "config.toml").write_text(CONFIG.format(url=url))
        kept = {k: os.environ[k] for k in ("PATH", "LANG", "PYTHONPATH") if k in os.environ}
        env = {
            **kept, "HOME": str(root), "HERMES_TUI_HOME": str(root), "TERM": "xterm-256color", "COLORTERM": "truecolor",
            "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        yield env, work


def echo_s(run: PtyRun) -> float:
    """Seconds from a key to its letter on the terminal; the letter is taken away again."""
    since = run.mark()
    pressed = run.type(LETTER)
    seen = run.wait(LETTER, since)
    run.type(b"\x7f")
    return seen - pressed


def start_s(command: list[str], env: dict[str, str], work: Path) -> float:
    """Seconds from exec until a typed letter is on the screen."""
    with PtyRun(command, env, work) as run:
        run.wait(STARTED)
        run.type(LETTER)
        return run.wait(LETTER) - run.started


def p95(values: list[float]) -> float:
    """The 95th percentile of a small sample."""
    return sorted(values)[max(0, round(len(values) * 0.95) - 1)]


def ask(run: PtyRun, prompt: bytes, end: bytes) -> float:
    """Send a prompt; returns the seconds from Enter until ``end`` was seen."""
    run.type(prompt)
    run.quiet(0.3)
    since = run.mark()
    pressed = run.type(b"\r")
    return run.wait(end, since) - pressed


def start_rows(env: dict[str, str], work: Path) -> Iterator[Row]:
    """Start, against an empty app; the two take turns."""
    start_s(PROGRAM, env, work), start_s(EMPTY, env, work)
    pairs = [(start_s(PROGRAM, env, work), start_s(EMPTY, env, work)) for _ in range(7)]
    ours, empty = (statistics.median(values) for values in zip(*pairs, strict=True))
    yield Row("start to a typed letter, of an empty app", ours / empty, 1.35, shown=f"{ours:.2f} s / {empty:.2f} s")


def first_answer_row(env: dict[str, str], work: Path) -> Iterator[Row]:
    """Start with a prompt that is typed at once."""
    times = []
    for _ in range(3):
        with PtyRun(PROGRAM, env, work) as run:
            run.wait(STARTED)
            run.type(b"first\r")
            times.append(run.wait(b"FIRSTTOKEN") - run.started)
    yield Row("start to first answer, typed at once", statistics.median(times), 1.0, "s", gate=False)


def idle_rows(env: dict[str, str], work: Path) -> Iterator[Row]:
    """CPU of doing nothing, and memory at start."""
    with PtyRun(PROGRAM, env, work) as run:
        run.wait(STARTED)
        run.quiet(3.0)
        before, size = run.cpu_s(), run.mark()
        time.sleep(10)
        yield Row("idle CPU", (run.cpu_s() - before) * 10, 0.2, "%", f"{run.mark() - size} bytes written in 10 s")
        yield Row("memory at start", run.memory_mb(), 90, "MB", gate=False)


def stream_rows(env: dict[str, str], work: Path) -> Iterator[Row]:
    """First token, bulk text, echo while streaming, bytes, interrupt, memory."""
    with PtyRun(PROGRAM, env, work) as run:
        run.wait(STARTED)
        run.quiet(2.0)
        ask(run, b"warm", b"WARMED")
        run.quiet()
        yield Row("Enter to first token", ask(run, b"first", b"FIRSTTOKEN") * 1e3, 60, "ms", gate=False)
        run.quiet()
        before, size = run.cpu_s(), run.mark()
        wall = ask(run, b"bulk", b"ENDOFBULK")
        run.quiet()
        shown = f"{run.cpu_s() - before:.2f} CPU s, {(run.mark() - size) / 1024:.0f} KiB"
        yield Row("10,000 tokens at once, Enter to visible", wall, 0.5, "s", shown, gate=False)
        yield echo_row(run)
        yield bytes_row(run)
        yield from interrupt_rows(run)
        yield Row("memory after 13,000 tokens", run.memory_mb(), 110, "MB", gate=False)


def echo_row(run: PtyRun) -> Row:
    """Key echo while 400 tokens a second stream."""
    run.type(b"paced")
    run.quiet(0.3)
    since = run.mark()
    run.type(b"\r")
    run.wait(b"interrupts", since)
    echoes = []
    while b"ENDOFPACED" not in run.data[since:]:
        echoes.append(echo_s(run))
        time.sleep(0.117)
    run.quiet()
    shown = f"median {statistics.median(echoes) * 1e3:.1f} ms, {len(echoes)} keys"
    return Row("key echo p95 while 400 tokens/s stream", p95(echoes) * 1e3, 16, "ms", shown, gate=False)


def bytes_row(run: PtyRun) -> Row:
    """What the same stream writes to the terminal when nobody types, of its text."""
    run.type(b"paced")
    run.quiet(0.3)
    since = run.mark()
    run.type(b"\r")
    run.wait(b"ENDOFPACED", since)
    run.quiet()
    text = len(" ".join(generated(10_000).split(" ")[:2400]))
    shown = f"{(run.mark() - since) / 1024:.0f} KiB for {text / 1024:.0f} KiB"
    return Row("bytes to the terminal, of the text streamed", (run.mark() - since) / text, 4, shown=shown)


def interrupt_rows(run: PtyRun) -> Iterator[Row]:
    """From Esc to a prompt that echoes and a turn that is over."""
    since = run.mark()
    ask(run, b"slow", b"interrupts")
    run.quiet(0.05, 0.5)
    since = run.mark()
    pressed = run.type(b"\x1b")
    ended = run.wait(b"Interrupted", since) - pressed
    yield Row(
        "interrupt to the end of the turn", ended * 1e3, 250, "ms", f"echo {echo_s(run) * 1e3:.1f} ms", gate=False
    )


def resume_rows(env: dict[str, str], work: Path) -> Iterator[Row]:
    """A long session: until its last words are seen, and typing in it while an answer streams."""
    count = 100_000
    with SessionDB(Path(env["HERMES_TUI_HOME"]) / "state.db") as db:
        session = db.create(source="tui", cwd=str(work), model="fast", provider="bench")
        text = generated(60)
        for _ in range(count // 2_000):
            pair = [{"role": "user", "content": "and then?"}, {"role": "assistant", "content": text}]
            db.append_many(session, pair * 1_000)  # type: ignore[arg-type]
        db.append_many(
            session, [{"role": "user", "content": "the end?"}, {"role": "assistant", "content": "LASTWORDS"}]
        )

    def resumed() -> float:
        with PtyRun([*PROGRAM, "--resume", session], env, work) as run:
            return run.wait(b"LASTWORDS") - run.started

    resumed()
    pairs = [(resumed(), start_s(PROGRAM, env, work)) for _ in range(5)]
    whole, start = (statistics.median(values) for values in zip(*pairs, strict=True))
    shown = f"{whole:.2f} s; start alone {start:.2f} s"
    yield Row(f"resume {count:,} messages, beyond start", (whole - start) * 1e3, 300, "ms", shown, gate=False)
    yield Row(f"resume {count:,} messages, of a start", whole / start, 2, shown=shown)
    with PtyRun([*PROGRAM, "--resume", session], env, work) as run:
        run.wait(b"LASTWORDS")
        run.quiet(2.0)
        row = echo_row(run)
        yield replace(row, name=f"{row.name}, in that session")
        yield Row("memory in that session", run.memory_mb(), 130, "MB", gate=False)


def rows() -> Iterator[Row]:
    """All rows of the program."""
    with ModelServer(turns()) as server, home(server.base_url) as (env, work):
        yield from start_rows(env, work)
        yield from first_answer_row(env, work)
        yield from idle_rows(env, work)
        yield from stream_rows(env, work)
        yield from resume_rows(env, work)
