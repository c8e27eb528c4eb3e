"""What the settings' dataclasses say about themselves: names, types, limits. No files, no environment.

Everything here walks the fields; a new setting needs no line in this module.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin

from .settings import Settings

_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


class BadValue(ValueError):
    """A value does not fit its type; the text says what would."""


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Return the resolved type of each field."""
    return typing.get_type_hints(cls)


@cache
def fields_of(cls: type) -> dict[str, Field[Any]]:
    """Return the fields by name."""
    return {item.name: item for item in fields(cls)}


def item_type(hint: Any) -> Any:
    """Return the value type of a ``Mapping[str, X]``, None for any other type."""
    return get_args(hint)[1] if get_origin(hint) in (Mapping, dict) else None


def is_table(hint: Any) -> bool:
    """Tell whether a type is written as a TOML table."""
    return is_dataclass(hint) or item_type(hint) is not None


def type_words(hint: Any) -> str:
    """Say in words what a value must be."""
    if get_origin(hint) is Literal:
        return " | ".join(f'"{word}"' for word in get_args(hint))
    if get_origin(hint) is tuple:
        return "a list of texts"
    if is_table(hint):
        return "a table"
    return _WORDS.get(hint, str(hint))


def check(value: Any, hint: Any, item: Field[Any] | None = None) -> Any:
    """Return a TOML value as its setting's type.

    Raises:
        BadValue: It does not fit.
    """
    checked = _fit(value, hint)
    limits = item.metadata if item else {}
    low, high = limits.get("min"), limits.get("max")
    if (low is not None and checked < low) or (high is not None and checked > high):
        wanted = f"{low} to {high}" if high is not None else f"{low} or more"
        raise BadValue(f"must be {wanted}, not {value!r}")
    return checked


def _fit(value: Any, hint: Any) -> Any:
    wrong = BadValue(f"must be {type_words(hint)}, not {_shown(value)}")
    origin = get_origin(hint)
    if origin is Literal:
        if value not in get_args(hint) or isinstance(value, bool):
            raise wrong
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
            raise wrong
        return tuple(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is not bool and isinstance(value, bool)):
        raise wrong
    return value


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else repr(value)


def from_text(text: str, hint: Any) -> Any:
    """Return the TOML value that a text from the environment or a command line stands for.

    Raises:
        BadValue: It does not fit.
    """
    if hint is bool:
        word = text.strip().lower()
        if word not in _TRUE | _FALSE:
            raise BadValue(f"must be true or false, not {text!r}")
        return word in _TRUE
    if hint in (int, float):
        try:
            return hint(text.strip().replace("_", ""))
        except ValueError as error:
            raise BadValue(f"must be {_WORDS[hint]}, not {text!r}") from error
    if get_origin(hint) is tuple:
        return [word.strip() for word in text.split(",") if word.strip()]
    return text


def find(path: tuple[str, ...]) -> tuple[Any, Field[Any] | None]:
    """Return the type (and field) of a setting.

    Raises:
        KeyError: There is no such setting; the argument is the position of the first name that is unknown.
    """
    hint: Any = Settings
    item: Field[Any] | None = None
    for depth, name in enumerate(path):
        inner = item_type(hint)
        if inner is not None:
            hint, item = inner, None
        elif is_dataclass(hint) and name in fields_of(typing.cast(type, hint)):
            item = fields_of(typing.cast(type, hint))[name]
            hint = hints_of(typing.cast(type, hint))[name]
        else:
            raise KeyError(depth)
    return hint, item


def leaves(cls: type = Settings, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Field[Any]]]:
    """Yield path, type and field of each setting that is not a table; ``NAME`` for names that the user chooses."""
    for name, item in fields_of(cls).items():
        hint = hints_of(cls)[name]
        inner = item_type(hint)
        if is_dataclass(inner):
            yield from leaves(typing.cast(type, inner), (*prefix, name, "NAME"))
        elif is_dataclass(hint):
            yield from leaves(typing.cast(type, hint), (*prefix, name))
        else:
            yield (*prefix, name) if inner is None else (*prefix, name, "NAME"), hint, item
