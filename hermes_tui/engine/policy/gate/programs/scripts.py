"""The little languages of ``sed`` and ``awk``: which of their commands run, write or read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Call, Issue, Level, Outcome, Word


def sed_commands(script: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a sed script with their argument: ``("w", "out")``, ``("s", flags)``.

    A letter that is not understood ends the list with ``("?", rest)``.
    """
    at = 0
    while at < len(script):
        at = _sed_skip_address(script, at)
        if at < 0:
            yield "?", script
            return
        if at >= len(script):
            return
        letter = script[at]
        at += 1
        if letter in "};":
            continue
        if letter == "{":
            continue
        if letter in "sy":
            end, flags = _sed_substitute(script, at)
            if end < 0:
                yield "?", script
                return
            yield letter, flags
            at = end
        elif letter in "aicrRwWe#:btT":
            stop = script.find("\n", at)
            stop = len(script) if stop < 0 else stop
            if letter in ":btT":
                semicolon = script.find(";", at)
                stop = min(stop, semicolon) if semicolon >= 0 else stop
            yield letter, script[at:stop].strip()
            at = stop
        elif letter in "dDgGhHlnNpPqQx=zF":
            match = re.compile(r"\s*\d*").match(script, at)
            at = match.end() if match else at
            yield letter, ""
        else:
            yield "?", script[at - 1 :]
            return


def _sed_skip_address(script: str, at: int) -> int:
    while at < len(script):
        char = script[at]
        if char in " \t\n;,!~+$0123456789":
            at += 1
        elif char in "/\\":
            delimiter = char
            if char == "\\":
                at += 1
                if at >= len(script):
                    return -1
                delimiter = script[at]
            at = _sed_delimited(script, at + 1, delimiter)
            if at < 0:
                return -1
            while at < len(script) and script[at] in "IM":
                at += 1
        else:
            return at
    return at


def _sed_delimited(script: str, at: int, delimiter: str) -> int:
    bracket = False
    while at < len(script):
        char = script[at]
        if char == "\\":
            at += 2
            continue
        if bracket:
            bracket = char != "]"
        elif char == "[" and delimiter != "[":
            bracket = True
            if script[at + 1 : at + 2] == "^":
                at += 1
            if script[at + 1 : at + 2] == "]":
                at += 1
        elif char == delimiter:
            return at + 1
        at += 1
    return -1


def _sed_substitute(script: str, at: int) -> tuple[int, str]:
    if at >= len(script):
        return -1, ""
    delimiter = script[at]
    middle = _sed_delimited(script, at + 1, delimiter)
    if middle < 0:
        return -1, ""
    end = middle
    while end < len(script) and script[end] != delimiter:
        end += 2 if script[end] == "\\" else 1
    if end >= len(script):
        return -1, ""
    stop = end + 1
    while stop < len(script) and (script[stop].isalnum()):
        stop += 1
        if script[stop - 1] == "w":
            stop = script.find("\n", stop) if "\n" in script[stop:] else len(script)
    return stop, script[end + 1 : stop]


def check_sed(call: Call) -> Outcome:
    """``sed``: read the script; ``e`` runs, ``w`` writes, ``r`` reads, ``-i`` edits in place."""
    args = call.args
    scripts = args.values("-e")
    operands = list(args.operands)
    if not scripts and not args.has("-f") and operands:
        scripts, operands = [operands[0]], operands[1:]
    issues: list[Issue] = []
    if any(word.text == "-" or word.text.startswith(("/dev/", "/proc/")) for word in args.values("-f")):
        issues.append(Issue(Level.DANGER, "sed runs a script from its input", "text"))
    for script in scripts:
        issues += _judge_sed(call, script)
    if args.has("-i"):
        kinds = [issue for word in operands for issue in call.guard.judge(word, "write", call.command.cwds)]
        issues += kinds
    return Outcome(issues, operands=operands)


def _judge_sed(call: Call, script: Word) -> list[Issue]:
    if script.dynamic:
        return [Issue(Level.UNKNOWN, "the sed script is known only at run time", "text")]
    issues: list[Issue] = []
    cwds = call.command.cwds
    for letter, argument in sed_commands(script.text):
        if letter == "e" or (letter == "s" and "e" in argument.split("w")[0]):
            issues.append(Issue(Level.DANGER, "the sed script runs a command", "text"))
        if letter in "wW" or (letter == "s" and "w" in argument):
            target = argument.split("w", 1)[1].strip() if letter == "s" else argument
            issues += call.guard.judge(Word(target), "truncate", cwds)
            issues.append(Issue(Level.WRITES, "the sed script writes a file", "text"))
        elif letter in "rR":
            issues += call.guard.judge(Word(argument), "read", cwds)
        elif letter == "?":
            issues.append(Issue(Level.UNKNOWN, "the sed script is not understood", "text"))
    return issues


_AWK_RUNS = re.compile(
    r"\bsystem\s*\(|\|\s*&?\s*getline|\|\s*&?\s*[\"A-Za-z(]|\bclose\s*\(|@(?:load|include)|\bextension\s*\(|"
    r"@\s*[A-Za-z_]\w*\s*\("
)
_AWK_TARGET = re.compile(r">>?\s*\"([^\"\\]*)\"")
_AWK_WRITES = re.compile(r"\bprintf?\b[^;}\n]*>")
_AWK_LITERAL = re.compile(r"\"(?:\\.|[^\"\\])*\"|(?<=[~(,!])\s*/(?:\\.|[^/\\\n])*/|^\s*/(?:\\.|[^/\\\n])*/")


def check_awk(call: Call) -> Outcome:
    """``awk``: the program may run, write and read files."""
    args = call.args
    operands = list(args.operands)
    issues: list[Issue] = []
    if any(word.text in ("-", "/dev/stdin") or word.text.startswith("/dev/fd/") for word in args.values("-f")):
        return Outcome([Issue(Level.DANGER, "awk runs a script from its input", "text")], operands=operands)
    if any(word.text.startswith("inplace") for word in args.values("-i")):
        issues += [found for word in operands for found in call.guard.judge(word, "write", call.command.cwds)]
    programs = args.values("-e")
    if not programs and not args.has("-f"):
        programs, operands = operands[:1], operands[1:]
    if args.has("-f"):
        issues.append(Issue(Level.UNKNOWN, "awk runs a script from a file", "option", "-f"))
    for program in programs:
        issues += _judge_awk(call, program)
    files = [word for word in operands if not re.match(r"[A-Za-z_]\w*=", word.text)]
    return Outcome(issues, operands=files)


def _judge_awk(call: Call, program: Word) -> list[Issue]:
    if program.dynamic:
        return [Issue(Level.UNKNOWN, "the awk program is known only at run time", "text")]
    bare = _AWK_LITERAL.sub('""', program.text)
    issues: list[Issue] = []
    for match in _AWK_TARGET.finditer(program.text):
        issues += call.guard.judge(Word(match[1]), "truncate", call.command.cwds)
    if _AWK_RUNS.search(bare.replace("||", "  ")) or "/inet" in program.text:
        issues.append(Issue(Level.DANGER, "the awk program runs a command", "text"))
    if _AWK_WRITES.search(bare):
        issues.append(Issue(Level.WRITES, "the awk program may write a file", "text"))
    if "getline" in bare or "ARGV" in bare or "ENVIRON" in bare:
        level = Level.DANGER if "ENVIRON" in bare and _AWK_WRITES.search(bare) else Level.UNKNOWN
        issues.append(Issue(level, "the awk program reads other files or the environment", "text"))
    return issues
