"""The program table itself: it compiles, it is consistent, it knows what developers use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hermes_tui.engine.policy.gate.facts import Level, Row, Word
from hermes_tui.engine.policy.gate.options import compile_options, read_args
from hermes_tui.engine.policy.gate.programs import find_row, program_name, table
from hermes_tui.engine.policy.gate.rules import assign_kinds


def _all_rows() -> Iterator[Row]:
    todo = list(table().values())
    while todo:
        row = todo.pop()
        yield row
        todo.extend(row.subs.values())


def test_every_row_compiles_and_uses_known_kinds():
    for row in _all_rows():
        known = {option.name for option in compile_options(row.options).values()}
        assert set(row.operands) <= set("-lrwmtd*"), row.name
        assert row.operands.count("*") <= 1, row.name
        if not row.subs:
            unknown = set(row.dangers) - known
            assert not unknown or row.raw, (row.name, unknown)


def test_a_broken_row_is_noticed():
    with pytest.raises(ValueError, match="not an option"):
        compile_options("-a:q")


EVERY_DAY = """
ls cat head tail sort uniq wc cut tr cp mv rm mkdir touch ln chmod chown dd tee find fd grep rg sed awk jq tar
zip unzip gzip curl wget ssh scp rsync nc dig docker podman kubectl systemctl apt dnf brew pip uv poetry npm
pnpm yarn npx cargo go gem bundle python3 node ruby perl php bash sh zsh make just psql mysql sqlite3 redis-cli
mongosh kill pkill ps crontab sudo env xargs timeout git gh terraform helm
"""


@pytest.mark.parametrize("name", EVERY_DAY.split())
def test_programs_of_every_day_are_in_the_table(name):
    assert find_row(name) is not None


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("git", "git"),
        ("/usr/bin/git", "git"),
        ("/usr/bin/../bin/git", "git"),
        ("./git", "./git"),
        ("bin/git", "bin/git"),
        ("/tmp/git", "/tmp/git"),
        ("python3.12", "python"),
        ("pip3", "pip"),
        ("podman", "docker"),
        ("mkfs.ext4", "mkfs"),
        ("gawk", "awk"),
    ],
)
def test_a_program_is_known_by_its_name_not_by_a_local_file(word, name):
    assert program_name(word) == name


@pytest.mark.parametrize(
    ("spec", "count", "kinds"),
    [
        ("r*", 0, ""),
        ("r*", 3, "rrr"),
        ("r*w", 1, "w"),
        ("r*w", 3, "rrw"),
        ("-r*", 3, "-rr"),
        ("rt", 1, "r"),
        ("rt", 3, "rt-"),
    ],
)
def test_operands_get_their_kinds(spec, count, kinds):
    assert assign_kinds(spec, count) == kinds


def _read(options: str, words: str, **more: object) -> tuple[list[str], list[str], list[str]]:
    args = read_args(Row("x", options=options, **more), [Word(word) for word in words.split()])  # type: ignore[arg-type]
    used = [f"{u.option.name}={u.value.text}" if u.value else u.option.name for u in args.used]
    return used, list(args.unknown), [word.text for word in args.operands]


@pytest.mark.parametrize(
    ("options", "words", "expected"),
    [
        ("-r -f", "-rf a", (["-r", "-f"], [], ["a"])),
        ("-r|--recursive", "--recursive", (["-r"], [], [])),
        ("-r|--recursive", "--rec", (["-r"], [], [])),
        ("--output= --outline", "--out x", (["--output", "--outline"], [], ["x"])),
        ("-o=", "-oa b", (["-o=a"], [], ["b"])),
        ("-o=", "-o a b", (["-o=a"], [], ["b"])),
        ("-a -o=", "-aox", (["-a", "-o=x"], [], [])),
        ("-o|--output=", "--output=x --output y", (["-o=x", "-o=y"], [], [])),
        ("--color?", "--color x", (["--color"], [], ["x"])),
        ("--color?", "--color=x", (["--color=x"], [], [])),
        ("-a", "-- -a", ([], [], ["-a"])),
        ("-a", "b -a", (["-a"], [], ["b"])),
        ("-#", "-20 a", (["-#"], [], ["a"])),
        ("-a", "-b --long=x", ([], ["-b", "--long"], [])),
        ("-a", "-", ([], [], ["-"])),
    ],
)
def test_options_are_read_in_every_spelling(options, words, expected):
    assert _read(options, words) == expected


def test_wrappers_stop_at_their_command():
    assert _read("-n=", "-n 5 git -n x", stops=True) == (["-n=5"], [], ["git", "-n", "x"])


def test_subcommands_are_found_behind_global_options():
    row = Row("x", options="-C=", subs={"push": Row("push", Level.DANGER, options="-f")})
    args = read_args(row, [Word(word) for word in ("-C", "a", "push", "-f", "origin")])
    assert args.lead == ("push",)
    assert args.has("-C") and args.has("-f")
    assert [word.text for word in args.operands] == ["origin"]
