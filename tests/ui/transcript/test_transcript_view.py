import random
from contextlib import asynccontextmanager

import pytest
from support.screens import until
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from hermes_tui.theming import load_theme
from hermes_tui.widgets.entries import (
    AssistantEntry,
    DividerEntry,
    NoticeEntry,
    ReasoningEntry,
    ToolEntry,
    UserEntry,
)
from hermes_tui.widgets.rendering.markdown import warm_up
from hermes_tui.widgets.rendering.rows import Row
from hermes_tui.widgets.transcript import Greeting, Transcript


class Reader(App[None]):
    CSS = "Transcript { height: 1fr; }"

    def __init__(self, **options):
        super().__init__()
        self.options = options
        self.heard = []

    def compose(self) -> ComposeResult:
        yield Transcript(clock=lambda: 5.0, **self.options)

    def on_mount(self) -> None:
        for name in ("hermes-dark", "hermes-light"):
            self.register_theme(load_theme(name))
        self.theme = "hermes-dark"

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def on_transcript_older_wanted(self, event) -> None:
        self.heard.append(event)

    def on_transcript_entry_activated(self, event) -> None:
        self.heard.append(event)

    def on_transcript_copy_requested(self, event) -> None:
        self.heard.append(event)

    def on_transcript_link_clicked(self, event) -> None:
        self.heard.append(event)


@asynccontextmanager
async def reading(*entries, size=(60, 12), **options):
    app = Reader(**options)
    async with app.run_test(size=size) as pilot:
        for entry in entries:
            app.transcript.append(entry)
        await pilot.pause()
        yield app, app.transcript, pilot


def shown(transcript):
    return [row.text[2:-2].rstrip() for row in transcript.render_lines(transcript.size.region)]


def users(count, start=0):
    return [UserEntry(f"message {i}") for i in range(start, start + count)]


def answers(count, seed=1):
    rng = random.Random(seed)
    texts = []
    for i in range(count):
        kinds = [
            "- item\n- other\n",
            "```python\nx = 1\ny = 2\n```",
            "words " * rng.randrange(4, 60),
            "| a | b |\n|--|--|\n| 1 | 2 |",
            "\u6f22\u5b57" * rng.randrange(2, 60),
            f"## part {i}",
        ]
        parts = [f"answer {i}", *rng.choices(kinds, k=rng.randrange(5))]
        texts.append("\n\n".join(parts))
    return [AssistantEntry(text) for text in texts]


async def test_the_newest_entry_is_seen_and_one_blank_row_separates_entries():
    async with reading(UserEntry("hello"), AssistantEntry("world\n\nagain")) as (_, transcript, _pilot):
        assert shown(transcript)[:6] == ["hello", "", "world", "", "again", ""]


async def test_brackets_are_never_markup():
    texts = ["[/]", "Use [/b] and [/INST]", "arr[a=b:"]
    tool = ToolEntry("1", "[/x]")
    tool.start({"path": "[/path/to]"})
    async with reading(*map(UserEntry, texts), NoticeEntry("error", '[x y="'), tool, size=(60, 20)) as (
        _,
        transcript,
        _p,
    ):
        text = "\n".join(shown(transcript))
        assert all(part in text for part in [*texts, '[x y="', "[/x]  [/path/to]"])


async def test_only_changed_rows_are_refreshed_while_streaming():
    warm_up()
    entry = AssistantEntry()
    async with reading(*users(3), entry, size=(60, 24)) as (_, transcript, pilot):
        entry.append("first line")
        transcript.changed(entry)
        await pilot.pause()
        regions = []
        refresh = transcript.refresh

        def watch(*args, **options):
            assert not options.get("layout")
            regions.extend(args)
            return refresh(*args, **options)

        transcript.refresh = watch
        entry.append(" grows")
        transcript.changed(entry)
        await pilot.pause()
        assert [(region.y, region.height) for region in regions] == [(6, 1)]


