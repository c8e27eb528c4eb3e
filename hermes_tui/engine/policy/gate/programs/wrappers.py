"""Programs that run another program: the inner command is judged, the wrapper adds what it changes itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from ..environment import judge_assignment
from ..facts import SOME, Call, Inner, Issue, Level, Outcome, Word
from .find import is_remover
from .rows import danger, safe, unknown

_ARCH = re.compile(r"(?:x86_64|i[3-6]86|linux\d\d|aarch64|arm\w*|uname26|ppc\w*|s390x?|mips\w*|riscv\w*)\Z")
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
    folder = next(reversed(call.args.values("-C")), None)
    inner = [Inner(words=tuple(words), cwd=folder)] if words else []
    if call.args.has("-S"):
        issues.append(Issue(Level.UNKNOWN, "splits a text into a command", "text"))
        inner = [Inner(words=tuple(_split(call.command.words[1:])), cwd=folder)]
    return Outcome(issues, inner, operands=[])


def _split(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the command of ``env -S TEXT MORE``: the text split at blanks, then every word behind it."""
    at = next((i for i, word in enumerate(words) if re.match(r"-\w*S|--sp", word.text)), 0)
    name, equals, long = words[at].text.partition("=")
    text = long if equals and name.startswith("--") else "" if name.startswith("--") else name.partition("S")[2]
    rest = words[at + 1 :]
    if not text and not equals:
        text, rest = rest[0].text if rest else "", rest[1:]
    try:
        parts = [SOME] if any(mark in text for mark in "\\$#") else shlex.split(text)
    except ValueError:
        parts = [SOME]
    for part in parts:
        yield Word(part, words[at].start, words[at].end)
    yield from rest


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
    issues = [Issue(Level.DANGER, "xargs deletes what its input names", "text")] * is_remover(words)
    return Outcome(issues, _run(tuple(words)), operands=[])


def check_parallel(call: Call) -> Outcome:
    """``parallel COMMAND ::: ARGS``: the words are a command text."""
    words: list[Word] = []
    for word in call.args.operands:
        if re.fullmatch(r":::?:?\+?", word.text):
            break
        words.append(Word(re.sub(r"\{[^}\s]*\}", SOME, word.text), word.start, word.end))
    if len(words) == 1 and " " in words[0].text:
        return Outcome([], [Inner(script=words[0])], operands=[])
    if not words:
        return Outcome([Issue(Level.DANGER, "runs its input as commands", "text")], operands=[])
    return Outcome([], _run((*words, Word(SOME, split=True))), operands=[])


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


def check_setarch(call: Call) -> Outcome:
    """``setarch [ARCH] COMMAND``."""
    words = call.args.operands
    if call.command.words[0].text.endswith("setarch") and words and _ARCH.match(words[0].text):
        words = words[1:]
    return Outcome([], _run(words), operands=[])


def check_hyperfine(call: Call) -> Outcome:
    """``hyperfine TEXT...``: every operand and hook is a command text."""
    texts = [*call.args.operands, *call.args.values("-p", "-s", "-c", "--conclude")]
    return Outcome([], [Inner(script=text) for text in texts], operands=[])


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
        "coproc caffeinate catchsegv faketime cgexec prlimit busybox toybox entr retry "
        "chronic ts_run dbus-run-session xvfb-run direnv_exec ld.so",
        "-*",
        "-a -d -i -s -u -t= -r -c",
        stops=True,
        check=check_plain,
        remember=False,
    ),
    *unknown("setarch linux32 linux64 i386 x86_64", "-*", "-R -v", stops=True, check=check_setarch, remember=False),
    *unknown(
        "hyperfine",
        "-*",
        "-w|--warmup= -m|--min-runs= -M|--max-runs= -r|--runs= -p|--prepare= -s|--setup= -c|--cleanup= --conclude= "
        "-i|--ignore-failure -N -S|--shell=:x -u= --export-json=:w --export-markdown=:w --export-csv=:w --style= "
        "-n|--command-name= --show-output -L=",
        check=check_hyperfine,
        remember=False,
        dangers={"-S": "runs a program"},
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
