"""The screen of a job's terminal: what stands where after a program drew on it."""

from __future__ import annotations

import unicodedata

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.tools.screen import Screen

ROWS, COLUMNS = 6, 12
NUMBERS = st.sampled_from(["", "0", "1", "2", "3", "5", "9", "40"])
PIECES = st.one_of(
    st.sampled_from(
        [
            "a",
            "hello",
            "long text of more than a row",
            "\r",
            "\n",
            "\r\n",
            "\b",
            "\t",
            "ñandú",
            "\x07",
            "\x0b",
        ]
    ),
    st.sampled_from(["\x1b7", "\x1b8", "\x1bD", "\x1bM", "\x1b[4h", "\x1b[4l", "\x1b(B"]),
    st.sampled_from(["\x1b[31;1m", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b[?25l", "\x1b[?2004h", "\x1b="]),
    st.builds("\x1b[{}{}".format, NUMBERS, st.sampled_from("ABCDEFGd@PLX")),
    st.builds("\x1b[{}{}".format, st.sampled_from(["", "0", "1", "2"]), st.sampled_from("JK")),
    st.builds("\x1b[{};{}H".format, NUMBERS, NUMBERS),
)


def drawn(*chunks: bytes) -> Screen:
    screen = Screen(ROWS, COLUMNS)
    for chunk in chunks:
        screen.feed(chunk)
    return screen


# Deleted lines (CSI M) have cases below: the other one leaves them where nothing was written to the row after them.
@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=25))
def test_any_drawing_looks_as_in_another_terminal(pieces: list[str]) -> None:
    text = "".join(pieces)
    other = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(other)
    for piece in pieces:
        if piece.startswith("\x1b[") and piece[-1] in "ABCDEFGHd@PLXJK":  # these know no column after the last
            other.cursor.x = min(other.cursor.x, COLUMNS - 1)
        if piece == "\t" and other.cursor.x == COLUMNS:
            continue  # as in xterm, the next letter still goes to the next row
        stream.feed(piece + "\x1b7" if piece == "\x1b8" else piece)  # it forgets the place to which it went back
    rows = [unicodedata.normalize("NFC", row).rstrip() for row in other.display]
    while rows and not rows[-1]:
        rows.pop()
    screen = drawn(text.encode())
    assert [unicodedata.normalize("NFC", row) for row in screen.lines()] == rows
    assert (screen.row, screen.column) == (other.cursor.y, min(other.cursor.x, COLUMNS - 1))


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=12), st.data())
def test_any_cut_gives_the_same_screen(pieces: list[str], data: st.DataObject) -> None:
    whole = "".join(pieces).encode()
    cut = data.draw(st.integers(0, len(whole)))
    assert drawn(whole[:cut], whole[cut:]).lines() == drawn(whole).lines()


EXACT = {
    "a region scrolls alone": (b"1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3H\n", ["1", "3", "", "4"]),
    "below a region nothing scrolls": (b"\x1b[1;2ra\r\nb\x1b[6;1Hz\n\n", ["a", "b", "", "", "", "z"]),
    "up from above a region": (b"\x1b[3;5r\x1b[2;1H\x1b[9Ax", ["x"]),
    "reverse line feed at the top": (b"\x1b[HA\x1b[H\x1bMB", ["B", "A"]),
    "a full-screen program leaves what was there": (b"$ vi\x1b[?1049h\x1b[2J\x1b[H~~~\x1b[?1049l\r\n$", ["$ vi", "$"]),
    "deleted lines": (b"1\r\n2\r\n3\r\n4\x1b[2;2H\x1b[2Mx", ["1", "x"]),
    "deleted before rows that nothing was written to": (b"a\x1b[M", []),
    "deleted in a region": (b"1\r\n2\r\n3\r\n4\x1b[1;3r\x1b[H\x1b[Mx", ["x", "3", "", "4"]),
    "no wrapping": (b"\x1b[?7labcdefghijklmnop\x1b[?7hqr", ["abcdefghijkq", "r"]),
    "line drawing": (b"\x1b(0lqk\x1b(B lqk", ["┌─┐ lqk"]),
    "line drawing by shift": (b"\x1b)0\x0ex\x0fx", ["│x"]),
    "repeat": (b"ab\x1b[3b", ["abbbb"]),
    "half a wide character": ("漢字\x1b[1;2Hx".encode(), [" x字"]),
    "wide at the end": ("abcdefghijk漢".encode(), ["abcdefghijk", "漢"]),
    "an accent in the last column": ("abcdefghijke\u0301".encode(), ["abcdefghijke\u0301"]),
    "bad utf-8": (b"caf\xe9 \xf0\x28", ["caf\ufffd \ufffd("]),
    "hard reset": (b"abc\x1bcd", ["d"]),
    "next line": (b"ab\x1bEc", ["ab", "c"]),
    "clearing the history leaves the screen": (b"a\x1b[3J", ["a"]),
    "unknown sequences": (b"\x1b[?12;25$y\x1b[>4;2m\x1b[1 q\x1b#8\x1bPq#0\x1b\\ok", ["ok"]),
    "absurd numbers": (b"\x1b[99999999999Cx\x1b[0;0H\x1b[99999999P", []),
}


@pytest.mark.parametrize(("data", "lines"), EXACT.values(), ids=EXACT)
def test_what_a_program_draws_stands_where_it_should(data: bytes, lines: list[str]) -> None:
    assert drawn(data).lines() == lines


def test_lines_that_scroll_away_are_handed_over_once() -> None:
    screen = drawn(b"".join(b"%d\r\n" % number for number in range(8)))
    assert screen.take_scrolled() == ["0", "1", "2"]
    assert screen.take_scrolled() == []
    screen.feed(b"\x1b[?1049h" + b"x\r\n" * 50 + b"\x1b[?1049l")
    assert screen.take_scrolled() == [], "a full-screen program's lines are no output"


def test_questions_are_answered() -> None:
    screen = drawn(b"ab\r\n\x1b[6n\x1b[5n\x1b[c\x1b[>c")
    assert screen.take_replies() == b"\x1b[2;1R\x1b[0n\x1b[?6c\x1b[>0;0;0c"
    assert screen.take_replies() == b""


def test_endless_sequences_and_marks_stay_small() -> None:
    screen = drawn(b"\x1b]0;" + b"x" * 1_000_000, b"a" + "\u0301".encode() * 10_000)
    assert len(screen._pending) < 5_000
    assert sum(map(len, screen.lines())) < ROWS * COLUMNS * 8
