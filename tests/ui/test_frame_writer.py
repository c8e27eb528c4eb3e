"""The frame writer: any sequence of frames leaves the terminal as if each had been written whole."""

from __future__ import annotations

import io

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from hermes_tui.frame_writer import FrameWriter

WIDTH, HEIGHT = 26, 10
console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=WIDTH)


STYLES = {
    "a": Style.parse("red on #101010"), "b": Style.parse("bold #00ff00 on #101010"), "c": None, "d": Style.parse("dim"),
    " ": Style.parse("on #101010"), "\u6f22": Style.parse("italic on blue"), "#": Style.parse("underline"),
}  # fmt: skip


def strip(text: str) -> Strip:
    """Each letter in its own style, so that colours are compared too."""
    return Strip([Segment(letter, STYLES.get(letter)) for letter in text], cell_len(text))


def full(lines: list[str]) -> LayoutUpdate:
    """A frame of two columns: the text and a one-cell scrollbar."""
    return LayoutUpdate([[strip(line[:-1]), strip(line[-1:])] for line in lines], Region(0, 0, WIDTH, HEIGHT))


def partial(lines: list[str], rows: range) -> ChopsUpdate:
    chops = [{0: strip(line[:-1]), WIDTH - 1: strip(line[-1:])} for line in lines]
    return ChopsUpdate(chops, [(y, 0, WIDTH) for y in rows], [[WIDTH - 1, WIDTH]] * HEIGHT)


def drawn(screen: pyte.Screen) -> list[list[object]]:
    """All cells with their colours; blanks that only an invisible foreground tells apart are equal."""
    blank = {"fg": "default"}
    return [
        [c._replace(**blank) if c.data == " " else c for c in (screen.buffer[y][x] for x in range(WIDTH))]
        for y in range(HEIGHT)
    ]


class Terminal:
    def __init__(self) -> None:
        self.screen = pyte.Screen(WIDTH, HEIGHT)
        self.stream = pyte.Stream(self.screen)
        self.written = 0

    def write(self, text: str) -> None:
        self.written = len(text)
        self.stream.feed(text)


text = st.sampled_from(
    [
        *("a" * 25, "aaaab     a", "ab", "b" * 25, "ccc", "", "a", "a" + " " * 20 + "d"),
        *("dd\u6f22\u6f22ddddd", "\u6f22d\u6f22"),
    ]
)
line = st.builds(lambda text, bar: text + " " * (WIDTH - 1 - cell_len(text)) + bar, text, st.sampled_from("#| "))
frame = st.lists(line, min_size=HEIGHT, max_size=HEIGHT)
step = st.one_of(
    frame.map(lambda lines: ("full", lines, 0)),
    st.tuples(st.just("scroll"), frame, st.integers(1, HEIGHT - 1)),
    st.tuples(st.just("rows"), frame, st.integers(0, HEIGHT - 1)),
)


@settings(max_examples=200, deadline=None)
@given(frame, st.lists(step, max_size=6), st.booleans(), st.booleans())
def test_any_frames_leave_the_terminal_as_drawn_whole(
    first: list[str], steps: list[tuple[str, list[str], int]], can_scroll: bool, can_erase: bool
) -> None:
    writer, terminal, shown = FrameWriter(can_scroll=can_scroll, can_erase=can_erase), Terminal(), first
    terminal.write(writer.render(full(first), console))
    for kind, lines, n in steps:
        if kind == "full":
            shown = lines
            terminal.write(writer.render(full(shown), console))
        elif kind == "scroll":
            shown = shown[n:] + lines[:n]
            terminal.write(writer.render(partial(shown, range(HEIGHT)), console))
        else:
            shown = shown[:n] + lines[n:]
            terminal.write(writer.render(partial(shown, range(n, HEIGHT)), console))
        plain = Terminal()
        plain.write(FrameWriter(can_scroll=False, can_erase=False).render(full(shown), console))
        assert drawn(terminal.screen) == drawn(plain.screen)


def test_a_scrolled_frame_costs_about_its_new_line() -> None:
    lines = [f"{n:025d}|" for n in range(HEIGHT)]
    writer, terminal = FrameWriter(), Terminal()
    terminal.write(writer.render(full(lines), console))
    lines = [*lines[1:], "new line                 |"]
    terminal.write(writer.render(partial(lines, range(HEIGHT)), console))
    assert terminal.screen.display == lines
    assert terminal.written < 5 * WIDTH


def test_a_line_that_grows_costs_what_is_new() -> None:
    lines = [" " * WIDTH] * (HEIGHT - 1) + ["bbbb                     |"]
    writer, terminal = FrameWriter(), Terminal()
    terminal.write(writer.render(full(lines), console))
    lines = [*lines[:-1], "bbbbcc                   |"]
    terminal.write(writer.render(partial(lines, range(HEIGHT)), console))
    assert terminal.screen.display[-1] == lines[-1]
    assert terminal.written < 40


def test_the_plain_writer_draws_what_rich_would_draw() -> None:
    lines = ["ab\u6f22 cd#                 |"] * HEIGHT
    terminal, rich = Terminal(), Terminal()
    terminal.write(FrameWriter(can_scroll=False, can_erase=False).render(full(lines), console))
    for y, text in enumerate(lines):
        rich.write(f"\x1b[{y + 1};1H{strip(text).render(console)}")
    assert drawn(terminal.screen) == drawn(rich.screen)


def test_an_unchanged_frame_writes_nothing() -> None:
    lines = [f"{n:025d}|" for n in range(HEIGHT)]
    writer = FrameWriter()
    writer.render(full(lines), console)
    assert writer.render(full(lines), console) == ""


def test_after_a_reset_all_is_written_again() -> None:
    lines = [f"{n:025d}|" for n in range(HEIGHT)]
    writer, terminal = FrameWriter(), Terminal()
    writer.render(full(lines), console)
    writer.reset()
    terminal.write(writer.render(full(lines), console))
    assert terminal.screen.display == lines
