"""Checks a call's arguments against the tool's schema, after mending what is obvious."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ..context.repair import normalise_arguments

_BOOLEANS = {"true": True, "false": False}
_KINDS: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}


class ArgumentChecker:
    """Validates arguments; keeps one compiled schema per tool. Usable from any thread."""

    def __init__(self) -> None:
        self._validators: dict[str, Any] = {}

    def check(self, tool: str, schema: Mapping[str, Any], arguments: str) -> tuple[dict[str, Any], str]:
        """Return the arguments and an error for the model, one of them empty.

        Args:
            tool: The tool's name.
            schema: JSON schema of its parameters.
            arguments: A JSON object as text.
        """
        args = coerce(json.loads(normalise_arguments(arguments)[0]), schema)
        if tool not in self._validators:
            from jsonschema import Draft202012Validator

            self._validators[tool] = Draft202012Validator(dict(schema))
        from jsonschema.exceptions import best_match

        problem = best_match(self._validators[tool].iter_errors(args))
        if problem is None:
            return args, ""
        place = ".".join(str(step) for step in problem.absolute_path)
        return {}, f"Invalid arguments for {tool}: {f'{place}: ' if place else ''}{problem.message[:500]}"


def coerce(args: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with unambiguous slips mended.

    Numbers, booleans, lists and objects written as strings are read; null for an optional field is left out, and so are
    fields that the schema does not allow.
    """
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required = schema.get("required") or ()
    is_closed = schema.get("additionalProperties") is False
    mended: dict[str, Any] = {}
    for name, value in args.items():
        if name not in properties:
            if not is_closed:
                mended[name] = value
            continue
        types = _types(properties[name])
        means_null = value is None or (value == "null" and "string" not in types)
        if means_null and types and "null" not in types and name not in required:
            continue
        mended[name] = _coerce_value(value, types, properties[name])
    return mended


def _types(schema: Any) -> tuple[str, ...]:
    declared = schema.get("type") if isinstance(schema, Mapping) else None
    if isinstance(declared, str):
        return (declared,)
    return tuple(declared) if isinstance(declared, list) else ()


def _coerce_value(value: Any, types: tuple[str, ...], schema: Mapping[str, Any]) -> Any:
    if isinstance(value, str) and types and "string" not in types:
        return _from_text(value, types, schema)
    if isinstance(value, float) and value.is_integer() and "integer" in types and "number" not in types:
        return int(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and types == ("string",):
        return str(value)
    if isinstance(value, dict) and "object" in types:
        return coerce(value, schema)
    if types == ("array",) and isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        return [_coerce_value(item, _types(items), items) for item in value]
    return value


def _from_text(text: str, types: tuple[str, ...], schema: Mapping[str, Any]) -> Any:
    stripped = text.strip()
    if "boolean" in types and stripped.lower() in _BOOLEANS:
        return _BOOLEANS[stripped.lower()]
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        return text
    read = _coerce_value(value, types, schema)
    return read if any(isinstance(read, _KINDS[name]) for name in types if name in _KINDS) else text
