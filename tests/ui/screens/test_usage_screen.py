"""The usage page: plots that say what was spent, for every width and period."""

from __future__ import annotations

from datetime import date

import pytest
from support.fake_engine import FakeEngine
from support.screens import Host, painted, picture, until
from textual.pilot import Pilot

from hermes_tui.engine.types.sessions import UsageReport, UsageRow
from hermes_tui.screens.usage import UsageScreen
from hermes_tui.widgets.usage_text import Measure, bucketed, cost_words, count_words, usage_lines

TODAY = date(2026, 10, 31)


def row(label: str, tokens: int, cost: float = 0.0, unpriced: int = 0) -> UsageRow:
    return UsageRow(label=label, input_tokens=tokens, cost_usd=cost, unpriced_count=unpriced, request_count=1)


REPORT = UsageReport(
    by_day=(row("2026-10-25", 4000, 0.5), row("2026-10-31", 8000, 0.25, 1)),
    by_model=(row("anthropic/opus", 8000, 0.75), row("local/\u5343\u554f[b]", 4000, 0, 1)),
    by_folder=(row("/home/me/a/very/long/path/that/does/not/fit/anywhere/project", 9000, 0.5), row("", 3000)),
)


def drawn(report: UsageReport, width: int = 60, height: int = 4, measure: Measure = "tokens") -> list[str]:
    first = date(2026, 10, 25)
    return [
        line.text.rstrip()
        for line in usage_lines(report, width=width, height=height, measure=measure, first=first, last=TODAY)
    ]


def test_the_page_names_totals_days_models_and_folders() -> None:
    lines = drawn(REPORT)
    assert lines[:3] == [
        "12.0k tokens  $0.75+  2 requests",
        "12.0k in, 0 from cache, 0 to cache, 0 out",
        "Requests without a known price: 1; the cost leaves them out.",
    ]
    chart = lines[4:9]
    assert [line[:8].strip() for line in chart] == ["8.0k", "", "4.0k", "", ""]
    assert [line[8:].split() for line in chart] == [["█" * 5], ["█" * 5], ["█" * 5] * 2, ["█" * 5] * 2,
                                                    ["10-25", "10-31"]]  # fmt: skip
    assert chart[0].rstrip().endswith("█") and len(chart[0]) == len(chart[2])
    assert lines[10:12] == ["By model", f"anthropic/opus  {'█' * 29}  8.0k    $0.75"]
    assert lines[12].startswith("local/千問[b]   ██") and lines[12].endswith("4.0k  unknown")
    assert lines[14] == "By folder" and "…" in lines[15] and "project  █" in lines[15]
    assert lines[16].startswith("(none) ")


@pytest.mark.parametrize("width", [10, 24, 38, 60, 118, 200])
@pytest.mark.parametrize("measure", ["tokens", "cost"])
def test_no_line_is_wider_than_the_page(width: int, measure: Measure) -> None:
    from rich.cells import cell_len

    plots = drawn(REPORT, width, measure=measure)[4:]
    assert all(cell_len(line) <= max(width, 40) for line in plots)


def test_many_days_share_columns_and_none_is_lost() -> None:
    rows = [row(date.fromordinal(TODAY.toordinal() - back).isoformat(), 10) for back in range(100)]
    first = date.fromordinal(TODAY.toordinal() - 99)
    buckets = bucketed(rows, "tokens", first, TODAY, 30)
    assert len(buckets) == 25 and sum(bucket.value for bucket in buckets) == 1000
    assert (buckets[0].first, buckets[-1].last) == (first, TODAY)


def test_days_without_requests_are_empty_columns_and_little_is_still_seen() -> None:
    report = UsageReport(by_day=(row("2026-10-25", 1), row("2026-10-31", 1_000_000)))
    bottom = drawn(report)[5]
    assert "\u2581" in drawn(report)[6] and "\u2581" not in bottom


def test_of_many_models_the_largest_are_drawn_and_the_rest_summed() -> None:
    report = UsageReport(by_day=REPORT.by_day, by_model=tuple(row(f"m{n:02}", 100 - n) for n in range(30)))
    lines = drawn(report)
    bars = lines[lines.index("By model") + 1 :][:12]
    assert bars[0].startswith("m00") and bars[-1].startswith("19 others")


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0"), (999, "999"), (1000, "1.0k"), (99_900, "99.9k"), (250_000, "250k"), (4.1e6, "4.1M")]
)
def test_counts_in_words(count: float, words: str) -> None:
    assert count_words(count) == words


@pytest.mark.parametrize(
    ("cost", "unpriced", "words"), [(0, 0, "$0.00"), (0, 3, "unknown"), (1.5, 0, "$1.50"), (1234.5, 1, "$1,234.50+")]
)
def test_costs_in_words(cost: float, unpriced: int, words: str) -> None:
    assert cost_words(row("x", 1, cost, unpriced)) == words


async def opened(host: Host, pilot: Pilot[None], engine: FakeEngine, period: str = "") -> UsageScreen:
    screen = UsageScreen(engine, period, today=lambda: TODAY)  # type: ignore[arg-type]
    host.open(screen)
    await until(pilot, lambda: host.screen is screen and "By folder" in painted(host))
    return screen


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_periods_and_measures_are_switched_by_keys(size: tuple[int, int]) -> None:
    host, engine = Host(), FakeEngine()
    engine.spent = REPORT
    async with host.run_test(size=size) as pilot:
        screen = UsageScreen(engine, "7", today=lambda: TODAY)  # type: ignore[arg-type]
        host.open(screen)
        await until(pilot, lambda: "tokens" in painted(host))
        assert "last 7 days" in painted(host)
        await pilot.press("tab")
        await until(pilot, lambda: "last 30 days" in painted(host))
        await pilot.press("shift+tab", "left")
        await until(pilot, lambda: "all time" in painted(host))
        assert engine.asked("usage") == [("2026-10-25",), ("2026-10-02",), ("2026-10-25",), ("",)]
        await pilot.press("c")
        await until(pilot, lambda: "$0.50" in painted(host))
        picture(host, f"usage-{size[0]}")
        await pilot.press("pagedown", "escape")
        await until(pilot, lambda: host.results == [None])


async def test_an_empty_time_says_so() -> None:
    host, engine = Host(), FakeEngine()
    async with host.run_test() as pilot:
        host.open(UsageScreen(engine, "nonsense", today=lambda: TODAY))  # type: ignore[arg-type]
        await until(pilot, lambda: "Nothing was spent" in painted(host))
        assert "last 30 days" in painted(host)
