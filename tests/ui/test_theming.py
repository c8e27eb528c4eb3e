import os
import subprocess
import sys
from pathlib import Path

import pytest
from textual.app import App
from textual.color import Color

from hermes_tui.engine.types.errors import ConfigError
from hermes_tui.themed_app import ThemedApp
from hermes_tui.theming import (
    DEFAULT_THEME,
    OWN_VARIABLES,
    TEXT_PAIRS,
    fitting_theme,
    load_theme,
    shipped_themes_dir,
    theme_names,
)

SHIPPED = theme_names()
PAINTED = [name for name in SHIPPED if name != "terminal"]
GOOD = (shipped_themes_dir() / "hermes-dark.toml").read_text(encoding="utf-8")


def colors_of(name: str) -> dict[str, str]:
    theme = load_theme(name)
    return theme.to_color_system().generate() | theme.variables


def contrast(text: str, ground: str) -> float:
    """The WCAG 2 ratio."""

    def luminance(value: str) -> float:
        channels = [channel / 255 for channel in Color.parse(value).rgb]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(text), luminance(ground)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_shipped_themes_and_the_default_comes_first():
    assert SHIPPED[0] == DEFAULT_THEME
    own = {"hermes-dark", "hermes-light", "high-contrast", "mono", "terminal"}
    known = {"nord", "gruvbox", "catppuccin", "solarized-dark", "solarized-light", "tokyo-night"}
    assert set(SHIPPED) == own | known


@pytest.mark.parametrize("pair", TEXT_PAIRS, ids="/".join)
@pytest.mark.parametrize("name", PAINTED)
def test_text_is_readable_on_its_ground(name, pair):
    colors = colors_of(name)
    needed = 7.0 if name == "high-contrast" else 4.5
    assert contrast(colors[pair[0]], colors[pair[1]]) >= needed


@pytest.mark.parametrize("name", SHIPPED)
def test_every_theme_defines_every_variable_of_ours(name):
    assert set(OWN_VARIABLES) <= set(load_theme(name).variables)


def test_the_terminal_theme_uses_only_colours_of_the_terminal():
    theme = load_theme("terminal")
    values = [value for key, value in theme.variables.items() if not key.endswith("-style")]
    assert theme.ansi
    assert all(value.startswith("ansi_") for value in [theme.primary, theme.background, *values])


@pytest.mark.parametrize("name", SHIPPED)
async def test_an_app_runs_with_each_theme(name):
    app = App()
    async with app.run_test():
        app.register_theme(load_theme(name))
        app.theme = name
        assert app.current_theme.name == name


def test_a_user_theme_wins_over_a_shipped_one_and_new_ones_are_listed(tmp_path: Path):
    (tmp_path / "hermes-dark.toml").write_text(GOOD.replace("#e2a94f", "#123456"), encoding="utf-8")
    (tmp_path / "mine.toml").write_text(GOOD.split("[variables]")[0], encoding="utf-8")
    assert load_theme("hermes-dark", tmp_path).primary == "#123456"
    assert theme_names(tmp_path)[-1] == "mine"
    assert set(OWN_VARIABLES) <= set(load_theme("mine", tmp_path).variables)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("colors = [", "not valid TOML"),
        ("colors = 3", "colors must be a table"),
        (GOOD.replace('primary = "#e2a94f"', ""), "colors.primary is missing"),
        (GOOD.replace('primary = "#e2a94f"', 'primary = "amberish"'), "primary = 'amberish' is not a colour"),
        (GOOD.replace('muted = "#a0968a"', "muted = 7"), "variables.muted must be a text"),
        (GOOD.replace("[colors]", '[colors]\nprimry = "#000000"'), "unknown key colors.primry"),
        (GOOD.replace("dark = true", 'dark = "yes"'), "dark must be true or false"),
        ("spacing = 2\n" + GOOD, "unknown key 'spacing'"),
    ],
)
def test_a_bad_theme_file_is_told_with_its_name_and_key(tmp_path: Path, text, told):
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_theme("bad", tmp_path)
    assert told in caught.value.message
    assert "bad.toml" in caught.value.message
    assert caught.value.hint


def test_an_unknown_theme_is_told_with_the_names_that_exist():
    with pytest.raises(ConfigError, match="no theme named 'neon'") as caught:
        load_theme("neon")
    assert "hermes-light" in caught.value.hint


def test_importing_the_module_imports_no_textual():
    code = "import sys, hermes_tui.theming; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=dict(os.environ), check=False).returncode == 0


async def test_no_color_takes_colours_away(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")  # Textual reads the process environment only
    app = App()
    async with app.run_test():
        app.register_theme(load_theme("hermes-dark"))
        app.theme = "hermes-dark"
        assert app.no_color
        assert any(type(line_filter).__name__ == "Monochrome" for line_filter in app._filters)


@pytest.mark.parametrize(
    ("chosen", "color_system", "used"),
    [
        (DEFAULT_THEME, "truecolor", DEFAULT_THEME), (DEFAULT_THEME, "256", DEFAULT_THEME),
        (DEFAULT_THEME, "standard", "terminal"), ("hermes-light", "standard", "hermes-light"),
        (DEFAULT_THEME, None, DEFAULT_THEME),
    ],
)  # fmt: skip
def test_sixteen_colours_are_the_terminals_own_unless_others_were_chosen(chosen, color_system, used):
    assert fitting_theme(chosen, color_system) == used


async def test_a_theme_that_is_being_written_is_taken_anew_and_a_bad_one_changes_nothing(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text(GOOD, encoding="utf-8")

    class Own(ThemedApp):
        ENABLE_COMMAND_PALETTE = False

    app = Own()
    app.start_themes("mine", tmp_path)
    async with app.run_test() as pilot:
        app.look_at_theme_file()
        file.write_text(GOOD.replace('background = "#161412"', 'background = "#101820"'), encoding="utf-8")
        app.look_at_theme_file()
        await pilot.pause()
        await pilot.pause()
        assert app.theme_variables["background"] == "#101820"
        assert app.screen.styles.background.hex == "#101820"
        file.write_text("colors = [", encoding="utf-8")
        app.look_at_theme_file()
        await pilot.pause()
        assert app.theme_variables["background"] == "#101820" and app.theme == "mine"
        assert "not valid TOML" in str(next(iter(app._notifications)).message)
