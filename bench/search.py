"""How fast search answers and appends are stored, on a corpus of any size.

python -m bench.search --messages 1000000 --db /tmp/corpus.db
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench.corpus import Corpus, Vocabulary, build
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import Interrupted

BUDGET_MS = {
    "words": 50,
    "phrase": 50,
    "prefix": 50,
    "filter": 50,
    "literal": 50,
    "cjk 1": 100,
    "cjk 2": 100,
    "cjk 4": 100,
}


def kinds_of_queries(corpus: Corpus, count: int) -> dict[str, list[str]]:
    """Return ``count`` queries of every kind that has a budget, drawn by how common their words are."""
    rng = random.Random(3)
    en, zh, ja, ko = (corpus.vocabularies[name] for name in ("en", "zh", "ja", "ko"))

    def pick(vocabulary: Vocabulary, size: int = 1) -> list[str]:
        return vocabulary.sample(rng, size)

    def han(size: int) -> str:
        source = rng.choice((zh, zh, ja, ko))
        return "".join(pick(source, 8)).replace(" ", "")[:size]

    filters = (
        "role:user",
        "role:assistant",
        "tool:terminal",
        "has:error",
        "cwd:/home/dev/project7",
        "model:opus",
        "source:run",
        "before:2024",
        "after:2025",
        "title:ta",
    )
    return {
        "words": [" ".join(pick(en, rng.choice((1, 1, 2, 3)))) for _ in range(count)],
        "phrase": [f'"{" ".join(pick(en, 2))}"' for _ in range(count)],
        "prefix": [f"{pick(en)[0][: rng.choice((2, 3, 4, 5))]}*" for _ in range(count)],
        "filter": [f"{pick(en)[0]} {rng.choice(filters)}" for _ in range(count)],
        "literal": [f"/srv/{pick(en)[0]}" if n % 2 else "_".join(pick(en, 2)) for n in range(count)],
        "cjk 1": [han(1) for _ in range(count)],
        "cjk 2": [han(2) for _ in range(count)],
        "cjk 4": [han(4) for _ in range(count)],
    }


def _timed(step: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Milliseconds of a step; with ``time.thread_time`` what it costs whatever else the machine does."""
    started = clock()
    step()
    return (clock() - started) * 1000


def _both(step: Callable[[], object]) -> tuple[float, float]:
    cpu: list[float] = []
    wall = _timed(lambda: cpu.append(_timed(step, time.thread_time)))
    return wall, cpu[0]


def _percentiles(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    middle, high = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    return {"p50": round(middle, 1), "p95": round(high, 1), "max": round(ordered[-1], 1)}


def time_queries(db: SessionDB, queries: list[str]) -> list[tuple[float, float, str]]:
    """Return wall and CPU milliseconds of each query's first page, on a warm store."""
    for query in queries[:10]:
        db.search(query)
    return [(*_both(lambda q=query: db.search(q)), query) for query in queries]  # type: ignore[misc]


def append_ms(db: SessionDB, corpus: Corpus, queries: list[str]) -> dict[str, float]:
    """Measure appends while searches run beside them."""
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            for query in queries:
                db.search(query)
                if stop.is_set():
                    return

    session = db.create(title="append bench")
    thread = threading.Thread(target=search)
    quiet = [
        _timed(lambda: db.append(session, {"role": "assistant", "content": corpus.text("en")})) for _ in range(300)
    ]
    thread.start()
    busy = [_timed(lambda: db.append(session, {"role": "assistant", "content": corpus.text("zh")})) for _ in range(300)]
    stop.set()
    thread.join()
    return {
        "quiet p50": statistics.median(quiet),
        "searching p50": statistics.median(busy),
        "searching p95": sorted(busy)[285],
    }


def typing_ms(db: SessionDB) -> float:
    """Type twelve keys at 15 keys a second, each replacing the search before; ms from the last key to its result."""
    done: list[float] = []

    def run(text: str) -> None:
        try:
            db.search(text)
            done.append(time.perf_counter())
        except Interrupted:
            pass

    threads = []
    for size in range(1, 13):
        db.interrupt_searches()
        pressed = time.perf_counter()
        threads.append(threading.Thread(target=run, args=("postgres setup"[:size] + "*",)))
        threads[-1].start()
        time.sleep(1 / 15)
    for thread in threads:
        thread.join()
    return (max(done) - pressed) * 1000


def measure(path: Path, count: int) -> dict[str, object]:
    """Return every number of the benchmark for a store made by :func:`bench.corpus.build`."""
    corpus = Corpus()
    result: dict[str, object] = {"open_ms": _timed(lambda: SessionDB(path).close())}
    with SessionDB(path) as db:
        result["list_ms"] = [round(_timed(db.list_sessions), 1) for _ in range(3)]
        for kind, queries in kinds_of_queries(corpus, count).items():
            timed = time_queries(db, queries)
            slowest = sorted((cpu, query) for _, cpu, query in timed)[-3:]
            result[kind] = {
                "wall_ms": _percentiles([wall for wall, _, _ in timed]),
                "cpu_ms": _percentiles([cpu for _, cpu, _ in timed]),
                "slowest": [f"{cpu:.0f} ms: {query}" for cpu, query in slowest],
                "budget_p95_ms": BUDGET_MS[kind],
            }
        result["append_ms"] = append_ms(db, corpus, kinds_of_queries(corpus, 20)["words"])
        result["typing_ms"] = typing_ms(db)
        result["size_mb"] = path.stat().st_size / 1e6
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--db", type=Path, help="keep the corpus here and use it again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.db or Path(folder) / "state.db"
        built = 0.0 if path.exists() else build(path, options.messages)
        print(json.dumps({"build_s": built, **measure(path, options.queries)}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
