"""The jobs page: what runs, its output as it comes, answers and ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.cells import cell_len
from support.fake_jobs import FakeJobs
from support.screens import Host, painted, until
from textual.pilot import Pilot

from hermes_tui.engine.types.jobs import JobRow
from hermes_tui.screens.confirm import ConfirmScreen
from hermes_tui.screens.entry_view import EntryView
from hermes_tui.screens.jobs import MAX_LINES, JobsScreen
from hermes_tui.widgets.job_list import job_row
from hermes_tui.widgets.line_view import LineView

NOW = 1_000_000.0
SERVER = JobRow(number=1, command="npm run dev", started_at=NOW - 125, last_line="ready on [b]3000", takes_input=True)
TESTS = JobRow(number=2, command="pytest -q", state="failed", exit_code=1, started_at=NOW - 60, ended_at=NOW - 30)


@asynccontextmanager
async def page(jobs: FakeJobs, size: tuple[int, int] = (100, 30)) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    host = Host()
    async with host.run_test(size=size) as pilot:
        host.open(JobsScreen(jobs, move_key="alt+m", clock=lambda: NOW))
        await until(pilot, lambda: isinstance(host.screen, JobsScreen) and host.screen.is_mounted)
        yield host, pilot


async def shows(host: Host, pilot: Pilot[None], words: str) -> None:
    await until(pilot, lambda: words in painted(host), words)


async def says(host: Host, pilot: Pilot[None], words: str) -> None:
    await until(pilot, lambda: any(words in note.message for note in host._notifications), words)


async def test_every_job_is_listed_with_its_state_age_and_last_line() -> None:
    async with page(FakeJobs(SERVER, TESTS)) as (host, pilot):
        await shows(host, pilot, "npm run dev")
        rows = painted(host).split("\n")
        assert "2  exit 1       30s  pytest -q" in rows[1]
        assert "1  running    2m05s  npm run dev  ready on [b]3000" in rows[2]
        assert "1 running" in rows[-1]


async def test_the_output_follows_until_the_reader_scrolls_away() -> None:
    jobs = FakeJobs(SERVER)
    jobs.texts[1] = "".join(f"line {n}\n" for n in range(100))
    async with page(jobs) as (host, pilot):
        await shows(host, pilot, "line 99")
        jobs.texts[1] += "line 100\nhalf"
        await shows(host, pilot, "half")
        jobs.texts[1] += " and whole\n"
        await shows(host, pilot, "half and whole")
        view = host.screen.query_one("#output", LineView)
        await until(pilot, lambda: view.hidden_below == 0)
        await pilot.pause()
        view.scroll_to(y=10, animate=False)
        await until(pilot, lambda: view.hidden_above == 10)
        jobs.texts[1] += "later\n"
        await until(pilot, lambda: any("later" in line.text for line in view.lines))
        assert view.hidden_above == 10
        await pilot.press("f")
        await shows(host, pilot, "later")


async def test_a_prompt_and_a_screen_are_shown_as_they_are() -> None:
    jobs = FakeJobs(SERVER, JobRow(number=2, command="top", has_terminal=True, takes_input=True))
    jobs.texts[1], jobs.partials[1] = "installing\n", "Proceed? [y/N] "
    jobs.screens[2] = "Tasks: 9 total\n\n  PID USER"
    async with page(jobs) as (host, pilot):
        await shows(host, pilot, "PID USER")
        jobs.screens[2] = "Tasks: 8 total"
        await shows(host, pilot, "Tasks: 8 total")
        assert "PID USER" not in painted(host)
        await pilot.press("down")
        await shows(host, pilot, "Proceed? [y/N]")


async def test_output_is_never_markup_and_only_its_end_is_kept() -> None:
    jobs = FakeJobs(SERVER)
    jobs.texts[1] = "x\n" * (MAX_LINES + 10) + "[red]\x1b[2Jtext\n"
    async with page(jobs) as (host, pilot):
        await shows(host, pilot, "[red]")
        view = host.screen.query_one("#output", LineView)
        assert len(view.lines) <= MAX_LINES + 1
        assert "earlier output" in view.lines[0].text
        await pilot.press("o")
        await until(pilot, lambda: isinstance(host.screen, EntryView))
        assert f"{MAX_LINES + 11:,} lines" in painted(host)


async def test_a_line_is_sent_and_more_can_follow() -> None:
    jobs = FakeJobs(SERVER)
    async with page(jobs) as (host, pilot):
        await shows(host, pilot, "npm run dev")
        await pilot.press("a", *"rs", "enter")
        await until(pilot, lambda: jobs.asked == [("answer", 1, "rs")])
        await pilot.press("q", "enter", "escape", "e")
        await until(pilot, lambda: jobs.asked[1:] == [("answer", 1, "q"), ("end_input", 1)])
        jobs.problem = "It reads no more."
        await pilot.press("a", "x", "enter")
        await says(host, pilot, "It reads no more.")


async def test_a_job_without_input_is_not_written_to() -> None:
    async with page(FakeJobs(TESTS)) as (host, pilot):
        await shows(host, pilot, "pytest")
        assert "answer" not in painted(host)
        await pilot.press("a")
        await says(host, pilot, "takes no input")


async def test_only_y_ends_a_job() -> None:
    jobs = FakeJobs(SERVER, TESTS)
    async with page(jobs) as (host, pilot):
        await shows(host, pilot, "pytest")
        await pilot.press("k")
        assert isinstance(host.screen, JobsScreen), "it has ended already"
        await pilot.press("down", "k")
        await until(pilot, lambda: isinstance(host.screen, ConfirmScreen))
        await pilot.press("enter", "n")
        await until(pilot, lambda: isinstance(host.screen, JobsScreen))
        await pilot.press("k", "y")
        await until(pilot, lambda: jobs.asked == [("kill", 1)])
        await shows(host, pilot, "ended")


async def test_the_cursor_stays_on_its_job_when_another_begins() -> None:
    jobs = FakeJobs(SERVER)
    async with page(jobs) as (host, pilot):
        await shows(host, pilot, "npm run dev")
        jobs.texts[1] = "mine\n"
        jobs.known[3] = JobRow(number=3, command="sleep 9")
        await shows(host, pilot, "sleep 9")
        await shows(host, pilot, "mine")


async def test_an_empty_page_says_how_jobs_come_about() -> None:
    async with page(FakeJobs()) as (host, pilot):
        await shows(host, pilot, "alt+m moves a running command here")
        await pilot.press("k", "a", "o", "tab", "escape")
        await until(pilot, lambda: host.results == [None])


@pytest.mark.parametrize("width", [12, 30, 60, 200])
def test_a_row_fits_its_width(width: int) -> None:
    job = JobRow(number=12, command="漢字" * 40, last_line="x" * 300, started_at=NOW)
    assert sum(cell_len(text) for text, _ in job_row(job, width, NOW)) <= width
