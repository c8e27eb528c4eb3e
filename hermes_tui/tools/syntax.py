"""A word on syntax after an edit, for the formats that Python itself can read."""

from __future__ import annotations

import ast
import json
import tomllib
import warnings
from collections.abc import Callable

_CAP_CHARS = 1_000_000


def syntax_note(name: str, old: str | None, new: str) -> str:
    """Say that the new text cannot be parsed, and whether the old one could; empty when all is well."""
    checker = next((check for suffix, check in _CHECKS.items() if name.lower().endswith(suffix)), None)
    if checker is None or len(new) > _CAP_CHARS:
        return ""
    problem = checker(new)
    if not problem:
        return ""
    before = " (it could not be parsed before the edit either)" if old and checker(old) else ""
    return f"Written, but {problem}{before}."


def _python(text: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as error:
            return f"Python cannot parse it: {error.msg}, line {error.lineno}"
        except (ValueError, RecursionError, MemoryError) as error:
            return f"Python cannot parse it: {error}"
    return ""


def _json(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"it is not valid JSON: {error.msg}, line {error.lineno} column {error.colno}"
    except RecursionError:
        return "its JSON is nested too deep to check"
    return ""


def _toml(text: str) -> str:
    try:
        tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        return f"it is not valid TOML: {error}"
    except RecursionError:
        return "its TOML is nested too deep to check"
    return ""


_CHECKS: dict[str, Callable[[str], str]] = {".py": _python, ".pyi": _python, ".json": _json, ".toml": _toml}
