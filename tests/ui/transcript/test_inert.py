import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hermes_tui.widgets.inert import clean, clean_line, clean_partial, last_overwrite, one_line

DROPPED = [
    ("clear screen", "a\x1b[2Jb", "ab"),
    ("window title", "a\x1b]0;pwn\x07b", "ab"),
    ("hyperlink keeps its words", "\x1b]8;;http://x.example\x07click\x1b]8;;\x07", "click"),
    ("cursor report", "\x1b[6n", ""),
    ("clipboard", "\x1b]52;c;Y3VybA==\x07", ""),
    ("clipboard ended by ST", "\x1b]52;c;Y3VybA==\x1b\\ok", "ok"),
    ("device control", "\x1bP+q544e\x1b\\ok", "ok"),
    ("8-bit CSI", "\x9b31mred", "red"),
    ("colour", "\x1b[1;31mred\x1b[0m", "red"),
    ("charset", "\x1b(Bx\x1b=y", "xy"),
    ("windows line ends", "a\r\nb", "a\nb"),
    ("byte order mark", "\ufeffa", "a"),
    ("soft hyphen", "a\xadb", "ab"),
]
SHOWN = [
    ("an escape that starts nothing", "a\x1b", "a\u241b"),
    ("an unfinished title", "\x1b]0;pwn", "\u241b]0;pwn"),
    ("a bell", "a\x07", "a\u2407"),
    ("a null", "a\x00", "a\u2400"),
    ("delete", "\x7f", "\u2421"),
    ("a right-to-left override", "a\u202eb", "a\u27e8202E\u27e9b"),
    ("an isolate", "\u2066x", "\u27e82066\u27e9x"),
    ("a zero-width space", "p\u200bw", "p\u27e8200B\u27e9w"),
    ("tag characters", "ok\U000e0072\U000e006d", "ok\u27e8hidden: rm\u27e9"),
    ("a joiner between Latin letters", "a\u200db", "a\u27e8200D\u27e9b"),
    ("a lone surrogate", "a\ud800", "a\ufffd"),
    ("a 8-bit control alone", "a\x85b", "a b"),
    ("a line separator", "a\u2028b", "a b"),
    ("a pile of variation selectors", "a" + "\ufe00\ufe01\ufe02", "a\ufe00\u27e82 hidden\u27e9"),
]
KEPT = [
    "plain text",
    "tabs\tstay",
    "\u2764\ufe0f \U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e8\U0001f1ed",
    "\u6f22\u5b57",
    "e\u0301",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "[/b] [red]x[/] [a=b:",
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in DROPPED], ids=[case[0] for case in DROPPED])
def test_terminal_sequences_are_dropped(text, expected):
    assert clean(text) == expected


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in SHOWN], ids=[case[0] for case in SHOWN])
def test_what_would_be_unseen_is_shown(text, expected):
    assert clean(text) == expected


@pytest.mark.parametrize("text", KEPT)
def test_honest_text_is_left_alone(text):
    assert clean(text) == text


def test_piled_up_marks_are_cut():
    assert clean("e" + "\u0301" * 40) == "e" + "\u0301" * 8


def test_an_unfinished_sequence_waits_for_its_end():
    assert clean_partial("a\x1b[3") == "a"
    assert clean_partial("a\x1b]0;pw") == "a"
    assert clean_partial("a\x1b[31mb") == "ab"


def test_progress_bars_show_their_last_state():
    assert last_overwrite("10%\r50%\r100%\ndone\r\n") == "100%\ndone\n"


def test_words_on_one_line():
    assert one_line(" a\n\tb  \x1b[2Jc ") == "a b c"


_NASTY = st.text(
    alphabet=st.sampled_from("\x1b\x9b\x9d[]0;m\x07\\\u202e\u200b\u200d\U000e0041\ufe0fa \n\r\t\x00漢\ud800")
)


@given(_NASTY)
def test_nothing_that_acts_survives(text):
    cleaned = clean(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", cleaned)
    cleaned.encode("utf-8")
    assert clean(cleaned) == cleaned


@given(_NASTY)
def test_a_line_stays_a_line(text):
    line = text.replace("\n", "")
    assert "\n" not in clean_line(line)
    assert cell_len(clean_line(line)) >= 0
