"""What the transcript costs: against Textual's own Markdown stream, and as sessions and messages grow.

Run ``python -m bench.transcript_bench`` from the root; ``--long`` adds the dear rows (50,000 tokens, 100,000 entries).
Every figure is CPU time of this process, headless, 120x40, painting included; baselines run in processes of their own.
"""

from __future__ import annotations

import asyncio
import gc
import json
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from textual import events
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.widgets import Markdown

from hermes_tui.theming import load_theme
from hermes_tui.widgets.entries import AssistantEntry, Entry, ToolEntry, UserEntry
from hermes_tui.widgets.transcript import Transcript

from .report import Row, table

MIXED = """\
The failure is a **race**: `sync()` starts the writer *before* the lock file exists, see [docs](https://d.example/x).

## What happens

1. The reader opens `state.db`
2. The writer truncates it
   - only on slow disks, where `fsync` takes long
3. The test sees **0 rows**

```python
def sync(path, *, timeout_s=2.5):
    with Lock(path):  # was missing
        return sum(1 for row in pending(path) if row)
```

| file | change | lines |
|:-----|:------:|------:|
| `src/sync.py` | take the lock first | 6 |

> Never sleep in a test.

"""
KINDS = {
    "mixed": ("", MIXED),
    "fence": ("```python\n", "    value = compute(row, 12) + 'text'  # why\n"),
    "list": ("", "- an item with `code` and some more words in it\n"),
    "table": ("| a | b | c |\n|---|---|---|\n", "| cell one here | `cell` two | third |\n"),
}
STREAMED = 1_000
PER_FLUSH = 7
"""Tokens of one frame at 200 tokens a second, 30 frames a second."""


