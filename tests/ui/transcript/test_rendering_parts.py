import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from support.rendering import frame

from hermes_tui.widgets.diff_view import count_changes, diff_units, parse_diff
from hermes_tui.widgets.line_text import clip
from hermes_tui.widgets.rendering.code import CodeStyler, LineLexer, carry_after, language_of
from hermes_tui.widgets.rendering.heights import Heights
from hermes_tui.widgets.rendering.palette import Palette
from hermes_tui.widgets.rendering.wrapping import chop_ranges, clip_middle, wrap_ranges

TEXT = st.text(alphabet=st.sampled_from("ab c  \u6f22\u3002\U0001f469\u200d\U0001f1e8\U0001f1ed\u0301-/"), max_size=80)


@given(TEXT, st.integers(2, 30))
def test_wrapped_rows_fit_and_lose_only_blanks(text, width):
    ranges = wrap_ranges(text, width)
    rows = [text[a:b] for a, b in ranges]
    assert all(cell_len(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")
    assert all(a <= b for a, b in ranges) and ranges == sorted(ranges)


@given(TEXT, st.integers(2, 30))
def test_chopped_rows_fit_and_lose_nothing(text, width):
    rows = [text[a:b] for a, b in chop_ranges(text, width)]
    assert all(cell_len(row) <= width for row in rows) and "".join(rows) == text


@given(TEXT, st.integers(1, 30))
def test_clipped_text_fits(text, width):
    assert cell_len(clip(text, width)) <= width and cell_len(clip_middle(text, width)) <= width


def test_closing_marks_do_not_start_a_row():
    text = "\u6f22" * 5 + "\u3002" + "\u5b57"
    assert [text[a:b] for a, b in wrap_ranges(text, 10)] == ["\u6f22" * 4, "\u6f22\u3002\u5b57"]


@given(st.lists(st.integers(0, 9), max_size=600), st.data())
def test_heights_agree_with_a_plain_list(rows, data):
    heights, plain = Heights(rows), list(rows)
    for _ in range(data.draw(st.integers(0, 12))):
        at = data.draw(st.integers(0, len(plain)))
        match data.draw(st.integers(0, 3)):
            case 0:
                new = data.draw(st.lists(st.integers(0, 9), max_size=300))
                heights.insert(at, new)
                plain[at:at] = new
            case 1 if at < len(plain):
                heights[at] = plain[at] = 5
            case 2:
                heights.delete(at, at + 3)
                del plain[at : at + 3]
            case _:
                heights.append(4)
                plain.append(4)
    assert heights.total == sum(plain) and len(heights) == len(plain)
    start = 0
    for index, count in enumerate(plain):
        assert heights.start(index) == start
        for inside in range(count):
            assert heights.find(start + inside) == (index, inside)
        start += count


CARRIES = [
    ("python", 'x = """doc', "", '"""'),
    ("python", 'end""" + 1', '"""', ""),
    ("python", '# """ in a comment', "", ""),
    ("python", '"""one line"""', "", ""),
    ("c", "a /* b", "", "*/"),
    ("c", "b */ c /* d", "*/", "*/"),
    ("c", '"/*"', "", ""),
    ("c", "// /* no", "", ""),
    ("html", "<!-- x", "", "-->"),
    ("bash", '"""', "", ""),
]


@pytest.mark.parametrize(("language", "line", "before", "after"), CARRIES)
def test_what_stays_open_after_a_line(language, line, before, after):
    assert carry_after(language, line, before) == after


LANGUAGES = [
    "python",
    "javascript",
    "typescript",
    "c",
    "cpp",
    "rust",
    "go",
    "json",
    "yaml",
    "bash",
    "html",
    "css",
    "php",
    "diff",
    "sql",
    "ruby",
    "toml",
    "nope",
]
LINES = [
    "def f(x): return 'a\\",
    "/* open",
    "still */ int x = 1;",
    '"""',
    "<a href='x'>",
    "key: [1, 2]",
    "",
    "  \u6f22\t$x",
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_colours_never_change_the_text(language):
    lexer, in_frame = LineLexer(CodeStyler(), language), frame()
    for line in LINES:
        assert "".join(text for text, _ in lexer.line(line, in_frame.palette, "code")) == line


def test_names_of_languages():
    assert [language_of(name) for name in ("PY", "c++ {x}", "text", "", "tsx", ".rs")] == [
        "python", "cpp", "", "", "typescript", "rust",
    ]  # fmt: skip


async def test_lexers_load_in_a_thread_of_their_own():
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    threads = []

    def on_ready():
        threads.append(threading.current_thread())
        loop.call_soon_threadsafe(ready.set)

    styler = CodeStyler(on_ready)
    assert styler.lexer("python") is None
    await asyncio.wait_for(ready.wait(), 30)
    assert styler.lexer("python") is not None and styler.version == 1
    assert threads[0] is not threading.main_thread()


def test_a_palette_works_with_any_theme():
    palette = Palette(
        {"background": "ansi_default", "foreground": "#eeeeee", "text-muted": "auto 60%", "primary": "nonsense"}
    )
    assert palette.style("base").bgcolor.name == "default"
    for ground in ("base", "user", "code", "mark", "add", "remove", "panel"):
        assert palette.style(ground, "muted", "strong").bold


def test_diffs_keep_line_numbers_over_hunks_and_files():
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n@@ -10 +10,2 @@ def f\n d\n+e\ndiff --git a/y b/y\n"
    diff += "--- a/y\n+++ b/y\n@@ -1 +1 @@\n--- not a header\n+ok\n\\ No newline at end of file\n"
    lines = parse_diff(diff)
    assert [(line.kind, line.old, line.new, line.text) for line in lines if line.kind not in {"hunk"}] == [
        ("file", 0, 0, "x"), ("remove", 1, 0, "a"), ("add", 0, 1, "b"), ("same", 2, 2, "c"), ("same", 10, 10, "d"),
        ("add", 0, 11, "e"), ("file", 0, 0, "y"), ("remove", 1, 0, "-- not a header"), ("add", 0, 1, "ok"),
    ]  # fmt: skip
    assert count_changes(lines) == (3, 2)


@pytest.mark.parametrize("width", [20, 80, 160])
def test_diffs_fill_the_width_in_one_or_two_columns(width):
    units, hidden = diff_units("@@ -1,2 +1,2 @@\n-old\n+new \u6f22\u5b57 " + "x" * 200 + "\n same\n", "a.py")
    rows = [row for unit in units for row in unit.draw(frame(width))]
    assert hidden == 0 and all(row.cell_length == width for row in rows)
    assert any("old" in row.text and "new" in row.text for row in rows) == (width == 160)
