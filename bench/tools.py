"""The tools against what they are made of: plain reads and writes, plain ripgrep, a plain bash."""

from __future__ import annotations

import difflib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from support.tool_context import PlainContext, plain_context

from hermes_tui.tools.registry import load_builtin_tools
from hermes_tui.tools.ripgrep import find_ripgrep

from .report import Row

FILES = 100_000
FOLDERS = 500
LINES = 40
"""Of each small file, about 1 kB."""
ROUNDS = 7
CALLS = 200
PLAIN_LIMIT = 1.3
READ_LIMIT = 1.6
"""A read follows links, asks the gate's facts and hashes what it read: about 0.3 ms, whatever the size."""
OVERHEAD_MS = 15.0
FIRST_BYTE_MS = 50.0


def rows() -> Iterator[Row]:
    """Measure all of them in one generated tree."""
    load_builtin_tools()
    with tempfile.TemporaryDirectory(prefix="hermes-bench-") as folder, plain_context(Path(folder)) as context:
        tree = context.workspace / "tree"
        make_tree(tree)
        yield from searching(context, tree)
        yield from files(context)
        yield from terminal(context)


def call(context: PlainContext, name: str, **args: Any) -> dict[str, Any]:
    """Assess and run a call as the engine does."""
    tool = load_builtin_tools().get(name)
    assert tool is not None
    context.call_id = f"call_{time.perf_counter_ns()}"
    tool.assess(args, context)
    return tool.handler(args, context)


def make_tree(root: Path) -> None:
    """Write the tree; one file in a thousand holds the needle."""
    body = "".join(f"line {number} of an ordinary file\n" for number in range(LINES))
    for number in range(FOLDERS):
        (root / f"d{number % 20}" / f"e{number}").mkdir(parents=True)
    for number in range(FILES):
        place = number % FOLDERS
        text = body + ("needle\n" if number % 1000 == 0 else "")
        (root / f"d{place % 20}" / f"e{place}" / f"f{number}.txt").write_text(text)


def searching(context: PlainContext, tree: Path) -> Iterator[Row]:
    """Content and names, against ripgrep alone."""
    program = find_ripgrep(os.environ.get("PATH")) or sys.exit("ripgrep is missing")
    plain = [program, "--no-config", "--no-messages", "--no-require-git"]

    def run(*words: str) -> None:
        subprocess.run([*plain, *words, str(tree)], stdout=subprocess.PIPE, check=True)

    found, alone = alternate(
        lambda: call(context, "search_files", pattern="needle", path=str(tree)), lambda: run("needle")
    )
    yield ratio(f"search the contents of {FILES:,} files", found, alone, "rg")
    found, alone = alternate(
        lambda: call(context, "search_files", pattern="f4207*.txt", target="files", path=str(tree)),
        lambda: run("--files"),
    )
    yield ratio(f"find a name among {FILES:,} files", found, alone, "rg --files")


def files(context: PlainContext) -> Iterator[Row]:
    """Read and patch files of a few hundred kilobytes, against the least that does the same."""
    text = "".join(f"line {number} of a file that is {number} lines long\n" for number in range(8_000))
    path = context.workspace / "large.txt"
    path.write_text(text)

    offsets = itertools.count(1)  # lines that were given before would not be given again

    def read() -> None:
        lines = path.read_bytes().decode().split("\n")
        "\n".join(f"{number}\t{line}" for number, line in enumerate(lines[:2_000], 1))

    tool, plain = alternate(
        lambda: call(context, "read_file", path="large.txt", offset=next(offsets), limit=2_000), read, rounds=CALLS
    )
    yield ratio("read 2,000 lines of a file", tool, plain, "a plain read with line numbers", READ_LIMIT)
    texts = {False: text, True: text.replace("4000 lines long", "4000 lines, changed")}
    is_changed = False

    def patch() -> None:
        nonlocal is_changed
        phrases = ["4000 lines long", "4000 lines, changed"]
        old, new = reversed(phrases) if is_changed else phrases
        assert call(context, "patch", path="large.txt", old_string=old, new_string=new)["ok"]
        is_changed = not is_changed

    other = context.workspace / "other.txt"
    other.write_text(text)

    def by_hand() -> None:
        before = other.read_text()
        after = texts[before == text]
        "\n".join(difflib.unified_diff(before.split("\n"), after.split("\n"), n=3))
        spare = other.with_suffix(".tmp")
        with spare.open("w") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        spare.replace(other)

    tool, plain = alternate(patch, by_hand, rounds=60)
    yield ratio("patch a file of 350 kB", tool, plain, "read, replace, diff, write, sync")


def terminal(context: PlainContext) -> Iterator[Row]:
    """A command in the session's shell, against the command in a shell that runs already."""
    call(context, "terminal", command="true")
    shell = subprocess.Popen(
        ["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    assert shell.stdin is not None and shell.stdout is not None

    def alone() -> None:
        shell.stdin.write(b"/bin/ls /; echo end\n")  # type: ignore[union-attr]
        while not shell.stdout.read(65_536).endswith(b"end\n"):  # type: ignore[union-attr]
            pass

    tool, plain = alternate(lambda: call(context, "terminal", command="/bin/ls /"), alone, rounds=60)
    shell.stdin.close()
    shell.wait()
    overhead = (tool - plain) * 1_000
    shown = f"{tool * 1_000:.1f} ms, in a bare bash {plain * 1_000:.1f} ms"
    yield Row("terminal call, beyond the command", overhead, OVERHEAD_MS, "ms", shown, gate=False)
    waits = []
    for _ in range(20):
        started = time.perf_counter()
        heard: list[float] = []
        context.on_output = lambda text, heard=heard: heard.append(time.perf_counter())
        call(context, "terminal", command="echo now; sleep 0.15")
        waits.append(heard[0] - started)
    wait = statistics.median(waits) * 1_000
    yield Row("first live output of a command", wait, FIRST_BYTE_MS, "ms", "from the call to the card", gate=False)


def alternate(one: Callable[[], object], other: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Return the best seconds of each, taken in turns so that both see the same machine."""
    one(), other()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, kept in zip((one, other), times, strict=True):
            started = time.perf_counter()
            work()
            kept.append(time.perf_counter() - started)
    return min(times[0]), min(times[1])


def ratio(name: str, tool: float, plain: float, what: str, limit: float = PLAIN_LIMIT) -> Row:
    """A row that holds a tool against what it is made of."""
    shown = f"{tool * 1_000:.1f} ms, {what} {plain * 1_000:.1f} ms"
    return Row(f"{name}, over {what}", tool / plain, limit, "x", shown)
