# ruff: noqa: E501, RUF005, PERF401 - one piece of shell a line reads best
"""Compare what the gate lists with what a real bash runs.

Texts are glued from marker programs with every operator, quote, wrapper and substitution, then mutated. Bash runs them
with the markers alone on ``PATH``; each marker writes down its name and arguments. A marker that ran, was not listed
and whose text was not called unreadable is a miss.

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

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.gate import ShellGate

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
printf '%s\\0' "$line" >> "$MARK_LOG"
"""
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
            ]
        )  # fmt: skip

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
        self._work.mkdir()
        for name in MARKERS:
            (self._bin / name).write_text(_SCRIPT)
            (self._bin / name).chmod(0o755)
        for name in WRAPPERS:
            found = shutil.which(name)
            if found:
                (self._bin / name).symlink_to(found)
        self._gate = ShellGate(ApprovalSettings(mode="strict"), home=base)
        self._bash = shutil.which("bash") or "bash"

    def run(self, text: str) -> list[str]:
        """Run a text in bash and return the markers that ran, with their arguments."""
        self._runs += 1
        log = self._base / f"log{self._runs}"
        environment = {"PATH": str(self._bin), "HOME": str(self._base), "MARK_LOG": str(log), "LC_ALL": "C.UTF-8"}
        limits = 'ulimit -f 200 -t 2 -u 4000 2>/dev/null; exec "$0" --noprofile --norc -c "$1"'
        process = subprocess.Popen(
            [self._bash, "--noprofile", "--norc", "-c", limits, self._bash, text], cwd=self._work, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()
        if not log.exists():
            return []
        lines = log.read_bytes().decode(errors="replace").split("\0")
        log.unlink()
        return [line for line in lines if line.split(" ")[0] in MARKERS]

    def check(self, seed: int) -> Miss | None:
        """Judge and run the text of one seed."""
        return self.check_text(Generator(seed).text(), seed)

    def check_text(self, text: str, seed: int = 0) -> Miss | None:
        """Judge and run a text; returns a marker that ran unseen."""
        if "\x00" in text:
            return None
        verdict = self._gate.judge_command(text, cwd=str(self._work))
        if any("cannot be read safely" in reason for reason in verdict.reasons):
            return None
        listed = tuple(part.argv for part in verdict.parts)
        for ran in self.run(text):
            if not any(_fits(argv, ran) for argv in listed):
                return Miss(seed, text, ran, listed)
        return None


def _fits(argv: tuple[str, ...], ran: str) -> bool:
    """The name and the first argument are the same, or that argument is known only at run time."""
    words = ran.split(" ")
    if not argv or argv[0] != words[0]:
        return False
    if len(argv) < 2:
        return len(words) < 2
    return (
        any(mark in argv[1] for mark in "\u2026*?[") or len(words) < 2 or " ".join(argv[1:]).split(" ")[0] == words[1]
    )


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
