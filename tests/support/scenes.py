"""Scenes for pictures: each leads the app to one state and returns when that state is on the screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from support import story
from support.fake_jobs import FakeJobs
from support.snapshots import NOW, Stage

from hermes_tui.engine.types import events as ev
from hermes_tui.engine.types.choices import TrustItem, TrustRequest
from hermes_tui.engine.types.models import ConnectionCheck, ProviderRow
from hermes_tui.engine.types.requests import ApprovalDecision, ClarifyRequest
from hermes_tui.screens.approval import ApprovalScreen
from hermes_tui.screens.approval_guard import Pacing
from hermes_tui.screens.approval_modal import GuardedModal
from hermes_tui.screens.changes import ChangesScreen
from hermes_tui.screens.clarify import ClarifyScreen
from hermes_tui.screens.jobs import JobsScreen
from hermes_tui.screens.model_picker import ModelPickerScreen
from hermes_tui.screens.sessions import SessionsScreen
from hermes_tui.screens.trust import TrustScreen
from hermes_tui.screens.undo import Purpose, UndoScreen
from hermes_tui.screens.welcome import WelcomeScreen
from hermes_tui.widgets.command_view import CommandView
from hermes_tui.widgets.countdown import Countdown
from hermes_tui.widgets.fuzzy_list import FuzzyList
from hermes_tui.widgets.preview import Preview

Scene: TypeAlias = Callable[[Stage], Awaitable[None]]

CURRENT = "20260314-000001-aaaa"
"""The open session among :func:`support.story.session_rows`."""


# The chat


async def empty(stage: Stage) -> None:
    """A new session."""
    await stage.open()


async def begin(stage: Stage) -> None:
    """A session that has a title, and the question of the story."""
    await stage.open(title="Fix the flaky sync test", cost_usd=0.24, context_tokens=71_900)
    await stage.say(story.ASKED)


async def thinking(stage: Stage) -> None:
    """The model reasons."""
    await begin(stage)
    await stage.play(*story.asked(), ev.ReasoningDelta(text=story.REASONING))
    stage.wait(3.4)
    await stage.play(ev.ReasoningDelta(text=" So the first flush has to be made early."))


async def running(stage: Stage) -> None:
    """A command runs, and messages wait."""
    await begin(stage)
    await stage.play(
        *story.asked(), *story.thought(), *story.failing_tests(), *story.search(),
        ev.TextDelta(text="Nobody flushes before the timer does. I run it under load to be sure."),
        story.started("c5", "terminal", {"command": "pytest -q tests/test_sync.py --count 200 -n 8"}),
    )  # fmt: skip
    stage.wait(42)
    await stage.say("When that is green, also run the whole suite.")
    await stage.say("And write a line for the changelog.")
    await stage.play(ev.ToolOutput(call_id="c5", text="bringing up nodes...\n........................... [ 13%]\n"))


async def whole_turn(stage: Stage) -> None:
    """A turn from the question to the answer."""
    await begin(stage)
    stage.wait(74)
    await stage.play(
        *story.asked(), *story.thought(), *story.failing_tests(), *story.search(), *story.plan(), *story.patch(),
        *story.passing_tests(), ev.TextDelta(text=story.ANSWER), story.spent(), story.finished(),
    )  # fmt: skip


async def troubles(stage: Stage) -> None:
    """Everything that can go wrong in a turn, and the person's answers."""
    clarify = {"question": "Flush always, or behind a setting?", "choices": ["always", "setting"]}
    denied = ApprovalDecision(choice="deny", message="keep it, I still need the wheel")
    await begin(stage)
    await stage.play(
        *story.asked(),
        ev.RequestRetrying(attempt=2, max_attempts=5, wait_s=4, reason="The provider is overloaded (529)."),
        ev.FallbackUsed(model="gpt-5.2", provider="openai", reason="anthropic is overloaded"),
        *story.thought(),
        *story.called("c8", "clarify", clarify, {"ok": True, "answer": "Always flush the first record"}),
        ev.Notice(level="error", text="The stream broke after 812 tokens.", hint="/retry asks again.", kind="stream"),
        story.started("c9", "terminal", {"command": "rm -rf build"}),
        ev.ApprovalResolved(request_id="r", call_ids=("c9",), decision=denied),
        ev.ToolFinished(call_id="c9", name="terminal", outcome="denied", result='{"ok": false, "error": "denied"}'),
        ev.TextDelta(text="Then I leave the folder alone and only"),
        ev.TurnInterrupted(reason="user"),
        story.spent(),
        story.finished(),
    )  # fmt: skip


