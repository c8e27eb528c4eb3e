"""Builtins of bash: what they set, evaluate and load."""

from __future__ import annotations

import re
from itertools import pairwise

from ..environment import judge_assignment
from ..facts import NUMBER, SOME, Call, Inner, Issue, Level, Outcome, Word
from .rows import danger, safe, unknown

_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_INTEGER = re.compile(rf"[-+]?[\d{NUMBER}]+\Z")
_COMPARES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_SET_HARMLESS = re.compile(r"[-+][euxvCfnhmbE]+\Z|[-+][eux]*o\Z|--\Z|-\Z")
_SET_NAMES = frozenset(
    [
        "errexit",
        "nounset",
        "pipefail",
        "xtrace",
        "verbose",
        "noclobber",
        "noglob",
        "errtrace",
        "functrace",
        "monitor",
        "notify",
    ]
)


def judge_name(name: Word, *, lasting: bool = True) -> list[Issue]:
    """Judge a variable name that a builtin sets; a subscript in it is evaluated as arithmetic."""
    if _NAME.match(name.text):
        return judge_assignment(name.text, Word(SOME), lasting=lasting)
    if name.dynamic:
        return [Issue(Level.UNKNOWN, "sets a variable that is known only at run time", "text")]
    if any(mark in name.text for mark in ("$", "`", "[")):
        simple = re.match(r"[A-Za-z_]\w*\[(?:\d+|[@*])\]\Z", name.text)
        return [] if simple else [Issue(Level.DANGER, "evaluates the subscript of a variable", "text")]
    return []


def check_declare(call: Call) -> Outcome:
    """``export``, ``declare``: lasting assignments; exported ones reach other programs."""
    issues: list[Issue] = []
    words = call.command.words
    options = "".join(word.text for word in words[1:] if word.text.startswith("-"))
    exported = words[0].text == "export" or "x" in options
    nameref = "n" in options and words[0].text != "export"
    if nameref:
        issues.append(Issue(Level.UNKNOWN, "makes one variable another name of a second one"))
    for word in words[1:]:
        if word.text.startswith("-"):
            continue
        name, equals, _ = word.text.partition("=")
        if nameref and equals:
            issues += judge_name(word.tail(len(name) + 1))
        if equals:
            issues += judge_assignment(
                name, word.tail(len(name) + 1), lasting=not exported, workspace=call.guard.workspace
            )
        if not _NAME.match(name.rstrip("+")):
            issues += judge_name(Word(name))
    return Outcome(issues)


def check_read(call: Call) -> Outcome:
    """``read NAME...``: sets variables from input."""
    names = [*call.args.operands, *call.args.values("-a")]
    return Outcome([issue for name in names for issue in judge_name(name)], operands=[])


def check_mapfile(call: Call) -> Outcome:
    """``mapfile -C COMMAND``: a callback for lines."""
    inner = [Inner(script=value) for value in call.args.values("-C")]
    return Outcome([issue for name in call.args.operands for issue in judge_name(name)], inner, operands=[])


def check_printf(call: Call) -> Outcome:
    """``printf -v NAME`` sets a variable; otherwise it prints."""
    words = call.command.words[1:]
    if words and words[0].text.startswith("-v"):
        name = words[0].tail(2) if len(words[0].text) > 2 else (words[1] if len(words) > 1 else Word(""))
        return Outcome(judge_name(name))
    if words and (words[0].split or words[0].text[:1] == SOME):
        return Outcome([Issue(Level.UNKNOWN, "its first word is known only at run time", "text")])
    return Outcome()


def check_test(call: Call) -> Outcome:
    """``test``, ``[``, ``[[``: ``-v`` and arithmetic comparison evaluate subscripts."""
    words = call.command.words
    issues: list[Issue] = []
    double = words[0].text == "[["
    for i, word in enumerate(words):
        behind = words[i + 1] if i + 1 < len(words) else Word("")
        if word.text in ("-v", "-R"):
            issues += judge_name(behind)
        elif double and word.text in _COMPARES:
            issues += _judge_operand(words[i - 1]) + _judge_operand(behind)
        elif word.split and not double:
            issues.append(Issue(Level.UNKNOWN, "a test of an unquoted value", "text"))
    inner = words[1:-1] if words[0].text == "[" else words[1:]
    if len(inner) == 2 and inner[0].text[:1] < " ":
        issues.append(Issue(Level.UNKNOWN, "the operator of a test is known only at run time", "text"))
    return Outcome(issues, operands=[])


def _judge_operand(word: Word) -> list[Issue]:
    if _INTEGER.match(word.text):
        return []
    if not word.dynamic and any(mark in word.text for mark in "[$`"):
        return [Issue(Level.DANGER, "a comparison evaluates text as arithmetic", "text")]
    return [Issue(Level.UNKNOWN, "a comparison evaluates a value as arithmetic", "text")]


def check_let(call: Call) -> Outcome:
    """``let``: every word is arithmetic."""
    issues = []
    for word in call.command.words[1:]:
        if any(mark in word.text for mark in "[$`"):
            issues.append(Issue(Level.DANGER, "let evaluates text as arithmetic", "text"))
        elif not re.fullmatch(r"[A-Za-z_]\w*[-+*]?=\d+|[A-Za-z_]\w*(?:\+\+|--)", word.text):
            issues.append(Issue(Level.UNKNOWN, "let evaluates values as arithmetic", "text"))
        issues += judge_name(Word(re.split(r"[-+*/%&|^<>=\[]", word.text)[0]))
    return Outcome(issues)


