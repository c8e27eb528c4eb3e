"""``hermes-tui sessions prune``, ``stats`` and ``check``."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..store.db import SessionDB
from ..store.salvage import salvage
from ..types.errors import StoreDamaged
from .output import bars, clip, count_of, out, out_json, size, table

Add = Callable[[str, str], argparse.ArgumentParser]
_DAYS = {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}
_BYTES = {"": 10**6, "k": 10**3, "m": 10**6, "g": 10**9}
_PLOTTED_DAYS = 14
_PLOTTED_ROWS = 8
_SHOWN = 20
_POLL_S = 0.05
_STALL_S = 10.0


def add_arguments(add: Add) -> None:
    """Add the three commands."""
    pruner = add("prune", "Erase old sessions; shows first what would go.")
    pruner.add_argument("--older-than", type=_days, default=90.0, metavar="AGE", help="90d, 12w, 6m, 1y (default 90d)")
    pruner.add_argument("--source", help="only of this source: tui, run, library, ...")
    pruner.add_argument("--max-size", type=_bytes, metavar="SIZE", help="only until the file has this size: 500M, 2G")
    pruner.add_argument("--yes", action="store_true", help="erase, do not only show")
    add("stats", "Counts and sizes, tokens and cost by day, model and folder.")
    checker = add("check", "Check the database.")
    checker.add_argument("--repair", action="store_true", help="rebuild a damaged index, salvage a damaged file")


def _amount(text: str, units: Mapping[str, int], example: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([a-z]?)b?", text.strip().lower())
    if found is None or found[2] not in units:
        raise argparse.ArgumentTypeError(f"{text!r} is not understood; write it like {example}")
    return float(found[1]) * units[found[2]]


def _days(text: str) -> float:
    return _amount(text, _DAYS, "90d, 12w, 6m or 1y")


def _bytes(text: str) -> int:
    return int(_amount(text, _BYTES, "500M or 2G"))


def prune(store: SessionDB, options: argparse.Namespace) -> int:
    """Show what would be erased; with ``--yes`` erase it."""
    report = store.prune(options.older_than, not options.yes, options.source, options.max_size)
    if options.json:
        out_json(report)
        return 0
    if not report["session_count"]:
        out("Nothing is that old.")
        return 0
    verb = "Erased" if options.yes else "Would erase"
    span = " to ".join(time.strftime("%Y-%m-%d", time.localtime(report[key])) for key in ("oldest_at", "newest_at"))
    sessions, messages = count_of(report["session_count"], "session"), count_of(report["message_count"], "message")
    out(f"{verb} {sessions} with {messages}, last used {span}.")
    if options.yes:
        return 0
    for session_id in report["sessions"][:_SHOWN]:
        row = store.row(session_id)
        out(f"  {row.id}  {clip(row.title or '(untitled)', 60)}")
    if report["session_count"] > _SHOWN:
        out(f"  and {report['session_count'] - _SHOWN:,} more (--json lists all)")
    out(f"This frees about {size(report['size_bytes'])}. Pinned and open sessions stay.")
    sys.stderr.write("Nothing was erased; add --yes to do it.\n")
    return 0


def stats(store: SessionDB, options: argparse.Namespace) -> int:
    """Print counts, and spending as plots."""
    found = store.stats()
    if options.json:
        out_json(found)
        return 0
    counts = [count_of(found["sessions"], "session"), count_of(found["messages"], "message")]
    out(", ".join([*counts, size(found["size_bytes"])]))
    out(", ".join(f"{source} {count:,}" for source, count in found["by_source"].items()) or "Nothing is stored yet.")
    for title, key, rows in (
        ("Tokens by day", "day", found["by_day"][-_PLOTTED_DAYS:]),
        ("Tokens by model", "model", _most(found["by_model"])),
        ("Tokens by folder", "folder", _most(found["by_folder"])),
    ):
        if rows:
            out(f"\n{title}")
            out(_plot(rows, key))
    return 0


def _most(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(rows, key=tokens_of, reverse=True)[:_PLOTTED_ROWS]


def tokens_of(row: Mapping[str, Any]) -> int:
    """Return all tokens of a row of the statistics."""
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    return sum(int(row[name]) for name in names)


def _plot(rows: Sequence[Mapping[str, Any]], key: str) -> str:
    plotted = bars([tokens_of(row) for row in rows], 30)
    cells = [
        (clip(str(row[key]) or "(none)", 40), bar, f"{tokens_of(row):,}", _cost(row))
        for row, bar in zip(rows, plotted, strict=True)
    ]
    return table(cells, (key.upper(), "", "TOKENS", "COST"))


def _cost(row: Mapping[str, Any]) -> str:
    """Return the cost; a plus says that requests without a known price come on top."""
    if not row["cost_usd"] and row["unpriced_count"]:
        return "unknown"
    return f"${row['cost_usd']:.2f}{'+' if row['unpriced_count'] else ''}"


def mend(database: Path) -> None:
    """Salvage the file when it is damaged beyond its index; say what became of it."""
    if not database.exists() or not _is_damaged(database):
        return
    report = salvage(database)
    lost = sum(row["messages"] for row in report["lost"])
    lines = [
        f"The database was damaged. Saved: {count_of(report['sessions'], 'session')} with "
        f"{count_of(report['messages'], 'message')}.",
        f"Lost: {count_of(lost, 'message')} of {count_of(len(report['lost']), 'session')}."
        if lost
        else "No message is known to be lost.",
        *(f"  {row['id']}  {clip(row['title'] or '(untitled)', 50)}: {row['messages']}" for row in report["lost"]),
    ]
    if report["unreadable"]:
        lines.append(f"Parts could not be read of: {', '.join(report['unreadable'])}.")
    lines.append(f"The damaged file is kept as {report['backup']}.")
    sys.stderr.write("\n".join(lines) + "\n")


def _is_damaged(database: Path) -> bool:
    try:
        with SessionDB(database) as store:
            return store.is_damaged()
    except StoreDamaged:
        return True


def check(store: SessionDB, options: argparse.Namespace) -> int:
    """Print what is wrong, and what was repaired."""
    report = store.check(repair=options.repair)
    if options.repair and report["index"] != "whole":
        _wait_for_index(store)
    if options.json:
        out_json(report)
    else:
        lines = [f"{report['path']}: {'whole' if report['ok'] else 'not whole'}, {size(report['size_bytes'])}"]
        lines += [f"  {text}" for text in (*report["problems"], *report["repaired"])]
        if not report["ok"] and not options.repair:
            lines.append("Repair it with: hermes-tui sessions check --repair")
        out("\n".join(lines))
    return 0 if report["ok"] or report["repaired"] else 1


def _wait_for_index(store: SessionDB) -> None:
    """Wait until the index is built; one that does not get on is left to the next start."""
    share, since = -1.0, time.monotonic()
    while share < 1.0 and time.monotonic() - since < _STALL_S:
        now = store.index_progress()
        if now != share:
            share, since = now, time.monotonic()
            if sys.stderr.isatty():
                sys.stderr.write(f"\rBuilding the search index: {share:.0%} ")
        time.sleep(_POLL_S)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
