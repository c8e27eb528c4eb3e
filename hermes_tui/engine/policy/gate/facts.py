"""The facts that the gate reasons about: words, simple commands, issues, rows of the program table.

Plain data. Knows nothing of parsing, of the file system or of modes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from .paths import PathGuard

UNKNOWN = "\x00"
"""Stands in a decoded word for text that is known only at run time and may be empty."""
SOME = "\x01"
"""The same, never empty."""

NUMBER = "\x02"
"""The same, digits: neither an option nor a path, never split."""


def is_dynamic(text: str) -> bool:
    """Tell whether a part of ``text`` is known only at run time."""
    return UNKNOWN in text or SOME in text or NUMBER in text


def shown(text: str) -> str:
    """Return a decoded word for people: run-time parts as an ellipsis."""
    return text.replace(UNKNOWN, "\u2026").replace(SOME, "\u2026").replace(NUMBER, "\u2026")


class Level(IntEnum):
    """How much a part of a command can hurt; the maximum wins."""

    SAFE = 0
    WRITES = 1
    UNKNOWN = 2
    DANGER = 3
    NEVER = 4


Origin: TypeAlias = Literal["program", "option", "path", "env", "text"]


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that keeps a command from being plainly safe."""

    level: Level
    reason: str
    origin: Origin = "text"
    """Where it comes from. A rule of the user covers only ``program`` (what the row says) and options that it names."""
    option: str = ""
    """With origin ``option``: its canonical name."""
    deny: str = ""
    """The user's deny rule or path pattern that it met."""
    reads: bool = False
    """Whether it only reads, which plan mode leaves open."""


@dataclass(frozen=True, slots=True)
class Word:
    """One decoded word of a command."""

    text: str
    """After quote removal; :data:`UNKNOWN`, :data:`SOME` and :data:`NUMBER` for run-time parts."""
    start: int = 0
    end: int = 0
    pattern: str = ""
    """The glob pattern, with quoted specials escaped; empty when the word is no glob."""
    split: bool = False
    """An unquoted run-time part: may become several words, or none."""

    @property
    def dynamic(self) -> bool:
        """True when a part is known only at run time."""
        return is_dynamic(self.text)

    def tail(self, offset: int) -> Word:
        """Return the word without its first ``offset`` characters (the value attached to an option)."""
        pattern = self.pattern[offset:] if self.pattern[:offset] == self.text[:offset] else self.pattern
        return Word(self.text[offset:], self.start, self.end, pattern, self.split)


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirect of a command."""

    operator: str
    """``<``, ``>``, ``>>``, ``>|``, ``>&``, ``&>``, ``&>>``, ``<&``, ``<<``, ``<<<``."""
    target: Word
    body: str | None = None
    """Text of a heredoc or here-string when it is literal."""


StdinKind: TypeAlias = Literal["", "pipe", "file", "text"]


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One simple command with all that was found out about its surroundings."""

    words: tuple[Word, ...]
    start: int = 0
    end: int = 0
    assigns: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    cwds: tuple[str, ...] = ()
    """Folders it may run in; empty when unknown."""
    stdin: StdinKind = ""
    """Where its input comes from, as far as it is not the terminal's."""
    stdin_text: str | None = None
    """The literal input."""
    background: bool = False
    functions: frozenset[str] = frozenset()
    """Functions that the same text defines before it."""
    declares: bool = False
    """The assignments last (``A=1`` alone, ``export A=1``) instead of holding for one program."""

    @property
    def argv(self) -> tuple[str, ...]:
        """The decoded words."""
        return tuple(word.text for word in self.words)


Effect: TypeAlias = Literal["", "r", "w", "t", "x", "u", "W", "d", "n"]
"""What an option does: nothing, its value is a path that is read (``r``), written (``w``) or emptied (``t``), it runs a
program (``x``), it is not understood (``u``), it makes the command write (``W``), it is dangerous (``d``), it uses the
network (``n``)."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a program, all its spellings."""

    names: tuple[str, ...]
    value: Literal["", "=", "?"] = ""
    """``=`` takes a value, ``?`` takes one only when attached."""
    effect: Effect = ""

    @property
    def name(self) -> str:
        """The canonical spelling: the first."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Used:
    """An option as it was used."""

    option: Option
    value: Word | None = None


@dataclass(frozen=True, slots=True)
class Args:
    """The words of one command, sorted with the help of its row."""

    row: Row
    lead: tuple[str, ...] = ()
    """Subcommands: ``("stash", "drop")``."""
    used: tuple[Used, ...] = ()
    unknown: tuple[str, ...] = ()
    """Options that the row does not know, as written."""
    operands: tuple[Word, ...] = ()
    after_dashes: int = 0
    """How many of the operands stand after ``--``."""
    loose: bool = False
    """A word known only at run time stands where it could be an option or a subcommand."""

    def has(self, *names: str) -> bool:
        """Tell whether one of the options (canonical names) was used."""
        return any(used.option.name in names for used in self.used)

    def values(self, *names: str) -> list[Word]:
        """Return the values given to the options (canonical names)."""
        return [used.value for used in self.used if used.option.name in names and used.value is not None]


@dataclass(frozen=True, slots=True)
class Inner:
    """A command that another one runs: decoded words, or a script still to be parsed."""

    words: tuple[Word, ...] = ()
    script: Word | None = None
    stdin: StdinKind | None = None
    assigns: tuple[tuple[str, Word], ...] = ()
    cwd: Word | None = None
    later: bool = False
    """It runs at another moment, in whatever folder the shell is then."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a check gets: the command, its sorted words and the path facts."""

    command: SimpleCommand
    args: Args
    guard: PathGuard


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check found: issues, and commands that the program runs."""

    issues: Sequence[Issue] = ()
    inner: Sequence[Inner] = ()
    base: Level | None = None
    """Replaces the level of the row."""
    operands: Sequence[Word] | None = None
    """Replaces the operands that the path rules look at."""
    waived: Collection[str] = ()
    """Options whose danger does not hold here (canonical names)."""


Check: TypeAlias = Callable[[Call], Outcome]


@dataclass(frozen=True, slots=True)
class Row:
    """What the gate knows about one program or subcommand: one row of the table."""

    name: str
    level: Level = Level.UNKNOWN
    reason: str = ""
    """Why it is more than safe, for people."""
    operands: str = "-"
    """Kind of each operand: ``-`` text, ``l`` listed, ``r`` read, ``w`` written, ``t`` emptied, ``d`` deleted, ``m``
    moved; ``*`` after the last or before a fixed tail: ``-r*``, ``r*w``."""
    options: str = ""
    """Known options, see ``options.py``."""
    dangers: Mapping[str, str] = field(default_factory=dict)
    """Reason of an option with effect ``d``, ``x`` or ``n``, by canonical name."""
    subs: Mapping[str, Row] = field(default_factory=dict)
    check: Check | None = None
    raw: bool = False
    """All words are text: no options at all (``echo``)."""
    stops: bool = False
    """Options end at the first operand (wrappers)."""
    single: bool = False
    """Long options have one dash (``find -name``)."""
    recurses: str = ""
    """Options with which it reads whole folders, ``*`` when it always does."""
    remember: bool = True
    """False keeps "always" from being offered."""
