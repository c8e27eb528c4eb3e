"""Kills writing processes at random moments and looks whether every acknowledged row is there.

As a program: ``python tests/support/store_crashes.py --rounds 200`` (run from the checkout) does many rounds and prints
what it did as JSON; the suite does a few. Each round: some processes append to one database, each row acknowledged on
a pipe after its commit; at a random moment all get SIGKILL; then every acknowledged row must be there once, in order,
and ``check`` must be clean.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hermes_tui.engine.store.db import SessionDB

WRITER = """
import sys
from hermes_tui.engine.store.db import SessionDB
path, session, kind = sys.argv[1:]
db = SessionDB(path)
db.create(session_id=session)
number = 0
while True:
    text = f"{session} word{number} \\u6570\\u636e\\u5e93 " + "filler " * (number % 97)
    rows = [{"role": "user", "content": text}]
    if kind == "mixed" and number % 5 == 4:
        db.undo_last(session)
        db.append_many(session, rows)
        print("undo", number, flush=True)
    else:
        db.append_many(session, rows)
        print("row", number, flush=True)
    if kind == "mixed" and number % 11 == 10:
        db.rename(session, f"{session} title {number}")
        db.set_state(session, "todos", [number])
    number += 1
"""


class Writer:
    """One process and the rows that it said are stored."""

    def __init__(self, path: Path, session: str, kind: str) -> None:
        self.session = session
        self.acknowledged: list[int] = []
        self._rest = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), session, kind], stdout=subprocess.PIPE, bufsize=0
        )

    def read(self) -> None:
        """Take what has arrived."""
        assert self.process.stdout is not None
        chunk = os.read(self.process.stdout.fileno(), 65536)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            what, number = line.split()
            if what == b"undo":
                self.acknowledged.pop()
            self.acknowledged.append(int(number))

    def kill(self) -> None:
        """End it at once, and take what it had said before."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        size = -1
        while size != len(self.acknowledged):
            size = len(self.acknowledged)
            self.read()
        self.process.stdout.close()


def run_round(path: Path, number: int, rng: random.Random, processes: int = 2, seconds: float = 0.0) -> int:
    """Let processes write until a random moment, kill them, and check the database; returns the acknowledged rows.

    Args:
        path: The database.
        number: Names the sessions of this round.
        rng: Chooses the moment and what is written.
        processes: How many write at once.
        seconds: Write at least so long.
    """
    until = time.monotonic() + seconds
    writers = [Writer(path, f"r{number}p{at}", rng.choice(("plain", "mixed"))) for at in range(processes)]
    wanted = rng.randrange(1, 80)
    pause_s = rng.random() * 0.004
    with selectors.DefaultSelector() as selector:
        for writer in writers:
            assert writer.process.stdout is not None
            selector.register(writer.process.stdout, selectors.EVENT_READ, writer)
        while time.monotonic() < until or min(len(writer.acknowledged) for writer in writers) < wanted:
            for key, _ in selector.select(30):
                key.data.read()
    time.sleep(pause_s)  # somewhere within the next write
    for writer in writers:
        writer.kill()
    with SessionDB(path) as db:
        for writer in writers:
            verify(db, writer.session, writer.acknowledged)
        report = db.check()
        assert report["ok"], report
        assert db.search("\u636e\u5e93", limit=1).hits
    return sum(len(writer.acknowledged) for writer in writers)


def verify(db: SessionDB, session: str, acknowledged: Sequence[int]) -> None:
    """Every acknowledged row is there once and in order; at most the write under way came or went besides."""
    stored = [int(str(row.message["content"]).split()[1].removeprefix("word")) for row in db.history(session)]
    common = 0
    while common < min(len(stored), len(acknowledged)) and stored[common] == acknowledged[common]:
        common += 1
    # The last write may have been an undo (takes one away) or an append (adds one) that nobody heard of any more.
    assert common >= len(acknowledged) - 1, (session, stored[-5:], acknowledged[-5:])
    assert len(stored) - common <= 2, (session, stored[-5:], acknowledged[-5:])


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.0, help="how long each round writes at least")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        rows = sum(run_round(path, number, rng, seconds=options.seconds) for number in range(options.rounds))
        result: dict[str, Any] = {"rounds": options.rounds, "acknowledged_rows": rows, "lost": 0}
        result["size_mb"] = round(path.stat().st_size / 1e6, 1)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
