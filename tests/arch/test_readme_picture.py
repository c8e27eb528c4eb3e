from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_the_picture_that_the_tests_hold():
    kept = ROOT / "snapshots/test_readme/test_screenshot.svg"
    assert (ROOT / "docs/screenshot.svg").read_bytes() == kept.read_bytes(), "run: make snapshots"
