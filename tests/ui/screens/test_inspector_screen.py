"""The inspector page: every view by keys, at any size, also while nothing was sent and while a turn runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from support import inspected
from support.screens import Host, painted, picture, until
from textual.pilot import Pilot

from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.inspection import ContextReport, MessagePair, RequestDetail, RequestRow
from hermes_tui.screens.entry_view import EntryView
from hermes_tui.screens.inspector import CONTEXT, InspectorScreen
from hermes_tui.widgets.fold_view import Fold, FoldView
from hermes_tui.widgets.inspector_text import json_folds, marked, message_folds
from hermes_tui.widgets.line_text import line
from hermes_tui.widgets.request_text import context_lines, percent, request_facts, request_heads, request_row, seconds


class Looked:
    """A session with requests."""

    def __init__(self, rows: Sequence[RequestRow] = inspected.ROWS) -> None:
        self.rows = list(rows)
        self.asked: list[int] = []
        self.report = inspected.REPORT

    def requests(self) -> Sequence[RequestRow]:
        return self.rows

    def request(self, number: int) -> RequestDetail:
        self.asked.append(number)
        if number not in [row.number for row in self.rows]:
            raise HermesError("Request 1 is not kept any more.")
        return inspected.detail(number)

    def context(self) -> ContextReport:
        return self.report


async def opened(host: Host, pilot: Pilot[None], session: Looked, view: int = 0) -> InspectorScreen:
    screen = InspectorScreen(session, view)  # type: ignore[arg-type]
    host.open(screen)
    await until(pilot, lambda: host.screen is screen and (not session.rows or screen._detail is not None))
    return screen


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12), (30, 8)])
async def test_every_view_is_reached_by_keys_and_left_again(size: tuple[int, int]) -> None:
    host, session = Host(), Looked()
    async with host.run_test(size=size) as pilot:
        await opened(host, pilot, session)
        for view, words in enumerate(("3.2", "system", "Identity", "model", "Nothing has arrived")):
            await until(pilot, lambda words=words: words in painted(host), words)
            picture(host, f"inspector-{view}-{size[0]}")
            await pilot.press("tab")
        await until(pilot, lambda: "Requests" in painted(host) or size[1] < 9)
        await pilot.press("shift+tab", "escape", "escape")
        await until(pilot, lambda: host.results == [None])


async def test_a_request_is_chosen_and_its_neighbours_are_one_key_away_in_every_view() -> None:
    host, session = Host(), Looked()
    async with host.run_test(size=(120, 40)) as pilot:
        await opened(host, pilot, session)
        await until(pilot, lambda: "#5 of 5, turn 1, step 3" in painted(host))
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "#3 of 5, turn 1, step 2, attempt 2" in painted(host))
        await until(pilot, lambda: "not sent" in painted(host))
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: "#2 of 5" in painted(host))
        await pilot.press("5")
        await until(pilot, lambda: "overloaded (529)" in painted(host))
        await pilot.press("right_square_bracket", "right_square_bracket")
        await until(pilot, lambda: "#4 of 5" in painted(host))
        await pilot.press("escape")
        await until(pilot, lambda: "subagent 1 count the writers" in painted(host))


async def test_what_differs_is_shown_side_by_side_and_the_note_says_why() -> None:
    host, session = Host(), Looked()
    async with host.run_test(size=(120, 40)) as pilot:
        await opened(host, pilot, session, 1)
        await until(pilot, lambda: "not sent" in painted(host))
        await pilot.press("down", "down", "down", "enter")
        await until(pilot, lambda: "Do not touch vendor/" in painted(host))
        shown = painted(host)
        assert "- sent with what came in meanwhile" in shown
        assert any(text.count('{"ok": true, "exit_code"') == 2 for text in shown.splitlines())
        await pilot.press("enter")
        await until(pilot, lambda: "- sent with" not in painted(host))
        await pilot.press("a")
        await until(pilot, lambda: "- sent with" in painted(host))


async def test_the_json_opens_node_by_node_and_is_copied_whole() -> None:
    host, session = Host(), Looked()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, session, 3)
        await until(pilot, lambda: "messages: [2]" in painted(host))
        assert "tool_use" not in painted(host)
        await pilot.press("down", "down", "down", "enter", "down", "down", "enter", "down", "down", "enter")
        await until(pilot, lambda: "tool_use" in painted(host))
        await pilot.press("y")
        await until(pilot, lambda: host.hear(EntryView.CopyWanted))
        assert json.loads(host.hear(EntryView.CopyWanted)[0].text) == inspected.BODY
        await pilot.press("o")
        await until(pilot, lambda: isinstance(host.screen, EntryView) and "claude-opus" in painted(host))


async def test_before_the_first_request_it_says_so_and_the_context_is_there() -> None:
    host, session = Host(), Looked(())
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, session, CONTEXT)
        await until(pilot, lambda: "69k" in painted(host) or "Tool definitions" in painted(host))
        for _ in range(5):
            await pilot.press("tab")
            await pilot.pause()
        await pilot.press("1")
        await until(pilot, lambda: "No request was made" in painted(host))
        await pilot.press("enter", "y", "o", "left_square_bracket", "q")
        await until(pilot, lambda: host.results == [None])


async def test_a_refresh_shows_what_came_meanwhile_and_keeps_the_chosen_request() -> None:
    host, session = Host(), Looked(inspected.ROWS[:3])
    async with host.run_test(size=(120, 40)) as pilot:
        await opened(host, pilot, session)
        await pilot.press("down")
        session.rows = list(inspected.ROWS)
        await pilot.press("r")
        await until(pilot, lambda: "#2 of 5" in painted(host))
        session.rows = [replace(row, number=row.number + 10) for row in inspected.ROWS]
        session.rows.append(inspected.ROWS[4])
        await pilot.press("r")
        await until(pilot, lambda: "of 15" in painted(host) or "#15" in painted(host) or session.asked[-1] == 15)


def lines_of(folds: Sequence[Fold], width: int) -> list[Any]:
    return [entry for fold in folds for entry in [*fold.head(width), *(fold.body(width) if fold.body else ())]]


@pytest.mark.parametrize("width", [20, 38, 59, 60, 76, 116])
def test_no_row_of_a_message_is_wider_than_the_page(width: int) -> None:
    wide = MessagePair(change="changed", role="tool", stored="千問" * 90, sent="千問" * 91, notes=("n" * 90,))
    for entry in lines_of(message_folds([*inspected.PAIRS, wide]), width):
        assert entry.prose or cell_len(entry.text) <= max(width, 32)


def test_older_messages_are_behind_one_heading() -> None:
    pairs = [MessagePair(change="same", role="user", stored=str(n), sent=str(n)) for n in range(1_000)]
    folds = message_folds(pairs)
    assert len(folds) == 201 and "800 older messages" in folds[0].head(80)[0].text
    assert len(folds[0].inside()) == 800


@pytest.mark.parametrize(
    ("stored", "sent", "only_stored", "only_sent"),
    [
        ("a", "a", "", ""),
        ("a\nb", "a\nb\nc", "", "c"),
        ("one two", "one 2 two", "", "2 "),
        ("", "new", "", "new"),
        ("old", "", "old", ""),
        ("x\nold\ny", "x\nnew\ny", "old", "new"),
    ],
)
def test_what_only_one_side_has_is_marked(stored: str, sent: str, only_stored: str, only_sent: str) -> None:
    left, right = marked(stored, sent)
    assert "".join(text for row in left for text, style in row.spans if style == "removed") == only_stored
    assert "".join(text for row in right for text, style in row.spans if style == "added") == only_sent
    assert "\n".join(row.text for row in left) == stored and "\n".join(row.text for row in right) == sent


def test_json_of_any_kind_has_a_block_for_each_node() -> None:
    value = {"a": {}, "b": [], "c": None, "d": "x\ny", "e": [1, {"role": "user", "content": "hello"}], "f": "\x1b[2J"}
    folds = json_folds(value)
    assert [fold.can_open for fold in folds] == [False, False, False, True, True, False]
    heads = [fold.head(60)[0].text for fold in folds]
    assert heads[0] == "a: {}" and "hello" in folds[4].inside()[1].head(60)[0].text
    assert "\x1b" not in heads[5]


@pytest.mark.parametrize("width", [24, 36, 60, 100, 160])
def test_rows_and_bars_fit_their_width(width: int) -> None:
    for row in inspected.ROWS:
        assert sum(cell_len(text) for text, _ in request_row(row, width)) <= width
    for entry in context_lines(inspected.REPORT, inspected.PARTS, 3, width)[2:-2]:
        assert cell_len(entry.text) <= max(width, 24)


@pytest.mark.parametrize("width", [32, 72, 115])
def test_each_column_stands_under_its_title(width: int) -> None:
    heads = "".join(text for text, _ in request_heads(width))
    row = "".join(text for text, _ in request_row(inspected.ROWS[0], width))
    for title in heads.replace("tok in", "tok_in").split():
        place = heads.index(title.replace("_", " "))
        under = row[place : place + len(title)]
        assert under.strip(), (title, row)


def test_a_model_without_a_price_to_pay_is_free() -> None:
    free = replace(inspected.ROWS[0], cost_usd=0.0)
    assert "free" in "".join(text for text, _ in request_row(free, 100))
    assert request_facts(free)[-1].text == "cost: free"
    assert request_facts(replace(free, cost_usd=None))[-1].text == "cost: unknown"


def test_a_little_is_not_nothing() -> None:
    assert [percent(share) for share in (None, 0.0, 0.001, 0.5)] == ["-", "0 %", "<1 %", "50 %"]


def test_the_context_names_each_category_its_share_and_what_is_free() -> None:
    texts = [entry.text for entry in context_lines(inspected.REPORT, inspected.PARTS, 3, 100)]
    assert texts[0] == "about 72,190 tokens of 200,000 (36 %) in the next request"
    assert texts[2].split() == ["#3", "next"]
    (results,) = [text for text in texts if text.startswith("Tool results")]
    assert results.split()[2:4] == ["4.0k", "61.3k"]
    assert any(text.startswith("Free") and "128k" in text for text in texts)
    assert "100,000 tokens" in texts[-1]
    assert context_lines(ContextReport(), (), 0, 80)[0].text == "Nothing was sent yet."


@pytest.mark.parametrize(("value", "words"), [(None, "-"), (0.4231, "0.42 s"), (12.34, "12.3 s"), (125.4, "2 m 05 s")])
def test_durations_in_words(value: float | None, words: str) -> None:
    assert seconds(value) == words


class Folds(Host):
    """An app with folds only."""

    def compose(self) -> Any:
        yield FoldView()


def fold(name: str, *inside: Fold, rows: int = 0) -> Fold:
    body = (lambda width: [line(f"{name}.{n}") for n in range(rows)]) if rows else None
    return Fold(head=lambda width: [line(name)], body=body, children=(lambda: inside) if inside else None)


async def test_the_cursor_walks_headings_and_a_long_block_is_scrolled_through() -> None:
    host = Folds()
    async with host.run_test(size=(30, 10)) as pilot:
        view = host.query_one(FoldView)
        view.focus()
        view.set_folds([fold("a", rows=30), fold("b", fold("c", rows=2)), fold("d")])
        await pilot.pause()
        await pilot.press("enter")
        assert "a.5" in painted(host) and view.current is view._folds[0]
        for _ in range(22):
            await pilot.press("down")
        assert "a.29" in painted(host)
        await pilot.press(*["down"] * 12)
        assert view.current is view._folds[2]
        await pilot.press("up", "enter", "down", "enter")
        assert "c.1" in painted(host)
        await pilot.press("a")
        assert "c.1" not in painted(host) and "a.1" not in painted(host)
        await pilot.resize_terminal(20, 6)
        await pilot.press("a")
        await until(pilot, lambda: "c" in painted(host) or "a.1" in painted(host))
        view.set_folds(())
        await pilot.press("up", "down", "enter", "a")
        assert view.current is None


def test_of_a_text_without_end_the_beginning_is_shown() -> None:
    left, right = marked("x" * 9_000, "\n".join("y" for _ in range(3_000)))
    assert left[0].text.endswith("... 4,000 more characters")
    assert len(right) == 2_001 and right[-1].text == "... 1,000 more lines"
