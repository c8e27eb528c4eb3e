import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hermes_tui.widgets.line_text import clip, clip_spans, clip_start, cut, overlay, shown, wrap

TEXTS = st.text(st.sampled_from("ab  \u65e5\u672c\u8a9ee\u0301\U0001f469\u200d-"), max_size=60)


@given(TEXTS, st.integers(4, 20), st.integers(0, 2))
def test_rows_that_break_anywhere_drop_nothing_and_fit(text: str, width: int, hang: int):
    rows = wrap(text, width, hang, prose=False)
    assert "".join(text[start:end] for start, end in rows) == text
    for number, (start, end) in enumerate(rows):
        assert cell_len(text[start:end]) <= (width - hang if number else width)


@given(TEXTS, st.integers(2, 20))
def test_prose_rows_drop_only_blanks(text: str, width: int):
    rows = wrap(text, width)
    assert "".join(text[start:end] for start, end in rows).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 9, ["one two ", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("\u65e5\u672c\u8a9e\u306e\u6587", 5, ["\u65e5\u672c", "\u8a9e\u306e", "\u6587"]),
        ("", 5, [""]),
        ("x", 0, ["x"]),
    ],
)
def test_prose_breaks_between_words(text: str, width: int, rows: list[str]):
    assert [text[start:end] for start, end in wrap(text, width)] == rows


@given(TEXTS, st.integers(1, 12))
def test_clipped_text_fits(text: str, width: int):
    assert cell_len(clip(text, width)) <= width
    assert cell_len(clip_start(text, width)) <= width
    assert sum(cell_len(part) for part, _ in clip_spans([(text, ""), (text, "x")], width)) <= width


def test_clipping_says_that_it_cut():
    assert clip("abcdef", 4) == "abc\u2026"
    assert clip_start("/a/b/cdef", 5) == "\u2026cdef"


@given(st.text("abc", max_size=12), st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=4))
def test_marks_change_styles_and_never_the_text(text: str, ranges: list[tuple[int, int]]):
    marks = sorted((min(pair), max(pair)) for pair in ranges)
    spans = overlay([(text[:5], "x"), (text[5:], "y")], marks, "mark")
    assert "".join(part for part, _ in spans) == text


def test_cutting_keeps_styles():
    assert cut([("abc", "x"), ("def", "y")], 2, 5) == [("c", "x"), ("de", "y")]


def test_shown_text_is_inert():
    assert "\x1b" not in shown("\x1b[2Jx\ty")
    assert "\t" not in shown("a\tb")
