"""What the chat does about background jobs: count, show, move, ask before they end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from support.screens import painted
from support.snapshots import Stage, StageApp

from hermes_tui.engine.types import events as ev
from hermes_tui.engine.types.jobs import JobRow
from hermes_tui.screens.chat import ChatScreen
from hermes_tui.screens.confirm import ConfirmScreen
from hermes_tui.screens.jobs import JobsScreen

RUNS = JobRow(number=1, command="npm run dev")
KEPT = JobRow(number=2, command="nohup ./serve", is_detached=True)
OVER = JobRow(number=3, command="make", state="failed", exit_code=2)


@asynccontextmanager
async def chat(*jobs: JobRow) -> AsyncIterator[Stage]:
    async with StageApp().run_test(size=(120, 40)) as pilot:
        stage = Stage(pilot)
        await stage.open()
        stage.engine.session.jobs.known = {job.number: job for job in jobs}
        await stage.play(ev.JobsChanged(jobs=jobs))
        yield stage


async def asks(stage: Stage, words: str) -> None:
    await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen), "a question")
    await stage.shows(words)


async def test_jobs_are_counted_and_listed() -> None:
    async with chat(OVER, RUNS, KEPT) as stage:
        await stage.shows("[2 jobs]")
        await stage.press("ctrl+b")
        await stage.shows("running 1 npm run dev")
        text = painted(stage.app)
        assert text.index("npm run dev") < text.index("failed  3 make")


@pytest.mark.parametrize("way", ["alt+j", "/jobs"])
async def test_the_page_opens_by_key_and_by_command(way: str) -> None:
    async with chat(RUNS) as stage:
        if way.startswith("/"):
            await stage.say(way)
        else:
            await stage.press(way)
        await stage.until(lambda: isinstance(stage.app.screen, JobsScreen))
        await stage.shows("npm run dev")
        await stage.press("escape")
        await stage.until(lambda: isinstance(stage.app.screen, ChatScreen))


async def test_a_running_command_is_moved_by_a_key_that_is_named_while_it_can_be() -> None:
    async with chat() as stage:
        jobs = stage.engine.session.jobs
        await stage.press("alt+m")
        await stage.until(lambda: jobs.asked == [("promote",)])
        await stage.until(lambda: any("No command" in note.message for note in stage.app._notifications))
        jobs.runs_command = True
        await stage.say("go")
        await stage.play(ev.TurnStarted(text="go"), ev.ToolStarted(call_id="c", name="terminal", args={}))
        await stage.shows("alt+m to the background")
        await stage.press("alt+m")
        await stage.until(lambda: len(jobs.asked) == 2)
        await stage.play(
            ev.ToolFinished(call_id="c", name="terminal", outcome="ok", result="{}"), ev.StepStarted(step=2)
        )
        await stage.shows("alt+enter steers")


async def test_leaving_asks_while_jobs_run_and_names_them() -> None:
    async with chat(RUNS, KEPT, OVER) as stage:
        left: list[bool] = []
        stage.app.leave = lambda: left.append(True)  # type: ignore[method-assign]
        await stage.press("ctrl+d")
        await asks(stage, "1 background job is running and ends with this session.")
        assert "npm run dev" in painted(stage.app) and "./serve" not in painted(stage.app)
        await stage.press("n")
        await stage.until(lambda: isinstance(stage.app.screen, ChatScreen))
        assert not left
        await stage.press("ctrl+d")
        await asks(stage, "npm run dev")
        await stage.press("y")
        await stage.until(lambda: left == [True])


async def test_what_ends_with_two_jobs_is_named_as_them() -> None:
    async with chat(RUNS, replace(RUNS, number=7)) as stage:
        await stage.press("ctrl+d")
        await asks(stage, "2 background jobs are running and end with this session.")
        assert "End them and leave" in painted(stage.app)


async def test_leaving_asks_nothing_when_only_detached_jobs_run() -> None:
    async with chat(KEPT, OVER) as stage:
        left: list[bool] = []
        stage.app.leave = lambda: left.append(True)  # type: ignore[method-assign]
        await stage.press("ctrl+d")
        await stage.until(lambda: left == [True])


async def test_another_session_asks_too_as_it_ends_this_one() -> None:
    async with chat(RUNS) as stage:
        await stage.press("ctrl+n")
        await asks(stage, "1 background job is running")
        assert "End it and go on" in painted(stage.app)
        await stage.press("n")
        await stage.until(lambda: isinstance(stage.app.screen, ChatScreen))
        await stage.shows("[1 job]")


async def test_clearing_a_draft_and_stopping_a_turn_leave_jobs_alone() -> None:
    async with chat(RUNS) as stage:
        stage.chat.composer.insert_text("abc")
        await stage.press("ctrl+c")
        await stage.until(lambda: not stage.chat.composer.value)
        await stage.say("go")
        await stage.press("escape")
        await stage.press("ctrl+c")
        assert stage.engine.session.jobs.asked == []
        assert isinstance(stage.app.screen, ChatScreen)


async def test_stopping_ends_jobs_when_asked_to() -> None:
    async with chat(RUNS, OVER) as stage:
        await stage.say("/stop jobs")
        await stage.until(lambda: stage.engine.session.jobs.asked == [("kill", 1)])


async def test_subagents_are_listed_while_they_work_and_after() -> None:
    async with chat() as stage:
        await stage.press("ctrl+b")
        started = ev.TurnStarted(text="look", agent_id="1 find the bug")
        await stage.play(started)
        await stage.shows("running 1 find the bug")
        await stage.play(
            ev.TurnStarted(text="look", agent_id="2 read the docs"),
            ev.TurnFinished(exit_reason="done", duration_s=1.0, result={}, agent_id="1 find the bug"),
            ev.TurnFinished(exit_reason="error", duration_s=1.0, result={}, agent_id="2 read the docs"),
        )
        await stage.shows("done    1 find the bug")
        await stage.shows("failed  2 read the docs")


async def test_a_live_screen_takes_the_place_of_the_one_before() -> None:
    async with chat() as stage:
        await stage.play(
            ev.TurnStarted(text="go"),
            ev.ToolStarted(call_id="c", name="terminal", args={"command": "top"}),
            ev.ToolOutput(call_id="c", text="old screen", is_screen=True),
        )
        await stage.shows("old screen")
        await stage.play(
            ev.ToolOutput(call_id="c", text="older", is_screen=True),
            ev.ToolOutput(call_id="c", text="new\nscreen [b]x[/b]", is_screen=True),
        )
        await stage.shows("screen [b]x[/b]")
        assert "old" not in painted(stage.app)
