"""Every setting in words, read from the docstrings under the fields: for help pages, ``config show`` and the README."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, is_dataclass
from functools import cache
from typing import Any

from .schema import fields_of, find, item_type, leaves, type_words
from .settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingDoc:
    """One setting, for help pages and the README."""

    key: str
    """Dotted; ``NAME`` stands for a name that the user chooses."""
    type: str
    default: str
    """As TOML."""
    doc: str


def describe_settings() -> Iterator[SettingDoc]:
    """Yield every setting with its type, default and docstring, in the order of the source. Reads source files."""
    for path, hint, item in leaves():
        owner = _owner_of(path)
        value = item.default_factory() if item.default_factory is not MISSING else item.default
        yield SettingDoc(
            key=".".join(path), type=type_words(item_type(hint) or hint), default=toml(value), doc=owner[item.name]
        )


def _owner_of(path: tuple[str, ...]) -> dict[str, str]:
    table = path[:-1]
    while table and item_type(find(table)[0]) and not is_dataclass(item_type(find(table)[0])):
        table = table[:-1]
    hint = find(table)[0] if table else Settings
    return _field_docs(hint)


@cache
def _field_docs(cls: type) -> dict[str, str]:
    """Return the text under each field of a class."""
    (body,) = (node.body for node in ast.parse(inspect.getsource(cls)).body if isinstance(node, ast.ClassDef))
    docs = dict.fromkeys(fields_of(cls), "")
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(after, ast.Expr):
            docs[node.target.id] = inspect.cleandoc(str(ast.literal_eval(after.value)))
    return docs


def toml(value: Any) -> str:
    """Return a value as it is written in TOML, one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "[" + ", ".join(toml(word) for word in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {toml(entry)}" for name, entry in value.items()) + "}"
    return str(value)