async def test_scrolling_up_lets_go_of_the_end_and_end_takes_hold_again():
    async with reading(*users(40)) as (_, transcript, pilot):
        assert transcript.anchored
        transcript.focus()
        await pilot.press("pageup")
        assert not transcript.anchored
        before = shown(transcript)[:-1]
        entry = AssistantEntry()
        transcript.append(entry)
        entry.append("one\n\ntwo")
        transcript.changed(entry)
        await pilot.pause()
        assert shown(transcript)[:-1] == before
        assert transcript.new_lines == 4
        assert shown(transcript)[-1].endswith("4 new lines \u00b7 end")
        await pilot.press("end")
        await pilot.pause()
        assert transcript.anchored and transcript.new_lines == 0
        assert shown(transcript)[-1] == "two"


async def test_scrolling_down_to_the_end_takes_hold_of_it():
    async with reading(*users(40)) as (_, transcript, pilot):
        transcript.scroll_up()
        await pilot.pause()
        assert not transcript.anchored
        transcript.scroll_down()
        await pilot.pause()
        assert transcript.anchored


async def test_clicking_the_pill_goes_to_the_end():
    async with reading(*users(40)) as (_, transcript, pilot):
        transcript.scroll_up()
        transcript.append(UserEntry("new"))
        await pilot.pause()
        await pilot.click(Transcript, offset=(transcript.size.width - 6, 11))
        await pilot.pause()
        assert transcript.anchored


@pytest.mark.parametrize("seed", range(6))
async def test_the_readers_row_never_moves(seed):
    rng = random.Random(seed)
    live = AssistantEntry()
    async with reading(*answers(60, seed), live, size=(50, 15)) as (_, transcript, pilot):
        for _ in range(40):
            before = list(transcript._window)
            match rng.randrange(6):
                case 0 | 1:  # scrolling moves rows by what was asked for, whatever was guessed
                    step = rng.choice([-9, -4, -1, 1, 3])
                    top = transcript.scroll_offset.y
                    transcript.scroll_to(y=top + step)
                    after = [row.text for row, *_ in transcript._window]
                    if not transcript.anchored and transcript._top > 0:
                        old = [row.text for row, *_ in before]
                        assert (after[-step:] == old[:step]) if step < 0 else (after[:-step] == old[step:])
                    continue
                case 2:
                    transcript.prepend(answers(3, rng.randrange(99)))
                case 3:
                    live.append("more words\n\n- and a list\n")
                    transcript.changed(live)
                case 4:
                    entry = rng.choice(transcript.entries[: max(1, before[0][1].position)])
                    if entry is not before[0][1]:
                        entry.append("\n\nan older entry grew")
                        transcript.changed(entry)
                case 5:
                    transcript.append(UserEntry("something new"))
            await pilot.pause()
            if not transcript.anchored:
                assert [row.text for row, *_ in transcript._window[:8]] == [row.text for row, *_ in before[:8]]


async def test_scrolling_reaches_the_first_message_through_guessed_heights():
    async with reading(*answers(300, 3), size=(50, 15)) as (_, transcript, pilot):
        for _ in range(2_000):
            if transcript.scroll_offset.y == 0:
                break
            transcript.scroll_page_up()
        await pilot.pause()
        assert shown(transcript)[0] == "answer 0"
        transcript.action_scroll_end()
        transcript.action_scroll_home()
        await pilot.pause()
        assert shown(transcript)[0] == "answer 0"


async def test_older_entries_are_asked_for_once_and_arrive_without_moving_the_reader():
    async with reading(*users(30)) as (app, transcript, pilot):
        transcript.focus()
        await pilot.press("home")
        await pilot.press("up")
        await pilot.pause()
        assert len(app.heard) == 1
        top = shown(transcript)[:8]
        transcript.prepend(users(20, -20))
        await pilot.pause()
        assert shown(transcript)[:8] == ["", *top[:7]] or shown(transcript)[:8] == top
        await pilot.press("home")
        await pilot.pause()
        assert shown(transcript)[0] == "message -20"
        assert len(app.heard) == 2


