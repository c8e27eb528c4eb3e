"""What is taken back, and what was changed."""

import pytest
from support import scenes


@pytest.mark.parametrize(
    ("size", "theme"), [("120x40", "hermes-dark"), ("80x24", "hermes-light"), ("40x12", "hermes-dark")]
)
def test_what_to_take_back(looks_as_kept, size, theme):
    """The message, the files with what becomes of each, and one that stays with the reason."""
    assert looks_as_kept(scenes.undoing(says="essage"), size, theme)


@pytest.mark.parametrize(("size", "theme"), [("120x40", "hermes-dark"), ("80x24", "mono"), ("40x12", "hermes-dark")])
def test_changed_files(looks_as_kept, size, theme):
    """Every file with what happened to it in a word, one of them open."""
    assert looks_as_kept(scenes.changes("down", "down", "down", "enter", says="changed"), size, theme)


def test_all_diffs(looks_as_kept):
    """All of them open."""
    assert looks_as_kept(scenes.changes("a", says="Flushing"), "80x24")
