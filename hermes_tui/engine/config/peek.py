"""The little that the first paint needs of the settings, read before the rest.

Says nothing about what is wrong: ``loader.py`` reads everything a moment later and does.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..types.errors import ConfigError
from ..types.preferences import UiSettings, ui_from
from .paths import Paths, find_paths
from .toml_file import read_toml

ENV_PREFIX = "HERMES_TUI_UI_"


def peek_ui(env: Mapping[str, str]) -> tuple[UiSettings, Paths]:
    """Return the screen's settings and where things live. Reads two small files, never raises.

    Args:
        env: Usually ``os.environ``.
    """
    paths = find_paths(env)
    table: dict[str, Any] = {}
    for file in (paths.settings_file, paths.config_file):
        with suppress(ConfigError):
            content = read_toml(file)
            own = content.get("ui")
            table |= own if isinstance(own, dict) else {}
            if isinstance(keys := content.get("keys"), dict):
                table["keys"] = keys
    for name, text in env.items():
        if name.startswith(ENV_PREFIX) and text:
            table[name.removeprefix(ENV_PREFIX).lower()] = _TRUTH.get(text.lower(), text)
    if env.get("HERMES_TUI_PLAIN"):
        table["plain"] = True
    return ui_from(table), paths


_TRUTH: Mapping[str, bool] = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