async def test_entries_can_be_replaced_removed_and_inserted():
    one, two, three = users(3)
    async with reading(one, two, three) as (_, transcript, pilot):
        transcript.replace(two, UserEntry("other"))
        transcript.insert_before(three, [DividerEntry("here")])
        transcript.remove(one)
        await pilot.pause()
        text = [line for line in shown(transcript) if line]
        assert text[0] == "other" and text[1].startswith("\u2500\u2500 here") and text[2] == "message 2"
        transcript.clear()
        await pilot.pause()
        assert not any(shown(transcript)) and transcript.anchored


async def test_the_cursor_walks_entries_and_own_messages():
    entries = [UserEntry("q1"), AssistantEntry("a1"), UserEntry("q2"), AssistantEntry("word\n\n" * 30)]
    async with reading(*entries) as (app, transcript, pilot):
        assert transcript.move_cursor(-1) is entries[3]
        assert transcript.move_cursor(-1) is entries[2]
        await pilot.pause()
        assert "q2" in shown(transcript)
        assert transcript.move_cursor(-1, user_only=True) is entries[0]
        await pilot.pause()
        assert shown(transcript)[0] == "q1"
        transcript.focus()
        await pilot.press("y")
        assert app.heard[-1].text == "q1"
        await pilot.press("right_square_bracket")
        assert transcript.cursor is entries[2]


def _tool(output="line 1\nline 2", outcome="ok"):
    tool = ToolEntry("1", "terminal")
    tool.start({"command": "ls"}, {"kind": "terminal", "verb": "terminal", "target": "ls"})
    tool.finish(outcome, {"output": output, "exit_code": 0}, "{}", 0.2)
    return tool


async def test_a_click_on_a_header_opens_and_closes():
    tool = _tool()
    async with reading(tool) as (app, transcript, pilot):
        assert shown(transcript)[1] == ""
        await pilot.click(Transcript, offset=(10, 0))
        await pilot.pause()
        assert shown(transcript)[1] == "\u2502 line 1"
        assert app.heard[-1].entry is tool
        transcript.focus()
        await pilot.press("enter")
        await pilot.pause()
        assert shown(transcript)[1] == ""


async def test_opening_keeps_the_rows_above_where_they_are():
    tool = _tool("\n".join(f"out {i}" for i in range(50)))
    async with reading(*users(10), tool) as (_, transcript, pilot):
        header = next(y for y, line in enumerate(shown(transcript)) if "terminal" in line)
        above = shown(transcript)[:header]
        await pilot.click(Transcript, offset=(10, header))
        await pilot.pause()
        assert shown(transcript)[:header] == above
        assert not transcript.anchored


async def test_detail_and_reasoning_levels_apply_to_all_entries():
    reasoning = ReasoningEntry("deep thoughts")
    reasoning.finish(2.0)
    async with reading(reasoning, _tool()) as (_, transcript, pilot):
        assert "thought 2.0s \u00b7 deep thoughts" in shown(transcript)
        transcript.set_reasoning_level("hidden")
        await pilot.pause()
        assert not any("thought" in line for line in shown(transcript))
        transcript.set_reasoning_level("full")
        transcript.set_detail("full")
        await pilot.pause()
        assert {"\u2502 deep thoughts", "\u2502 line 1"} <= set(shown(transcript))
        assert transcript.detail == "full"


async def test_find_counts_everything_and_walks_the_hits():
    entries = [*answers(80, 5), AssistantEntry("a needle and a NEEDLE"), *answers(80, 6), _tool("in a needle stack")]
    async with reading(*entries) as (_, transcript, pilot):
        assert transcript.find("needle") == 3
        assert transcript.find_next() in {1, 2, 3}
        seen = set()
        for _ in range(3):
            seen.add(transcript.find_next())
            await pilot.pause()
            assert any("needle" in line.lower() for line in shown(transcript))
        assert seen == {1, 2, 3}
        assert transcript.find("nowhere") == 0 and transcript.find_next() == 0
        assert transcript.find("") == 0


async def test_hits_are_marked_on_the_screen():
    async with reading(AssistantEntry("a **needle** here")) as (_, transcript, pilot):
        transcript.find("NEEDLE")
        await pilot.pause()
        row = transcript.render_lines(transcript.size.region)[0]
        mark = transcript._column.frame.style(ground="mark").bgcolor
        assert [s.text for s in row if s.style.bgcolor == mark] == ["needle"]


