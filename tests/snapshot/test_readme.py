"""The picture in the README. ``make snapshots`` copies it to docs/screenshot.svg."""

from support import scenes


def test_screenshot(looks_as_kept):
    """The chat as a visitor sees it first."""
    assert looks_as_kept(scenes.readme, "110x34")
