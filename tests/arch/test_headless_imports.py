"""What importing a headless part really loads, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

UI = ("textual", "rich")
SDKS = ("openai", "anthropic", "httpx", "httpx2", "pydantic", "tree_sitter", "jsonschema", "json_repair", "genai_prices")
HEADLESS = (
    "hermes_tui",
    "hermes_tui.cli",
    "hermes_tui.bootstrap",
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


def test_the_screen_starts_without_engine_sdk_or_database() -> None:
    loaded = loaded_by("import hermes_tui.app")
    heavy = {"sqlite3", "hermes_tui.bootstrap", "hermes_tui.engine.runtime", "hermes_tui.engine.store", *SDKS}
    assert not loaded & heavy


def test_the_library_face_is_complete_and_lazy() -> None:
    loaded = loaded_by("import hermes_tui\nassert sorted(hermes_tui.__all__) == hermes_tui.__all__")
    assert not {name for name in loaded if name.startswith("hermes_tui.")}
    assert "hermes_tui.bootstrap" in loaded_by("from hermes_tui import AIAgent, SessionDB, registry")
