"""Write settings back: the app's own choices into ``settings.toml``, the user's on request into ``config.toml``.

Both keep what they don't know. A file with a syntax error is never written over: the app's own is moved aside, the
user's is refused.
"""

from __future__ import annotations

import shutil
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from ..types.errors import ConfigError
from .loader import nearest
from .paths import Paths, write_private
from .schema import BadValue, check, fields_of, find, from_text, is_table, leaves
from .toml_file import read_toml


def save_choice(paths: Paths, key: str, value: object) -> None:
    """Remember one of the app's own choices. Blocks on the disk.

    Args:
        paths: Where ``settings.toml`` is.
        key: A dotted setting, such as ``ui.theme``.
        value: The value, or its text; None forgets the choice.

    Raises:
        ConfigError: No such setting, a value that does not fit, or a file that cannot be written.
    """
    table = _own_table(paths)
    _put(table, tuple(key.split(".")), None if value is None else checked(key, value))
    _write(paths.settings_file, table)


def save_rule(paths: Paths, kind: str, rule: str, folder: str = "") -> None:
    """Add an approval rule to ``settings.toml``; one that is there already stays as it is.

    Args:
        paths: Where ``settings.toml`` is.
        kind: ``allow`` or ``deny``.
        rule: Shell words.
        folder: Where it holds; empty for everywhere.

    Raises:
        ConfigError: The file cannot be written.
    """
    table = _own_table(paths)
    path = _rule_path(kind, folder)
    rules = _get(table, path)
    if rule not in rules:
        _put(table, path, [*rules, rule])
        _write(paths.settings_file, table)


def change_rule(paths: Paths, kind: str, rule: str, new: str | None, folder: str = "") -> bool:
    """Put another rule in the place of one, or take it out (None), in the file that holds it.

    Returns:
        False when neither file holds it.

    Raises:
        ConfigError: A file cannot be read or written.
    """
    path = _rule_path(kind, folder)
    for table, write in ((_own_table(paths), _write_own), (read_toml(paths.config_file), _write_config)):
        rules = _get(table, path)
        if rule in rules:
            kept = [new if known == rule else known for known in rules]
            _put(table, path, list(dict.fromkeys(text for text in kept if text is not None)) or None)
            write(paths, table)
            return True
    return False


def set_config(paths: Paths, key: str, text: str | None) -> Path:
    """Set one value in the user's ``config.toml`` (None takes it out) and return the backup of the old file beside it.

    Raises:
        ConfigError: No such setting, a value that does not fit, or a file that cannot be read or written.
    """
    value = None if text is None else checked(key, text)
    table = read_toml(paths.config_file)
    _put(table, tuple(key.split(".")), value)
    return _write_config(paths, table)


def checked(key: str, value: object) -> Any:
    """Return a value (or the text that stands for one) as the setting's TOML value.

    Raises:
        ConfigError: No such setting, or the value does not fit.
    """
    path = tuple(key.split("."))
    try:
        hint, item = find(path)
        fitting = check(from_text(value, hint) if isinstance(value, str) else value, hint, item)
    except KeyError as error:
        names = [".".join(leaf) for leaf, _, _ in leaves()]
        guess = nearest(key, names) or nearest(path[error.args[0]], names)
        raise ConfigError(f"There is no setting {key}.", hint=f"Did you mean {guess}?" if guess else "") from error
    except (BadValue, TypeError) as error:
        if is_table(find(path)[0]):
            raise ConfigError(f"{key} is a table.", hint=f"Set one of its keys{_keys_of(path)}.") from error
        raise ConfigError(f"{key} {error}.") from error
    return list(fitting) if isinstance(fitting, tuple) else fitting


def _keys_of(path: tuple[str, ...]) -> str:
    hint = find(path)[0]
    return ": " + ", ".join(fields_of(hint)) if isinstance(hint, type) and is_dataclass(hint) else ""


def _own_table(paths: Paths) -> dict[str, Any]:
    file = paths.settings_file
    try:
        return read_toml(file)
    except ConfigError:
        # The user was told when it was loaded; their text stays readable under another name.
        if file.is_file():
            shutil.move(file, file.with_name(f"{file.name}.broken"))
        return {}


def _rule_path(kind: str, folder: str) -> tuple[str, ...]:
    return ("approvals", "projects", folder, kind) if folder else ("approvals", kind)


def _get(table: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    for name in path[:-1]:
        table = table.get(name, {})
    return list(table.get(path[-1], ()))


def _put(table: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        below = table.setdefault(name, {})
        if not isinstance(below, dict):
            below = table[name] = {}
        table = below
    if value is None:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value


def _write_own(paths: Paths, table: dict[str, Any]) -> None:
    _write(paths.settings_file, table)


def _write_config(paths: Paths, table: dict[str, Any]) -> Path:
    """Write the user's file; what it held before is kept beside it."""
    file = paths.config_file
    backup = file.with_name(f"{file.name}.bak")
    if file.exists():
        write_private(backup, file.read_text("utf-8"))
    _write(file, table)
    return backup


def _write(file: Path, table: dict[str, Any]) -> None:
    import tomli_w

    write_private(file, tomli_w.dumps(table))
