"""Every setting as a row: value, origin, kind, meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_tui.engine.config.describe import describe_settings
from hermes_tui.engine.config.listing import list_settings
from hermes_tui.engine.config.loader import load_settings
from hermes_tui.engine.config.paths import find_paths


@pytest.fixture
def rows(tmp_path: Path):
    env = {"HERMES_TUI_HOME": str(tmp_path), "HERMES_TUI_AGENT_MAX_TURNS": "9"}
    paths = find_paths(env)
    paths.config_file.write_text(
        'model = "local/x"\n[providers.local]\nbase_url = "http://127.0.0.1:1/v1"\napi_key = "sk-secret"\n'
        '[approvals]\nmode = "strict"\nallow = ["ls"]\n'
    )
    paths.settings_file.write_text('[ui]\ntheme = "nord"\n')
    return {row.key: row for row in list_settings(load_settings(env, {"budget.max_cost_usd": 2.0}))}


def test_every_documented_setting_has_a_row_and_named_tables_one_per_name(rows) -> None:
    for doc in describe_settings():
        if "NAME" not in doc.key:
            assert rows[doc.key].doc, doc.key
    assert rows["providers.local.base_url"].value == '"http://127.0.0.1:1/v1"'
    assert not [key for key in rows if "NAME" in key]


@pytest.mark.parametrize(
    ("key", "value", "origin", "kind"),
    [
        ("model", '"local/x"', "config.toml:1", "text"),
        ("agent.max_turns", "9", "HERMES_TUI_AGENT_MAX_TURNS", "number"),
        ("budget.max_cost_usd", "2.0", "command line", "number"),
        ("ui.theme", '"nord"', "settings.toml:2", "text"),
        ("approvals.mode", '"strict"', "config.toml:6", "choice"),
        ("approvals.edits", '"auto"', "default", "choice"),
        ("compression.enabled", "true", "default", "switch"),
        ("fallback_providers", "[]", "default", "list"),
    ],
)
def test_a_row_names_value_origin_and_kind(rows, key: str, value: str, origin: str, kind: str) -> None:
    row = rows[key]
    assert (row.value, row.origin, row.kind) == (value, origin, kind)
    assert row.is_default == (origin == "default")
    assert row.is_firm == (origin in ("HERMES_TUI_AGENT_MAX_TURNS", "command line"))


def test_secrets_are_not_in_the_rows_and_rules_are_changed_elsewhere(rows) -> None:
    assert "sk-secret" not in str(list(rows.values()))
    assert rows["providers.local.api_key"].value == "(set)" and rows["providers.local.api_key"].note
    assert rows["approvals.allow"].note and rows["approvals.mode"].choices == ("ask", "strict", "smart", "plan", "off")
