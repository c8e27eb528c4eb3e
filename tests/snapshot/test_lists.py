"""Pages and dialogs made of rows."""

import pytest
from support import scenes, story
from support.snapshots import Stage

from hermes_tui.screens.help import HelpScreen
from hermes_tui.screens.palette import PaletteRow, PaletteScreen
from hermes_tui.screens.rules import RulesScreen
from hermes_tui.screens.settings import SettingsScreen

ACTIONS = (
    ("Conversation", "esc", "Interrupt", "Stop the running turn; queue and draft stay."),
    ("Conversation", "", "Undo the last exchange", "Take back your last message; its text returns to the prompt."),
    ("Sessions", "ctrl+r", "Sessions", "Find anything ever said, resume or fork it."),
    ("Sessions", "ctrl+n", "New session", "Start a fresh conversation."),
    ("Reading", "ctrl+f", "Find", "Find in the whole session; n and N walk the hits."),
    ("App", "f1", "Help", "Keys and commands."),
)
"""Rows of their own: the pictures are about the look, not about which commands there are."""


@pytest.mark.parametrize(
    ("size", "theme"), [("120x40", "hermes-dark"), ("80x24", "hermes-light"), ("40x12", "hermes-dark")]
)
def test_sessions(looks_as_kept, size, theme):
    """Days, pins, marks and facts of sessions of all folders, and a preview where there is room."""
    assert looks_as_kept(scenes.sessions("tab", "t", "down"), size, theme)


@pytest.mark.parametrize("size", ["120x40", "40x12"])
def test_hits(looks_as_kept, size):
    """What a search found, marked in the list and around the hit."""
    assert looks_as_kept(scenes.sessions(query="race"), size)


def test_no_sessions(looks_as_kept):
    """The browser before anything was said."""
    assert looks_as_kept(scenes.no_sessions, "80x24")


@pytest.mark.parametrize(
    ("size", "theme"), [("120x40", "hermes-dark"), ("80x24", "hermes-light"), ("40x12", "hermes-dark")]
)
def test_jobs(looks_as_kept, size, theme):
    """States, ages and last lines, and the output of the chosen job."""
    assert looks_as_kept(scenes.jobs("down", "down"), size, theme)


def test_a_job_is_answered(looks_as_kept):
    """A prompt that waits, and the line for it."""
    assert looks_as_kept(scenes.jobs("a", "y"), "80x24")


def test_models(looks_as_kept):
    """Windows, prices and the present model."""
    assert looks_as_kept(scenes.models(), "100x30")


def test_a_model_without_a_key(looks_as_kept):
    """Why a model cannot be used, and what to do."""
    assert looks_as_kept(scenes.models("gpt"), "80x24", "hermes-light")


@pytest.mark.parametrize("size", ["120x40", "40x12"])
def test_the_palette(looks_as_kept, size):
    """Actions in groups, the one under the cursor explained."""

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        rows = [PaletteRow(name, name, help, key, group) for group, key, name, help in ACTIONS]
        await stage.show(PaletteScreen(rows))
        await stage.shows("Stop the running turn")

    assert looks_as_kept(scene, size)


def test_the_palette_narrowed_by_typing(looks_as_kept):
    """Letters that fit are marked."""

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        rows = [PaletteRow(name, name, help, key, group) for group, key, name, help in ACTIONS]
        await stage.show(PaletteScreen(rows))
        await stage.press(*"sess")
        await stage.shows("resume or fork it")

    assert looks_as_kept(scene, "80x24")


def test_help(looks_as_kept):
    """Keys and commands by group."""

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        await stage.show(HelpScreen(ACTIONS))
        await stage.shows("Stop the running turn")

    assert looks_as_kept(scene, "80x24")


def _rules(rules, *keys, shows):
    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        stage.engine.rules = list(rules)
        await stage.show(RulesScreen(stage.engine))  # type: ignore[arg-type]
        await stage.shows(shows)
        await stage.press(*keys)
        await stage.idle()

    return scene


def test_rules(looks_as_kept):
    """What was allowed for good, where, and how often that counted."""
    assert looks_as_kept(_rules(story.RULES, shows="npm publish"), "80x24")


def test_a_rule_in_the_field(looks_as_kept):
    """A rule is edited where there is little room."""
    assert looks_as_kept(_rules(story.RULES, "down", "enter", shows="npm publish"), "40x12")


def test_no_rules(looks_as_kept):
    """Where rules come from, in full on a narrow screen."""
    assert looks_as_kept(_rules((), shows="No rules yet"), "40x12")


def _settings(*keys, shows="max_turns"):
    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        stage.engine.settings = list(story.SETTINGS)
        await stage.show(SettingsScreen(stage.engine))  # type: ignore[arg-type]
        await stage.shows("anthropic/claude")
        await stage.press(*keys)
        await stage.shows(shows)
        await stage.idle()

    return scene


@pytest.mark.parametrize(
    ("size", "theme"), [("120x40", "hermes-dark"), ("80x24", "hermes-light"), ("40x12", "hermes-dark")]
)
def test_settings(looks_as_kept, size, theme):
    """Sections, values, where each comes from, and what the one under the cursor means."""
    assert looks_as_kept(_settings("down", "down", "down", shows="sum up"), size, theme)


@pytest.mark.parametrize("size", ["80x24", "40x12"])
def test_a_setting_in_the_field(looks_as_kept, size):
    """A number is changed."""
    assert looks_as_kept(_settings(*"turns", "enter", shows="save"), size)


def test_a_setting_with_choices(looks_as_kept):
    """A choice is changed."""
    assert looks_as_kept(_settings(*"mode", "enter", "down", "down", shows="as it is"), "80x24")
