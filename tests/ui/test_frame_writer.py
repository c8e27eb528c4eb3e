"""The frame writer: any sequence of frames leaves the terminal as if each had been written whole."""

from __future__ import annotations

import io

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from hermes_tui.frame_writer import FrameWriter

WIDTH, HEIGHT = 12, 10
console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=WIDTH)


def strip(text: str) -> Strip:
    return Strip([Segment(text)], len(text))


def full(lines: list[str]) -> LayoutUpdate:
    """A frame of two columns: the text and a one-cell scrollbar."""
    return LayoutUpdate([[strip(line[:-1]), strip(line[-1:])] for line in lines], Region(0, 0, WIDTH, HEIGHT))


def partial(lines: list[str], rows: range) -> ChopsUpdate:
    chops = [{0: strip(line[:-1]), WIDTH - 1: strip(line[-1:])} for line in lines]
    return ChopsUpdate(chops, [(y, 0, WIDTH) for y in rows], [[WIDTH - 1, WIDTH]] * HEIGHT)


class Terminal:
    def __init__(self) -> None:
        self.screen = pyte.Screen(WIDTH, HEIGHT)
        self.stream = pyte.Stream(self.screen)
        self.written = 0

    def write(self, text: str) -> None:
        self.written = len(text)
        self.stream.feed(text)


line = st.sampled_from(["aaaaaaaaaaa#", "bbbbbbbbbbb#", "ccccccccccc|", "ddddddddddd|", "           |"])
frame = st.lists(line, min_size=HEIGHT, max_size=HEIGHT)
step = st.one_of(
    frame.map(lambda lines: ("full", lines, 0)),
    st.tuples(st.just("scroll"), frame, st.integers(1, HEIGHT - 1)),
    st.tuples(st.just("rows"), frame, st.integers(0, HEIGHT - 1)),
)


@settings(max_examples=200, deadline=None)
@given(frame, st.lists(step, max_size=6), st.booleans())
def test_any_frames_leave_the_terminal_as_drawn_whole(
    first: list[str], steps: list[tuple[str, list[str], int]], can_scroll: bool
) -> None:
    writer, terminal, shown = FrameWriter(can_scroll=can_scroll), Terminal(), first
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
        assert terminal.screen.display == shown


def test_a_scrolled_frame_costs_about_its_new_line() -> None:
    lines = [f"{n:011d}|" for n in range(HEIGHT)]
    writer, terminal = FrameWriter(), Terminal()
    terminal.write(writer.render(full(lines), console))
    lines = [*lines[1:], "new line   |"]
    terminal.write(writer.render(partial(lines, range(HEIGHT)), console))
    assert terminal.screen.display == lines
    assert terminal.written < 5 * WIDTH


def test_an_unchanged_frame_writes_nothing() -> None:
    lines = [f"{n:011d}|" for n in range(HEIGHT)]
    writer = FrameWriter()
    writer.render(full(lines), console)
    assert writer.render(full(lines), console) == ""


def test_after_a_reset_all_is_written_again() -> None:
    lines = [f"{n:011d}|" for n in range(HEIGHT)]
    writer, terminal = FrameWriter(), Terminal()
    writer.render(full(lines), console)
    writer.reset()
    terminal.write(writer.render(full(lines), console))
    assert terminal.screen.display == lines
