"""Mends single values of a conversation: text, tool names, call ids, JSON arguments. Pure functions."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Literal, TypeAlias

ArgumentState: TypeAlias = Literal["ok", "repaired", "broken"]

MAX_DEPTH = 100
"""Levels of nested lists and objects in a call's arguments; no tool asks for a tenth of it."""
UNNAMED_TOOL = "unnamed_tool"
"""Stands for a blank name, because every API refuses an empty one."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_NOT_NAME = re.compile(r"[^a-zA-Z0-9_-]+")
_DEBRIS = re.compile(r"[<\s]")
_ESCAPED = re.compile(r"\\.", re.DOTALL)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant)
_LENIENT = json.JSONDecoder(parse_constant=lambda _: None, strict=False)


def clean_text(text: str) -> str:
    """Return the text without NUL, escaped surrogate pairs joined and lone ones replaced by U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_tool_name(name: str) -> str:
    """Return a name that every API accepts, without template debris (``functions.x``, ``x<|channel|>...``)."""
    if _NAME.match(name):
        return name
    head = _DEBRIS.split(name.strip(), maxsplit=1)[0]
    return _NOT_NAME.sub("", head.rsplit(".", 1)[-1])[:64] or UNNAMED_TOOL


def valid_call_id(call_id: object) -> str:
    """Return the id with only the letters that every API accepts; empty when nothing is left."""
    return _NOT_NAME.sub("", call_id)[:64] if isinstance(call_id, str) else ""


def normalise_arguments(raw: object) -> tuple[str, ArgumentState]:
    """Return a call's arguments as the text of one JSON object, and what it took.

    Valid text is returned unchanged, byte for byte. Text that ends inside a string was cut off: closing it could run
    half a command, so it counts as broken.
    """
    if isinstance(raw, dict):
        return ("{}", "broken") if _is_too_deep(raw) else (_dump(raw), "ok")
    if not isinstance(raw, str) or not raw.strip():
        return "{}", "ok"
    try:
        value = _STRICT.decode(raw)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        if raw.count("[") + raw.count("{") > MAX_DEPTH and _is_too_deep(value):
            return "{}", "broken"
        if raw.isascii() and "\\u" not in raw:
            return raw, "ok"
        return (raw, "ok") if _is_clean(value) else (_dump(value), "repaired")
    mended = _mend(raw)
    return ("{}", "broken") if mended is None or _is_too_deep(mended) else (_dump(mended), "repaired")


def _mend(raw: str) -> dict[str, Any] | None:
    try:
        value = _LENIENT.decode(raw)
        if isinstance(value, str):
            value = _LENIENT.decode(value)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    if value is not None or "{" not in raw or _ends_inside_string(raw):
        return None
    import json_repair

    try:
        value = json_repair.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and value else None


def _is_too_deep(value: object) -> bool:
    """Whether containers are nested so deep that no program that walks them is safe."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for node in level
            if isinstance(node, dict | list)
            for item in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return False
    return True


def _ends_inside_string(raw: str) -> bool:
    return _ESCAPED.sub("", raw).count('"') % 2 == 1


def _is_clean(value: object) -> bool:
    text = json.dumps(value, ensure_ascii=False)
    return clean_text(text) == text and "\\u0000" not in text


def _dump(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        text = json.dumps(_without_constants(value), ensure_ascii=False, default=str)
    return clean_text(text).replace("\\u0000", "")


def _without_constants(value: Any) -> Any:
    """Return the value with NaN and the infinities as None: JSON has no word for them."""
    if isinstance(value, dict):
        return {key: _without_constants(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_constants(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
