"""Programs that run another program: the inner command is judged, the wrapper adds what it changes itself."""

from __future__ import annotations

import re

from ..environment import judge_assignment
from ..facts import SOME, Call, Inner, Issue, Level, Outcome, Word
from .rows import danger, safe, unknown

_PRIVILEGE = "runs with the rights of another user"


def _run(words: tuple[Word, ...]) -> list[Inner]:
    return [Inner(words=words)] if words else []


def check_plain(call: Call) -> Outcome:
    """Everything behind the options is the command."""
    return Outcome([], _run(call.args.operands), operands=[])


def check_nohup(call: Call) -> Outcome:
    """In the background it outlives the session."""
    issues = [Issue(Level.DANGER, "keeps running in the background")] if call.command.background else []
    return Outcome(issues, _run(call.args.operands), operands=[])


def check_skip_one(call: Call) -> Outcome:
    """The first operand belongs to the wrapper: a time limit, a lock file, a root folder."""
    return Outcome([], _run(call.args.operands[1:]), operands=[])


def check_env(call: Call) -> Outcome:
    """``env A=1 COMMAND``; ``-S TEXT`` splits a text."""
    issues: list[Issue] = []
    words = list(call.args.operands)
    while words and ("=" in words[0].text or words[0].text == "-"):
        name, _, _ = words[0].text.partition("=")
        if name != "-":
            issues += judge_assignment(
                name, words[0].tail(len(name) + 1), lasting=False, workspace=call.guard.workspace
            )
        words.pop(0)
    folder = next(iter(call.args.values("-C")), None)
    inner = [Inner(words=tuple(words), cwd=folder)] if words else []
    for text in call.args.values("-S"):
        inner.append(Inner(script=text))
        issues.append(Issue(Level.UNKNOWN, "splits a text into a command", "text"))
    return Outcome(issues, inner, operands=[])


def check_sudo(call: Call) -> Outcome:
    """``sudo COMMAND``."""
    words = list(call.args.operands)
    while words and "=" in words[0].text:
        words.pop(0)
    return Outcome([], _run(tuple(words)), operands=[])


def check_su(call: Call) -> Outcome:
    """``su -c TEXT``."""
    return Outcome([], [Inner(script=value) for value in call.args.values("-c")], operands=[])


def check_command(call: Call) -> Outcome:
    """``command -v NAME`` only looks it up."""
    if call.args.has("-v", "-V"):
        return Outcome(operands=[])
    return Outcome([], _run(call.args.operands), operands=[])


def check_xargs(call: Call) -> Outcome:
    """``xargs COMMAND``: words of the input become its last arguments."""
    words = list(call.args.operands) or [Word("echo")]
    marks = [value.text for value in call.args.values("-I")] or (["{}"] if call.args.has("-i") else [])
    if marks:
        words = [Word(w.text.replace(marks[0], SOME), w.start, w.end) for w in words]
    else:
        words.append(Word(SOME, split=True))
    return Outcome([], _run(tuple(words)), operands=[])


def check_parallel(call: Call) -> Outcome:
    """``parallel COMMAND ::: ARGS``: the words are a command text."""
    words = []
    for word in call.args.operands:
        if re.fullmatch(r":::?:?\+?", word.text):
            break
        words.append(Word(re.sub(r"\{[^}\s]*\}", SOME, word.text), word.start, word.end))
    if len(words) == 1 and " " in words[0].text:
        return Outcome([], [Inner(script=words[0])], operands=[])
    return Outcome([], _run((*words, Word(SOME, split=True))) if words else [], operands=[])


def check_watch(call: Call) -> Outcome:
    """``watch COMMAND``: the words joined go to a shell."""
    operands = call.args.operands
    if not operands:
        return Outcome(operands=[])
    if call.args.has("-x") or len(operands) == 1:
        inner = Inner(words=operands) if call.args.has("-x") else Inner(script=operands[0])
        return Outcome([], [inner], operands=[])
    text = " ".join(word.text for word in operands)
    return Outcome([], [Inner(script=Word(text, operands[0].start, operands[-1].end))], operands=[])


def check_script(call: Call) -> Outcome:
    """``script -c TEXT FILE``."""
    return Outcome([], [Inner(script=value) for value in call.args.values("-c")])


def check_flock(call: Call) -> Outcome:
    """``flock LOCK COMMAND`` or ``flock LOCK -c TEXT``."""
    operands = call.args.operands
    rest = operands[1:]
    if rest and rest[0].text in ("-c", "--command"):
        return Outcome([], [Inner(script=rest[1])] if len(rest) > 1 else [], operands=[])
    return Outcome([], _run(rest), operands=operands[:1])


