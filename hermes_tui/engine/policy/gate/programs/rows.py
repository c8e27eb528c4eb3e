"""How rows are written: one call per kind of program.

``safe("sort", "r*", "-b -o|--output=:w")``: name (several, split by blanks), kinds of the operands, options. See
:class:`~..facts.Row` and ``options.py`` for the two small languages.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..facts import Check, Level, Row

HELP = "--help --version"


def make(
    level: Level,
    names: str,
    operands: str = "-*",
    options: str = "",
    *,
    reason: str = "",
    dangers: Mapping[str, str] | None = None,
    check: Check | None = None,
    raw: bool = False,
    stops: bool = False,
    single: bool = False,
    recurses: str = "",
    remember: bool = True,
) -> list[Row]:
    """Return one row per name."""
    return [
        Row(
            name,
            level,
            reason,
            operands,
            f"{HELP} {options}",
            dangers or {},
            {},
            check,
            raw,
            stops,
            single,
            recurses,
            remember,
        )
        for name in names.split()
    ]


def safe(names: str, operands: str = "-*", options: str = "", **more: object) -> list[Row]:
    """Programs that only read and print, with the options given."""
    return make(Level.SAFE, names, operands, options, **more)  # type: ignore[arg-type]


def writes(names: str, operands: str = "-*", options: str = "", **more: object) -> list[Row]:
    """Programs that change files inside the workspace."""
    return make(Level.WRITES, names, operands, options, **more)  # type: ignore[arg-type]


def unknown(names: str, operands: str = "-*", options: str = "", **more: object) -> list[Row]:
    """Programs that run code of the project, or whose effect the words do not tell."""
    return make(Level.UNKNOWN, names, operands, options, **more)  # type: ignore[arg-type]


def danger(names: str, reason: str, operands: str = "-*", options: str = "", **more: object) -> list[Row]:
    """Programs that always ask."""
    return make(Level.DANGER, names, operands, options, reason=reason, remember=False, **more)  # type: ignore[arg-type]


def never(names: str, reason: str) -> list[Row]:
    """Programs that are blocked in every mode."""
    return make(Level.NEVER, names, reason=reason, remember=False)


def parent(name: str, options: str, *groups: list[Row], level: Level = Level.UNKNOWN, **more: object) -> Row:
    """A program with subcommands; ``options`` are its global ones."""
    subs = {row.name: row for rows in groups for row in rows}
    return Row(name, level, options=f"{HELP} {options}", subs=subs, **more)  # type: ignore[arg-type]
