"""What the reader finds in each construct of bash, and what it refuses to read."""

from __future__ import annotations

import pytest

from hermes_tui.engine.policy.gate.facts import NUMBER, SOME, UNKNOWN
from hermes_tui.engine.policy.gate.parse import Budget
from hermes_tui.engine.policy.gate.scope import Scope
from hermes_tui.engine.policy.gate.walk import read_script
from hermes_tui.engine.policy.gate.words import UnreadableError


def read(text: str, cwd: str = "/w") -> list[tuple[str, ...]]:
    script = read_script(text, Scope("/home/me", (cwd,)), Budget())
    return [command.argv for command in script.commands]


CONSTRUCTS = [
    ("a; b", [("a",), ("b",)]),
    ("a\nb", [("a",), ("b",)]),
    ("a & b", [("a",), ("b",)]),
    ("a && b || c", [("a",), ("b",), ("c",)]),
    ("a | b |& c", [("a",), ("b",), ("c",)]),
    ("(a; b)", [("a",), ("b",)]),
    ("{ a; b; }", [("a",), ("b",)]),
    ("! a", [("a",)]),
    ("if a; then b; elif c; then d; else e; fi", [("a",), ("b",), ("c",), ("d",), ("e",)]),
    ("while a; do b; done", [("a",), ("b",)]),
    ("until a; do b; done", [("a",), ("b",)]),
    ("for x in 1 2; do a; done", [("a",)]),
    ("for ((i=0;i<2;i++)); do a; done", [("a",)]),
    ("select x in 1; do a; done", [("a",)]),
    ("case x in x|y) a;; *) b;; esac", [("a",), ("b",)]),
    ("f() { a; }; f", [("a",), ("f",)]),
    ("function f { a; }", [("a",)]),
    ("a $(b)", [("b",), ("a", UNKNOWN)]),
    ("a `b`", [("b",), ("a", UNKNOWN)]),
    ('a "x$(b)y"', [("b",), ("a", f"x{UNKNOWN}y")]),
    ("a <(b)", [("b",), ("a", "/dev/fd/63")]),
    ("a > >(b)", [("b",), ("a",)]),
    ("a ${x:-$(b)}", [("b",), ("a", UNKNOWN)]),
    ("a $((1 + $(b)))", [("b",), ("a", NUMBER)]),
    ("x=$(b)", [("b",), ()]),
    ("x=(a $(b))", [("b",), ()]),
    ("[[ -n $(b) ]]", [("b",), ("[[", "-n", UNKNOWN, "]]")]),
    ('[ -n "$(b)" ]', [("b",), ("[", "-n", UNKNOWN, "]")]),
    ("cat <<E\n$(b)\nE", [("b",), ("cat",)]),
    ("cat <<'E'\n$(b)\nE", [("cat",)]),
    ("cat <<-\tE\n\tx\n\tE", [("cat",)]),
    ("cat <<E | a\nx\nE", [("cat",), ("a",)]),
    ("cat <<E && a\nx\nE\nb", [("cat",), ("a",), ("b",)]),
    ("a | cat <<E\n$(b)\nE", [("a",), ("b",), ("cat",)]),
    ("python - <<'E'\nx\nE", [("python", "-")]),
    ("a <<< x", [("a",)]),
    ("> f a b", [("a", "b")]),
    ("a > f b", [("a", "b")]),
    ("a # b; c", [("a",)]),
    ("a # b \\\nc", [("a",), ("c",)]),
    ("a b#c", [("a", "b#c")]),
    ("a \\\n b", [("a", "b")]),
    ("trap a EXIT", [("trap", "a", "EXIT")]),
    ("time (a | b)", [("a",), ("b",), ("time",)]),
]


@pytest.mark.parametrize(("text", "expected"), CONSTRUCTS)
def test_commands_are_found_in_every_construct(text, expected):
    assert read(text) == expected


