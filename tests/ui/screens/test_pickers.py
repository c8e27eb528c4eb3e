import dataclasses

import pytest
from support.fake_engine import FakeEngine
from support.screens import Host, painted, until
from textual.pilot import Pilot
from textual.screen import Screen

from hermes_tui.engine.types.choices import AllowRuleRow
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.models import ModelRow
from hermes_tui.screens.confirm import ConfirmScreen
from hermes_tui.screens.help import HelpScreen
from hermes_tui.screens.model_picker import ModelPickerScreen, price_words, window_words
from hermes_tui.screens.palette import PaletteRow, PaletteScreen
from hermes_tui.screens.rules import RulesScreen
from hermes_tui.widgets.fuzzy_list import FuzzyList

ACTIONS = [
    PaletteRow("model", "Change the model", "Pick another", "ctrl+k", "Model"),
    PaletteRow("sessions", "Sessions", "Find anything ever said", "ctrl+r", "Sessions"),
    PaletteRow("fork", "Fork", "Go on in a copy [b]", "", "Sessions"),
    PaletteRow("quit", "Quit", "Leave", "ctrl+q", "App"),
]
MODELS = [
    ModelRow(
        id="anthropic/claude", provider="anthropic", name="claude", context_window=200_000, usable=True,
        input_usd_per_mtok=5, output_usd_per_mtok=25,
    ),
    ModelRow(id="local/qwen3", provider="local", name="qwen3", context_window=32_768, usable=True),
    ModelRow(id="openai/gpt", provider="openai", name="gpt", note="OPENAI_API_KEY is not set"),
]  # fmt: skip


