import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.widgets.paste import (
    CHIP_CLOSE,
    CHIP_OPEN,
    PasteShelf,
    image_paths,
    needs_chip,
    normalize,
    single_line,
)

LONG = "line\n" * 34


def test_the_label_counts_lines_and_keeps_numbers_apart():
    shelf = PasteShelf()
    assert shelf.add_text(LONG).label == "Pasted #1: 34 lines"
    assert shelf.add_text("x" * 3000).label == "Pasted #2: 3,000 characters"
    assert shelf.add_image("/tmp/a b.png").label == "Image #3: a b.png"


@given(st.lists(st.one_of(st.text(), st.text(min_size=1).map(lambda text: (text,))), max_size=8))
def test_blocks_among_typed_text_come_back_exact_and_in_order(parts):
    shelf = PasteShelf()
    document, expected = "", ""
    for part in parts:
        if isinstance(part, tuple):
            document += shelf.add_text(part[0]).token
            expected += part[0]
        else:
            typed = part.replace(CHIP_OPEN, "").replace(CHIP_CLOSE, "")
            document += typed
            expected += typed
    assert shelf.expand(document) == expected


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.text())
def test_a_draft_keeps_every_block(blocks, typed):
    typed = typed.replace(CHIP_OPEN, "").replace(CHIP_CLOSE, "").encode("utf-8", "ignore").decode()
    blocks = [block.encode("utf-8", "ignore").decode() for block in blocks]
    shelf = PasteShelf()
    document = typed.join(shelf.add_text(block).token for block in blocks)
    draft = json.loads(json.dumps(shelf.to_draft(document)))
    other = PasteShelf()
    assert other.expand(other.from_draft(draft)) == shelf.expand(document)


def test_a_draft_without_blocks_is_plain_text():
    assert PasteShelf().to_draft("hello") == "hello"


def test_text_that_only_looks_like_a_chip_is_left_alone():
    shelf = PasteShelf()
    shelf.add_text("secret")
    assert shelf.expand("[Pasted #1: 1 lines]") == "[Pasted #1: 1 lines]"


def test_a_deleted_block_is_neither_sent_nor_kept_in_the_draft():
    shelf = PasteShelf()
    first, second = shelf.add_text("one\n" * 20), shelf.add_text("two\n" * 20)
    document = f"{second.token} and"
    assert shelf.expand(document) == "two\n" * 20 + " and"
    assert first.content not in shelf.to_draft(document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a short one", False),
        ("x" * 2000, False),
        ("x" * 2001, True),
        ("line\n" * 10, False),
        ("line\n" * 11, True),
        ("form\x0cfeed", True),
        ("two\u2028lines", True),
        ("escape \x1b[2J", True),
        ("reversed \u202e txt", True),
        (f"{CHIP_OPEN}Pasted #1{CHIP_CLOSE}", True),
        ("tab\tand 漢字 ❤️", False),
    ],
)
def test_what_is_too_long_or_cannot_be_shown_becomes_a_chip(text, expected):
    assert needs_chip(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("\x1b[200~hi\x1b[201~", "hi"),
        ("nul\x00byte", "nulbyte"),
        ("  kept  \t", "  kept  \t"),
    ],
)
def test_only_the_terminals_traces_are_taken_out(text, expected):
    assert normalize(text) == expected


def test_a_one_line_field_gets_one_clean_line():
    assert single_line("\x1b[200~sk-test-123\r\n\x1b[201~") == "sk-test-123"
    assert single_line("two\nlines\x07") == "two lines"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/me/shot.png", ["/home/me/shot.png"]),
        ("'/home/me/my shot.PNG' ", ["/home/me/my shot.PNG"]),
        (r"/home/me/my\ shot.png", ["/home/me/my shot.png"]),
        ("/home/me/my shot.png", ["/home/me/my shot.png"]),
        ("file:///home/me/a%20b.webp", ["/home/me/a b.webp"]),
        ("/a/one.png /a/two.jpg", ["/a/one.png", "/a/two.jpg"]),
        ("/a/one.png\n/a/two.jpg\n", ["/a/one.png", "/a/two.jpg"]),
        ("look at shot.png please", []),
        ("/a/one.txt", []),
        ("", []),
    ],
)
def test_paths_of_images_are_recognised(text, expected):
    assert image_paths(text) == expected