async def details(stage: Stage) -> None:
    """All of every card."""
    await whole_turn(stage)
    stage.chat.transcript.set_detail("full")
    await stage.drawn()


async def web_and_script(stage: Stage) -> None:
    """Pages that were read and a script that called tools."""
    await begin(stage)
    await stage.play(*story.asked(), *story.thought(), *story.looked_up(), *story.scripted(), story.finished())


async def web_and_script_in_full(stage: Stage) -> None:
    """The same with everything open."""
    await web_and_script(stage)
    stage.chat.transcript.set_detail("full")
    await stage.drawn()


async def panel(stage: Stage) -> None:
    """The side panel beside a whole turn."""
    await whole_turn(stage)
    await stage.play(story.files_changed())
    await stage.press("ctrl+b")
    await stage.shows("Files changed" if stage.app.size.height > 20 else "Todos")
    await stage.drawn()


async def own_command(stage: Stage) -> None:
    """The person's own command has run, a note was kept, and the next command is being typed."""
    await stage.open(title="Fix the flaky sync test", cost_usd=0.24, context_tokens=71_900)
    command = "git log --oneline -3"
    output = "f3a1c07 Flush the first record at once\n91be2d4 Name the timer's thread\n0c44e19 Version 0.4.2\n"
    result = {"ok": True, "exit_code": 0, "output": output, "cwd": "/work", "duration_s": 0.02}
    await stage.play(
        ev.TurnStarted(text=f"!{command}", is_command=True, at=NOW),
        *story.called("c1", "terminal", {"command": command}, result),
        story.finished(),
        ev.Notice(
            level="info",
            text="Kept in MEMORY.md (24 of 2,200 characters): CI has four slow cores",
            hint="Sessions that begin later know it. /forget takes it back.",
            kind="memory",
        ),
    )
    stage.chat.composer.insert_text("!git show --stat")
    await stage.drawn()


TOP = """top - 09:41:30 up 12 days,  2:11,  1 user,  load average: 0.42, 0.31, 0.28
Tasks: 214 total,   1 running, 213 sleeping,   0 stopped,   0 zombie
%Cpu(s):  3.1 us,  0.8 sy,  0.0 ni, 95.9 id,  0.1 wa,  0.0 hi,  0.1 si
MiB Mem :  15843.2 total,   8120.4 free,   4211.9 used,   3510.9 buff/cache

    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   4711 ada       20   0  984312  98120  40960 S   6.6   0.6   1:12.40 node
   4802 ada       20   0  412560  61004  22016 S   1.3   0.4   0:08.11 pytest"""


async def jobs_in_chat(stage: Stage) -> None:
    """A server runs in the background, an interpreter was asked, and a full-screen program is shown live."""
    await begin(stage)
    server = {"command": "npm run dev", "background": True, "watch": ["ready"]}
    up = {"ok": True, "job": 1, "state": "running", "pid": 4711, "cwd": "/work", "output": "VITE v7 ready in 412 ms\n"}
    asked = {"action": "submit", "job": 2, "data": "timer.interval_s * 1000"}
    answer = {"ok": True, "job": 2, "state": "running", "output": "", "cursor": 0, "screen": ">>> timer\n250.0\n>>>"}
    await stage.play(
        *story.asked(),
        ev.TextDelta(text="I start the server and look at the timer in it."),
        *story.called("c1", "terminal", server, up),
        *story.called("c2", "process", asked, answer),
        ev.JobsChanged(jobs=story.JOBS),
        ev.Notice(level="info", text="Job 1 wrote: ready on http://127.0.0.1:5173", hint="npm run dev", kind="job"),
        story.started("c3", "terminal", {"command": "top", "pty": True, "timeout_s": 20}),
    )
    stage.wait(4)
    await stage.play(ev.ToolOutput(call_id="c3", text=TOP, is_screen=True))


