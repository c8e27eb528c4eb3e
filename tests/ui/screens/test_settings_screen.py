"""The settings page, over an engine from memory."""

from __future__ import annotations

import pytest
from support.fake_engine import FakeEngine
from support.screens import Host, painted, until
from support.snapshots import Stage, StageApp
from support.story import RULES, SETTINGS
from textual.pilot import Pilot
from textual.screen import Screen

from hermes_tui.engine.types.choices import SettingRow
from hermes_tui.engine.types.errors import ConfigError
from hermes_tui.screens.actions.settings import page
from hermes_tui.screens.choose import ChooseScreen
from hermes_tui.screens.model_picker import ModelPickerScreen
from hermes_tui.screens.palette import PaletteScreen
from hermes_tui.screens.rules import RulesScreen
from hermes_tui.screens.settings import SettingsScreen
from hermes_tui.widgets.fuzzy_list import FuzzyList


@pytest.fixture
def engine() -> FakeEngine:
    made = FakeEngine()
    made.settings = list(SETTINGS)
    made.rules = list(RULES)
    return made


async def opened(host: Host, pilot: Pilot[None], screen: Screen[object]) -> None:
    host.open(screen)
    await until(pilot, lambda: host.screen is screen and screen.is_mounted)
    await until(pilot, lambda: screen.query_one(FuzzyList).view.found)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_each_setting_says_value_origin_and_meaning(engine: FakeEngine, size: tuple[int, int]):
    host = Host()
    async with host.run_test(size=size) as pilot:
        await opened(host, pilot, SettingsScreen(engine, "/work"))  # type: ignore[arg-type]
        await pilot.press(*"max_turns")
        await until(pilot, lambda: "sum up" in " ".join(painted(host).split()))
        text = " ".join(painted(host).split())
        assert "60" in text and "from HERMES_TUI_AGENT_MAX_TURNS" in text
        assert engine.asked("list_settings") == [("/work",)]


async def test_a_switch_toggles_at_once_and_says_so(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, SettingsScreen(engine))  # type: ignore[arg-type]
        await pilot.press(*"compression", "enter")
        await until(pilot, lambda: "compression.enabled is set." in painted(host))
        await until(pilot, lambda: "from config.toml:1" in painted(host))
        await pilot.press("enter")
        await until(pilot, lambda: len(engine.asked("change_setting")) == 2)
        assert engine.asked("change_setting") == [("compression.enabled", "false"), ("compression.enabled", "true")]


async def test_a_choice_is_one_of_its_words(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        screen = SettingsScreen(engine)  # type: ignore[arg-type]
        await opened(host, pilot, screen)
        await pilot.press(*"approvals.mode", "enter")
        await until(pilot, lambda: isinstance(host.screen, ChooseScreen))
        await pilot.press("4")
        await until(pilot, lambda: host.screen is screen and engine.asked("change_setting"))
        assert engine.asked("change_setting") == [("approvals.mode", "plan")]


async def test_a_wrong_value_is_explained_and_stays_in_the_field(engine: FakeEngine):
    engine.errors["change_setting"] = ConfigError("agent.max_turns must be a whole number, not 'many'.")
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, SettingsScreen(engine))  # type: ignore[arg-type]
        await pilot.press(*"max_turns", "enter", "backspace", "backspace", *"many", "enter")
        await until(pilot, lambda: "must be a whole number" in painted(host))
        assert "many" in painted(host).partition("must be")[0]
        del engine.errors["change_setting"]
        await pilot.press(*["backspace"] * 4, *"30", "enter")
        await until(pilot, lambda: "agent.max_turns is set." in painted(host))
        await pilot.press("escape")
        await until(pilot, lambda: host.results == [None])


async def test_escape_leaves_the_field_first_and_changes_nothing(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(40, 12)) as pilot:
        await opened(host, pilot, SettingsScreen(engine))  # type: ignore[arg-type]
        await pilot.press(*"fallback", "enter", *"x/y", "escape")
        await until(pilot, lambda: "x/y" not in painted(host))
        assert host.results == [] and engine.asked("change_setting") == []


async def test_the_default_comes_back(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, SettingsScreen(engine))  # type: ignore[arg-type]
        await pilot.press(*"max_turns", "ctrl+d")
        await until(pilot, lambda: engine.asked("change_setting") == [("agent.max_turns", None)])
        await until(pilot, lambda: "default; a number" in painted(host))
        await pilot.press("ctrl+d")
        await until(pilot, lambda: "has its default" in painted(host))
        assert len(engine.asked("change_setting")) == 1


async def test_a_key_is_never_shown_nor_changed_here(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, SettingsScreen(engine))  # type: ignore[arg-type]
        await pilot.press(*"api_key", "enter")
        await until(pilot, lambda: "keys are stored by /setup." in painted(host))
        assert engine.asked("change_setting") == []


@pytest.mark.parametrize(
    ("typed", "wanted"), [("approval rules", "rules"), ("providers and keys", "setup"), ("model", "model")]
)
async def test_pages_that_change_settings_are_reached_from_here(engine: FakeEngine, typed: str, wanted: str):
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, SettingsScreen(engine))  # type: ignore[arg-type]
        await pilot.press(*(key if key != " " else "space" for key in typed), "enter")
        await until(pilot, lambda: host.results == [wanted])


async def test_words_after_the_command_are_searched_for(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        screen = SettingsScreen(engine, select="max_turns")  # type: ignore[arg-type]
        await opened(host, pilot, screen)
        await until(pilot, lambda: [row.id for row in screen.query_one(FuzzyList).view.found] == ["agent.max_turns"])
        await pilot.press("enter")
        await until(pilot, lambda: "enter save" in painted(host))


async def test_a_rule_is_edited_in_its_place(engine: FakeEngine):
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, RulesScreen(engine))  # type: ignore[arg-type]
        await pilot.press("enter", "minus", "s", "enter")
        await until(pilot, lambda: "git commit-s" in painted(host))
        assert engine.asked("change_rule") == [(RULES[0], "git commit-s")]
        await pilot.press("enter", "x", "escape")
        await until(pilot, lambda: "git commit-sx" not in painted(host))
        assert len(engine.asked("change_rule")) == 1 and host.results == []


@pytest.mark.parametrize(
    ("row", "opens"), [("ui.theme", PaletteScreen), ("model", ModelPickerScreen), ("page:rules", RulesScreen)]
)
async def test_escape_on_a_page_opened_from_here_comes_back_to_its_row(row: str, opens: type[Screen[object]]):
    async with StageApp().run_test(size=(80, 24)) as pilot:
        stage = Stage(pilot)
        await stage.open()
        stage.engine.settings = [*SETTINGS, SettingRow(key="ui.theme", section="ui", value='"hermes-dark"')]
        page(stage.chat, row)
        await at_row(stage, row)
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, opens), "the page")
        await stage.press("escape")
        await at_row(stage, row)


async def at_row(stage: Stage, row: str) -> None:
    def is_there() -> bool:
        screen = stage.app.screen
        if not isinstance(screen, SettingsScreen) or not screen.query(FuzzyList):
            return False
        current = screen.query_one(FuzzyList).view.current
        return current is not None and current.id == row

    await stage.until(is_there, "the settings at the row")
