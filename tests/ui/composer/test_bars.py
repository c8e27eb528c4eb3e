import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.prompt_app import WidgetApp
from support.screens import until

from hermes_tui.widgets.header_bar import HeaderBar, short_folder
from hermes_tui.widgets.line_text import cells_of
from hermes_tui.widgets.spinner import Stopwatch, clock_text, spinner_frame
from hermes_tui.widgets.status_bar import StatusBar, short_count
from hermes_tui.widgets.status_bar_fields import field, fit


def text_of(bar, width):
    return "".join(text for text, _ in bar.compose_spans(width))


def busy_bar(**options) -> StatusBar:
    bar = StatusBar(clock=lambda: 0.0, animated=False, **options)
    for name, value in {
        "model": "anthropic/claude-opus-4-6",
        "effort": "high",
        "approval_mode": "ask",
        "context_tokens": 82_000,
        "context_window": 200_000,
        "cost_usd": 0.31,
        "cost_cap_usd": 5.0,
        "hints": (("esc", "interrupt"), ("ctrl+p", "palette")),
    }.items():
        bar.set_reactive(getattr(StatusBar, name), value)
    return bar


async def test_the_status_bar_gives_up_fields_by_priority_down_to_forty_columns():
    bar = busy_bar()
    app = WidgetApp(bar)
    async with app.run_test(size=(140, 10)):
        bar.start("running terminal")
        wide, middle, narrow = (text_of(bar, width) for width in (136, 78, 38))
        for part in ("claude-opus-4-6 high", "ctx 41%", "━━━━──────", "82k/200k", "$0.31 (cap $5)", "ctrl+p palette"):
            assert part in wide
        for part in ("running terminal", "claude-opus-4", "ask", "41%", "esc interrupt"):
            assert part in middle
        assert "palette" not in middle
        for part in ("00:00 running terminal", "ask", "41%"):
            assert part in narrow


@pytest.mark.parametrize("width", [0, 1, 5, 20, 38, 60, 78, 118, 200])
async def test_every_bar_fills_its_width_exactly(width):
    bar, header = busy_bar(), HeaderBar()
    app = WidgetApp(bar, header)
    async with app.run_test():
        header.folder, header.branch, header.session_title, header.open_todos = "~/漢字/proj", "main", "Fix ❤️ it", 3
        bar.start("waiting for approval")
        assert cells_of(bar.compose_spans(width)) == width
        assert cells_of(header.compose_spans(width)) == width


async def test_the_clock_runs_only_while_the_session_is_busy():
    bar = StatusBar()
    app = WidgetApp(bar)
    async with app.run_test() as pilot:
        assert not bar.ticker.is_running
        bar.start("thinking")
        assert bar.ticker.is_running
        first = text_of(bar, 60)
        await until(pilot, lambda: text_of(bar, 60) != first, "the mark moves")
        bar.stop("interrupted")
        assert not bar.ticker.is_running
        assert "interrupted" in text_of(bar, 60)


async def test_another_widget_may_share_the_timer():
    bar = StatusBar()
    app = WidgetApp(bar)
    async with app.run_test() as pilot:
        ticks: list[int] = []
        keep = ticks.append
        bar.ticker.subscribe(keep)
        bar.start()
        bar.stop()
        assert bar.ticker.is_running
        await until(pilot, lambda: len(ticks) > 1, "ticks")
        bar.ticker.unsubscribe(keep)
        assert not bar.ticker.is_running


async def test_without_animation_the_mark_stands_still():
    assert {spinner_frame(tick, animated=False) for tick in range(20)} == {"●"}
    assert {spinner_frame(tick, animated=False, plain=True) for tick in range(20)} == {"*"}
    assert len({spinner_frame(tick) for tick in range(20)}) > 1


async def test_a_tick_repaints_without_a_layout():
    bar = StatusBar()
    app = WidgetApp(bar)
    async with app.run_test() as pilot:
        await pilot.pause()
        layouts: list[object] = []
        app.screen.screen_layout_refresh_signal.subscribe(bar, layouts.append)
        bar.start("running terminal")
        bar.set_usage(context_tokens=1, context_window=2, cost_usd=3.0)
        bar.activity = "retry 2/3 in 4 s"
        await pilot.pause()
        assert layouts == []


async def test_titles_and_paths_from_outside_stay_text():
    header = HeaderBar()
    app = WidgetApp(header)
    async with app.run_test():
        header.session_title = "[bold]x[/] \x1b[2J \u202e"
        row = header.render_line(0).text
        assert "[bold]x[/]" in row
        assert "\x1b" not in row
        assert "\u202e" not in row


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (950, "950"), (1_000, "1k"), (8_240, "8.2k"), (82_000, "82k"), (999_600, "1M"), (1_234_567, "1.2M")],
)
def test_token_counts_are_short(count, text):
    assert short_count(count) == text


@pytest.mark.parametrize(("seconds", "text"), [(-5, "00:00"), (0, "00:00"), (42.9, "00:42"), (3661, "1:01:01")])
def test_durations(seconds, text):
    assert clock_text(seconds) == text


def test_a_clock_that_goes_back_never_gives_a_negative_time():
    now = [100.0]
    watch = Stopwatch(lambda: now[0])
    watch.start()
    now[0] = 50.0
    assert watch.elapsed_s == 0


@pytest.mark.parametrize(
    ("folder", "shown"),
    [
        ("/home/me", "~"),
        ("/home/me/proj", "~/proj"),
        ("/home/menu", "/home/menu"),
        ("/home/me/a/very/long/way/down/to/the/project", "~/…/way/down/to/the/project"),
    ],
)
def test_folders_are_shown_short(folder, shown):
    assert short_folder(folder, "/home/me", cells=28) == shown


@given(
    st.lists(st.tuples(st.integers(0, 9), st.lists(st.text("ab漢 ", max_size=12), min_size=1, max_size=3)), max_size=6),
    st.integers(0, 60),
)
def test_any_fields_fit_any_width(shapes, width):
    row = fit([field(priority, *forms) for priority, forms in shapes], width)
    assert cells_of(row) == width


def test_the_most_important_field_goes_last():
    fields = [field(0, "important"), field(1, "second"), field(2, "third")]
    assert "".join(text for text, _ in fit(fields, 12)).split() == ["important"]
