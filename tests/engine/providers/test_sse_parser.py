"""Server-sent events: any chunking, any line end, nothing lost."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.engine.providers.sse import ServerEvent, SseParser


def parse(*chunks: bytes) -> list[tuple[str, str]]:
    parser = SseParser()
    events: list[ServerEvent] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    return [tuple(event) for event in [*events, *parser.close()]]


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\n", [("", "a")]),
        (b"data:a\n\n", [("", "a")]),
        (b"data:  a\n\n", [("", " a")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", "a"), ("", "b")]),
        (b"data: a\r\rdata: b\r\r", [("", "a"), ("", "b")]),
        (b"data: a\ndata: b\n\n", [("", "a\nb")]),
        (b": comment\n\n:\n\ndata: a\n\n", [("", "a")]),
        (b"retry: 3000\n\nid: 7\n\ndata: a\n\n", [("", "a")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [("x", "a"), ("", "b")]),
        (b"event: x\n\ndata: b\n\n", [("", "b")]),
        (b"data: a", [("", "a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        (b"data\nnonsense\ndata: a\n\n", [("", "a")]),
        ("data: A\u2028B\u0085C\u2029D\x0b\x0c\x1c\n\n".encode(), [("", "A\u2028B\u0085C\u2029D\x0b\x0c\x1c")]),
        ("data: 你好 🌍 Zürich\n\n".encode(), [("", "你好 🌍 Zürich")]),
        (b"", []),
    ],
)
def test_a_stream_is_read_the_same_whole_and_cut_at_every_byte(body: bytes, events: list[tuple[str, str]]) -> None:
    assert parse(body) == events
    for cut in range(len(body) + 1):
        assert parse(body[:cut], body[cut:]) == events
    assert parse(*(body[at : at + 1] for at in range(len(body)))) == events


def test_an_event_is_complete_as_soon_as_its_blank_line_is_there_even_with_cr_only() -> None:
    assert SseParser().feed(b"data: a\r\r") == [("", "a")]


_line_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
_texts = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(st.lists(_texts, max_size=5), _line_ends, st.data())
def test_any_texts_survive_any_chunking(texts: list[str], end: bytes, data: st.DataObject) -> None:
    body = b"".join(b"data: " + text.encode() + end + end for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    edges = [0, *cuts, len(body)]
    assert [event[1] for event in parse(*(body[a:b] for a, b in itertools.pairwise(edges)))] == texts
