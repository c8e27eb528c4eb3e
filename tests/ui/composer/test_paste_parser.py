import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events

from hermes_tui.widgets.paste import MAX_PASTE_CHARS
from hermes_tui.widgets.paste_parser import PasteParser

START, END = "\x1b[200~", "\x1b[201~"


class Reader:
    """Feeds a parser as the driver does and lets the waiting time pass at the end."""

    def __init__(self) -> None:
        self.now = 0.0
        self.parser = PasteParser(clock=lambda: self.now)

    def read(self, *reads: str) -> list[str]:
        seen: list[events.Event] = []
        for data in reads:
            seen += self.parser.feed(data)
            seen += self.parser.tick()
        self.now += 1
        seen += self.parser.tick()
        return [f"paste:{e.text}" if isinstance(e, events.Paste) else e.key for e in seen]


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("\r", "enter"),
        ("\x1b\r", "alt+enter"),
        ("\x1b[13;3u", "alt+enter"),
        ("\x1b[27;3;13~", "alt+enter"),
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[27;2;13~", "shift+enter"),
    ],
)
def test_enter_with_a_modifier_is_known_in_every_kind_of_terminal(sent: str, key: str) -> None:
    assert Reader().read("a", sent, "b") == ["a", key, "b"]


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        (["\x1b[1;3A"], ["alt+up"]),
        (["\x1b\x1b[A", "\x1b\x1b[B"], ["alt+up", "alt+down"]),
        (["\x1b\x1b[H"], ["alt+home"]),
        (["\x1b", "\x1b[A"], ["escape", "up"]),
        ([f"{START}\x1b\x1b[A{END}"], ["paste:\x1b\x1b[A"]),
    ],
)
def test_alt_with_an_arrow_is_no_escape(reads: list[str], expected: list[str]) -> None:
    assert Reader().read(*reads) == expected


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        (["ab"], ["a", "b"]),
        ([f"a{START}hi\nyo{END}b"], ["a", "paste:hi\nyo", "b"]),
        ([f"{START}one{END}{START}two{END}"], ["paste:one", "paste:two"]),
        ([f"{START}x{END}\r"], ["paste:x", "enter"]),
        ([f"{START}{END}"], ["paste:"]),
        ([f"{START}a\x00b{END}"], ["paste:ab"]),
        (["\x1b[A", f"{START}x{END}", "\x1b[B"], ["up", "paste:x", "down"]),
    ],
)
def test_keys_and_pastes_come_in_order(reads, expected):
    assert Reader().read(*reads) == expected


@pytest.mark.parametrize(
    "reads",
    [
        [f"{START} safe {END}\r/quit\r{END}"],
        [f"{START} safe {END}", f"\r/quit\r{END}"],
    ],
)
def test_an_end_marker_inside_the_text_does_not_turn_the_rest_into_keys(reads):
    long = "x" * 600  # longer than one may be sure came in one read
    reads = [reads[0].replace(" safe ", f" safe {long}"), *reads[1:]]
    assert Reader().read(*reads) == [f"paste: safe {long}\r/quit\r"]


def test_after_a_long_paste_keys_are_read_as_before():
    reader, long = Reader(), "x" * 600
    assert reader.read(f"{START}{long}{END}") == [f"paste:{long}"]
    assert reader.read("a") == ["a"]


@given(st.text(st.characters(exclude_characters="\x1b\x00")), st.lists(st.integers(1, 30), min_size=1))
def test_a_paste_cut_anywhere_into_reads_is_one_paste(text, sizes):
    stream, reads, at, turn = f"a{START}{text}{END}", [], 0, 0
    while at < len(stream):
        size = sizes[turn % len(sizes)]
        reads.append(stream[at : at + size])
        at, turn = at + size, turn + 1
    assert Reader().read(*reads) == ["a", f"paste:{text}"]


def test_a_paste_beyond_the_limit_is_kept_only_so_far_that_its_size_is_known():
    piece = "x" * 1_000_000
    reader = Reader()
    (paste,) = reader.read(START, *[piece] * 20, END)
    assert MAX_PASTE_CHARS < len(paste) < 2 * MAX_PASTE_CHARS


def test_it_says_when_it_needs_ticks():
    escape, reader = Reader(), Reader()
    assert not reader.parser.is_waiting
    list(escape.parser.feed("\x1b"))
    assert escape.parser.is_waiting
    list(reader.parser.feed(f"{START}x{END}\r"))
    assert reader.parser.is_waiting
    assert reader.read() == ["paste:x", "enter"]
    assert not reader.parser.is_waiting
