"""/undo, /redo, /retry, /diff and going back, in the chat."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from support import scenes, story
from support.screens import painted
from support.snapshots import Stage, StageApp

from hermes_tui.engine.types import events as ev
from hermes_tui.engine.types.changes import KeptFile, Undone
from hermes_tui.engine.types.sessions import StoredMessage
from hermes_tui.widgets.entries import NoticeEntry, ToolEntry, UserEntry

DONE = Undone(text=story.ASKED, has_message=True, files=("a.py", "b.py"))


@asynccontextmanager
async def after_a_turn() -> AsyncIterator[Stage]:
    app = StageApp()
    async with app.run_test(size=(100, 30)) as pilot:
        stage = Stage(pilot)
        await scenes.whole_turn(stage)
        session = stage.engine.session
        session.plan, session.undone, session.edits = story.UNDO_PLAN, DONE, story.CHANGES
        yield stage


async def command(stage: Stage, text: str) -> None:
    name, _, args = text.removeprefix("/").partition(" ")
    stage.chat.input.act(name, args)
    await stage.idle()


def said(stage: Stage) -> str:
    """The passing words so far."""
    return " ".join(str(toast.message) for toast in stage.app._notifications)


def kinds(stage: Stage) -> list[str]:
    return [type(entry).__name__ for entry in stage.chat.transcript.entries]


def notices(stage: Stage) -> list[str]:
    return [entry.source() for entry in stage.chat.transcript.entries if isinstance(entry, NoticeEntry)]


@pytest.mark.parametrize(("key", "scope"), [("b", "both"), ("f", "files"), ("m", "message")])
async def test_what_is_taken_back_is_asked_where_files_are_concerned(key: str, scope: str) -> None:
    async with after_a_turn() as stage:
        await command(stage, "/undo")
        await stage.shows("CHANGELOG.md")
        assert stage.engine.session.undos == []
        await stage.press(key)
        await stage.idle()
        assert stage.engine.session.undos == [scope]
        assert stage.chat.composer.value == story.ASKED
        assert kinds(stage) == ["NoticeEntry"]
        assert "a.py, b.py" in notices(stage)[0] and "/redo" in notices(stage)[0]


async def test_files_alone_leave_the_conversation() -> None:
    async with after_a_turn() as stage:
        before = kinds(stage)
        kept = (KeptFile(path="c.py", why="changed since"),)
        stage.engine.session.undone = Undone(files=("a.py",), kept=kept)
        await command(stage, "/undo files")
        assert kinds(stage) == [*before, "NoticeEntry"]
        assert "Left as it is: c.py (changed since)" in notices(stage)[-1]
        assert stage.chat.composer.value == ""


async def test_escape_takes_nothing_back() -> None:
    async with after_a_turn() as stage:
        await command(stage, "/undo")
        await stage.shows("CHANGELOG.md")
        await stage.press("escape")
        await stage.idle()
        assert stage.app.screen is stage.chat and stage.engine.session.undos == []


async def test_the_diff_is_a_key_away_and_leads_back() -> None:
    async with after_a_turn() as stage:
        await command(stage, "/undo")
        await stage.shows("CHANGELOG.md")
        await stage.press("d")
        await stage.shows("Would be taken back: 5 files, +7 -2")
        await stage.press("escape")
        await stage.shows("CHANGELOG.md")


async def test_nothing_is_asked_without_files() -> None:
    async with after_a_turn() as stage:
        stage.engine.session.plan = replace(story.UNDO_PLAN, files=(), kept=())
        stage.engine.session.undone = replace(DONE, files=())
        await command(stage, "/undo")
        assert stage.engine.session.undos == ["message"]
        assert kinds(stage) == []


async def test_only_files_that_stay_offer_the_message_alone() -> None:
    async with after_a_turn() as stage:
        stage.engine.session.plan = replace(story.UNDO_PLAN, files=())
        await command(stage, "/undo")
        await stage.shows("Message only")
        assert "Files only" not in painted(stage.app)


async def test_an_unknown_scope_is_answered_with_the_known_ones() -> None:
    async with after_a_turn() as stage:
        await command(stage, "/undo everything")
        assert "both, files, message" in said(stage)
        assert stage.engine.session.undos == []


async def test_retry_sends_the_message_again_with_its_images() -> None:
    async with after_a_turn() as stage:
        session = stage.engine.session
        session.undone = replace(DONE, images=("/x/image-1.png",))
        session.turns.clear(), session.images.clear()
        await command(stage, "/retry")
        await stage.shows("Keep the files and ask again")
        await stage.press("m")
        await stage.idle()
        assert (session.undos, session.turns, session.images) == (["message"], [story.ASKED], [("/x/image-1.png",)])


async def test_an_undone_message_returns_with_its_images_as_attachments() -> None:
    async with after_a_turn() as stage:
        images = ("/x/image-1.png", "/x/image-2.png")
        text = "see [Image #3: old.png] here"
        stage.engine.session.undone = replace(DONE, text=text, images=images)
        await command(stage, "/undo both")
        composer = stage.chat.composer
        assert composer.attachments == images
        assert composer.value == "see [Image #1: image-1.png] here [Image #2: image-2.png]"


async def test_redo_brings_entries_back_and_takes_the_text_from_the_prompt() -> None:
    async with after_a_turn() as stage:
        session = stage.engine.session
        await command(stage, "/undo both")
        row = StoredMessage(id=1, message={"role": "user", "content": story.ASKED})
        session.redone = replace(DONE, messages=(row,))
        replayed = [*story.asked(), *story.failing_tests(), ev.TextDelta(text="So it is."), story.finished()]
        session.replay = lambda messages: replayed  # type: ignore[method-assign, assignment]
        stage.chat.input.act("redo")
        await stage.idle()
        assert stage.chat.composer.value == ""
        entries = [type(entry) for entry in stage.chat.transcript.entries]
        assert UserEntry in entries and ToolEntry in entries
        assert notices(stage)[-1].startswith("Brought back: a.py, b.py")


async def test_a_draft_that_was_changed_stays_after_a_redo() -> None:
    async with after_a_turn() as stage:
        await command(stage, "/undo both")
        stage.chat.composer.insert_text(" and more")
        row = StoredMessage(id=1, message={"role": "user", "content": story.ASKED})
        stage.engine.session.redone = replace(DONE, messages=(row,))
        stage.chat.input.act("redo")
        await stage.idle()
        assert stage.chat.composer.value == f"{story.ASKED} and more"


async def test_redo_with_nothing_to_bring_back_says_so() -> None:
    async with after_a_turn() as stage:
        await command(stage, "/redo")
        assert "nothing to bring back" in said(stage)


async def test_the_changed_files_of_the_session_or_the_last_turn() -> None:
    async with after_a_turn() as stage:
        await command(stage, "/diff")
        await stage.shows("Changed in this session: 5 files, +7 -2")
        await stage.press("tab")
        await stage.shows("Changed in the last turn: 1 file")
        await stage.press("escape")
        stage.engine.session.edits = ()
        await command(stage, "/diff turn")
        await stage.shows("changed nothing here")


async def test_going_back_asks_about_the_files_of_all_turns_since(monkeypatch: pytest.MonkeyPatch) -> None:
    async with after_a_turn() as stage:
        stage.engine.rewound = Undone(text="the old words", files=("a.py",))
        stage.engine.messages = {
            stage.engine.session.state.session_id: [
                StoredMessage(id=3, message={"role": "user", "content": "the old words"})
            ]
        }
        stage.chat.input.act("rewind")
        await stage.shows("the old words")
        await stage.press("enter")
        await stage.shows("Go back, files too")
        await stage.press("b")
        await stage.until(lambda: stage.chat.composer.value == "the old words", "the prompt")
        assert stage.engine.asked("rewind") == [(stage.engine.session.state.session_id, 3, True)]
        assert any("Taken back: a.py" in text for text in notices(stage))


async def test_the_panel_shows_what_the_engine_says_of_files() -> None:
    async with after_a_turn() as stage:
        stage.chat.panel.display = True
        one: dict[str, Any] = {"path": "src/new.py", "kind": "created", "added": 3, "removed": 0}
        await stage.play(ev.FilesChanged(files=(one,), count=4))
        await stage.shows("src/new.py (created)")
        await stage.shows("and 3 more")
        await stage.play(ev.FilesChanged(files=(), count=0))
        await stage.until(lambda: "src/new.py (created)" not in painted(stage.app))
