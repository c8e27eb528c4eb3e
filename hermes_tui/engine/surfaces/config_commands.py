"""``hermes-tui config``: show, path, get, set."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..config.choices import set_config
from ..config.describe import describe_settings
from ..config.loader import LoadedSettings, load_settings
from ..policy.trust import TrustStore, settings_in
from ..types.errors import ConfigError
from .output import out, out_json, table


def main(argv: Sequence[str], parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser) -> int:
    """Run one config command and return the exit code."""
    parser = parser_class(prog="hermes-tui config", description="Settings: their values and where they come from.")
    parser.add_argument("action", choices=("show", "path", "get", "set"))
    parser.add_argument("key", nargs="?", default="", help="dotted, e.g. agent.max_turns")
    parser.add_argument("value", nargs="?", default="")
    parser.add_argument("--json", action="store_true", help="one JSON value on stdout, nothing else")
    options = parser.parse_args(argv)
    loaded = load_settings(os.environ)
    loaded, notices = settings_in(Path(os.curdir).absolute(), loaded, TrustStore(loaded.paths.trust_file))
    if options.action == "path":
        out(str(loaded.paths.config_file))
        return 0
    if options.action == "show":
        return _show(loaded, notices, as_json=options.json)
    if not options.key or (options.action == "set" and not options.value):
        parser.error(f"config {options.action} needs a key" + (" and a value" if options.action == "set" else ""))
    if options.action == "set":
        backup = set_config(loaded.paths, options.key, options.value)
        before = f" The file as it was: {backup}" if backup.exists() else ""
        out(f"Wrote {loaded.paths.config_file}.{before}")
        return 0
    value = value_at(loaded.settings, options.key)
    out_json(value) if options.json else out(str(value))
    return 0


def _show(loaded: LoadedSettings, notices: Sequence[str], *, as_json: bool) -> int:
    rows = []
    for doc in describe_settings():
        try:
            value = value_at(loaded.settings, doc.key)
        except ConfigError:
            continue  # a row for a table of names, such as providers.NAME.base_url
        rows.append((doc.key, value, loaded.place_of(doc.key)))
    if as_json:
        out_json({key: {"value": value, "from": origin} for key, value, origin in rows})
    else:
        out(table([(key, repr(value), origin) for key, value, origin in rows], ("SETTING", "VALUE", "FROM")))
    told = [f"{problem.level}: {problem.text}" for problem in loaded.problems]
    told += [f"warning: {text}" for text in notices if f"warning: {text}" not in told]
    for text in told if not as_json else ():
        out(text)
    return 0


def value_at(settings: object, key: str) -> Any:
    """Return the value under a dotted key.

    Raises:
        ConfigError: There is no such setting.
    """
    value: Any = settings
    for part in key.split("."):
        try:
            value = value[part] if isinstance(value, dict) else getattr(value, part)
        except (KeyError, AttributeError) as error:
            raise ConfigError(f"There is no setting {key!r}.", hint="See: hermes-tui config show") from error
    return value
