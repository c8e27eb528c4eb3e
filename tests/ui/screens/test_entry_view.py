import pytest
from support.screens import Host, painted, until
from textual.pilot import Pilot

from hermes_tui.screens.entry_view import MAX_HITS, EntryView, find_all
from hermes_tui.widgets.line_view import LineView


async def opened(host: Host, pilot: Pilot[None], view: EntryView) -> EntryView:
    host.open(view)
    await until(pilot, lambda: host.screen is view and view.is_mounted)
    await pilot.pause()
    return view


async def test_a_hundred_thousand_lines_are_read_from_end_to_end():
    text = "\n".join(f"row {number} of many" for number in range(100_000))
    host = Host()
    async with host.run_test() as pilot:
        await opened(host, pilot, EntryView(text, "terminal"))
        assert "terminal  100,000 lines" in painted(host)
        assert len(list(host.screen.walk_children())) < 20
        await pilot.press("end")
        await until(pilot, lambda: "row 99999 of many" in painted(host))
        await pilot.press("home")
        await until(pilot, lambda: "row 0 of many" in painted(host))


async def test_search_walks_the_hits_and_comes_round():
    text = "\n".join("needle here" if number in {3, 500, 900} else f"row {number}" for number in range(1000))
    host = Host()
    async with host.run_test() as pilot:
        view = await opened(host, pilot, EntryView(text))
        await pilot.press("slash", *"needle", "enter")
        places = []
        for key in ("n", "n", "n", "N"):
            await until(pilot, lambda: " of 3" in painted(host))
            places.append(painted(host).split(" of 3")[0].split()[-1])
            await pilot.press(key)
        assert places == ["1", "2", "3", "1"]
        await until(pilot, lambda: view.query_one(LineView).top_line() > 800)


async def test_search_without_a_hit_says_so_and_escape_leads_back():
    host = Host()
    async with host.run_test() as pilot:
        await opened(host, pilot, EntryView("a\nb"))
        await pilot.press("slash", *"zz")
        await until(pilot, lambda: "no hits" in painted(host))
        await pilot.press("escape")
        await pilot.pause()
        assert host.results == []
        await pilot.press("escape")
        await until(pilot, lambda: host.results == [None])


async def test_y_hands_over_the_source_not_the_cells():
    host = Host()
    source = "a\tb \x1b[31mred\n[b]x[/b]"
    async with host.run_test() as pilot:
        await opened(host, pilot, EntryView(source, "[/red] title"))
        assert "[b]x[/b]" in painted(host)
        assert "[/red] title" in painted(host)
        await pilot.press("y")
        await until(pilot, lambda: host.hear(EntryView.CopyWanted))
        assert host.hear(EntryView.CopyWanted)[0].text == source


@pytest.mark.parametrize(
    ("query", "hits"),
    [("ab", [(0, 0, 2), (0, 3, 5)]), ("AB", [(0, 3, 5)]), ("", []), ("zz", [])],
)
def test_case_counts_only_when_the_query_has_a_capital(query: str, hits: list[tuple[int, int, int]]):
    assert find_all(["ab AB"], query) == hits


def test_hits_are_bounded():
    assert len(find_all(["a" * (MAX_HITS + 10)], "a")) == MAX_HITS


async def test_a_resize_keeps_the_line_at_the_top():
    text = "\n".join(f"{number} " + "word " * 30 for number in range(300))
    host = Host()
    async with host.run_test(size=(120, 30)) as pilot:
        view = await opened(host, pilot, EntryView(text, prose=True))
        lines = view.query_one(LineView)
        lines.show_line(150)
        await until(pilot, lambda: lines.top_line() > 100)
        before = lines.top_line()
        await pilot.resize_terminal(50, 30)
        await until(pilot, lambda: lines.size.width < 60)
        await pilot.pause()
        assert lines.top_line() == before
