"""Where a diff's first change stands in the new file."""

from __future__ import annotations

import pytest

from hermes_tui.tools.diffs import first_changed_line, unified

OLD = "".join(f"line {number}\n" for number in range(1, 41))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (OLD, OLD.replace("line 20\n", "new\n"), 20),
        (OLD, "first\n" + OLD, 1),
        (OLD, OLD + "last\n", 41),
        (OLD, OLD.replace("line 7\n", ""), 7),
        (None, "a\nb\n", 1),
        (OLD, OLD, 1),
        ("", "x", 1),
    ],
)
def test_it_is_the_first_changed_line(old: str | None, new: str, line: int) -> None:
    assert first_changed_line(unified("a.txt", old, new).text) == line
