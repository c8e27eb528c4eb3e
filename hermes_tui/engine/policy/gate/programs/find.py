"""``find`` and ``fd``: expressions read word by word, because what they run, write and delete hides among filters."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts import SOME, Call, Inner, Issue, Level, Outcome, Word
from ..verdict import SECRETS

_REMOVERS = frozenset({"rm", "shred", "unlink", "trash"})
MAX_STARTS = 4
_FIND_NAMES = ("-name", "-iname", "-path", "-wholename")
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")


def check_find(call: Call) -> Outcome:
    """``find``: read the expression word by word; what it runs is judged, what it deletes or writes asks."""
    words = list(call.command.words[1:])
    cwds = call.command.cwds
    starts, at = _find_starts(words)
    issues: list[Issue] = []
    inner: list[Inner] = []
    names: list[Word] = []
    filters = 0
    deletes = False
    while at < len(words):
        text = words[at].text
        at += 1
        if text in _FIND_RUNS:
            command, at = _find_command(words, at)
            inner += [Inner(words=_found_below(start, command)) for start in starts[:MAX_STARTS] or [Word(".")]]
            issues.append(Issue(Level.UNKNOWN, f"find {text} runs a command", "option", text))
        elif text == "-delete":
            deletes = True
        elif text in ("-fprint", "-fprint0", "-fls", "-fprintf"):
            issues += call.guard.judge(words[at], "truncate", cwds) if at < len(words) else []
            issues.append(Issue(Level.DANGER, f"find {text} writes a file", "option", text))
            at += 2 if text == "-fprintf" else 1
        elif text in _FIND_VALUES:
            names += words[at : at + 1] if text in _FIND_NAMES else []
            filters += text not in ("-maxdepth", "-mindepth", "-printf", "-D")
            if text in ("-newer", "-samefile", "-files0-from") and at < len(words):
                issues += call.guard.judge(words[at], "list", cwds)
            at += 1
        elif text in _FIND_PLAIN or text in ("(", ")", "!", ","):
            filters += text in ("-empty",)
        else:
            issues.append(Issue(Level.UNKNOWN, f"find {text!r} is not known to be harmless", "option", text))
    removes = any(is_remover(command.words) for command in inner)
    if removes:
        issues.append(Issue(Level.DANGER, "find -exec deletes what it finds", "option", "-exec"))
    if removes and not filters and any(call.guard.is_root(start, cwds) for start in starts):
        issues.append(Issue(Level.NEVER, "deletes a root, a home or a system folder", "path"))
    if inner and any(issue.level >= Level.DANGER for name in names for issue in call.guard.judge_mention(name, cwds)):
        issues.append(Issue(Level.DANGER, f"{SECRETS}: runs a command on them", "path"))
    if deletes:
        issues += _judge_find_delete(call, starts, filters)
    return Outcome(issues, inner, operands=starts)


def is_remover(command: Sequence[Word]) -> bool:
    """Tell whether a command deletes each file that it is given."""
    from . import program_name

    return bool(command) and program_name(command[0].text) in _REMOVERS


def _find_starts(words: list[Word]) -> tuple[list[Word], int]:
    at = 0
    while at < len(words) and words[at].text in ("-H", "-L", "-P"):
        at += 1
    starts = []
    while at < len(words) and not words[at].text.startswith("-") and words[at].text not in ("(", "!", ","):
        starts.append(words[at])
        at += 1
    return starts, at


def _find_command(words: list[Word], at: int) -> tuple[list[Word], int]:
    command: list[Word] = []
    while (
        at < len(words)
        and words[at].text not in (";",)
        and not (words[at].text == "+" and command and command[-1].text == "{}")
    ):
        command.append(words[at])
        at += 1
    return command, at + 1


def _found_below(start: Word, command: list[Word]) -> tuple[Word, ...]:
    """Put a path below a start folder in the place of ``{}``."""
    path = f"{start.text.rstrip('/')}/{SOME}"
    return tuple(Word(path, word.start, word.end) if word.text == "{}" else word for word in command)


def _judge_find_delete(call: Call, starts: list[Word], filters: int) -> list[Issue]:
    cwds = call.command.cwds
    issues = [Issue(Level.DANGER, "find -delete deletes what it finds", "option", "-delete")]
    for start in starts:
        issues += call.guard.judge(start, "delete", cwds)
        if not filters and call.guard.is_root(start, cwds):
            issues.append(Issue(Level.NEVER, "deletes a root, a home or a system folder", "path"))
    return issues


_FIND_VALUES = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-type",
        "-xtype",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-newer",
        "-newermt",
        "-newerat",
        "-newerct",
        "-maxdepth",
        "-mindepth",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-links",
        "-inum",
        "-samefile",
        "-lname",
        "-ilname",
        "-fstype",
        "-printf",
        "-regextype",
        "-D",
        "-files0-from",
        "-used",
        "-context",
    ]
)
_FIND_PLAIN = frozenset(
    [
        "-print",
        "-print0",
        "-ls",
        "-prune",
        "-quit",
        "-depth",
        "-d",
        "-mount",
        "-xdev",
        "-follow",
        "-noleaf",
        "-empty",
        "-readable",
        "-writable",
        "-executable",
        "-true",
        "-false",
        "-not",
        "-a",
        "-and",
        "-o",
        "-or",
        "-nouser",
        "-nogroup",
        "-warn",
        "-nowarn",
        "-daystart",
        "-ignore_readdir_race",
        "-noignore_readdir_race",
        "-O1",
        "-O2",
        "-O3",
        "-E",
        "-X",
        "-s",
        "-x",
    ]
)


def check_fd(call: Call) -> Outcome:
    """``fd -x command``: everything behind it is the command."""
    words = call.command.words
    for i, word in enumerate(words):
        if word.text in ("-x", "--exec", "-X", "--exec-batch"):
            command = words[i + 1 :]
            issues = [Issue(Level.UNKNOWN, "fd runs a command", "option", "-x")]
            if is_remover(command):
                issues.append(Issue(Level.DANGER, f"fd {word.text} deletes what it finds", "option", word.text))
            return Outcome(issues, [Inner(words=command)])
    return Outcome(operands=[Word(""), *call.args.operands[1:]])
