# ruff: noqa: E501, RUF005, PERF401 - one piece of shell a line reads best
"""Compare what the gate lists with what a real bash runs.

Texts are glued from marker programs with every operator, quote, wrapper, substitution, encoding and compound statement,
then mutated. Bash runs them with the markers alone on ``PATH``; each marker writes down its name, its folder and its
arguments. A miss is a marker that ran and was not listed, or was listed for other folders, while the text was not
asked about as one whose programs cannot be listed.

``python tests/support/gate_fuzz.py --minutes 10`` runs long and prints the seed of every miss.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from hermes_tui.engine.policy.gate.facts import SimpleCommand, shown
from hermes_tui.engine.policy.gate.judge import CommandJudge, RuleSet
from hermes_tui.engine.policy.gate.paths import PathGuard

MARKERS = ("mka", "mkb", "mkc", "mkd")
WRAPPERS = (
    "env",
    "nice",
    "nohup",
    "timeout",
    "sh",
    "bash",
    "xargs",
    "find",
    "cat",
    "true",
    "stdbuf",
    "setsid",
    "sleep",
)
_SCRIPT = """#!/bin/sh
line="${0##*/}"; for a; do line="$line $a"; done
printf '%s\\0%s\\0' "$line" "$(pwd -P)" >> "$MARK_LOG"
"""
OPEN = (
    "cannot be read safely",
    "runs text from a pipe or a file as a program",
    "known only at run time",
    "changes what",
    "changes how the shell",
    "evaluates",
    "changes where programs are looked for",
    "runs its input",
    "runs a callback",
    "expansion runs",
)
"""Reasons with which a text is asked about as one whose programs cannot all be listed."""
_NOISE = list("'\"\\$(){};&|<>\n#`! \t=*?~[]@%-+,:.0a") + [
    "$(",
    "$((",
    "${",
    "<<E\n",
    "\nE\n",
    "\\\n",
    "$'",
    '$"',
    "<(",
    "((",
    "[[",
]


@dataclass(frozen=True)
class Miss:
    """A program that ran unseen."""

    seed: int
    text: str
    ran: str
    listed: tuple[tuple[str, ...], ...]


class Generator:
    """Makes command texts from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0

    def text(self) -> str:
        """Return one text; a third of them mutated."""
        text = self._list(self._random.randint(1, 3))
        for _ in range(self._random.choice((0, 0, 1, 1, 2, 4))):
            text = self._mutate(text)
        return text

    def _mutate(self, text: str) -> str:
        at = self._random.randrange(len(text) + 1)
        kind = self._random.random()
        if kind < 0.4:
            return text[:at] + self._random.choice(_NOISE) + text[at:]
        if kind < 0.7:
            return text[:at] + text[at + 1 :]
        other = self._random.randrange(len(text) + 1)
        low, high = sorted((at, other))
        return text[:high] + text[low:high][:12] + text[high:]

    def _list(self, depth: int) -> str:
        parts = [self._statement(depth) for _ in range(self._random.randint(1, 3))]
        text = parts[0]
        for part in parts[1:]:
            text += (
                self._random.choice(
                    (";", " && ", " || ", " | ", " & ", "\n", " |& ", ";\n", "&&\\\n", " # c\n", " # \\\n")
                )
                + part
            )
        return text

    def _statement(self, depth: int) -> str:
        if depth <= 0:
            return self._simple(0)
        inner = self._list(depth - 1)
        word = self._random.choice
        return word(
            [
                self._simple(depth),
                self._simple(depth),
                self._simple(depth),
                f"( {inner} )",
                f"{{ {inner}\n}}",
                f"if {inner}\nthen {self._simple(0)}\nfi",
                f"if ! true; then :; else {inner}\nfi",
                f"for i in a b; do {inner}\ndone",
                f"for ((i=0;i<1;i++)); do {inner}\ndone",
                f"while {inner}\nfalse; do :; done",
                f"case x in y) :;; *) {inner}\n;; esac",
                f"f() {{ {inner}\n}}; f",
                f"function f {{ {inner}\n}}\nf",
                f"! {self._simple(0)}",
                f"time {self._simple(0)}",
                f"trap {self._quote(inner)} EXIT",
                f"eval {self._quote(inner)}",
                f"sh -c {self._quote(inner)}",
                f"bash -ec {self._quote(inner)} _ x",
                f"env A=1 {self._simple(0)}",
                f"nice -n 1 timeout 5 {self._simple(0)}",
                f"command {self._simple(0)}",
                f"echo x | xargs {self._simple(0)}",
                f"find . -maxdepth 0 -exec {self._simple(0)} \\;",
                f"bash <<'E'\n{inner}\nE\n",
                f"cat <<'E'\n{inner}\nE\n",
                f"cat <<E\n$({inner}\n)\nE\n",
                f"cat <<-E | {self._simple(0)}\n\tx\n\tE\n",
                f"cat <<E && {self._simple(0)}\nx\nE\n",
                f"[[ -n \"$({inner}\n)\" ]]",
                f"[ -n \"`{self._simple(0)}`\" ]",
                f"x=$({inner}\n)",
                f"x=$({inner}\n) y=1 {self._simple(0)}",
                f": \"${{X:-$({inner}\n)}}\"",
                f": $(( $({inner}\n) + 1 ))",
                f"cat <({inner}\n)",
                f"> out.txt {self._simple(0)}",
                f"{self._simple(0)} 2>&1 > out.txt",
                f"coproc {self._simple(0)}; wait",
                f"export A=$({inner}\n)",
                f"a=({self._simple(0)} $({inner}\n))",
                f"until {self._simple(0)}; do break; done; {self._simple(0)}",
                *self._more(depth, inner),
            ]
        )  # fmt: skip

    def _more(self, depth: int, inner: str) -> list[str]:
        """Statements that move, define, evaluate or read their program from elsewhere."""
        one, two = self._simple(0), self._simple(0)
        name = self._name()
        return [
            f"cd sub && {one}", f"cd sub; {one} > out.txt", f"(cd sub; {one}); {two}", f"cd sub && {one} > out.txt && {two}",
            f"pushd sub; {one}; popd; {two}", f"cd sub || {one}; {two}", f"if cd sub; then {one}; fi; {two}", f"cd sub | {one}; {two}",
            f"cd sub & {one}; wait; {two}", f"cd nowhere; {one}", f"for d in sub . ; do cd $d; {one}; done; {two}", f"f() {{ cd sub; }}; f; {one}",
            f"{{ cd sub; }} > out.txt; {one}", f"cd -P ./sub/..; {one}", f"cd $(echo sub); {one}", f"env -C sub {one}", f"while cd sub; do {one}; done; {two}",
            f"CDPATH=sub; cd deep; {one}", f"case x in x) cd sub;; esac; {one}", f"builtin cd sub; {one}", f"eval 'cd sub'; {one}", f"bash -c 'cd sub; {name} q'; {one}",
            f"a=({one}); \"${{a[@]}}\"", f"a=({name} n0 z); ${{a[0]}} ${{a[@]:1}}", f"declare v={name}; $v n0", f"v={name}; ${{v}} n0; {one}",
            f"printf -v v %s {name}; $v n0", f"read v <<< {name}; $v n0", f"v='{one}'; eval \"$v\"", f"set -- {one}; \"$@\"", f"v={name}; v+=x; ${{v%x}} n0",
            f"{{{name},n0,k}}", f"{{{name}\\ n0,{name}}} n1", f"{{true,{name}}} n0", f"true {{a,$({inner}\n)}}", f"[[ a == $({inner}\n)* ]]",
            f"[[ -z $({inner}\n) || x =~ `{one}` ]]", f"((x = $({inner}\n) + 1))", f"let x=$({inner}\n)1", f": $[ $({inner}\n) ]", f": ${{x[$({inner}\n)]}}",
            f": ${{x:$({inner}\n):1}}", f": ${{x/$({inner}\n)/y}}", f": ${{x:=$({inner}\n)}}", f": ${{x:+$({inner}\n)}} ${{HOME:+`{one}`}}",
            f"case $({inner}\n) in x) {one};& *) {two};;& esac", f"case a in b|a) {inner}\n;; esac", f"select x in a; do {inner}\nbreak; done <<< 1", f"for i; do {inner}\ndone; {one}",
            f"for i in $({inner}\n); do :; done", f"f() ( {inner} ); f", f"f() {{ \"$@\"; }}; f {one}", f"f() {{ {inner}\n}} > out.txt; f; unset -f f; {one}",
            f"trap {self._quote(one)} ERR; false", f"trap {self._quote(one)} DEBUG; true", f"trap -- {self._quote(one)} 0", f"shopt -s expand_aliases\nalias q={self._quote(one)}\nq",
            f"coproc NAME {{ {inner}\n}}; wait", f"exec {one}", f"(exec -a z {one})", f"command -p {one}; builtin command {two}", f"time -p {one}", f"time {{ {inner}\n}}", f"! ! {one}",
            f"bash <<E\n{one.replace(chr(36), '')}\nE\n", f"bash <<\"E\"\n{inner}\nE\n", f"bash <<\\E\n{inner}\nE\n", f"sh <<-E\n\t{name} n0\n\tE\n", f"bash <<< {self._quote(one)}",
            f"bash -s a b <<< {self._quote(one)}", f"cat <<A <<'B' | {one}\nx\nA\n$({two})\nB\n", f"cat << E; {one}\n`{two}`\nE\n", f"cat <<E\n\\$({one})\nE\n", f"bash <<E\n{name[:1]}\\\\{name[1:]} n0\nE\n",
            f"source /dev/stdin <<< {self._quote(one)}", f". <(echo {self._quote(one)})", f"bash <(echo {self._quote(one)})", f"echo {self._quote(one)} | sh", f"cat <<< $({inner}\n) > >({one})",
            f"{one} 2> >({two})", f"{one} <<< \"$({two})\"", f"x=1 y=`{one}` {two}", f"x=$({one}) eval {self._quote(two)}", f"eval {name} 'n0;' {self._quote(two)}", f"eval eval {name} n0",
            f"env -S {self._quote(one)}", f"env -i PATH=\"$PATH\" MARK_LOG=\"$MARK_LOG\" {one}", f"env -u Q -- {one}", f"echo z | xargs -I@ {one} @", f"echo a b | xargs -n1 {one}", f"xargs -a /dev/null {one}",
            f"find . -maxdepth 0 -execdir {one} {{}} +", f"find . -maxdepth 0 -exec sh -c {self._quote(one)} \\;", f"nohup {one}; setsid -w {two}", f"bash -O extglob -c {self._quote(inner)}",
            f"bash -c '\"$@\"' _ {one}", f"bash -c '$0 n0' {name}", f"sh -c \"sh -c {self._quote(name + ' n0')}\"", f"mapfile -C {name} -c 1 x <<< n0", f"x=\"{name} n0\"; $x", f"$(echo {name}) n0", f"\"$(echo {name})\" n0",
            f"${{X:-{name}}} n0", f"${{X-{name}}} n0", f"*/../bin/{name} n0", f"./sub/../../bin/{name} n0", f"true && ! {one} || {{ {two}; }}", f"{one} |& {two}", f"{one};;{two}", f"({one}; ({two}))",
            f"if false; then :; elif {one}; then :; else {two}; fi", f"until ! {one}; do break; done", f"function g() {{ {one}; }}; g", f"{one} \\\n {self._argument(0)}; {two}", f"# {one}\n{two}", f"true # '\n{one} # '\n",
            f": '#'; {one} #'", f"echo \\# $(# )\n{one}\n)", f"echo \"`# `{one}\"", f"x=\\\n{name}; $x n0", f"PATH=$PATH:. {one}", f"hash -p bin/{name} zz; zz n0",
        ]  # fmt: skip

    def _simple(self, depth: int) -> str:
        self._count += 1
        words = [self._name(), f"n{self._count}"]
        for _ in range(self._random.randint(0, 2)):
            words.append(self._argument(depth))
        return " ".join(words)

    def _name(self) -> str:
        name = self._random.choice(MARKERS)
        spelled = [
            name, name, name, f'"{name}"', f"'{name}'", f"{name[0]}\\{name[1:]}", f"{name[:2]}''{name[2:]}", f'{name[:1]}"{name[1:]}"',
            f"$'\\x{ord(name[0]):02x}{name[1:]}'", f"$'\\{ord(name[0]):o}'{name[1:]}", f"{name[:2]}\\\n{name[2:]}", f'"{name[:2]}"{name[2:]}',
            f"\\{name}",
        ]  # fmt: skip
        return self._random.choice(spelled)

    def _argument(self, depth: int) -> str:
        texts = ["a", "'b c'", '"d e"', "a#b", "\\#", "'#'", '"#"', "'x;y'", '"x&&y"', "$HOME", "${X}", "$'it\\'s'", "{p,q}", "*.zz",
                 "'it'\\''s'", '"a\\"b"', "\\;", "\\\n", "~", "$((1+2))", "$((1<<2))", "a=b", "-x", "--", "'\\'", '"\\\\"', "$'\\\\'",
                 '"$X"', "${#X}", "${X%%#*}", '"${X:-"y"}"', "'\n'", '"\n"', "é", "'日本'", "@", "%", ":", "!", "[a]", "a,b", "+"]  # fmt: skip
        if depth > 0 and self._random.random() < 0.4:
            inner = self._list(depth - 1)
            return self._random.choice(
                [
                    f"$({inner}\n)",
                    f'"$({inner}\n)"',
                    f"`{self._simple(0)}`",
                    f"<({inner}\n)",
                    f"${{X:-`{self._simple(0)}`}}",
                ]
            )
        return self._random.choice(texts)

    def _quote(self, text: str) -> str:
        if self._random.random() < 0.6:
            return "'" + text.replace("'", "'\\''") + "'"
        escaped = "".join("\\" + char if char in '"\\$`' else char for char in text)
        return f'"{escaped}"'


