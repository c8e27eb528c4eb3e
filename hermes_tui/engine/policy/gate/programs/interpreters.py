"""Interpreters: shells are read, inline code of other languages is searched for what runs, deletes or sends."""

from __future__ import annotations

import re

from ..facts import SOME, UNKNOWN, Call, Inner, Issue, Level, Outcome, Row, Word
from ..mentions import judge_code
from .packages import pytest_row
from .rows import danger, safe, unknown, writes

_SHELL_OPTIONS = re.compile(r"[-+][A-Za-z]+\Z")
_SHELL_LONG = ("--norc", "--noprofile", "--login", "--posix", "--restricted", "--verbose", "--noediting")
_PIPED = "runs text from a pipe or a file as a program"
_INLINE = re.compile(
    r"\b(?:system|popen\w*|subprocess|exec\w*|spawn\w*|child_process|fork|unlink\w*|rmtree|rmdir\w*|remove\w*|rmSync|rm\(|truncate|"
    r"chmod|chown|kill|socket|urlopen|urllib|requests|httpx|http|https|fetch|connect|ctypes|eval|__import__|importlib|pty|"
    r"FileUtils|File\.delete|shutil|os\.replace|os\.rename|writeFile\w*|dlopen|syscall|qx|pickle|marshal|base64|codecs|"
    r"getattr|globals|builtins|compile|environ|Deno|Bun|spawn_sync|rename\w*|unlinkSync|runpy|IO\.binread)\b|`|"
    r"%x[\W_]|\bopen\s*\(?[^;\n]*?[\"']\s*\||[\"'][^\"'\n]*\|\s*[\"']\s*\)|process\.binding|-\|"
)


def judge_inline(code: Word | None, language: str, call: Call) -> list[Issue]:
    """Judge inline code of a language that the gate does not parse."""
    if code is None or code.dynamic:
        return [Issue(Level.DANGER, f"runs {language} code that is known only at run time", "text")]
    found = judge_code(code.text, call.command, call.guard)
    match = _INLINE.search(code.text)
    if match:
        return [*found, Issue(Level.DANGER, f"runs {language} code that uses {match[0].strip()}", "text")]
    return [*found, Issue(Level.UNKNOWN, f"runs {language} code", "text")]


def _judge_stdin(call: Call, language: str) -> list[Issue]:
    command = call.command
    if command.stdin == "text":
        code = None if command.stdin_text is None else Word(command.stdin_text)
        return judge_inline(code, language, call)
    if command.stdin:
        return [Issue(Level.DANGER, _PIPED, "text")]
    return []


def check_shell(call: Call) -> Outcome:
    """``bash -lc TEXT``, ``bash FILE``, ``... | bash``."""
    words = list(call.command.words[1:])
    at, inline, from_stdin = 0, False, False
    issues: list[Issue] = []
    while at < len(words):
        text = words[at].text
        if text in ("-", "--"):
            at += 1
            break
        if text in ("--rcfile", "--init-file"):
            issues.append(Issue(Level.DANGER, "the shell reads a start-up file", "option", text))
            at += 2
        elif text.startswith("--"):
            if text not in _SHELL_LONG:
                issues.append(Issue(Level.UNKNOWN, f"option {text} is not known to be harmless", "option", text))
            at += 1
        elif _SHELL_OPTIONS.match(text):
            inline = inline or "c" in text
            from_stdin = from_stdin or "s" in text
            at += 1 + text.lower().count("o")  # each takes a name of the words that follow
        else:
            break
    rest = words[at:]
    if inline and rest:
        return Outcome(issues, [Inner(script=rest[0])], operands=[])
    if rest and not from_stdin:
        return Outcome([*issues, *_judge_script(call, rest[0])], operands=[])
    if call.command.stdin == "text":
        note = Issue(Level.UNKNOWN, "runs a heredoc as a program", "text")
        script = Word(UNKNOWN if call.command.stdin_text is None else call.command.stdin_text)
        return Outcome([*issues, note], [Inner(script=script)], operands=[])
    if call.command.stdin:
        issues.append(Issue(Level.DANGER, _PIPED, "text"))
    return Outcome(issues, operands=[])


def _judge_script(call: Call, script: Word) -> list[Issue]:
    if script.text.startswith(("/dev/", "/proc/")) or (script.split and script.text == SOME):
        return [Issue(Level.DANGER, _PIPED, "text")]
    if script.dynamic:
        return [Issue(Level.UNKNOWN, "runs a file that is known only at run time", "path")]
    return call.guard.judge(script, "read", call.command.cwds)


def check_python(call: Call) -> Outcome:
    """``python -c CODE``, ``python FILE``, ``... | python``; ``-m MODULE`` is a subcommand of its own."""
    return _check_language(call, "Python", "-c")


def check_other(call: Call) -> Outcome:
    """``perl -e``, ``node -e``, ``ruby -e``, ``php -r``."""
    return _check_language(call, call.args.row.name, "-e")


