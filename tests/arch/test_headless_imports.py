"""What importing a headless part really loads, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

UI = ("textual", "rich")
SDKS = (
    *("openai", "anthropic", "httpx", "httpx2", "pydantic"),
    *("tree_sitter", "jsonschema", "json_repair", "genai_prices"),
)
HEADLESS = (
    "hermes_tui",
    "hermes_tui.cli",
    "hermes_tui.bootstrap",
    "hermes_tui.library",
    "hermes_tui.engine.api",
    "hermes_tui.engine.config.loader",
    "hermes_tui.engine.providers.base",
    "hermes_tui.engine.runtime.agent",
    "hermes_tui.engine.store.db",
    "hermes_tui.engine.policy.gate.gate",
    "hermes_tui.engine.surfaces.oneshot",
    "hermes_tui.tools.registry",
)


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", HEADLESS)
def test_headless_modules_load_no_screen_and_no_sdk(module: str) -> None:
    assert not loaded_by(f"import {module}") & {*UI, *SDKS}


def test_tools_load_no_engine() -> None:
    loaded = loaded_by("from hermes_tui.tools.registry import load_builtin_tools; load_builtin_tools()")
    assert not {name for name in loaded if name.startswith("hermes_tui.engine")} | (loaded & {*UI, *SDKS})


def test_the_first_paint_loads_no_engine_no_events_no_sdk_and_no_database() -> None:
    loaded = loaded_by("import hermes_tui.cli, hermes_tui.app, hermes_tui.engine.config.peek")
    late = {"sqlite3", "pygments", "hermes_tui.bootstrap", "hermes_tui.engine.api", "hermes_tui.presenter"}
    late |= {
        "hermes_tui.engine.types.events",
        "hermes_tui.engine.config.settings",
        "hermes_tui.widgets.entries.assistant",
    }
    late |= {"hermes_tui.widgets.side_panel", "hermes_tui.screens.dialogs"}
    assert loaded.isdisjoint({*late, *SDKS} - {"tree_sitter"}), loaded & {*late, *SDKS}  # Textual loads tree_sitter


def test_reading_a_session_before_the_engine_loads_no_settings_no_search_and_no_agent() -> None:
    loaded = loaded_by("import hermes_tui.engine.runtime.reader")
    engine = {
        f"hermes_tui.engine.{name}" for name in ("config", "providers", "policy", "runtime.agent", "store.search")
    }
    assert loaded.isdisjoint({*engine, "hermes_tui.bootstrap", "hermes_tui.tools.terminal", *UI, *SDKS})


def test_the_library_face_is_complete_and_lazy() -> None:
    loaded = loaded_by("import hermes_tui\nassert sorted(hermes_tui.__all__) == hermes_tui.__all__")
    assert not {name for name in loaded if name.startswith("hermes_tui.")}
    assert "hermes_tui.bootstrap" in loaded_by("from hermes_tui import AIAgent, SessionDB, registry, run_batch")