WORDS = [
    ("a 'b c'", "b c"),
    ('a "b c"', "b c"),
    ("a b\\ c", "b c"),
    ("a b''c", "bc"),
    ("a 'it'\\''s'", "it's"),
    ('a "q\\"q"', 'q"q'),
    ('a "b\\c"', "b\\c"),
    ("a $'\\x41\\102\\u0043\\n'", "ABC\n"),
    ("a $'\\''", "'"),
    ('a $"b"', "b"),
    ('a "b\\\nc"', "bc"),
    ("a ~", "/home/me"),
    ("a ~/x", "/home/me/x"),
    ("a '~'", "~"),
    ("a ./~", "./~"),
    ("a ~root", SOME),
    ("a $HOME/x", "/home/me/x"),
    ("a ${HOME}", "/home/me"),
    ("a $PWD", "/w"),
    ("a $x", UNKNOWN),
    ("a ${x:?}", SOME),
    ("a $?", NUMBER),
    ("a ${#x}", NUMBER),
    ("x=1; a $x", "1"),
    ("x=1; x=2; a $x", "2"),
    ("x=1; read x; a $x", UNKNOWN),
    ("(x=1); a $x", UNKNOWN),
    ("x=$y; a $x", UNKNOWN),
    ("f() { x=2; }; x=1; f; a $x", UNKNOWN),
]


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_words_are_decoded_as_bash_does(text, expected):
    assert read(text)[-1] == ("a", expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a {b,c}", [("a", "b", "c")]),
        ("a x{b,c}y", [("a", "xby", "xcy")]),
        ("a {1..3}", [("a", "1", "2", "3")]),
        ("a {t..v}", [("a", "t", "u", "v")]),
        ("a {b,{c,d}}", [("a", "b", "c", "d")]),
        ("a '{b,c}'", [("a", "{b,c}")]),
        ("a {b}", [("a", "{b}")]),
        ("for x in b c; do a $x; done", [("a", "b"), ("a", "c")]),
        ('for x in b c; do a "$x" "$x.bak"; done', [("a", "b", "b.bak"), ("a", "c", "c.bak")]),
    ],
)
def test_braces_and_loops_give_every_word(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("cd /x && a", ("/x", "/w")),
        ("cd /usr && a", ("/usr",)),
        ("(cd /usr); a", ("/w",)),
        ("cd $x; a", ()),
        ("cd -; a", ()),
        ("cd; a", ("/home/me", "/w")),
        ("true || cd /usr; a", ("/w", "/usr")),
        ("while true; do cd x; done; a", ()),
        ("cd /usr | true; a", ("/w",)),
    ],
)
def test_the_folder_of_a_command_is_followed(text, folders):
    script = read_script(text, Scope("/home/me", ("/w",)), Budget())
    assert script.commands[-1].cwds == folders


UNREADABLE = [
    "a )",
    "a 'b",
    'a "b',
    "if a; then b",
    "a \x1b[2K",
    "a\rb",
    "a \x00",
    "a \u202eb",
    "a \u200bb",
    "a \U000e0041",
    "\ufeffa",
    "a \udcff",
    "a \x9b31m",
    "x" * 70_000,
    "a;" * 2_000,
    "(" * 600 + "a" + ")" * 600,
    "$(" * 100 + "a" + ")" * 100,
    "a {1,2}{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}",
    "a <<E\nx",
    "a <<'E'}\nx\nE",
    "a <<A <<B\n1\nA\n2\nB",
    "> out\\\nput a",
    "a b\\\nc",
    "a `b \\`c\\``",
    "a @(b|c)",
    "a \\",
    "a $'\\0b'",
    "a 1<> f",
    "{rm,-rf,x}",
]


@pytest.mark.parametrize("text", UNREADABLE, ids=lambda text: repr(text[:24]))
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(UnreadableError):
        read(text)


@pytest.mark.parametrize("text", ["", "  ", "\n", "# only a comment", "a \u00e9", "a '\u65e5\u672c'", "echo \u2705"])
def test_ordinary_text_is_not_refused(text):
    read(text)


def test_where_input_comes_from_is_known():
    script = read_script("a | b; c < f; d <<< 'x'; e <<'E'\ny\nE\nf", Scope("/h", ("/w",)), Budget())
    found = {command.argv[0]: (command.stdin, command.stdin_text) for command in script.commands}
    assert found == {
        "a": ("", None),
        "b": ("pipe", None),
        "c": ("file", None),
        "d": ("text", "x\n"),
        "e": ("text", "y\n"),
        "f": ("", None),
    }


@pytest.mark.parametrize(
    "text",
    ["echo ${!x}", "echo ${x@P}", "x='a[$(b)]'; echo $((x))", "x='a[$(b)]'; echo ${y:x}"],
)
def test_expansions_that_run_a_value_are_found(text):
    script = read_script(text, Scope("/h", ("/w",)), Budget())
    assert any(issue.level.name == "DANGER" for issue, _, _ in script.findings)