def jobs(*keys: str) -> Scene:
    """Return the scene of the jobs page."""

    async def scene(stage: Stage) -> None:
        await begin(stage)
        known = FakeJobs(*story.JOBS)
        known.texts |= story.JOB_OUTPUT
        known.partials[3] = "Overwrite vite.config.ts? (y/N) "
        await stage.show(JobsScreen(known, move_key="alt+m", clock=lambda: NOW))
        await stage.press(*keys)
        await stage.shows("Overwrite" if "a" in keys else "hmr update")
        await stage.drawn()

    return scene


async def queue_focused(stage: Stage) -> None:
    """The queue is edited."""
    await running(stage)
    await stage.press("shift+tab")
    await stage.shows("enter edit")


# Questions


async def _asked(stage: Stage, screen: GuardedModal[Any], keys: Sequence[str], says: str = "ready") -> None:
    await stage.idle()  # what lies below is drawn
    await stage.show(screen)
    await stage.until(lambda: screen._guard.next_change_s(stage.dialog_clock.now) is not None, "the dialog is painted")
    stage.dialog_clock.advance(1)
    for countdown in screen.query(Countdown):
        countdown.refresh()
    await stage.until(lambda: screen.armed, "the dialog takes answers")
    await stage.shows(says)
    await stage.press(*keys)
    await stage.idle()


def _pacing(stage: Stage) -> Pacing:
    return Pacing(arm_s=0.01, burst_s=0, clock=stage.dialog_clock)


def approval(kind: str, *keys: str) -> Scene:
    """Return the scene of an approval over a running turn.

    Args:
        kind: Which of :data:`support.story.APPROVALS`.
        keys: Pressed once it takes answers.
    """

    async def scene(stage: Stage) -> None:
        await running(stage)
        asked_at = stage.dialog_clock.now - 12
        screen = ApprovalScreen(story.APPROVALS[kind], asked_at=asked_at, pacing=_pacing(stage))
        await _asked(stage, screen, keys)
        if story.APPROVALS[kind].diff:
            await stage.until(lambda: screen.query_one(CommandView).is_coloured, "the diff in colours")
            await stage.idle()

    return scene


async def clarify(stage: Stage) -> None:
    """A question with choices."""
    await running(stage)
    request = ClarifyRequest(
        request_id="q", call_id="c",
        question="Flushing the first record at once costs 0.2 ms for each writer. Is that acceptable, or should it be "
        "a setting?",
        choices=("Always flush the first record", "A setting, off by default", "A setting, on by default"),
    )  # fmt: skip
    await _asked(stage, ClarifyScreen(request, pacing=_pacing(stage)), ["down"])


async def clarify_in_words(stage: Stage) -> None:
    """A question that is answered in words."""
    await running(stage)
    request = ClarifyRequest(request_id="q", call_id="c", question="What should the release be called?")
    await _asked(stage, ClarifyScreen(request, pacing=_pacing(stage)), [*"Fresnel"], says="Type an answer")


async def trust(stage: Stage) -> None:
    """A folder that brings instructions."""
    await stage.open()
    folder = Path.home() / "src/lighthouse"
    text = "# Lighthouse\n\n- Run `make check` before you are done.\n- Never touch `vendor/`.\n"
    item = TrustItem(kind="instructions", path=str(folder / "AGENTS.md"), digest="d", text=text, size_bytes=len(text))
    await _asked(stage, TrustScreen(TrustRequest(folder=str(folder), items=(item,)), pacing=_pacing(stage)), [])


async def leaving(stage: Stage) -> None:
    """Leaving while a turn runs."""
    await running(stage)
    await stage.press("ctrl+d")
    await stage.shows("A turn is running")


# Lists


