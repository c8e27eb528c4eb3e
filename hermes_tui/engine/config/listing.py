"""All settings as rows for a screen: effective value, where it comes from, what it means, how it is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast, get_args, get_origin

from ..types.choices import SettingKind, SettingRow
from .describe import SettingDoc, describe_settings, toml
from .loader import COMMAND_LINE, ENV_PREFIX, LoadedSettings
from .schema import find, item_type

_SECRET = ("api_key", "headers")
_ELSEWHERE: Mapping[str, str] = {
    "approvals.allow": "rules are changed on their own page",
    "approvals.deny": "rules are changed on their own page",
    "approvals.projects": "rules are changed on their own page",
}
"""Settings that another page changes, and what to say about it."""


def list_settings(loaded: LoadedSettings) -> list[SettingRow]:
    """Return a row for every setting, in the order of the source; named tables get one per name in use. Reads files.

    Args:
        loaded: The settings that hold, with their origins.
    """
    return [row for doc in describe_settings() for row in _rows(doc, loaded)]


def _rows(doc: SettingDoc, loaded: LoadedSettings) -> Iterator[SettingRow]:
    for path in _paths(tuple(doc.key.split(".")), loaded.settings):
        yield _row(path, doc, loaded)


def _paths(path: tuple[str, ...], settings: Any, done: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the keys that a documented one stands for: ``NAME`` becomes each name in use."""
    if not path:
        yield done
    elif path[0] == "NAME":
        for name, value in cast(Mapping[str, Any], settings).items():
            yield from _paths(path[1:], value, (*done, name))
    else:
        yield from _paths(path[1:], getattr(settings, path[0]), (*done, path[0]))


def _row(path: tuple[str, ...], doc: SettingDoc, loaded: LoadedSettings) -> SettingRow:
    key = ".".join(path)
    value = _value_at(loaded.settings, path)
    hint, _ = find(path)
    kind, choices = _kind(hint)
    secret = path[-1] in _SECRET and bool(value)
    note = next((text for prefix, text in _ELSEWHERE.items() if key == prefix or key.startswith(prefix + ".")), "")
    if path[-1] in _SECRET:
        note = "keys are stored by /setup" if path[-1] == "api_key" else "change it in config.toml"
    elif kind == "table":
        note = note or "change it in config.toml"
    origin = loaded.origin_of(key)
    return SettingRow(
        key=key,
        section=".".join(path[:-1]),
        value="(set)" if secret else toml(value),
        text="" if secret else _as_text(value),
        default=doc.default,
        origin=loaded.place_of(key),
        is_default=origin == "default",
        is_firm=origin == COMMAND_LINE or origin.startswith(ENV_PREFIX),
        kind=kind,
        choices=choices,
        doc=" ".join(doc.doc.split()),
        note=note,
    )


def _value_at(settings: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        settings = settings[name] if isinstance(settings, Mapping) else getattr(settings, name)
    return settings


def _kind(hint: Any) -> tuple[SettingKind, tuple[str, ...]]:
    if get_origin(hint) is Literal:
        return "choice", tuple(map(str, get_args(hint)))
    if hint is bool:
        return "switch", ("true", "false")
    if get_origin(hint) is tuple:
        return "list", ()
    if item_type(hint) is not None:
        return "table", ()
    return ("number" if hint in (int, float) else "text"), ()


def _as_text(value: Any) -> str:
    """Return a value as it is typed; :func:`.schema.from_text` reads it back."""
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).lower() if isinstance(value, bool) else "" if isinstance(value, Mapping) else str(value)
