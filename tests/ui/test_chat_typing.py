"""Where keys go while an entry is chosen: reader's keys to the transcript, everything else into the prompt."""

from __future__ import annotations

import pytest
from support.screens import until
from textual import events

from hermes_tui.app import HermesApp
from hermes_tui.engine.types.errors import ConfigError
from hermes_tui.engine.types.preferences import UiSettings
from hermes_tui.widgets.entries import NoticeEntry


def no_engine() -> None:
    raise ConfigError("There is no engine.")


def app_without_engine() -> HermesApp:
    return HermesApp(no_engine, UiSettings())  # type: ignore[arg-type]


def burst(app: HermesApp, text: str) -> None:
    """Type as a fast terminal does: all keys are there before the first one is looked at."""
    for letter in text:
        app.post_message(events.Key("space" if letter == " " else letter, letter))


@pytest.mark.parametrize("has_cursor", [True, False], ids=["an entry is chosen", "no entry is chosen"])
@pytest.mark.parametrize("text", ["unsent draft", "no yes of fen"])
async def test_a_burst_of_typing_goes_into_the_prompt_whole(text: str, has_cursor: bool) -> None:
    app = app_without_engine()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.chat.is_complete and app.chat.transcript.entries)
        if has_cursor:
            await pilot.press("alt+up")
            assert app.chat.transcript.cursor is not None
        else:
            app.chat.set_focus(app.chat.transcript)
        burst(app, text)
        await until(pilot, lambda: app.chat.composer.value == text)
        assert app.chat.focused is app.chat.composer
        assert app.screen is app.chat


async def test_the_readers_keys_act_on_the_chosen_entry() -> None:
    app = app_without_engine()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.chat.is_complete and app.chat.transcript.entries)
        app.chat.transcript.append(NoticeEntry("info", "another"))
        await pilot.press("alt+up", "up")
        assert app.chat.transcript.cursor is app.chat.transcript.entries[0]
        await pilot.press("o")
        await until(pilot, lambda: app.screen is not app.chat)
        await pilot.press("escape", "escape", "x")
        await until(pilot, lambda: app.chat.composer.value == "x")


async def test_rebound_keys_work_and_the_hints_name_them() -> None:
    app = HermesApp(no_engine, UiSettings(keys={"view": "v", "sessions": "f9"}))  # type: ignore[arg-type]
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: app.chat.is_complete and app.chat.transcript.entries)
        assert ("f9", "sessions") in app.chat.status.hints
        await pilot.press("alt+up", "v")
        await until(pilot, lambda: app.screen is not app.chat)
        await pilot.press("escape", "o")
        await until(pilot, lambda: app.chat.composer.value == "o")
