import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.widgets.fuzzy import match, matcher, rank

PATHS = [
    "src/sync.py",
    "src/sync_test.py",
    "docs/async.md",
    "s/y/n/c/other.txt",
    "src/model_picker.py",
    "src/my_panel.py",
    "README.md",
]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("sync", "src/sync.py"),
        ("synct", "src/sync_test.py"),
        ("mp", "src/my_panel.py"),
        ("modpick", "src/model_picker.py"),
        ("read", "README.md"),
        ("docs/a", "docs/async.md"),
    ],
)
def test_the_expected_file_comes_first(query, first):
    assert rank(query, PATHS, 5)[0].text == first


def test_what_does_not_fit_is_left_out():
    assert rank("zzz", PATHS, 5) == []


def test_an_empty_query_lists_everything_short_names_first():
    assert [found.text for found in rank("", ["bbb", "a"], 5)] == ["a", "bbb"]


@given(st.text(max_size=6), st.text(max_size=30))
def test_the_positions_are_the_querys_characters_in_order(query, text):
    found = match(query, text)
    if found is not None and query and len(text.lower()) == len(text) and len(query.lower()) == len(query):
        assert [text[at].lower() for at in found.positions] == list(query.lower())
        assert list(found.positions) == sorted(set(found.positions))


@given(st.text(st.characters(max_codepoint=0x2FF), min_size=1, max_size=4), st.text(max_size=30))
def test_the_fast_test_agrees_with_the_score(query, text):
    if len(text.lower()) == len(text):
        assert matcher(query)(text.lower()) == (match(query, text) is not None)
