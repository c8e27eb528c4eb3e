"""``make bench``: every budget that has a row, measured now; exits with 1 when a gated ratio is missed.

Absolute figures are printed for orientation (an unloaded machine of two cores is meant); what fails a run are ratios
within it. Name sections to run only those: ``python -m bench engine transcript``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from .report import Row, table


def _program() -> Iterable[Row]:
    from .program import rows

    return rows()


def _transcript() -> Iterable[Row]:
    from .transcript_bench import transcript_rows

    return transcript_rows()


def _engine() -> Iterable[Row]:
    from .engine_bench import rows

    return rows()


def _sessions() -> Iterable[Row]:
    from .sessions import rows

    return rows()


def _tools() -> Iterable[Row]:
    from .tools import rows

    return rows()


SECTIONS: dict[str, Callable[[], Iterable[Row]]] = {
    "program": _program,
    "sessions": _sessions,
    "engine": _engine,
    "tools": _tools,
    "transcript": _transcript,
}


def main() -> int:
    """Measure, print the table, say whether the gated rows hold."""
    wanted = sys.argv[1:] or list(SECTIONS)
    rows: list[Row] = []
    for name in wanted:
        print(f"measuring: {name} ...", file=sys.stderr, flush=True)
        rows += SECTIONS[name]()
    print(table(rows))
    missed = [row.name for row in rows if row.gate and not row.holds]
    for name in missed:
        print(f"missed: {name}", file=sys.stderr)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