async def test_a_selection_copies_text_as_it_was_written():
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda"
    async with reading(UserEntry("hello"), AssistantEntry(f"{words}\n\n- item"), size=(40, 12)) as (
        app,
        transcript,
        pilot,
    ):
        app.screen.selections = {transcript: Selection(Offset(2, 0), Offset(30, 5))}
        await pilot.pause()
        assert app.screen.get_selected_text() == f"hello\n\n{words}\n\n\u2022 item"
        app.screen.clear_selection()
        app.screen.selections = {transcript: Selection(None, None)}
        assert app.screen.get_selected_text().startswith("hello\n\nalpha")


async def test_a_drag_selects_across_entries():
    async with reading(UserEntry("hello"), AssistantEntry("brave world")) as (app, _transcript, pilot):
        await pilot.mouse_down(Transcript, offset=(4, 0))
        await pilot.hover(Transcript, offset=(6, 2))
        await pilot.mouse_up(Transcript, offset=(6, 2))
        await pilot.pause()
        assert app.screen.get_selected_text() == "llo\n\nbrave"


async def test_a_selection_stays_on_its_words_while_things_above_change():
    async with reading(*users(30)) as (app, transcript, pilot):
        line = transcript._top - transcript._origin
        app.screen.selections = {transcript: Selection(Offset(0, line), Offset(60, line + 2))}
        text = app.screen.get_selected_text()
        transcript.prepend(answers(10))
        transcript.append(UserEntry("new"))
        await pilot.pause()
        assert text and app.screen.get_selected_text() == text


async def test_two_clicks_take_a_word():
    async with reading(AssistantEntry("see src/sync.py now")) as (app, _transcript, pilot):
        await pilot.click(Transcript, offset=(8, 0), times=2)
        await pilot.pause()
        assert app.screen.get_selected_text() == "src/sync.py"


async def test_links_and_code_ask_instead_of_acting():
    text = "[docs](https://x.example)\n\n```python\na = 1\nb = 2\n```"
    async with reading(AssistantEntry(text)) as (app, transcript, pilot):
        await pilot.click(Transcript, offset=(3, 0))
        await pilot.pause()
        assert app.heard[-1].url == "https://x.example"
        await pilot.click(Transcript, offset=(transcript.size.width - 5, 2))
        await pilot.pause()
        assert app.heard[-1].text == "a = 1\nb = 2"


async def test_a_theme_change_draws_only_what_is_seen_again():
    async with reading(*answers(200)) as (app, transcript, pilot):
        before = transcript.render_lines(transcript.size.region)[0]
        total = transcript._column.total
        app.theme = "hermes-light"
        await pilot.pause()
        after = transcript.render_lines(transcript.size.region)[0]
        assert after.text == before.text and list(after) != list(before)
        assert transcript._column.total == total