def check_wait(call: Call) -> Outcome:
    """``wait -p NAME`` sets a variable."""
    words = call.command.words
    names = [behind for word, behind in pairwise(words) if word.text == "-p"]
    names += [word.tail(2) for word in words[1:] if word.text.startswith("-p") and len(word.text) > 2]
    return Outcome([issue for name in names for issue in judge_name(name)])


def check_compgen(call: Call) -> Outcome:
    """``compgen -C COMMAND`` and ``-F FUNCTION`` run something."""
    if any(re.match(r"-\w*[CFW]", word.text) for word in call.command.words[1:]):
        return Outcome([Issue(Level.DANGER, "runs a command to make completions", "text")])
    return Outcome()


def check_unset(call: Call) -> Outcome:
    """``unset NAME``; a subscript is evaluated."""
    names = [word for word in call.command.words[1:] if word.text not in ("-v", "-f", "-n")]
    return Outcome([issue for name in names for issue in judge_name(name) if issue.origin == "text"], operands=[])


def check_trap(call: Call) -> Outcome:
    """``trap COMMAND SIGNAL...``: the command runs later."""
    words = [word for word in call.command.words[1:] if word.text != "--"]
    if len(words) < 2 or words[0].text in ("", "-", "-p", "-l"):
        return Outcome(base=Level.SAFE)
    return Outcome([], [Inner(script=words[0], later=True)])


def check_alias(call: Call) -> Outcome:
    """``alias name=command`` changes what a name runs."""
    if any("=" in word.text or word.dynamic for word in call.command.words[1:]):
        return Outcome([Issue(Level.DANGER, "changes what a name runs", "text")])
    return Outcome()


def check_eval(call: Call) -> Outcome:
    """``eval``: its words joined are a command text."""
    words = [word for word in call.command.words[1:] if word.text != "--"]
    if not words:
        return Outcome()
    text = " ".join(word.text for word in words)
    return Outcome([], [Inner(script=Word(text, words[0].start, words[-1].end, split=any(w.split for w in words)))])


def check_source(call: Call) -> Outcome:
    """``source FILE`` runs it in this very shell."""
    if not call.args.operands:
        return Outcome()
    script = call.args.operands[0]
    if script.text.startswith("/dev/"):
        return Outcome([Issue(Level.DANGER, "runs text from a pipe or a file as a program", "text")], operands=[])
    return Outcome(call.guard.judge(script, "read", call.command.cwds), operands=[])


def check_set(call: Call) -> Outcome:
    """``set -euo pipefail`` is harmless; what changes the reading of commands is not known to be."""
    for word in call.command.words[1:]:
        if word.text == "--":
            return Outcome()
        if not _SET_HARMLESS.match(word.text) and word.text not in _SET_NAMES:
            return Outcome([Issue(Level.UNKNOWN, "changes options of the shell", "text")])
    return Outcome()


def check_cd(call: Call) -> Outcome:
    """``cd``: the target is looked at like any listed folder."""
    targets = [word for word in call.command.words[1:] if not re.match(r"-[LPe@]*\Z|--\Z", word.text)]
    issues = [issue for word in targets for issue in call.guard.judge(word, "list", call.command.cwds)]
    if any(word.split for word in targets):
        issues.append(Issue(Level.UNKNOWN, "goes to a folder known only at run time", "path"))
    return Outcome(issues, operands=[])


def check_type(call: Call) -> Outcome:
    """``hash -p FILE NAME`` changes what a name runs."""
    if any(word.text.startswith("-p") for word in call.command.words[1:]):
        return Outcome([Issue(Level.DANGER, "changes what a name runs", "text")])
    return Outcome()


ROWS = [
    *safe(
        "echo : pwd jobs fg bg times dirs caller exit return break continue shift logout getopts unalias help",
        raw=True,
    ),
    *safe("wait", raw=True, check=check_wait),
    *safe("compgen", raw=True, check=check_compgen),
    *safe("cd pushd popd", raw=True, check=check_cd),
    *safe("printf", raw=True, check=check_printf),
    *safe("test [[", raw=True, check=check_test),
    *safe("((", raw=True),
    *safe("export declare typeset local readonly", raw=True, check=check_declare),
    *safe("read", "-*", "-r -s -e -E -n= -N= -t= -p= -d= -u= -a= -i=", check=check_read),
    *safe(
        "mapfile readarray",
        "-*",
        "-t -n= -O= -s= -u= -d= -c= -C=:x",
        check=check_mapfile,
        dangers={"-C": "runs a callback"},
    ),
    *safe("let", raw=True, check=check_let),
    *safe("unset", raw=True, check=check_unset),
    *unknown("trap", raw=True, check=check_trap, remember=False, reason="runs a command later"),
    *safe("alias", raw=True, check=check_alias),
    *unknown("eval", raw=True, check=check_eval, remember=False, reason="runs its words as a command text"),
    *unknown("source .", raw=True, check=check_source, remember=False, reason="runs a file in this shell"),
    *safe("set", raw=True, check=check_set),
    *unknown("shopt ulimit umask", raw=True, remember=False),
    *unknown(
        "enable",
        "-*",
        "-a -n -p -s -f=:x -d:x",
        dangers={"-f": "loads code into the shell", "-d": "unloads a builtin"},
        remember=False,
    ),
    *safe("hash", raw=True, check=check_type),
    *danger("bind complete fc history suspend", "changes how the shell itself behaves", raw=True),
]
