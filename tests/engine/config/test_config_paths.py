"""Where files live, and that private ones stay private."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_tui.engine.config.paths import ensure_private_dir, find_paths, write_private
from hermes_tui.engine.types.errors import ConfigError


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_one_variable_puts_everything_under_one_folder(tmp_path: Path) -> None:
    paths = find_paths({"HERMES_TUI_HOME": str(tmp_path / "all"), "HOME": str(tmp_path)})
    for place in (paths.config_file, paths.settings_file, paths.database, paths.log_dir, paths.cache_dir):
        assert place.is_relative_to(tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_tilde_in_the_variable_means_the_home(tmp_path: Path) -> None:
    assert find_paths({"HERMES_TUI_HOME": "~/h", "HOME": str(tmp_path)}).config_dir == tmp_path / "h"


def test_a_relative_variable_is_taken_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the process folder is the subject
    assert find_paths({"HERMES_TUI_HOME": "h", "HOME": str(tmp_path)}).config_dir == tmp_path / "h"


@pytest.mark.parametrize("home", ["", "/nonexistent/home", "relative"])
def test_an_unusable_home_falls_back_to_a_private_folder_with_one_line(home: str) -> None:
    paths = find_paths({"HOME": home})
    assert paths.problem.count("\n") == 0
    assert repr(home) in paths.problem
    assert "HERMES_TUI_HOME" in paths.problem
    assert paths.config_dir.is_absolute()
    assert not paths.config_dir.is_relative_to("/nonexistent")


def test_without_home_and_password_entry_it_still_starts() -> None:
    code = (
        "import os, pwd\n"
        "def unknown(uid): raise KeyError(uid)\n"
        "pwd.getpwuid = unknown\n"
        "from hermes_tui.engine.config.loader import load_settings\n"
        "loaded = load_settings(os.environ)\n"
        "print(len(loaded.problems), loaded.problems[0].text)\n"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("1 No home folder is known"), done.stderr


def test_given_folders_are_used_even_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    for name in names:
        monkeypatch.setenv(name, str(tmp_path / name))  # platformdirs reads the process environment
    paths = find_paths({"HOME": "", **{name: str(tmp_path / name) for name in names}})
    assert paths.problem == ""
    assert paths.config_dir == tmp_path / "XDG_CONFIG_HOME/hermes-tui"


def test_folders_and_files_are_private_whatever_they_were(tmp_path: Path) -> None:
    old_mask = os.umask(0o022)
    try:
        target = tmp_path / "new/credentials.toml"
        write_private(target, "a = 1")
        assert (mode_of(target), mode_of(target.parent)) == (0o600, 0o700)
        target.chmod(0o644)
        write_private(target, "a = 2")
        assert (mode_of(target), target.read_text()) == (0o600, "a = 2")
        assert list(target.parent.iterdir()) == [target]
    finally:
        os.umask(old_mask)


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles/config.toml", tmp_path / "config.toml"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to(real)
    write_private(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_something_else_in_the_folders_place_is_named_and_left_alone(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "home"
    if kind == "file":
        place.write_text("mine")
    else:
        place.symlink_to(tmp_path / "gone")
    with pytest.raises(ConfigError, match="home") as caught:
        ensure_private_dir(place)
    assert "HERMES_TUI_HOME" in caught.value.hint
    if kind == "file":
        assert place.read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_place_is_a_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigError, match="Permission denied"):
        write_private(tmp_path / "config.toml", "a")