async def opened(host: Host, pilot: Pilot[None], screen: Screen[object]) -> None:
    host.open(screen)
    await until(pilot, lambda: host.screen is screen and screen.is_mounted)
    await pilot.pause()


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (["enter"], "model"),
        (["down", "enter"], "sessions"),
        (["down", "down", "down", "enter"], "quit"),
        (["ctrl+end", "enter"], "quit"),
        (["down", "up", "enter"], "model"),
        ([*"ses", "enter"], "sessions"),
        ([*"copy", "enter"], "fork"),
        (["c", "t", "r", "l", "+", "q", "enter"], "quit"),
        ([*"chmo", "enter"], "model"),
        ([*"zzz", "enter", "escape"], None),
        (["escape"], None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
async def test_the_palette_finds_actions_by_name_help_and_key(keys: list[str], chosen: str | None):
    host = Host()
    async with host.run_test() as pilot:
        await opened(host, pilot, PaletteScreen(ACTIONS))
        await pilot.press(*keys)
        await until(pilot, lambda: host.results)
        assert host.results == [chosen]


async def test_the_palette_previews_what_is_under_the_cursor():
    host = Host()
    seen: list[str] = []
    async with host.run_test() as pilot:
        await opened(host, pilot, PaletteScreen(ACTIONS, title="Theme", on_highlight=seen.append))
        await pilot.press("down")
        await until(pilot, lambda: seen and seen[-1] == "sessions")
        assert seen[0] == "model"


async def test_a_click_picks_the_row_under_the_cursor():
    host = Host()
    async with host.run_test() as pilot:
        await opened(host, pilot, PaletteScreen(ACTIONS))
        await pilot.click("FuzzyRows", offset=(5, 3))
        await pilot.click("FuzzyRows", offset=(5, 3))
        await until(pilot, lambda: host.results)
        assert host.results == ["sessions"]


async def test_help_lists_all_keys_under_their_groups_and_filters():
    host = Host()
    rows = [("Reading", "ctrl+f", "Find", "Find [red]text"), ("Writing", "ctrl+g", "Editor", "Open the editor")]
    async with host.run_test() as pilot:
        await opened(host, pilot, HelpScreen(rows))
        for words in ("Reading", "Writing", "ctrl+f", "Find [red]text", "Open the editor"):
            assert words in painted(host)
        await pilot.press(*"editor")
        await until(pilot, lambda: "ctrl+f" not in painted(host))
        assert "ctrl+g" in painted(host)
        await pilot.press("escape")
        await until(pilot, lambda: host.results == [None])


async def test_fifty_screens_close_once_each_with_escape_and_enter_in_one_tick():
    host = Host()
    async with host.run_test() as pilot:
        for number in range(50):
            await opened(host, pilot, PaletteScreen(ACTIONS))
            await pilot.press("escape", "enter")
            await until(pilot, lambda n=number: len(host.results) == n + 1)
            await until(pilot, lambda: len(host.screen_stack) == 1)
        assert host.results == [None] * 50


# Models


def models() -> FakeEngine:
    engine = FakeEngine()
    engine.models = list(MODELS)
    return engine


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (["enter"], "local/qwen3"),
        (["up", "enter"], "anthropic/claude"),
        ([*"cla", "enter"], "anthropic/claude"),
        ([*"my/own-model", "enter"], "my/own-model"),
        ([*"gpt", "enter", "escape"], None),
        ([*"nothing", "enter", "escape"], None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
async def test_a_model_is_picked_or_typed(keys: list[str], chosen: str | None):
    host = Host()
    async with host.run_test() as pilot:
        screen = ModelPickerScreen(models(), "local/qwen3")
        await opened(host, pilot, screen)
        await until(pilot, lambda: screen.query_one(FuzzyList).view.found)
        await pilot.press(*keys)
        await until(pilot, lambda: host.results)
        assert host.results == [chosen]


async def test_the_picker_shows_window_price_and_why_a_model_cannot_be_used():
    host = Host()
    async with host.run_test() as pilot:
        await opened(host, pilot, ModelPickerScreen(models()))
        await until(pilot, lambda: "qwen3" in painted(host))
        for words in ("200k", "32k", "$5 / $25", "OPENAI_API_KEY is not set"):
            assert words in painted(host)
        await pilot.press(*"gpt", "enter")
        await until(pilot, lambda: "openai/gpt cannot be used" in painted(host))
        assert host.results == []


async def test_models_that_cannot_be_listed_leave_a_way_out():
    host = Host()
    engine = models()
    engine.errors["list_models"] = HermesError("No network.", hint="Check it.")
    async with host.run_test() as pilot:
        await opened(host, pilot, ModelPickerScreen(engine))
        await until(pilot, lambda: "No network." in painted(host))
        await pilot.press(*"a/b", "enter")
        await until(pilot, lambda: host.results == ["a/b"])


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(0, ""), (800, "800"), (32_768, "32k"), (200_000, "200k"), (1_000_000, "1M"), (1_048_576, "1M")],
)
def test_windows_read_as_people_say_them(tokens: int, words: str):
    assert window_words(tokens) == words


@pytest.mark.parametrize(("prices", "words"), [((None, 1), ""), ((0, 0), "free"), ((1.75, 14), "$1.75 / $14")])
def test_prices_read_in_and_out(prices: tuple[float | None, float | None], words: str):
    assert price_words(*prices) == words


# Rules


async def test_a_rule_is_deleted():
    host = Host()
    engine = FakeEngine()
    keep = AllowRuleRow(rule="git status", kind="allow", scope="everywhere", hits=3)
    engine.rules = [keep, dataclasses.replace(keep, rule="rm -r", kind="deny", hits=0)]
    async with host.run_test() as pilot:
        await opened(host, pilot, RulesScreen(engine))
        await until(pilot, lambda: "used 3 times" in painted(host))
        await pilot.press("down", "ctrl+d")
        await until(pilot, lambda: engine.rules == [keep])
        await until(pilot, lambda: "rm -r" not in painted(host))


# Confirm


@pytest.mark.parametrize(("key", "result"), [("y", True), ("n", False), ("escape", False), ("ctrl+c", False)])
async def test_only_y_says_yes(key: str, result: bool):
    host = Host()
    async with host.run_test() as pilot:
        await opened(host, pilot, ConfirmScreen("Delete [b]it[/b]?", yes="Delete", no="Keep", detail="For good."))
        assert "Delete [b]it[/b]?" in painted(host)
        await pilot.press("enter", "space", "x")
        assert host.results == []
        await pilot.press(key)
        await until(pilot, lambda: host.results == [result])