def check_exec(call: Call) -> Outcome:
    """``exec COMMAND`` replaces the shell; without a command it only redirects."""
    return Outcome([], _run(call.args.operands), operands=[])


ROWS = [
    *safe("nice", "-*", "-n|--adjustment= -#", stops=True, check=check_plain),
    *safe("nohup", stops=True, check=check_nohup),
    *safe("ionice", "-*", "-c= -n= -t -p=:u", stops=True, check=check_plain),
    *safe("stdbuf unbuffer", "-*", "-i|--input= -o|--output= -e|--error= -p", stops=True, check=check_plain),
    *safe(
        "time",
        "-*",
        "-p|--portability -v|--verbose -f|--format= -o|--output=:w -a|--append -q",
        stops=True,
        check=check_plain,
    ),
    *safe(
        "timeout",
        "-*",
        "-k|--kill-after= -s|--signal= --preserve-status --foreground -v|--verbose",
        stops=True,
        check=check_skip_one,
    ),
    *safe("command", "-*", "-v -V -p", stops=True, check=check_command),
    *safe("builtin", stops=True, check=check_plain),
    *safe("exec", "-*", "-c -l -a=", stops=True, check=check_exec, remember=False),
    *safe(
        "env",
        "-*",
        "-i|--ignore-environment -u|--unset= -0|--null -C|--chdir=:r -S|--split-string=:u -v|--debug "
        "--default-signal? --ignore-signal? --block-signal?",
        stops=True,
        check=check_env,
    ),
    *safe(
        "xargs",
        "-*",
        "-0|--null -r|--no-run-if-empty -n|--max-args= -L|--max-lines= -P|--max-procs= -I|--replace= -i? -l? "
        "-d|--delimiter= -a|--arg-file=:r -t|--verbose -p|--interactive -x|--exit -s|--max-chars= -E|--eof= -o "
        "--process-slot-var=:u",
        stops=True,
        check=check_xargs,
    ),
    *unknown(
        "parallel",
        "-*",
        "-j|--jobs= -k|--keep-order -n= -a=:r -0 --bar --dry-run --halt= -X -m -N= -L= --will-cite -v --tag --colsep=",
        stops=True,
        check=check_parallel,
        remember=False,
    ),
    *safe(
        "watch",
        "-*",
        "-n|--interval= -d|--differences? -t|--no-title -x|--exec -c|--color -e|--errexit -g|--chgexit -b|--beep "
        "-p|--precise",
        stops=True,
        check=check_watch,
        remember=False,
    ),
    *unknown(
        "flock",
        "-*",
        "-n|--nonblock -x -s -w|--timeout= -E= -o -u -v -F",
        stops=True,
        check=check_flock,
        remember=False,
    ),
    *unknown(
        "setsid",
        "-*",
        "-f|--fork:d -w|--wait -c",
        stops=True,
        check=check_nohup,
        remember=False,
        dangers={"-f": "keeps running in the background"},
    ),
    *unknown("taskset chrt numactl", "-*", "-c= -p=:u -a", stops=True, check=check_skip_one, remember=False),
    *unknown(
        "coproc caffeinate catchsegv faketime cgexec prlimit setarch linux32 linux64 busybox toybox entr retry "
        "chronic ts_run dbus-run-session xvfb-run direnv_exec hyperfine",
        "-*",
        "-a -d -i -s -u -t= -r -c",
        stops=True,
        check=check_plain,
        remember=False,
    ),
    *unknown("script", "w*", "-c|--command=:u -q -a -e -f", check=check_script, remember=False),
    *danger(
        "sudo",
        _PRIVILEGE,
        "-*",
        "-u|--user= -g|--group= -n -E -H -S -k -K -v -l -i -s -b -A -p= -C= -r= -t= -D= -h= -U= -R= --preserve-env? --",
        stops=True,
        check=check_sudo,
    ),
    *danger(
        "doas pkexec runuser gosu su-exec setpriv unshare nsenter firejail bwrap proot fakeroot",
        _PRIVILEGE,
        "-*",
        "-u|--user= -n -s -C= -L -g=",
        stops=True,
        check=check_sudo,
    ),
    *danger("su", _PRIVILEGE, "-*", "-c|--command= -l -s= -m -p -", check=check_su),
]
