"""Build tools: make and its like, compilers, cargo, go. They run recipes of the project."""

from __future__ import annotations

import re

from ..environment import judge_assignment
from ..facts import Call, Inner, Issue, Level, Outcome, Word
from .rows import danger, parent, safe, unknown, writes

_PUBLISHES = "publishes to others"


def check_make(call: Call) -> Outcome:
    """``make``: recipes from a pipe or from elsewhere, and variables that name programs."""
    args = call.args
    cwds = call.command.cwds
    issues = [
        Issue(Level.DANGER, "runs recipes from a pipe or a file as a program", "text")
        for word in args.values("-f")
        if word.text == "-" or word.text.startswith(("/dev/", "/proc/"))
    ]
    for word in args.operands:
        name, equals, value = word.text.partition("=")
        if not equals:
            continue
        known = re.fullmatch(r"[\w.+-]+", value) and name.rstrip(":+?!") not in ("SHELL", ".SHELLFLAGS", "MAKEFLAGS")
        if not known:
            issues += judge_assignment(name.rstrip(":+?!"), Word(value), lasting=True)
            issues += [Issue(Level.DANGER, "changes the shell of the recipes")] * name.startswith(".SHELL")
    issues += [found for word in args.values("-C") for found in call.guard.judge(word, "list", cwds)]
    return Outcome(issues, operands=[])


def check_compiler(call: Call) -> Outcome:
    """``gcc -B FOLDER``, ``-fplugin=``, ``rustc -C linker=``: name programs that the compiler runs."""
    for word in call.command.words[1:]:
        if re.match(r"-(?:B|fplugin=|specs=|Xclang\Z|fuse-ld=/|C?linker=|load\Z)", word.text) or word.text.startswith(
            "linker="
        ):
            return Outcome([Issue(Level.DANGER, f"option {word.text} names a program to run", "option", word.text)])
    return Outcome()


def check_cmake(call: Call) -> Outcome:
    """``cmake -E COMMAND``: its own file commands."""
    texts = [word.text for word in call.command.words]
    words = call.command.words[texts.index("-E") + 1 :] if "-E" in texts else ()
    if not words:
        return Outcome(operands=[])
    name, rest = words[0].text, words[1:]
    if name in ("rm", "remove", "remove_directory"):
        issues = [found for word in rest for found in call.guard.judge(word, "delete", call.command.cwds)]
        return Outcome([Issue(Level.DANGER, "deletes files", "text"), *issues], operands=[])
    if name in ("env", "time", "chdir"):
        at = next((i for i, word in enumerate(rest) if "=" not in word.text and word.text[:1] != "-"), len(rest))
        return Outcome([], [Inner(words=rest[at + (name == "chdir") :])] if rest[at:] else [], operands=[])
    return Outcome(
        [found for word in rest[-1:] for found in call.guard.judge(word, "write", call.command.cwds)], operands=[]
    )


_CARGO = parent(
    "cargo",
    "-q|--quiet -v|--verbose --color= --locked --offline --frozen --manifest-path=:u --config=:x -C=:u -Z=:u",
    unknown(
        "check build test clippy doc bench nextest",
        "-*",
        "--release -r --all --workspace -p|--package= --lib --bin= --bins --test= --tests --example= --examples "
        "--all-targets --all-features --features= -F= --no-default-features --target= -j|--jobs= --no-run "
        "--message-format= --keep-going --no-fail-fast --no-deps --open:u --exclude= --profile= --target-dir=:w "
        "--fix:u",
        reason="builds the project",
    ),
    unknown("run", "-*", "--release -r --bin= --example= -p= --features=", reason="runs the project", remember=False),
    writes("fmt", "-*", "--all --check -p="),
    safe(
        "tree metadata pkgid locate-project version search",
        "-*",
        "-i= -d -e= --depth= --no-deps --format-version= --limit= -p= --duplicates",
    ),
    unknown("add update fetch vendor install init new generate-lockfile remove", remember=False),
    danger("uninstall clean", "removes builds or packages"),
    danger("publish yank login logout owner", _PUBLISHES),
    unknown("*"),
)
_GO = parent(
    "go",
    "-C=:u",
    unknown(
        "vet build test list doc",
        "-*",
        "-v -x -race -short -cover -count= -run= -bench= -timeout= -tags= -o=:w -json -m -mod= -trimpath "
        "-ldflags=:u -exec=:x -toolexec=:x -vettool=:x -gcflags=:u -coverprofile=:w -failfast -p= -n -a -u",
        single=True,
        reason="builds the project",
        dangers={"-exec": "runs a program", "-toolexec": "runs a program", "-vettool": "runs a program"},
    ),
    safe(
        "version env",
        "-*",
        "-json -w:d -u:d -m",
        single=True,
        dangers=dict.fromkeys(("-w", "-u"), "changes the configuration of go, which may name programs"),
    ),
    writes("fmt", "-*", "-n -x", single=True),
    unknown("mod get install work generate tool", remember=False),
    unknown("run", remember=False, reason="runs code"),
    danger("clean", "removes builds"),
    unknown("*", remember=False),
)

ROWS = [
    _CARGO,
    _GO,
    *unknown(
        "rustc gcc g++ cc c++ clang clang++ tcc javac kotlinc scalac ghc swiftc zig nim dmd ocamlopt ld as nvcc",
        "-*",
        "-o=:w -c -g -O? -W? -w -I? -L? -l? -D? -std? -S -E -v -f?:u -m? -x= -shared -pipe -wrapper=:x -fplugin?:x "
        "-C=:u -B=:u",
        single=True,
        check=check_compiler,
    ),
    *unknown("rustup", remember=False),
    *writes("gofmt rustfmt clang-format shfmt", "-*", "-l -d -w -s -i --check --edition="),
    *unknown(
        "golangci-lint staticcheck shellcheck hadolint actionlint yamllint markdownlint clang-tidy cppcheck", "-*"
    ),
    *unknown(
        "make",
        "-*",
        "-n|--dry-run|--just-print -j? -C|--directory=:u -f|--file|--makefile=:r -B -k|--keep-going -s|--silent "
        "-i -q -t -l? -o= -W= -e -p -r -R -w -v -d --no-print-directory --eval=:x -I=:u --output-sync? -O?",
        check=check_make,
        remember=False,
        reason="runs recipes of the project",
        dangers={"--eval": "runs recipes of its own"},
    ),
    *unknown(
        "cmake",
        "-*",
        "-B=:w -S= -D? -G= -E -P=:u --build= --install= --target= -t= -j? --parallel? --config= --preset= -L -A= -C=:u "
        "--fresh --verbose -v --prefix=:w --open=:u",
        check=check_cmake,
        remember=False,
        reason="runs recipes of the project",
    ),
    *unknown(
        "just task rake ant mvn mvnw gradle gradlew ninja meson ctest bazel bazelisk buck scons sbt lein "
        "mix dotnet swift xcodebuild flutter dart stack cabal dune msbuild premake invoke fab earthly",
        "-*",
        "-n|--dry-run -j? -C=:u -f=:u -B -k -s -q",
        remember=False,
        reason="runs recipes of the project",
    ),
]