def _check_language(call: Call, language: str, inline: str) -> Outcome:
    args = call.args
    edits = args.operands if args.has("-i") else ()
    issues = [issue for word in edits for issue in call.guard.judge(word, "write", call.command.cwds)]
    codes = args.values(inline)
    if codes or args.has(inline):
        for code in codes or [Word(UNKNOWN)]:
            issues += judge_inline(code, language, call)
        return Outcome(issues, operands=[])
    scripts = [word for word in args.operands[:1] if word.text != "-"]
    if scripts:
        return Outcome(_judge_script(call, scripts[0]), operands=[])
    if args.has("--version", "--help", "-V", "-v"):
        return Outcome(base=Level.SAFE)
    return Outcome(_judge_stdin(call, language), operands=[])


def check_foreign_shell(call: Call) -> Outcome:
    """``fish -c TEXT``, ``csh -c TEXT``: read as far as it reads like ours."""
    codes = call.args.values("-c")
    if codes:
        return Outcome([], [Inner(script=code) for code in codes], operands=[])
    return _check_language(call, "shell", "-e")


def check_javascript(call: Call) -> Outcome:
    """``node -e CODE``, ``deno eval CODE``, ``bun x PACKAGE``."""
    words = call.args.operands
    head = words[0].text if words else ""
    if head == "eval" and len(words) > 1:
        return Outcome(judge_inline(words[-1], "JavaScript", call), operands=[])
    if head == "x":
        return Outcome([], [Inner(words=words[1:])] if len(words) > 1 else [], operands=[])
    if any(re.match(r"--(?:preload|require|import)\b", word.text) for word in words):
        return Outcome([Issue(Level.DANGER, "loads code", "option", "-r")], operands=[])
    if any(re.match(r"https?:|-\Z", word.text) for word in words):
        return Outcome([Issue(Level.DANGER, "runs code from an address or a pipe", "text")], operands=[])
    return Outcome() if head in ("run", "test", "fmt", "lint", "check") else _check_language(call, "JavaScript", "-e")


def check_archive_module(call: Call) -> Outcome:
    """``python -m zipfile -e ARCHIVE FOLDER``."""
    target = call.args.operands[-1:] if call.args.has("-e", "-c") else ()
    return Outcome([issue for word in target for issue in call.guard.judge(word, "write", call.command.cwds)])


_MODULES = [
    pytest_row("pytest"),
    *unknown("unittest", "-*", "-v -q -f -b -k="),
    *writes(
        "venv",
        "w*",
        "--clear:d --upgrade --system-site-packages --without-pip --prompt= --symlinks --copies",
        dangers={"--clear": "empties that folder first"},
    ),
    *safe("json.tool", "rt", "--sort-keys --indent= --compact --no-ensure-ascii --json-lines"),
    *unknown("mypy ruff black isort flake8 pylint compileall py_compile doctest coverage build timeit cProfile", "-*"),
    *unknown("zipfile tarfile", "r*", "-l|--list -t|--test -e|--extract -c|--create -v", check=check_archive_module),
    *unknown("http.server smtpd", "-*", remember=False, reason="opens a server"),
    *unknown("*", remember=False),
]


def _pip_module() -> Row:
    from .packages import ROWS as PACKAGES

    return next(row for row in PACKAGES if row.name == "pip")


_PYTHON_OPTIONS = "-c=:u -u -B -O -OO -E -I -s -S -q -v -b -W= -X=:u -i:u -V -x -P -d"
ROWS = [
    *unknown("sh", raw=True, check=check_shell, remember=False),
    Row(
        "python",
        options=f"--help --version {_PYTHON_OPTIONS}",
        check=check_python,
        stops=True,
        remember=False,
        reason="runs Python code",
    ),
    Row(
        "python -m",
        options="",
        subs={row.name: row for row in [*_MODULES, _pip_module()]},
        reason="runs a Python module",
    ),
    *unknown(
        "perl",
        "-*",
        "-e|-E=:u -n -p -i?:u -l? -a -F= -w -M?:u -m?:u -I=:u -0? -s -T -t -c -v -W -X",
        stops=True,
        check=check_other,
        remember=False,
        reason="runs Perl code",
    ),
    *unknown(
        "ruby",
        "-*",
        "-e=:u -n -p -i?:u -l -a -w -r=:u -I=:u -c -v",
        stops=True,
        check=check_other,
        remember=False,
        reason="runs Ruby code",
    ),
    *unknown(
        "fish csh nu elvish xonsh osh",
        "-*",
        "-c|--command|--commands=:u -l|--login -i -n --no-config",
        stops=True,
        check=check_foreign_shell,
        remember=False,
        reason="runs code",
    ),
    *danger("expect", "drives other programs", "r*", "-c= -f= -d -b -v"),
    *unknown(
        "node bun deno",
        "-*",
        "-v -e|--eval|-pe|-p|--print=:u -c|--check -r|--require=:x --import=:x --loader=:x --preload=:x "
        "--inspect?:u --inspect-brk?:u --test --watch --env-file=:r",
        stops=True,
        check=check_javascript,
        remember=False,
        reason="runs JavaScript code",
        dangers=dict.fromkeys(("-r", "--import", "--loader", "--preload"), "loads code"),
    ),
    *unknown(
        "php lua luajit tclsh Rscript R julia guile racket sbcl scheme elixir erl iex ghci runghc scala groovy "
        "jshell octave gnuplot m4 ipython jupyter irb java swipl",
        "-*",
        "-e|-r=:u -E=:u -f= -jar= -cp=",
        stops=True,
        check=check_other,
        remember=False,
        reason="runs code",
    ),
]
