"""What is read before the first paint agrees with the full reading."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

from hermes_tui.engine.config.loader import load_settings
from hermes_tui.engine.config.peek import peek_ui
from hermes_tui.engine.types.preferences import UI_CHOICES, UiSettings

CONFIG = """\
[ui]
theme = "hermes-light"
mouse = false
detail = "enormous"
animation = "no"
unknown = 1
[keys]
sessions = "ctrl+y"
"""


def test_the_first_look_gives_the_same_screen_settings_as_the_full_reading(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(CONFIG)
    (tmp_path / "settings.toml").write_text('[ui]\ntheme = "terminal"\nreasoning = "full"\n')
    env = {"HERMES_TUI_HOME": str(tmp_path), "HERMES_TUI_UI_BUSY_INPUT": "steer"}
    ui, paths = peek_ui(env)
    assert ui == load_settings(env).settings.ui
    assert (ui.theme, ui.mouse, ui.detail, ui.reasoning, ui.busy_input) == (
        "hermes-light", False, "normal", "full", "steer",
    )  # fmt: skip
    assert dict(ui.keys) == {"sessions": "ctrl+y"}
    assert paths.config_dir == tmp_path


def test_broken_files_leave_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe[ui")
    assert peek_ui({"HERMES_TUI_HOME": str(tmp_path)})[0] == UiSettings()


def test_the_accepted_values_are_those_of_the_types() -> None:
    hints = get_type_hints(UiSettings)
    fixed = {name: get_args(hint) for name, hint in hints.items() if get_args(hint) and name != "keys"}
    assert dict(UI_CHOICES) == fixed


def test_the_plain_variable_switches_to_the_plain_screen(tmp_path: Path) -> None:
    assert peek_ui({"HERMES_TUI_HOME": str(tmp_path), "HERMES_TUI_PLAIN": "1"})[0].plain