def sessions(*keys: str, query: str = "") -> Scene:
    """Return the scene of the session browser.

    Args:
        keys: Pressed once the first rows are there.
        query: What is searched.
    """

    async def scene(stage: Stage) -> None:
        await begin(stage)
        stage.engine.sessions = story.session_rows()
        stage.engine.messages = {
            row.id: story.stored_messages() for row in stage.engine.sessions if not query or row.cwd.endswith("house")
        }
        cwd = str(Path.home() / "src/lighthouse")
        screen = SessionsScreen(stage.engine, cwd, CURRENT, query, clock=lambda: NOW)  # type: ignore[arg-type]
        await stage.show(screen)
        await stage.until(lambda: screen.rows.items, "rows")
        await stage.press(*keys)

        def shows_preview() -> bool:
            current = screen.rows.current
            lines = screen.query_one(Preview).lines
            return current is not None and len(lines) > 4 and any(current.row.id in line.text for line in lines)

        await stage.until(shows_preview, "the preview of the row under the cursor")
        await stage.idle()

    return scene


async def no_sessions(stage: Stage) -> None:
    """The browser before anything was said."""
    await stage.open()
    await stage.show(SessionsScreen(stage.engine, "/", clock=lambda: NOW))  # type: ignore[arg-type]
    await stage.shows("No sessions yet")


def undoing(*keys: str, purpose: Purpose = "undo", says: str) -> Scene:
    """Return the scene of the question what to take back.

    Args:
        keys: Pressed once it is there.
        purpose: What it is for.
        says: What is on the screen in the end.
    """

    async def scene(stage: Stage) -> None:
        await whole_turn(stage)
        await stage.show(UndoScreen(story.UNDO_PLAN, purpose))
        await stage.press(*keys)
        await stage.idle()
        await stage.shows(says)

    return scene


def changes(*keys: str, says: str) -> Scene:
    """Return the scene of the changed files."""

    async def scene(stage: Stage) -> None:
        await whole_turn(stage)
        await stage.show(ChangesScreen(lambda message_id: story.CHANGES, lambda: 0))
        await stage.shows("docs/")
        await stage.press(*keys)
        await stage.idle()
        await stage.shows(says)

    return scene


def models(query: str = "") -> Scene:
    """Return the scene of the model picker."""

    async def scene(stage: Stage) -> None:
        await whole_turn(stage)
        stage.engine.models = list(story.MODELS)
        screen = ModelPickerScreen(stage.engine, "anthropic/claude-opus-4-6")  # type: ignore[arg-type]
        await stage.show(screen)
        await stage.until(lambda: screen.query_one(FuzzyList).view.found, "models")
        await stage.press(*query)
        await stage.idle()

    return scene


def welcome(*keys: str, ready: Sequence[str] = (), says: str, check: ConnectionCheck | None = None) -> Scene:
    """Return the scene of the welcome page.

    Args:
        keys: Pressed once the providers are there.
        ready: Names of the providers that can be used.
        says: What is on the screen in the end.
        check: How the test call goes.
    """

    async def scene(stage: Stage) -> None:
        await stage.open(model="", provider="", context_window=0)
        stage.engine.providers = [_ready(row) if row.name in ready else row for row in story.PROVIDERS.values()]
        stage.engine.models = list(story.MODELS)
        stage.engine.check = check or stage.engine.check
        screen = WelcomeScreen(stage.engine)  # type: ignore[arg-type]
        await stage.show(screen)
        await stage.until(lambda: screen.query_one(FuzzyList).view.found, "providers")
        for key in keys:
            await stage.press(key)
            await stage.idle()
        await stage.shows(says)

    return scene


def _ready(row: ProviderRow) -> ProviderRow:
    return replace(row, state="ready", models=("qwen3:8b", "llama3.2:3b") if row.name == "ollama" else ())


async def readme(stage: Stage) -> None:
    """What the README shows: reasoning, a failed and a good command, a diff, and an answer that is being written."""
    await begin(stage)
    stage.wait(52)
    await stage.play(
        *story.asked(), *story.thought(), *story.failing_tests(output=story.PYTEST_SHORT), *story.search(),
        *story.patch(diff=story.DIFF_SHORT), ev.TodosChanged(items=story.TODOS), *story.passing_tests(), story.spent(),
        ev.StepStarted(step=4), ev.TextDelta(text=story.ANSWER.partition("| where")[0]),
        ev.TextDelta(text="The first record is now flushed right away; later ones still wait for the timer, as be"),
    )  # fmt: skip