def tokens(kind: str, count: int) -> list[str]:
    head, body = KINDS[kind]
    pieces = re.findall(r"\s*\S{1,4}|\s+", body)
    return [head, *(pieces * (count // len(pieces) + 1))][: count + 1]


class Ours(App[None]):
    CSS = "Transcript { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield Transcript()

    def on_mount(self) -> None:
        for name in ("hermes-dark", "hermes-light"):
            self.register_theme(load_theme(name))
        self.theme = "hermes-dark"


class Theirs(App[None]):
    CSS = "VerticalScroll { height: 1fr; }"

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Markdown()


def rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def paint(app: App[None]) -> None:
    """What Textual does when its frame timer fires."""
    app.screen._on_timer_update()


async def stream_ours(kind: str, count: int, per_flush: int = PER_FLUSH, older: int = 0) -> dict[str, float]:
    app = Ours()
    async with app.run_test(size=(120, 40)) as pilot:
        transcript = app.query_one(Transcript)
        for entry in session(older):
            transcript.append(entry)
        answer = AssistantEntry()
        transcript.append(answer)
        pieces = tokens(kind, count)
        answer.append(pieces[0] or " ")
        transcript.changed(answer)
        await warm_up(pilot.pause)
        frames: list[float] = []
        time_updates(transcript, frames)
        gc.collect()
        gc.freeze()
        started, wall = time.process_time(), time.perf_counter()
        for at in range(1, len(pieces), per_flush):
            answer.append("".join(pieces[at : at + per_flush]))
            transcript.changed(answer)
            await settle(app, transcript)
        answer.finish(None)
        transcript.changed(answer)
        await settle(app, transcript)
        while answer.is_behind:
            await asyncio.sleep(0.002)
            await settle(app, transcript)
        cpu, wall = time.process_time() - started, time.perf_counter() - wall
    frames.sort()
    p95 = frames[int(len(frames) * 0.95)]
    return {"cpu": cpu, "wall": wall, "p95_ms": p95 * 1000, "max_ms": frames[-1] * 1000}


def time_updates(transcript: Transcript, frames: list[float]) -> None:
    """Note how long each update of the view takes."""
    update = transcript._update

    def timed() -> None:
        begun = time.perf_counter()
        update()
        frames.append(time.perf_counter() - begun)

    transcript._update = timed


async def settle(app: App[None], transcript: Transcript) -> None:
    """Let the view choose its rows, then paint them."""
    while transcript._is_due:
        await asyncio.sleep(0)
    paint(app)


async def stream_theirs(kind: str, count: int) -> dict[str, float]:
    app = Theirs()
    async with app.run_test(size=(120, 40)) as pilot:
        markdown = app.query_one(Markdown)
        app.query_one(VerticalScroll).anchor()
        stream = Markdown.get_stream(markdown)
        pieces = tokens(kind, count)
        await warm_up(pilot.pause)
        started, wall = time.process_time(), time.perf_counter()
        for piece in pieces:
            await stream.write(piece)
            await asyncio.sleep(0)
        await stream.stop()
        await pilot.pause()
        return {"cpu": time.process_time() - started, "wall": time.perf_counter() - wall}


async def warm_up(pause: Callable[[], Awaitable[None]]) -> None:
    for _ in range(20):
        await pause()
        await asyncio.sleep(0.02)


def session(count: int) -> list[Entry]:
    """Entries of a believable session: a question, some tools, an answer."""
    entries: list[Entry] = []
    for i in range(count):
        match i % 4:
            case 0:
                entries.append(UserEntry(f"question {i}: why does this fail?"))
            case 1 | 2:
                tool = ToolEntry(str(i), "terminal", {"command": f"pytest -q tests/test_{i}.py"}, {"kind": "terminal"})
                tool.finish("ok", {"exit_code": 0}, '{"ok": true, "output": "' + "passed " * 30 + '"}', 1.0)
                entries.append(tool)
            case _:
                entries.append(AssistantEntry(f"Answer {i}.\n\n{MIXED}"))
    return entries


async def cost_ms(action: Callable[[], None], pause: Callable[[], Awaitable[None]], times: int = 5) -> float:
    """Median CPU of an action until the screen is quiet again."""
    costs = []
    for _ in range(times):
        gc.collect()
        started = time.process_time()
        action()
        await pause()
        costs.append((time.process_time() - started) * 1000)
    return sorted(costs)[times // 2]


async def big_session(count: int) -> dict[str, float]:
    app = Ours()
    async with app.run_test(size=(120, 40)) as pilot:
        transcript = app.query_one(Transcript)
        await warm_up(pilot.pause)
        idle = await cost_ms(lambda: None, pilot.pause)
        gc.collect()
        before = rss_mb()
        entries = session(count)
        gc.collect()
        started, wall = time.process_time(), time.perf_counter()
        for entry in entries:
            transcript.append(entry)
        await pilot.pause()
        found = {"load_ms": (time.perf_counter() - wall) * 1000, "memory_mb": rss_mb() - before}
        await warm_up(pilot.pause)
        del started
        sizes = iter([100, 110, 90, 120, 100, 110, 90] * 4)
        themes = iter(["hermes-light", "hermes-dark"] * 9)
        found |= {
            "append_ms": await cost_ms(lambda: transcript.append(UserEntry("one more")), pilot.pause) - idle,
            "focus_ms": await cost_ms(lambda: focus_twice(app), pilot.pause) - idle,
            "theme_ms": await cost_ms(lambda: setattr(app, "theme", next(themes)), pilot.pause) - idle,
            "resize_ms": await cost_ms(lambda: resize(app, next(sizes)), pilot.pause) - idle,
            "page_ms": await cost_ms(transcript.scroll_page_up, pilot.pause) - idle,
            "top_ms": await cost_ms(transcript.action_scroll_home, pilot.pause, 1) - idle,
            "find_ms": await cost_ms(lambda: transcript.find("race") and None, pilot.pause) - idle,
        }
        transcript.find("")
        for _ in range(200):
            transcript.scroll_page_down()
        await pilot.pause()
        gc.collect()
        found["memory_read_mb"] = rss_mb() - before
    return found


def focus_twice(app: App[None]) -> None:
    app.post_message(events.AppBlur())
    app.post_message(events.AppFocus())


def resize(app: App[None], width: int) -> None:
    size = Size(width, 40)
    app.post_message(events.Resize(size, size))


MEASURES: dict[str, Callable[..., Awaitable[dict[str, float]]]] = {
    "ours": stream_ours,
    "theirs": stream_theirs,
    "session": big_session,
}


def measure(name: str, *args: object) -> dict[str, float]:
    """Run one measure in a fresh process."""
    command = [sys.executable, "-m", "bench.transcript_bench", "--measure", name, json.dumps(args)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(json.loads(output.strip().splitlines()[-1]))


def ratio_rows() -> list[Row]:
    rows = []
    for kind, limit, count in (
        ("mixed", 0.08, 3_000),
        ("fence", 0.06, 1_000),
        ("list", 0.06, 1_000),
        ("table", 0.06, 1_000),
    ):
        ours, theirs = measure("ours", kind, count), measure("theirs", kind, count)
        shown = f"{ours['cpu']:.2f} s against {theirs['cpu']:.2f} s for {count:,} tokens"
        rows.append(Row(f"CPU to stream {kind}, of MarkdownStream's", ours["cpu"] / theirs["cpu"], limit, shown=shown))
    return rows


def growth_rows(longest: int) -> list[Row]:
    short, long = measure("ours", "mixed", 1_000), measure("ours", "mixed", longest)
    per_short, per_long = short["cpu"] / 1_000, long["cpu"] / longest
    older = measure("ours", "mixed", STREAMED, PER_FLUSH, 10_000)
    alone = measure("ours", "mixed", STREAMED)
    burst = measure("ours", "mixed", 10_000, 10_000)
    per_token = f"{per_short * 1e6:.0f} and {per_long * 1e6:.0f} us a token"
    worst = f"longest {long['max_ms']:.1f} ms"
    burst_worst = f"longest update {burst['max_ms']:.1f} ms"
    return [
        Row(f"CPU of a token in {longest:,}, of one in 1,000", per_long / per_short, 1.3, shown=per_token),
        Row(
            "CPU to stream below 10,000 entries, of alone",
            older["cpu"] / alone["cpu"],
            1.2,
            shown=f"{older['cpu']:.2f} s",
        ),
        Row("work of one update while streaming, p95", long["p95_ms"], 8, "ms", worst, gate=False),
        Row("10,000 tokens at once, until shown", burst["wall"] * 1000, 500, "ms", burst_worst, gate=False),
    ]


LIMITS = {
    "append_ms": (22, 22), "focus_ms": (30, 30), "resize_ms": (30, 300), "theme_ms": (60, 60), "memory_mb": (40, 90),
    "memory_read_mb": (40, 90),
}  # fmt: skip
"""Figures of a long session, and their limits for up to 10,000 entries and for more."""


def session_rows(counts: Sequence[int]) -> list[Row]:
    rows = []
    for count in counts:
        found = measure("session", count)
        for name, limits in LIMITS.items():
            what, unit = name.rsplit("_", 1)
            what = f"{count:,} entries: {what.replace('_', ' ')}"
            rows.append(Row(what, found[name], limits[count > 10_000], {"mb": "MB"}.get(unit, unit), gate=False))
        for name in ("load_ms", "page_ms", "top_ms", "find_ms"):
            what = f"{count:,} entries: {name.removesuffix('_ms')}"
            rows.append(Row(what, found[name], 1_000, "ms", gate=False))
    return rows


def transcript_rows(long: bool = False) -> list[Row]:
    """Return all rows of the transcript."""
    rows = ratio_rows() + growth_rows(50_000 if long else 10_000)
    return rows + session_rows([10_000, 100_000] if long else [10_000])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(asyncio.run(MEASURES[sys.argv[2]](*json.loads(sys.argv[3])))))
    else:
        print(table(transcript_rows("--long" in sys.argv)))
