"""One simple command -> its issues: environment, redirects, program, options, operands."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from .environment import judge_assignment
from .facts import Args, Call, Inner, Issue, Level, Outcome, Row, SimpleCommand, Used, Word, shown
from .globs import TooManyError, expand_glob
from .mentions import judge_words
from .options import compile_options, read_args
from .paths import PathGuard, PathKind
from .programs import find_row, program_name

_RESERVED_WORDS = "if then elif else fi for while until do done case esac select function { } ! in ]]"
_RESERVED = frozenset(_RESERVED_WORDS.split())
_PROCESS_FILE = re.compile(r"/+proc/|/+dev/fd/")
_KINDS: dict[str, PathKind] = {"l": "list", "r": "read", "w": "write", "m": "write", "t": "truncate", "d": "delete"}
_UNREADABLE = "cannot be read safely"


@dataclass(slots=True)
class Finding:
    """What is known about one simple command."""

    command: SimpleCommand
    args: Args | None = None
    program: str = ""
    """Name in the table, or the path of a local program."""
    lead: tuple[str, ...] = ()
    """Subcommands and operands in order: what rules compare."""
    issues: list[Issue] = field(default_factory=list)
    inner: Sequence[Inner] = ()
    remember: bool = False
    """Whether "always" may be offered for it."""
    touches: list[tuple[Word, PathKind]] = field(default_factory=list)
    """Paths that it changes."""

    @property
    def level(self) -> Level:
        """The worst of its issues."""
        return max((issue.level for issue in self.issues), default=Level.SAFE)


def sort_words(words: Sequence[Word]) -> tuple[Row | None, str, Args, tuple[str, ...]]:
    """Find the row of a command and sort its words.

    Returns:
        The row (None for a program that is not in the table), its name, the sorted words, and what rules compare.
    """
    name = program_name(words[0].text)
    row = find_row(words[0].text)
    rest = list(words[1:])
    prefix: tuple[str, ...] = ()
    outer: tuple[Used, ...] = ()
    if name == "python" and row is not None:
        at = _module_index(rest, row)
        if at >= 0:
            outer = read_args(row, rest[:at]).used
            row, rest, prefix = find_row("python -m") or row, rest[at + 1 :], ("-m",)
    args = read_args(row or Row(name), rest)
    args = Args(args.row, args.lead, outer + args.used, args.unknown, args.operands, args.after_dashes, args.loose)
    lead = prefix + args.lead + tuple(word.text for word in args.operands)
    return row, name, args, lead


def _module_index(words: Sequence[Word], row: Row) -> int:
    table = compile_options(row.options)
    at = 0
    while at < len(words):
        text = words[at].text
        if text == "-m":
            return at
        if not text.startswith("-") or text == "-c":
            return -1
        option = table.get(text)
        at += 2 if option is not None and option.value == "=" else 1
    return -1


def judge_simple(command: SimpleCommand, guard: PathGuard) -> Finding:
    """Judge one simple command by the tables.

    Args:
        command: The decoded command.
        guard: Path rules of the workspace.

    Returns:
        Its issues, and the commands that it runs itself.
    """
    finding = Finding(command)
    for name, value in command.assigns:
        finding.issues += judge_assignment(name, value, lasting=command.declares, workspace=guard.workspace)
    _judge_redirects(finding, guard)
    if command.words:
        _judge_program(finding, guard)
    return finding


def _judge_redirects(finding: Finding, guard: PathGuard) -> None:
    cwds = finding.command.cwds
    for redirect in finding.command.redirects:
        target = redirect.target
        if redirect.operator in ("<<", "<<<") or not target.text:
            continue
        if redirect.operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", target.text):
            continue
        kind: PathKind = "read" if redirect.operator in ("<", "<&") else "truncate"
        if redirect.operator in (">>", "&>>"):
            kind = "write"
        elif redirect.operator == "<>":
            kind = "truncate"
        finding.touches.append((target, kind))
        issues = guard.judge(target, kind, cwds)
        finding.issues += [
            Issue(issue.level, issue.reason, "path" if issue.origin == "program" else issue.origin, deny=issue.deny)
            for issue in issues
        ]


def _judge_program(finding: Finding, guard: PathGuard) -> None:
    command = finding.command
    unreadable = _judge_name(command.words[0])
    if unreadable:
        finding.program = shown(command.words[0].text)
        finding.issues.append(Issue(Level.DANGER, f"{_UNREADABLE}: {unreadable}", "text"))
        return
    if any(_reads_as_option(word, command.cwds, guard.tick) for word in command.words[1:]):
        finding.issues.append(Issue(Level.DANGER, "a file name here reads as an option", "path"))
    row, finding.program, args, finding.lead = sort_words(command.words)
    finding.args = args
    if finding.program in command.functions:
        return
    if row is not None and len(command.words) == 2 and command.words[1].text in ("--version", "--help"):
        return
    finding.issues += judge_words(command, row, args, guard)
    if row is None:
        finding.remember = "/" not in finding.program
        finding.issues.append(Issue(Level.UNKNOWN, f"{finding.program} is not in the table of programs", "program"))
        finding.issues += [_unknown_option(text) for text in args.unknown]
        if any(word.dynamic for word in args.operands):
            finding.issues.append(Issue(Level.UNKNOWN, "words are known only at run time", "text"))
        return
    used_row = args.row
    finding.remember = row.remember and used_row.remember
    outcome = used_row.check(Call(command, args, guard)) if used_row.check else Outcome()
    issues = list(outcome.issues)
    inner = list(outcome.inner)
    waived = set(outcome.waived)
    if row is not used_row and row.check is not None:
        outer = row.check(Call(command, args, guard))
        issues += outer.issues
        inner += outer.inner
        waived |= set(outer.waived)
    finding.inner = inner
    base = used_row.level if outcome.base is None else outcome.base
    if base > Level.SAFE:
        finding.issues.append(Issue(base, _row_reason(finding, used_row), "program"))
    finding.issues += issues
    _judge_options(finding, row, guard, waived)
    operands = args.operands if outcome.operands is None else outcome.operands
    if not used_row.raw or outcome.operands is not None:
        _judge_operands(finding, operands, guard, checked=outcome.operands is not None)
    if row.subs and not args.lead and args.loose:
        finding.issues.append(Issue(Level.DANGER, "the subcommand is known only at run time", "text"))


def _row_reason(finding: Finding, row: Row) -> str:
    shown_name = " ".join([finding.program, *(finding.args.lead if finding.args else ())])
    return f"{shown_name} {row.reason}" if row.reason else _LEVEL_REASONS[row.level].format(shown_name)


_LEVEL_REASONS = {
    Level.SAFE: "{} changes something",
    Level.WRITES: "{} changes files",
    Level.UNKNOWN: "{} is not known to be read-only",
    Level.DANGER: "{} is dangerous",
    Level.NEVER: "{} is blocked",
}


def _judge_name(word: Word) -> str:
    if word.text in ("[", "[["):
        return ""
    if word.dynamic or word.pattern:
        return "the name of the program is known only at run time"
    if not word.text.isascii() or not word.text.isprintable() or not word.text:
        return "the name of the program holds unusual characters"
    if _PROCESS_FILE.match(word.text):
        return "a file of a process stands for the program"
    if word.text in _RESERVED:
        return "a reserved word stands where a program is expected"
    return ""


def _reads_as_option(word: Word, cwds: Sequence[str], tick: Callable[[], None]) -> bool:
    """Tell whether a glob matches a file whose name starts with a dash."""
    if word.pattern[:1] not in ("*", "?", "[") or "/" in word.pattern:
        return False
    try:
        found = [path for cwd in cwds for path in expand_glob(word.pattern, cwd, tick)]
    except TooManyError:
        return False
    return any(os.path.basename(path).startswith("-") for path in found)  # noqa: PTH119


def _unknown_option(text: str) -> Issue:
    return Issue(Level.UNKNOWN, f"option {shown(text)} is not known to be harmless", "option", text)


def _judge_options(finding: Finding, row: Row, guard: PathGuard, waived: Collection[str]) -> None:
    args = finding.args
    assert args is not None
    cwds = finding.command.cwds
    for used in args.used:
        option, value = used.option, used.value
        reason = args.row.dangers.get(option.name) or row.dangers.get(option.name, "")
        if option.effect in ("r", "w", "t") and value is not None and value.text != "-":
            kind = {"r": "read", "w": "write", "t": "truncate"}[option.effect]
            finding.issues += guard.judge(value, kind, cwds)  # type: ignore[arg-type]
            if option.effect != "r":
                finding.issues.append(Issue(Level.WRITES, f"option {option.name} writes a file", "option", option.name))
        elif option.effect in ("d", "x", "n") and option.name not in waived:
            finding.issues.append(
                Issue(Level.DANGER, f"option {option.name} {reason or 'runs a program'}", "option", option.name)
            )
        elif option.effect == "u" or option.name in waived:
            finding.issues.append(_unknown_option(option.name))
        elif option.effect == "W":
            finding.issues.append(Issue(Level.WRITES, f"option {option.name} changes files", "option", option.name))
        if value is not None and value.split:
            finding.issues.append(Issue(Level.UNKNOWN, "words are known only at run time", "text"))
    finding.issues += [_unknown_option(text) for text in args.unknown]


def _judge_operands(finding: Finding, operands: Sequence[Word], guard: PathGuard, *, checked: bool) -> None:
    args = finding.args
    assert args is not None
    kinds = assign_kinds(args.row.operands, len(operands))
    for word, kind in zip(operands, kinds, strict=True):
        if kind in _KINDS and word.text != "-" and not (word.text == "" and checked):
            finding.touches.append((word, _KINDS[kind]))
            finding.issues += guard.judge(word, _KINDS[kind], finding.command.cwds)
    _judge_folders(finding, [w for w, kind in zip(operands, kinds, strict=True) if kind == "r"], guard)
    if args.loose and not _is_text_only(args.row):
        finding.issues.append(Issue(Level.UNKNOWN, "words are known only at run time", "text"))


def _judge_folders(finding: Finding, words: Sequence[Word], guard: PathGuard) -> None:
    """A program that reads whole folders may read what the user denied, without naming it."""
    args = finding.args
    assert args is not None
    recurses = args.row.recurses
    if not recurses or not (recurses == "*" or args.has(*recurses.split())):
        return
    here = [Word(".")] if args.row.operands == "-r*" else []
    for word in [word for word in words if word.text] or here:
        denied = guard.find_denied_below(word, finding.command.cwds)
        if denied:
            reason = f"reads a folder that holds {denied}, which is denied"
            finding.issues.append(Issue(Level.DANGER, reason, "path", reads=True))
            return


def _is_text_only(row: Row) -> bool:
    """A row whose every word is harmless text may take words known only at run time."""
    harmless = all(not option.effect for option in compile_options(row.options).values())
    return row.level == Level.SAFE and harmless and row.check is None and set(row.operands) <= set("-*")


def assign_kinds(spec: str, count: int) -> str:
    """Return the kind of each of ``count`` operands: ``-r*`` is text first, then reads; ``r*w`` ends with a write."""
    star = spec.find("*")
    if star < 0:
        return (spec + "-" * count)[:count]
    head, repeated, tail = spec[: star - 1], spec[star - 1], spec[star + 1 :]
    middle = count - len(head) - len(tail)
    if middle >= 0:
        return head + repeated * middle + tail
    return (head + tail)[:count] if count <= len(head) else (head + tail)[-count:]
