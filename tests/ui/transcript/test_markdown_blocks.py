import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from support.rendering import frame, lines_of, rows_of

from hermes_tui.widgets.entries import AssistantEntry
from hermes_tui.widgets.rendering.blocks import MAX_PARAGRAPH

PIECES = [
    "# Title\n",
    "para one\nmore of it\n",
    "\n",
    "\n\n",
    "- item\n",
    "- [x] done\n",
    "  - nested\n",
    "1. one\n",
    "3) three\n",
    "   continued\n",
    "> quote\n",
    ">> deeper\n",
    "lazy words\n",
    "```python\n",
    "def f(x): return 'a'\n",
    "```\n",
    "````md\n",
    "````\n",
    "~~~\n",
    "| a | b |\n",
    "|---|:-:|\n",
    "| 1 | `x|y` |\n",
    "| lone |\n",
    "---\n",
    "===\n",
    "<div>\n",
    "</div>\n",
    "<!-- c\n",
    "-->\n",
    "[ref]: http://x.example\n",
    "see [ref] and [a](http://b.example)\n",
    "[^1]: note\n",
    "    code\n",
    "*em* **st** ~~no~~ `c`\n",
    "line  \nbreak\n",
    "\x1b[31mred\x1b[0m\n",
    "\u6f22\u5b57 \U0001f468\u200d\U0001f469 wide\n",
    "/* c\n",
    '"""\n',
    "a\tb\n",
    "word " * 60 + "\n",
    "tail without end",
    "\\\n",
    "$\\frac{1}{2}$\n",
    "* * *\n",
    "+ plus\n",
    "#no heading\n",
]  # fmt: skip
DOCUMENTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def look(entry, width=60):
    return [(row.text, [s.style for s in row]) for row in rows_of(entry, _frame(width))]


_FRAMES = {}


def _frame(width):
    return _FRAMES.setdefault(width, frame(width))


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS, st.lists(st.integers(1, 40), min_size=1, max_size=6), st.booleans())
def test_any_chunking_gives_the_rows_of_the_whole_text(text, sizes, watched):
    whole = AssistantEntry(text)
    streamed = AssistantEntry()
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        streamed.append(text[at : at + size])
        if watched or turn == 0:
            rows_of(streamed, _frame(60))
        at, turn = at + size, turn + 1
    streamed.finish(None)
    assert look(streamed) == look(whole)


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS, st.integers(8, 100))
def test_rows_fill_the_width_and_never_exceed_it(text, width):
    for row in rows_of(AssistantEntry(text), _frame(width)):
        assert row.cell_length == width
        assert sum(cell_len(segment.text) for segment in row) == width


CASES = [
    ("a list is cut between items but numbered on", "7. a\n8. b\n\n9. c", ["7. a", "8. b", "", "9. c"]),
    ("an item keeps what is indented below it", "- a\n\n  b\n- c", ["\u2022 a", "", "  b", "\u2022 c"]),
    ("tasks", "- [ ] a\n- [x] b", ["\u2610 a", "\u2611 b"]),
    ("a paragraph ends at a heading", "a\n# b\nc", ["a", "", "b", "", "c"]),
    ("setext", "a\n===\nb", ["a", "", "b"]),
    ("a fence may interrupt a paragraph", "a\n```\nb\n```\nc", ["a", "", "\u258eb", "", "c"]),
    (
        "four backticks hold three",
        "````\n```py\nx\n```\n````\nafter",
        ["\u258e```py", "\u258ex", "\u258e```", "", "after"],
    ),
    ("a table inside a markdown fence is text", "```markdown\n| a |\n|---|\n```", None),
    ("an unclosed fence ends with the message", "```\na\n\nb", ["\u258ea", "\u258e", "\u258eb"]),
    ("a fence in an item", "- a\n  ```\n  x\n  ```\n- b", ["\u2022 a", "  \u258ex", "\u2022 b"]),
    ("raw HTML is text", "<script>alert(1)</script>", ["<script>alert(1)</script>"]),
    ("an HTML comment may hold blank lines", "<!-- a\n\n# b -->\nc", ["<!-- a", "", "# b -->", "", "c"]),
    ("images are not loaded", "![x](http://i.example/p.png)", ["[x] (http://i.example/p.png)"]),
    ("a file image stays as typed", "![x](file:///etc/passwd)", ["![x](file:///etc/passwd)"]),
    ("a javascript link stays as typed", "[x](javascript:1)", ["[x](javascript:1)"]),
    ("a broken link stays as typed", "[x](http://[::1)", None),
    ("math stays as typed", "$\\frac{1}{2}$", ["$\\frac{1}{2}$"]),
    ("brackets are no markup", "Use [/b] and [/INST] or arr[a=b: here", ["Use [/b] and [/INST] or arr[a=b: here"]),
    ("a footnote is not swallowed", "see[^1]\n\n[^1]: word", ["see[^1]", "", "[^1]: word"]),
    ("a link definition is used, not shown", "[a]\n\n[a]: http://x.example", ["a (http://x.example)"]),
    ("an address that is its own text is not repeated", "<http://x.example>", ["http://x.example"]),
    ("hard breaks", "a  \nb", ["a", "b"]),
    ("quotes", "> a\nlazy\n\nb", ["\u2502 a lazy", "", "b"]),
    ("a rule", "a\n\n---\n\nb", ["a", "", "\u2500" * 60, "", "b"]),
]