async def test_a_resize_keeps_the_reader_at_the_same_entry():
    async with reading(*answers(100)) as (_, transcript, pilot):
        transcript.scroll_to(y=transcript.max_scroll_y // 2)
        await pilot.pause()
        entry = transcript._window[0][1]
        await pilot.resize_terminal(44, 20)
        await pilot.pause()
        assert transcript._window[0][1] is entry
        assert all(row.cell_length == 44 for row in transcript.render_lines(transcript.size.region))
        await pilot.resize_terminal(12, 4)
        await pilot.pause()
        assert all(row.cell_length == 12 for row in transcript.render_lines(transcript.size.region))


async def test_the_clock_runs_only_while_something_visible_moves():
    running = ToolEntry("1", "terminal")
    running.start({"command": "sleep 9"})
    async with reading(running) as (_, transcript, pilot):
        assert transcript._timer._active.is_set()
        running.finish("ok", {}, "{}", 1.0)
        transcript.changed(running)
        await pilot.pause()
        assert not transcript._timer._active.is_set()


async def test_rows_of_entries_far_away_are_forgotten():
    async with reading(*answers(500), size=(60, 20)) as (_, transcript, pilot):
        transcript.action_scroll_home()
        for _ in range(1_500):
            if transcript.anchored:
                break
            transcript.scroll_page_down()
        await pilot.pause()
        assert sum(entry.is_measured for entry in transcript.entries) < 200


async def test_dragging_the_thumb_scrolls():
    async with reading(*users(100)) as (_, transcript, pilot):
        transcript.scroll_up()
        await pilot.pause()
        await pilot.mouse_down(Transcript, offset=(transcript.size.width - 1, 0))
        await pilot.pause()
        assert transcript.scroll_offset.y == 0
        await pilot.mouse_up(Transcript, offset=(transcript.size.width - 1, 0))


async def test_a_burst_is_cut_over_several_frames():
    entry = AssistantEntry()
    async with reading(entry) as (_, transcript, pilot):
        entry.append("# start\n\n")
        transcript.changed(entry)
        await pilot.pause()
        entry.append("- an item of a long list\n" * 4_000 + "\nthe end")
        entry.finish(None)
        transcript.changed(entry)
        for _ in range(500):
            await pilot.pause()
            if not entry.is_behind:
                break
        await pilot.pause()
        assert shown(transcript)[-1] == "the end"


def test_a_row_is_a_strip_that_makes_its_caches_late():
    from rich.segment import Segment
    from textual.strip import Strip

    segments = [Segment("abc"), Segment("\u6f22\u5b57")]
    row, strip = Row(segments, 7), Strip(segments, 7)
    assert set(Strip.__slots__) == {*(name for name in Strip.__slots__ if hasattr(row, name))}
    assert row.crop(1, 5) == strip.crop(1, 5)
    assert row.divide([3, 7]) == strip.divide([3, 7])
    assert row == strip and row.link_ids == strip.link_ids and row.text == strip.text
    assert row.apply_offsets(0, 3)._segments == strip.apply_offsets(0, 3)._segments


async def test_no_resize_takes_the_view_off_the_end_it_follows():
    table = "| a | b |\n|---|---|\n" + "".join(f"| {n:03} | some text {n:03} |\n" for n in range(200))
    async with reading(AssistantEntry(table), size=(120, 3)) as (_, transcript, pilot):
        for size in ((20, 40), (140, 2), (9, 30), (1, 1), (100, 30)):
            await pilot.resize_terminal(*size)
            assert transcript.anchored
        assert "some text 199" in shown(transcript)[-1]


async def test_an_empty_transcript_greets_until_the_first_entry():
    async with reading(size=(60, 8)) as (_app, transcript, pilot):
        transcript.greeting = Greeting("hello", (("f1", "help"), ("ctrl+p", "actions")))
        await pilot.resize_terminal(60, 9)
        await until(pilot, lambda: any(shown(transcript)))
        words = [row.split() for row in shown(transcript) if row]
        assert words == [["hello"], ["f1", "help"], ["ctrl+p", "actions"]]
        transcript.append(UserEntry("first"))
        await pilot.pause()
        assert [row for row in shown(transcript) if row] == ["first"]


@pytest.mark.parametrize(("height", "keys"), [(1, 0), (4, 0), (5, 1), (40, 2)])
async def test_a_greeting_leaves_keys_out_where_rows_are_few(height, keys):
    async with reading(size=(12, height)) as (_app, transcript, pilot):
        transcript.greeting = Greeting("hello", (("f1", "help"), ("ctrl+p", "actions")))
        await pilot.resize_terminal(13, height)
        await until(pilot, lambda: sum(map(bool, shown(transcript))) == 1 + keys)
        assert len(shown(transcript)) == height


async def test_a_hit_in_a_card_that_turns_out_taller_is_scrolled_to():
    diff = "@@ -1,40 +1,40 @@\n" + "".join(f" line {number}\n" for number in range(12)) + "+needle\n"
    card = ToolEntry("c", "patch")
    card.start({}, {"kind": "diff", "target": "a.txt", "diff": diff})
    card.finish("ok", {}, "{}")
    async with reading(*users(30), card, *users(7, 30), size=(60, 12)) as (_app, transcript, pilot):
        assert transcript.find("needle") == 1
        assert transcript.find_next() == 1
        await pilot.pause()
        assert any("needle" in row for row in shown(transcript))
