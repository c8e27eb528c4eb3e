import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.widgets.composer_commands import kind_of, parse_command

NAMES = {"help", "model", "new", "clear"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/help", ("help", "")),
        ("/model openai/gpt-5", ("model", "openai/gpt-5")),
        ("/model  two  words \n", ("model", "two  words")),
        ("/model first\nsecond", ("model", "first\nsecond")),
        ("/clear", ("clear", "")),
        ("/home/user/app.log shows an error", None),
        ("/etc", None),
        ("/usr/bin/env bash?", None),
        ("// comment", None),
        ("/", None),
        ("/helpme", None),
        ("/HELP", None),
        (" /help", None),
        ("say /help", None),
        ("", None),
    ],
)
def test_only_a_known_first_word_is_a_command(text, expected):
    assert parse_command(text, NAMES) == expected


@given(st.text())
def test_any_text_is_parsed_without_an_error_and_never_loses_its_words(text):
    parsed = parse_command(text, NAMES)
    if parsed is not None:
        name, arguments = parsed
        assert name in NAMES
        assert text.split() == [f"/{name}", *arguments.split()]


@given(st.text())
def test_a_path_is_never_a_command(rest):
    assert parse_command(f"/home/{rest}", NAMES) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hello", "message"),
        ("!ls -la", "shell"),
        ("!for i in 1 2; do\necho $i\ndone", "shell"),
        (" !ls", "message"),
        ("#uses uv", "note"),
        ("# remember this", "note"),
        ("# Title\n\nA pasted text.", "message"),
        ("## Heading", "message"),
        ("#!/bin/sh", "message"),
        ("#12 still fails", "message"),
        (" # Title", "message"),
        ("/help", "command"),
        ("/etc/passwd", "message"),
    ],
)
def test_the_first_character_decides_what_a_text_is(text, kind):
    assert kind_of(text, NAMES) == kind
