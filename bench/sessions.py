"""What finding and resuming cost over a large store: search, appends, the browser in its terminal.

``HERMES_TUI_BENCH_MESSAGES=1000000`` makes the store of the budgets; ``HERMES_TUI_BENCH_STORE=FILE`` keeps it there and
uses it again.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from hermes_tui.engine.store.db import SessionDB

from .corpus import Corpus, build
from .program import PROGRAM, STARTED, home, p95
from .pty_run import PtyRun
from .report import Row
from .search import BUDGET_MS, append_ms, kinds_of_queries, time_queries, typing_ms

MESSAGES = int(os.environ.get("HERMES_TUI_BENCH_MESSAGES", "100000"))
QUERIES = 40
NOWHERE = "http://127.0.0.1:9/v1"
"""No request is made."""
LEAVE = b"\x12"
BROWSE = b"\x12"
KNOWN = (("QQQQQQQQ", "kestrel", "红隼在风中悬停"), ("WWWWWWWW", "lapwing", "凤头麦鸡落在田里"))
"""Titles of two sessions, and what only they say. Where one title takes the other's place every letter is written."""


def store_rows(path: Path) -> Iterator[Row]:
    """Size and speed of the store itself."""
    if not path.exists():
        built = build(path, MESSAGES)
        yield Row("store: seconds to write 100,000 messages", built / MESSAGES * 1e5, 120, "s", gate=False)
    with closing(sqlite3.connect(path)) as conn:
        text, count = conn.execute(
            "SELECT sum(length(CAST(coalesce(content, '') AS BLOB)) + length(CAST(coalesce(tool_calls, '') AS BLOB))), "
            "count(*) FROM messages"
        ).fetchone()
        sessions = conn.execute("SELECT count(*) FROM sessions").fetchone()[0]
    size = path.stat().st_size
    shown = f"{size / 1e6:.0f} MB for {text / 1e6:.0f} MB in {count:,} messages of {sessions:,} sessions"
    yield Row("store: disk with its index, of the text", size / text, 3, shown=shown)
    corpus = Corpus()
    with SessionDB(path) as db:
        for kind, queries in kinds_of_queries(corpus, QUERIES).items():
            timed = time_queries(db, queries)
            walls, cpus = [wall for wall, _, _ in timed], [cpu for _, cpu, _ in timed]
            shown = f"median {statistics.median(walls):.1f} ms; CPU p95 {p95(cpus):.1f} ms"
            yield Row(f"search, first page p95: {kind}", p95(walls), BUDGET_MS[kind], "ms", shown, gate=False)
        appended = append_ms(db, corpus, kinds_of_queries(corpus, 20)["words"])
        shown = f"quiet {appended['quiet p50']:.2f} ms, p95 {appended['searching p95']:.1f} ms"
        yield Row("append while searches run, median", appended["searching p50"], 2, "ms", shown, gate=False)
        yield Row("typing 12 keys: last key to hits", typing_ms(db), 100, "ms", gate=False)


def add_known(path: Path) -> None:
    """Make the sessions that the browser is asked for the newest ones."""
    with SessionDB(path) as db:
        for title, word, text in KNOWN:
            session = db.create(title=title, model="fast", provider="bench")
            db.append_many(session, [{"role": "user", "content": text}, {"role": "assistant", "content": word}])


def browser_rows(env: dict[str, str], work: Path) -> Iterator[Row]:
    """From a key to what it shows, in the program."""
    with PtyRun(PROGRAM, env, work) as run:
        run.wait(STARTED)
        run.quiet(2.0)
        opened = []
        for _ in range(6):
            since = run.mark()
            pressed = run.type(BROWSE)
            opened.append((run.wait(KNOWN[-1][0].encode(), since) - pressed) * 1e3)
            run.quiet(0.5)
            run.type(LEAVE)
            run.quiet(0.5)
        shown = f"first {opened[0]:.0f} ms"
        yield Row("browser: key to sessions", statistics.median(opened), 150, "ms", shown, gate=False)
        run.type(BROWSE)
        run.quiet(0.5)
        yield keys_row(run, "words", [word for _, word, _ in KNOWN])
        yield keys_row(run, "Chinese", [text[:2] for _, _, text in KNOWN])


def keys_row(run: PtyRun, kind: str, queries: list[str]) -> Row:
    """Type queries at 15 keys a second, one after the other."""
    took = []
    for query, (title, _, _) in [*zip(queries, KNOWN, strict=True)] * 5:
        since = run.mark()
        for key in query:
            pressed = run.type(key.encode())
            time.sleep(1 / 15)
        took.append((run.wait(title.encode(), since) - pressed) * 1e3)
        run.quiet(0.4)
        run.type(b"\x7f" * len(query))
        run.quiet(0.4)
    shown = f"median {statistics.median(took):.0f} ms"
    return Row(f"browser: last key of a query to its hits p95, {kind}", p95(took), 200, "ms", shown, gate=False)


def rows() -> Iterator[Row]:
    """All rows of the sessions."""
    with tempfile.TemporaryDirectory() as folder, home(NOWHERE) as (env, work):
        kept = os.environ.get("HERMES_TUI_BENCH_STORE")
        path = Path(kept) if kept else Path(folder) / "state.db"
        yield from store_rows(path)
        database = Path(env["HERMES_TUI_HOME"]) / "state.db"
        shutil.copy(path, database)
        add_known(database)
        yield from browser_rows(env, work)
