"""``hermes-tui models``: the models that can be used, and those that need a key."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict

from ..api import Engine
from ..types.models import ModelRow
from .output import out, out_json, table


def main(
    argv: Sequence[str],
    build: Callable[[], Engine],
    parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser,
) -> int:
    """Run the models command and return the exit code.

    Args:
        argv: The words after ``models``.
        build: Makes the engine.
        parser_class: For the program's own way of telling errors.
    """
    parser = parser_class(prog="hermes-tui models", description="Models by provider; usable ones first.")
    parser.add_argument("--all", action="store_true", help="those without a key too")
    parser.add_argument("--json", action="store_true", help="one JSON value on stdout, nothing else")
    options = parser.parse_args(argv)
    engine = build()
    try:
        rows = [row for row in engine.list_models() if options.all or row.usable]
    finally:
        engine.close()
    if options.json:
        out_json([asdict(row) for row in rows])
        return 0
    if not rows:
        out("No model can be used yet: set a provider's key (see --all), or start a local server.")
        return 0
    out(table([_cells(row) for row in rows], ("MODEL", "WINDOW", "IN $/M", "OUT $/M", "")))
    if not options.all:
        sys.stderr.write("More with --all.\n")
    return 0


def _cells(row: ModelRow) -> tuple[str, ...]:
    window = f"{row.context_window:,}" if row.context_window else ""
    return row.id, window, _price(row.input_usd_per_mtok), _price(row.output_usd_per_mtok), row.note


def _price(usd: float | None) -> str:
    return "" if usd is None else f"{usd:.2f}"
