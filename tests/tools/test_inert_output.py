"""Output of programs becomes plain text, however it is cut into pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.tools.inert import LINE_CAP, InertStream

CASES = {
    "plain": (b"a\nb\n", "a\nb\n"),
    "no final newline": (b"a\nb", "a\nb"),
    "crlf": (b"a\r\nb\r\n", "a\nb\n"),
    "progress bar": (b"  1%\r 50%\r100%\ndone\n", "100%\ndone\n"),
    "shorter over longer": (b"abcdef\rxy\n", "xycdef\n"),
    "erase to end": (b"abcdef\rxy\x1b[K\n", "xy\n"),
    "erase line": (b"abc\x1b[2K\rxy\n", "xy\n"),
    "erase to start": (b"abcd\x1b[2D\x1b[1Kx\n", "  xd\n"),
    "cursor column": (b"abc\x1b[2Gx\n", "axc\n"),
    "cursor forward": (b"a\x1b[3Cb\n", "a   b\n"),
    "cursor far forward": (b"a\x1b[99999Cb\n", None),
    "backspaces": (b"abc\b\bx\n", "axc\n"),
    "colours": (b"\x1b[1;31mred\x1b[0m\n", "red\n"),
    "8-bit colours": ("\x9b31mred\n".encode(), "red\n"),
    "title": (b"\x1b]0;pwn\x07x\n", "x\n"),
    "title ended by ST": (b"\x1b]0;pwn\x1b\\x\n", "x\n"),
    "link": (b"\x1b]8;;http://x.example\x07click\x1b]8;;\x07\n", "click\n"),
    "clipboard": (b"\x1b]52;c;Y3VybA==\x07ok\n", "ok\n"),
    "report request": (b"\x1b[6nx\n", "x\n"),
    "clear screen": (b"\x1b[2Jx\n", "x\n"),
    "device string": (b"\x1bPq#0;2\x1b\\x\n", "x\n"),
    "charset": (b"\x1b(0x\x1b(B\n", "x\n"),
    "unterminated title": (b"\x1b]0;evil\nnext\n", "0;evil\nnext\n"),
    "lone escape at the end": (b"x\x1b", "x"),
    "bell": (b"a\x07b\n", "ab\n"),
    "nul": (b"a\0b\n", "a␀b\n"),
    "delete": (b"a\x7fb\n", "a␡b\n"),
    "form feed": (b"a\x0cb\n", "a␌b\n"),
    "c1": ("a\x85b\n".encode(), "a<U+0085>b\n"),
    "bidi override": ("a\u202eb\n".encode(), "a<U+202E>b\n"),
    "tag letters": ("a\U000e0041b\n".encode(), "a<U+E0041>b\n"),
    "latin-1 byte": (b"caf\xe9\n", "caf\ufffd\n"),
    "cut utf-8": (b"\xf0\x28\n", "\ufffd(\n"),
    "emoji joined": ("👩‍👩‍👧\n".encode(), "👩‍👩‍👧\n"),
    "tabs": (b"a\tb\n", "a\tb\n"),
}


def feed(chunks: list[bytes]) -> str:
    stream = InertStream()
    return "".join([*(stream.feed(chunk) for chunk in chunks), stream.finish()])


@pytest.mark.parametrize(("raw", "expected"), CASES.values(), ids=CASES)
def test_control_sequences_leave_what_a_terminal_would_show(raw: bytes, expected: str | None) -> None:
    text = feed([raw])
    if expected is not None:
        assert text == expected
    assert len(text) < 1_100
    assert not any(ord(char) < 32 and char not in "\n\t" for char in text)


@pytest.mark.parametrize(("raw", "expected"), CASES.values(), ids=CASES)
def test_the_same_text_comes_out_byte_by_byte(raw: bytes, expected: str | None) -> None:
    assert feed([raw[index : index + 1] for index in range(len(raw))]) == feed([raw])


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.sampled_from([b"ab", b"\n", b"\r", b"\b", b"\x1b[K", b"\x1b]0;t\x07", b"\x1b[31m", "é漢".encode()]),
        max_size=30,
    ),
    st.data(),
)
def test_any_split_gives_the_same_text(parts: list[bytes], data: st.DataObject) -> None:
    raw = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    edges = [0, *cuts, len(raw)]
    assert feed([raw[a:b] for a, b in pairwise(edges)]) == feed([raw])


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=300))
def test_no_bytes_let_a_control_character_through(raw: bytes) -> None:
    text = feed([raw])
    assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in text)


def test_letters_of_several_bytes_survive_the_edge_of_a_buffer() -> None:
    raw = ("é" * 5000 + "\n").encode()
    assert feed([raw[:4097], raw[4097:]]) == "é" * 5000 + "\n"


def test_a_line_without_end_is_held_only_up_to_a_cap() -> None:
    stream = InertStream()
    out = "".join(stream.feed(b"x" * 10_000) for _ in range(100))
    assert len(stream.partial) <= LINE_CAP
    assert len(out + stream.finish()) == 1_000_000


def test_binary_output_is_recognised_and_still_inert() -> None:
    stream = InertStream()
    text = "".join(stream.feed(bytes(range(256)) * 64) for _ in range(8)) + stream.finish()
    assert stream.is_binary
    assert not any(ord(char) < 32 and char not in "\n\t" for char in text)
