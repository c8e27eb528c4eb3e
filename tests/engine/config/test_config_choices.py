"""What the app and the user write back: atomically, keeping what is unknown, never over a broken file."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from hermes_tui.engine.config.choices import change_rule, save_choice, save_rule, set_config
from hermes_tui.engine.config.loader import load_settings
from hermes_tui.engine.config.paths import Paths, find_paths
from hermes_tui.engine.types.errors import ConfigError


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return find_paths({"HERMES_TUI_HOME": str(tmp_path)})


def table(file: Path) -> dict[str, object]:
    return tomllib.loads(file.read_text())


@pytest.mark.parametrize(
    ("key", "value", "stored"),
    [
        ("model", "openai/x", "openai/x"),
        ("ui.theme", "paper", "paper"),
        ("ui.mouse", "false", False),
        ("agent.max_turns", "7", 7),
        ("agent.toolsets", "a,b", ["a", "b"]),
        ("providers.local.base_url", "http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1"),
    ],
)
def test_a_choice_is_stored_as_its_type_and_loaded_again(paths: Paths, key: str, value: str, stored: object) -> None:
    save_choice(paths, key, value)
    found: object = table(paths.settings_file)
    for name in key.split("."):
        found = found[name]  # type: ignore[index]
    assert found == stored
    assert load_settings({}, paths=paths).problems == ()


def test_unknown_keys_of_the_file_are_kept_and_a_choice_can_be_forgotten(paths: Paths) -> None:
    paths.settings_file.write_text('future = 1\n[ui]\nnew = "x"\ntheme = "a"\n')
    save_choice(paths, "ui.theme", None)
    assert table(paths.settings_file) == {"future": 1, "ui": {"new": "x"}}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("ui.them", "x", "Did you mean ui.theme?"),
        ("theme", "x", "Did you mean ui.theme?"),
        ("agent.max_turns", "many", "a whole number"),
        ("ui.busy_input", "x", "queue"),
        ("agent", "x", "max_turns"),
    ],
)
def test_a_wrong_key_or_value_is_refused_and_nothing_is_written(paths: Paths, key: str, value: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        save_choice(paths, key, value)
    assert words in str(caught.value)
    assert not paths.settings_file.exists()


def test_a_broken_settings_file_is_moved_aside_not_overwritten(paths: Paths) -> None:
    paths.settings_file.write_text("[broken")
    save_choice(paths, "model", "a/b")
    assert paths.settings_file.with_name("settings.toml.broken").read_text() == "[broken"
    assert table(paths.settings_file) == {"model": "a/b"}


def test_setting_the_users_file_keeps_a_backup_beside_it(paths: Paths) -> None:
    paths.config_file.write_text('# mine\nmodel = "a/b"\n')
    backup = set_config(paths, "agent.max_turns", "9")
    assert backup.read_text() == '# mine\nmodel = "a/b"\n'
    assert table(paths.config_file) == {"model": "a/b", "agent": {"max_turns": 9}}


def test_a_broken_users_file_is_refused(paths: Paths) -> None:
    paths.config_file.write_text("[broken")
    with pytest.raises(ConfigError, match="line 1"):
        set_config(paths, "model", "a/b")
    assert paths.config_file.read_text() == "[broken"


@pytest.mark.parametrize("folder", ["", "/home/me/pro ject.x"])
def test_rules_are_added_once_loaded_and_deleted(paths: Paths, folder: str) -> None:
    for _ in range(2):
        save_rule(paths, "allow", "git status", folder)
    save_rule(paths, "deny", "rm -r", folder)
    approvals = load_settings({}, paths=paths).settings.approvals
    rules = approvals.projects[folder] if folder else approvals
    assert (rules.allow, rules.deny) == (("git status",), ("rm -r",))
    assert change_rule(paths, "allow", "git status", None, folder)
    assert not change_rule(paths, "allow", "git status", None, folder)
    approvals = load_settings({}, paths=paths).settings.approvals
    rules = approvals.projects[folder] if folder else approvals
    assert (rules.allow, rules.deny) == ((), ("rm -r",))


def test_a_rule_is_changed_in_the_file_that_holds_it_with_a_backup_of_the_users(paths):
    paths.config_file.write_text('model = "a/b"\n[approvals]\ndeny = ["git push", "npm publish"]\n')
    save_rule(paths, "allow", "git status")
    assert change_rule(paths, "allow", "git status", "git log")
    assert change_rule(paths, "deny", "git push", "git push --force")
    loaded = load_settings({}, paths=paths)
    assert loaded.settings.approvals.allow == ("git log",)
    assert loaded.settings.approvals.deny == ("git push --force", "npm publish")
    assert loaded.settings.model == "a/b"
    assert '"git push"' in paths.config_file.with_name("config.toml.bak").read_text()


def test_a_setting_is_taken_out_of_the_users_file(paths):
    set_config(paths, "agent.max_turns", "7")
    set_config(paths, "agent.max_turns", None)
    assert load_settings({}, paths=paths).origin_of("agent.max_turns") == "default"
