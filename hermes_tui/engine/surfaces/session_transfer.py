"""``hermes-tui sessions export`` and ``import``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..config.paths import find_paths
from ..config.secrets import known_keys
from ..policy.redaction import Redactor
from ..store.db import SessionDB
from ..store.export import ExportFormat
from .output import count_of, out, out_exact, out_json

Add = Callable[[str, str], argparse.ArgumentParser]
"""Adds a command, given its name and help."""
_BY_SUFFIX: Mapping[str, ExportFormat] = {".json": "json", ".html": "html", ".htm": "html"}
_SHOWN = 20
"""Skipped sessions that are listed; the rest are counted."""


def add_arguments(add: Add) -> None:
    """Add both commands."""
    export_ = add("export", "Print a session as Markdown, HTML or JSON.")
    export_.add_argument("session", metavar="ID|TITLE")
    export_.add_argument("--format", choices=("md", "json", "html"), help="default: by the file's name, else md")
    export_.add_argument("-o", "--output", metavar="FILE", default="", help="write to a new file")
    export_.add_argument("--raw", action="store_true", help="leave keys and other secrets in it")
    importer = add("import", "Take sessions over: our JSON, Hermes, Claude Code, Codex.")
    importer.add_argument("path", metavar="PATH", help="a JSON export, a Hermes state.db, a folder of JSONL files")
    importer.add_argument(
        "--from",
        dest="kind",
        choices=("auto", "hermes", "claude", "codex", "json"),
        default="auto",
        help="who wrote it (default: looks)",
    )
    importer.add_argument("--dry-run", action="store_true", help="only say what would be stored")


def export(store: SessionDB, options: argparse.Namespace) -> int:
    """Print a session, or write it to a new private file."""
    path = Path(options.output)
    fmt: ExportFormat = options.format or ("json" if options.json else _BY_SUFFIX.get(path.suffix.lower(), "md"))
    redact = None if options.raw else Redactor(lambda: known_keys(os.environ, find_paths(os.environ))).text
    text = store.export(store.resolve(options.session), fmt, redact=redact)
    if not options.output:
        (out_exact if fmt == "json" else out)(text)
        return 0
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        sys.stderr.write(f"hermes-tui: {path} exists; choose another name.\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"hermes-tui: {path} cannot be written: {error.strerror}.\n")
        return 1
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    out(f"Wrote {path}.")
    return 0


def import_(store: SessionDB, options: argparse.Namespace) -> int:
    """Take sessions over and say which, and which not and why."""
    shows = sys.stderr.isatty() and not options.json
    done = 0

    def progress(session_id: str) -> None:
        nonlocal done
        done += 1
        sys.stderr.write(f"\r{done} sessions")

    def silent(session_id: str) -> None:
        pass

    report = store.import_(options.path, options.kind, dry_run=options.dry_run, progress=progress if shows else silent)
    if shows and done:
        sys.stderr.write("\r\x1b[K")
    if options.json:
        out_json(report)
    else:
        _print(report)
    return 0


def _print(report: dict[str, Any]) -> None:
    imported, skipped = report["imported"], report["skipped"]
    verb = "Would import" if report["dry_run"] else "Imported"
    out(f"{verb} {count_of(len(imported), 'session')} with {count_of(report['messages'], 'message')}.")
    for session_id, notes in report["notes"].items():
        out(f"  {session_id}: {' '.join(notes)}")
    if not skipped:
        return
    out(f"Skipped {len(skipped)}:")
    for name, why in list(skipped.items())[:_SHOWN]:
        out(f"  {name}: {why}")
    if len(skipped) > _SHOWN:
        out(f"  and {len(skipped) - _SHOWN} more (--json lists all)")
