import time
from typing import Any

import pytest
from rich.cells import cell_len

from hermes_tui.engine.types.sessions import SessionRow, Snippet
from hermes_tui.widgets.session_list_text import (
    SessionItem,
    ago,
    clip_around,
    facts_row,
    group_of,
    marks_of,
    money,
    short_path,
    title_row,
)

NOW = time.mktime((2026, 11, 30, 12, 0, 0, 0, 0, -1))
HOUR, DAY = 3600, 86_400


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (0, "now"), (59, "now"), (-500, "now"), (60, "1m"), (3599, "59m"), (HOUR, "1h"), (DAY, "1d"), (6 * DAY, "6d"),
        (8 * DAY, "Nov 22"), (400 * DAY, "Oct 2025"),
    ],
)  # fmt: skip
def test_times_are_short(passed: float, words: str):
    assert ago(NOW - passed, NOW) == words


@pytest.mark.parametrize(
    ("passed", "group"),
    [
        (0, "Today"), (12 * HOUR, "Today"), (-HOUR, "Today"), (13 * HOUR, "Yesterday"), (36 * HOUR, "Yesterday"),
        (37 * HOUR, "This week"), (6 * DAY, "This week"), (8 * DAY, "This month"), (40 * DAY, "October 2026"),
        (400 * DAY, "October 2025"),
    ],
)  # fmt: skip
def test_sessions_are_grouped_by_day(passed: float, group: str):
    assert group_of(NOW - passed, NOW) == group


@pytest.mark.parametrize(("cost", "words"), [(None, ""), (0.0, ""), (0.004, "<$0.01"), (1.5, "$1.50")])
def test_costs(cost: float | None, words: str):
    assert money(cost) == words


def test_paths_keep_their_end():
    assert short_path("/h/proj", "/h", 20) == "~/proj"
    assert short_path("/home2/x", "/home", 20) == "/home2/x"
    assert short_path("/a/very/long/path/end", "/h", 10).endswith("path/end")


@pytest.mark.parametrize("width", [8, 20, 38, 60, 100])
@pytest.mark.parametrize("title", ["Plain", "\u65e5\u672c\u8a9e" * 20, "", "evil\x1b[2J\u202e\ntitle", "[b]x[/b]"])
def test_rows_fit_and_are_inert_at_any_width(width: int, title: str):
    row = SessionRow(
        id="x", title=title, cwd="/h/" + "deep/" * 12, model="org/model", turn_count=12, cost_usd=2.0,
        updated_at=NOW - 90, pinned=True, open_elsewhere=True, parent_reason="fork", end_reason="error",
    )  # fmt: skip
    snippet = Snippet(message_id=1, role="user", text="before " * 30 + "hit\x1b after", marks=((210, 213),))
    for item in (SessionItem(row), SessionItem(row, (snippet,), 3)):
        for spans in (title_row(item, width, NOW, is_marked=True), facts_row(item, width, "/h")):
            text = "".join(part for part, _ in spans)
            assert cell_len(text) <= width
            assert not set(text) & {"\x1b", "\u202e", "\n"}


def test_a_snippet_is_cut_so_that_its_hit_is_seen():
    text = "x" * 200 + " needle " + "y" * 200
    spans = clip_around(text, ((201, 207),), 40)
    assert ("needle", "mark") in spans
    assert spans[0][0] == "\u2026"


@pytest.mark.parametrize(
    ("columns", "marks"),
    [
        ({}, []),
        ({"open_elsewhere": True}, ["open elsewhere"]),
        ({"parent_reason": "fork", "compaction_count": 2}, ["fork", "compacted"]),
        ({"parent_reason": "compression", "compaction_count": 1}, ["compacted"]),
        ({"end_reason": "error"}, ["error"]),
        ({"end_reason": "closed"}, []),
    ],
)
def test_marks_say_what_is_special(columns: dict[str, Any], marks: list[str]):
    assert marks_of(SessionRow(id="x", title="", **columns)) == marks


def test_the_open_session_is_open_here():
    assert marks_of(SessionRow(id="x", title="", open_elsewhere=True), "x") == ["open here"]