class Arena:
    """A folder with marker programs and a few real ones, and nothing else on ``PATH``."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._bin = base / "bin"
        self._work = base / "work"
        self._runs = 0
        self._bin.mkdir()
        (self._work / "sub" / "deep").mkdir(parents=True)
        for name in MARKERS:
            (self._bin / name).write_text(_SCRIPT)
            (self._bin / name).chmod(0o755)
        for name in WRAPPERS:
            found = shutil.which(name)
            if found:
                (self._bin / name).symlink_to(found)
        self._judge = CommandJudge(PathGuard(workspace=str(self._work), home=str(base)), RuleSet(), "strict")
        self._bash = shutil.which("bash") or "bash"

    def run(self, text: str) -> list[tuple[str, str]]:
        """Run a text in bash and return the markers that ran, with their arguments, and in which folder."""
        self._runs += 1
        log = self._base / f"log{self._runs}"
        environment = {"PATH": str(self._bin), "HOME": str(self._base), "MARK_LOG": str(log), "LC_ALL": "C.UTF-8"}
        limits = 'ulimit -f 200 -t 2 -u 4000 2>/dev/null; exec "$0" --noprofile --norc -c "$1"'
        process = subprocess.Popen(
            [self._bash, "--noprofile", "--norc", "-c", limits, self._bash, text], cwd=self._work, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            process.wait(timeout=1.5)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()
        if not log.exists():
            return []
        fields = log.read_bytes().decode(errors="replace").split("\0")
        log.unlink()
        pairs = zip(fields[::2], fields[1::2], strict=False)
        return [(line, folder) for line, folder in pairs if line.split(" ")[0] in MARKERS]

    def check(self, seed: int) -> Miss | None:
        """Judge and run the text of one seed."""
        return self.check_text(Generator(seed).text(), seed)

    def check_text(self, text: str, seed: int = 0) -> Miss | None:
        """Judge and run a text; returns a marker that ran unseen."""
        if "\x00" in text:
            return None
        verdict, commands = self._judge.read(text, str(self._work))
        if any(known in reason for reason in verdict.reasons for known in OPEN):
            return None
        for ran, folder in self.run(text):
            if not any(_fits(command, ran, folder) for command in commands):
                listed = tuple((*map(shown, command.argv), f"in {command.cwds}") for command in commands)
                return Miss(seed, text, f"{ran} in {folder}", listed)
        return None


def _fits(command: SimpleCommand, ran: str, folder: str) -> bool:
    """The name and the first argument are the same, or that argument is known only at run time; so is the folder."""
    argv, words = tuple(map(shown, command.argv)), ran.split(" ")
    if not argv or argv[0].rpartition("/")[2] != words[0]:
        return False
    if command.cwds and folder not in map(os.path.realpath, command.cwds):
        return False
    if len(argv) < 2:
        return len(words) < 2
    known = any(mark in argv[1] for mark in "\u2026*?[")
    return known or len(words) < 2 or " ".join(argv[1:]).split(" ")[0] == words[1]


def main() -> int:
    """Fuzz for some minutes; 1 when there was a miss."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=None, help="start here instead of at a random seed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    deadline = time.monotonic() + options.minutes * 60
    count = misses = 0
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(Path(folder))
        while time.monotonic() < deadline:
            miss = arena.check(seed)
            count += 1
            if miss is not None:
                misses += 1
                print(f"seed {miss.seed}: {miss.ran!r} ran unseen\n  text {miss.text!r}\n  listed {miss.listed}")
            seed += 1
    print(f"{count} texts, {misses} misses")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
