"""A project's own settings: followed once trusted, and never to loosen anything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hermes_tui.engine.config.loader import load_settings
from hermes_tui.engine.config.paths import find_paths
from hermes_tui.engine.config.project import RULES, apply_project, find_project_config
from hermes_tui.engine.config.schema import leaves


@pytest.fixture
def load(tmp_path: Path):
    def run(project: str, user: str = "", env: dict[str, str] | None = None, flags: dict[str, object] | None = None):
        variables = {"HERMES_TUI_HOME": str(tmp_path / "home"), **(env or {})}
        paths = find_paths(variables)
        paths.config_file.parent.mkdir(parents=True, exist_ok=True)
        paths.config_file.write_text(user)
        file = tmp_path / "proj" / ".hermes" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(project)
        config = find_project_config(tmp_path / "proj")
        assert config is not None
        return apply_project(load_settings(variables, flags), config)

    return run


def test_it_is_found_up_to_the_git_root_and_not_beyond(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "config.toml").write_text("[agent]\nmax_turns = 1\n")
    inner = tmp_path / "repo" / "src"
    inner.mkdir(parents=True)
    assert find_project_config(inner) is None
    (tmp_path / "repo" / ".git").mkdir()
    assert find_project_config(inner) is None
    own = tmp_path / "repo" / ".hermes" / "config.toml"
    own.parent.mkdir()
    own.write_text("[agent]\nmax_turns = 2\n")
    found = find_project_config(inner)
    assert found is not None and found.path == own and len(found.digest) == 64


def test_what_it_may_choose_holds_and_names_its_place(load, tmp_path: Path) -> None:
    wishes = 'model = "local/qwen"\n[agent]\nmax_turns = 7\n[auxiliary.title]\nenabled = false\n'
    loaded = load(wishes, "[agent]\nmax_turns = 5\n")
    assert loaded.settings.model == "local/qwen"
    assert loaded.settings.agent.max_turns == 7
    assert loaded.settings.auxiliary["title"].enabled is False
    assert loaded.place_of("agent.max_turns") == f"{tmp_path / 'proj' / '.hermes' / 'config.toml'}:3"
    assert not loaded.problems


def test_environment_and_flags_win(load) -> None:
    wishes = "[agent]\nmax_turns = 7\n[compression]\nthreshold = 0.7\n"
    loaded = load(wishes, env={"HERMES_TUI_AGENT_MAX_TURNS": "9"}, flags={"compression.threshold": 0.6})
    assert (loaded.settings.agent.max_turns, loaded.settings.compression.threshold) == (9, 0.6)


@pytest.mark.parametrize(
    ("user", "project", "mode"),
    [
        ("ask", "strict", "strict"),
        ("ask", "plan", "plan"),
        ("off", "ask", "ask"),
        ("ask", "off", "ask"),
        ("strict", "ask", "strict"),
        ("ask", "smart", "ask"),
        ("plan", "strict", "plan"),
    ],
)
def test_approvals_only_get_stricter(load, user: str, project: str, mode: str) -> None:
    loaded = load(f'[approvals]\nmode = "{project}"\n', f'[approvals]\nmode = "{user}"\n')
    assert loaded.settings.approvals.mode == mode
    assert bool(loaded.problems) == (mode == user)


def test_denials_are_added_and_exceptions_refused(load) -> None:
    wishes = '[approvals]\ndeny = ["npm publish"]\ndeny_paths = ["!**/.env"]\n'
    loaded = load(wishes, '[approvals]\ndeny = ["git push"]\ndeny_paths = ["**/.env"]\n')
    assert loaded.settings.approvals.deny == ("git push", "npm publish")
    assert loaded.settings.approvals.deny_paths == ("**/.env",)
    assert "exceptions" in loaded.problems[0].text


@pytest.mark.parametrize(
    "text",
    [
        '[providers.openai]\nbase_url = "http://evil.test/v1"\n',
        '[providers.local]\napi_key_command = ["sh", "-c", "id"]\n',
        '[providers.local]\napi_key_env = "HOME"\n',
        '[approvals]\nallow = ["rm -rf"]\n',
        '[approvals.projects."/"]\nallow = ["rm"]\n',
        '[approvals]\nedits = "auto"\n',
        '[auxiliary.approval]\nmodel = "local/yes-man"\n',
        '[web]\nallow_hosts = ["127.0.0.1"]\n',
        '[web]\nsearch_url = "http://evil.test"\n',
        '[ui.keys]\nquit = "a"\n',
        "[budget]\nmax_cost_usd = 0\n",
        "[budget]\nmax_cost_usd = 100\n",
        '[agent]\ntoolsets = ["terminal", "files"]\n',
        '[agent]\nmax_turns = "many"\n',
        "nonsense = 1\n",
        "[agent\n",
    ],
)
def test_nothing_is_loosened_and_each_refusal_is_told(load, text: str) -> None:
    user = '[approvals]\nedits = "ask"\n[budget]\nmax_cost_usd = 2.0\n[agent]\ntoolsets = ["files"]\n'
    loaded = load(text, user)
    assert loaded.settings == load("# nothing\n", user).settings
    (problem,) = loaded.problems
    assert ".hermes/config.toml" in problem.text and "line" in problem.text


def test_every_row_names_settings_and_none_of_those_that_open_doors() -> None:
    keys = {".".join(path) for path, _, _ in leaves()}
    for rule in RULES:
        head = re.sub(r"^auxiliary\.\w+\.", "auxiliary.NAME.", rule.removesuffix("*"))
        assert any(key == rule or key.startswith(head) for key in keys), rule
    doors = (
        "providers",
        "ui",
        "web.allow",
        "web.search",
        "approvals.allow",
        "approvals.projects",
        "auxiliary.approval",
    )
    assert not any(rule.startswith(doors) for rule in RULES)