@pytest.mark.parametrize(("text", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_markdown_looks_right(text, expected):
    lines = lines_of(AssistantEntry(text), _frame(80))
    if expected is not None:
        assert lines == expected
    else:
        assert "".join(lines).replace("\u258e", "").replace("markdown", "").strip()


def test_tables_line_up_with_wide_characters():
    cells = [
        "\u2764\ufe0f",
        "\u263a\ufe0f",
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",
        "\U0001f1e8\U0001f1ed",
        "\u6f22\u5b57",
        "e\u0301",
    ]
    rows = rows_of(AssistantEntry("| a | b |\n|---|---|\n" + "".join(f"| {c} | x |\n" for c in cells)), _frame(60))
    bars = {cell_len(row.text.split("\u2502")[0]) for row in rows if "\u2502" in row.text}
    assert len(bars) == 1


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_wide_tables_wrap_or_become_records(width):
    header = "|" + "|".join(f" column {i} " for i in range(12)) + "|\n" + "|---" * 12 + "|\n"
    row = "|" + "|".join(f" value number {i} " for i in range(12)) + "|\n"
    text = "".join(lines_of(AssistantEntry(header + row), _frame(width)))
    words = text.replace(" ", "").replace("\u2502", "")
    assert all(f"{i}" in words for i in range(12))


EXTREMES = {
    "deep list": "".join("  " * i + f"- level {i}\n" for i in range(60)),
    "deep quote": "> " * 60 + "deep quote",
    "deeper than any parser": "> " * 400 + "deep",
    "long address": "a " + "https://x.example/" + "p" * 300,
    "footnotes": "".join(f"[^{i}]: note {i}\n\n" for i in range(200)),
    "brackets": "[" * 500,
    "stars": "*a " * 400,
    "ticks": "`" * 301,
    "bars": "|" * 300,
    "backslashes": "\\" * 99,
}


@pytest.mark.parametrize("text", EXTREMES.values(), ids=EXTREMES)
def test_extreme_markdown_stays_readable(text):
    rows = rows_of(AssistantEntry(text), _frame(40))
    assert rows and all(row.cell_length == 40 for row in rows)
    shown = "".join(row.text for row in rows)
    for word in ("deep", "level 59", "note 199"):
        assert word not in text or word.replace(" ", "") in shown.replace(" ", "")


def test_a_fence_that_ends_in_a_backslash_draws_while_it_streams():
    entry = AssistantEntry()
    for piece in ("```ini\n", "note = first part:\\", "\n  second part\n", "```"):
        entry.append(piece)
        assert lines_of(entry, _frame(80))
    stored = AssistantEntry("```ini\nnote = first part:\\")
    assert lines_of(stored, _frame(80))[0].startswith("\u258enote = first part:\\")


def test_an_open_fence_shows_the_unfinished_line_but_not_its_own_end():
    entry = AssistantEntry()
    entry.append("```\nab")
    assert lines_of(entry, _frame(80)) == ["\u258eab"]
    entry.append("\n``")
    assert lines_of(entry, _frame(80)) == ["\u258eab"]


def test_a_paragraph_without_end_is_cut_so_that_its_tail_stays_cheap():
    entry = AssistantEntry()
    for _ in range(60):
        entry.append("word " * 60)
        rows_of(entry, _frame(80))
    body = entry.body(_frame(80))
    assert len(body.units) > 3
    assert all(len(unit.text) <= MAX_PARAGRAPH + 300 for unit in body.units)
    assert "" not in lines_of(entry, _frame(80))


def test_sequences_split_between_pieces_never_show():
    entry = AssistantEntry()
    for piece in ("red \x1b", "[3", "1mx\x1b]52;c;QQ", "==\x07 end"):
        entry.append(piece)
        assert "52" not in "".join(lines_of(entry, _frame(80)))
    entry.finish(None)
    assert lines_of(entry, _frame(80)) == ["red x end"]


def test_safe_links_are_links_of_the_terminal():
    row = rows_of(AssistantEntry("[a](https://x.example/p) b"), _frame(80))[0]
    assert [s.text for s in row if s.style.link == "https://x.example/p"] == ["a", " (https://x.example/p)"]


def test_finished_units_are_not_drawn_again():
    entry, in_frame = AssistantEntry(), _frame(80)
    entry.append("first paragraph\n\nsecond")
    first = rows_of(entry, in_frame)[0]
    entry.append(" goes on and on\n\nthird")
    assert rows_of(entry, in_frame)[0] is first
