"""Settings changed while the program runs: written, told in words, followed by sessions that begin later."""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_tui.bootstrap import build_engine
from hermes_tui.engine.config.loader import load_settings
from hermes_tui.engine.config.paths import find_paths
from hermes_tui.engine.runtime.local_engine import LocalEngine
from hermes_tui.engine.types.errors import ConfigError


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    paths = find_paths(os.environ)
    paths.config_dir.mkdir(parents=True, exist_ok=True)
    paths.config_file.write_text('# mine\nmodel = "local/x"\n[providers.local]\nbase_url = "http://127.0.0.1:9/v1"\n')
    made = build_engine(load_settings(os.environ))
    yield made
    made.close()


def test_a_change_is_written_told_and_followed_by_the_next_session(engine: LocalEngine) -> None:
    before = engine.open_session()
    said = engine.change_setting("approvals.mode", "strict")
    assert "approvals.mode is set to strict" in said and "/new" in said and "config.toml.bak" in said
    paths = find_paths(os.environ)
    assert tomllib.loads(paths.config_file.read_text())["approvals"] == {"mode": "strict"}
    assert "# mine" in paths.config_file.with_name("config.toml.bak").read_text()
    assert (before.state.approval_mode, engine.open_session().state.approval_mode) == ("ask", "strict")
    row = next(row for row in engine.list_settings() if row.key == "approvals.mode")
    assert (row.text, row.origin.partition(":")[0], row.is_default) == ("strict", "config.toml", False)


def test_a_closed_engine_leaves_logging_as_it_was() -> None:
    logger = logging.getLogger("hermes_tui")
    before = (logger.propagate, list(logger.handlers))
    build_engine(load_settings(os.environ)).close()
    assert (logger.propagate, logger.handlers) == before


def test_the_model_counts_at_once(engine: LocalEngine) -> None:
    engine.change_setting("model", "local/y")
    assert engine.open_session().state.model == "y"


def test_a_default_comes_back_from_both_files(engine: LocalEngine) -> None:
    engine.save_choice("ui.detail", "full")
    engine.change_setting("ui.detail", "compact")
    assert "back to its default, from the next start" in engine.change_setting("ui.detail", None)
    row = next(row for row in engine.list_settings() if row.key == "ui.detail")
    assert row.is_default and row.text == "normal"


def test_a_variable_that_wins_is_named(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TUI_AGENT_MAX_TURNS", "5")  # what the user's shell would hold
    assert "HERMES_TUI_AGENT_MAX_TURNS wins" in engine.change_setting("agent.max_turns", "7")
    row = next(row for row in engine.list_settings() if row.key == "agent.max_turns")
    assert row.is_firm and row.text == "5"


@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("agent.max_turns", "many", "whole number"),
        ("agent.max_turns", "0", "1 or more"),
        ("approvals.mode", "never", "strict"),
        ("approvals.mod", "ask", "approvals.mod"),
        ("approvals", "ask", "table"),
    ],
)
def test_what_does_not_fit_changes_nothing(engine: LocalEngine, key: str, text: str, told: str) -> None:
    before = find_paths(os.environ).config_file.read_text()
    with pytest.raises(ConfigError, match=told):
        engine.change_setting(key, text)
    assert find_paths(os.environ).config_file.read_text() == before


def test_a_trusted_projects_value_is_listed_with_its_place(engine: LocalEngine, tmp_path: Path) -> None:
    config = tmp_path / "proj" / ".hermes" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[agent]\nmax_turns = 3\n")
    folder = str(tmp_path / "proj")
    assert next(row for row in engine.list_settings(folder) if row.key == "agent.max_turns").is_default
    request = engine.pending_trust(folder)
    assert request is not None
    engine.answer_trust(request, "once")
    row = next(row for row in engine.list_settings(folder) if row.key == "agent.max_turns")
    assert (row.text, row.origin) == ("3", f"{config}:2")
