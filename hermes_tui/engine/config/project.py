"""A project's own ``.hermes/config.toml``: which of its wishes are followed, once a person trusts it.

It comes with the code of strangers, so it may choose how to work here and make things stricter. What it cannot do is
loosen anything: each setting it may touch has a row in :data:`RULES`; all others are left out, with a word.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from ..types.errors import ConfigError
from .loader import COMMAND_LINE, ENV_PREFIX, LoadedSettings, Problem, entries
from .schema import BadValue, check, find
from .toml_file import line_of, parse

PROJECT_FILE = Path(".hermes") / "config.toml"
_STRICTNESS = ("off", "smart", "ask", "strict", "plan")
_EDITS = ("auto", "ask")

Rule: TypeAlias = Callable[[Any, Any], Any]
"""The user's value and the project's -> the one that holds; raises :class:`BadValue` when the wish is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectConfig:
    """The file as it was found."""

    path: Path
    text: str
    digest: str
    """Hash of the bytes; trust is bound to it."""
    size_bytes: int = 0


def up_to_git_root(folder: Path) -> Iterator[Path]:
    """Yield the folder and its parents up to the git root; the folder alone outside a repository."""
    way = [folder, *folder.parents]
    root = next((place for place in way if (place / ".git").exists()), folder)
    for place in way:
        yield place
        if place == root:
            return


def find_project_config(folder: Path) -> ProjectConfig | None:
    """Return the nearest ``.hermes/config.toml`` up to the git root, or None. Reads the disk."""
    for place in up_to_git_root(folder):
        path = place / PROJECT_FILE
        try:
            raw = path.read_bytes() if path.is_file() else b""
        except OSError:
            continue
        if raw.strip():
            digest = hashlib.sha256(raw).hexdigest()
            return ProjectConfig(path=path, text=raw.decode("utf-8", "replace"), digest=digest, size_bytes=len(raw))
    return None


def apply_project(loaded: LoadedSettings, config: ProjectConfig) -> LoadedSettings:
    """Lay a trusted project's settings over the user's, below the environment and flags. Never raises.

    Args:
        loaded: The user's settings.
        config: The project's file.

    Returns:
        The settings that hold in this project; ``problems`` says which wishes were refused.
    """
    try:
        table = parse(config.text, config.path)
    except ConfigError as error:
        return replace(loaded, problems=(*loaded.problems, Problem("error", str(error), str(config.path))))
    settings, origins, problems = loaded.settings, dict(loaded.origins), list(loaded.problems)
    for path, wish in entries(table):
        key = ".".join(path)
        try:
            own = _value_at(settings, path)
            value = _rule_for(path)(own, _checked(path, wish))
        except BadValue as error:
            line = line_of(config.text, path)
            problems.append(Problem("warning", f"{config.path}, line {line}: {key} {error}.", str(config.path)))
            continue
        origin = loaded.origin_of(key)
        is_firm = origin == COMMAND_LINE or origin.startswith(ENV_PREFIX)
        if value != own and not (is_firm and _rule_for(path) is not _added):
            settings, origins[key] = _with(settings, path, value), str(config.path)
    return replace(loaded, settings=settings, origins=origins, problems=tuple(problems))


def _checked(path: tuple[str, ...], wish: Any) -> Any:
    try:
        hint, item = find(path)
        return check(wish, hint, item)
    except (KeyError, TypeError) as error:
        raise BadValue("is no setting; it is left out") from error


def _rule_for(path: tuple[str, ...]) -> Rule:
    rule = RULES.get(".".join(path)) or RULES.get(".".join(path[:-1]) + ".*")
    if rule is None:
        raise BadValue("cannot be set by a project; it is left out. Put it into your own config.toml if you want it")
    return rule


def _free(_own: Any, wish: Any) -> Any:
    return wish


def _stricter(order: Iterable[str]) -> Rule:
    ranks = {name: rank for rank, name in enumerate(order)}

    def choose(own: str, wish: str) -> str:
        if ranks[wish] < ranks[own]:
            raise BadValue(f'can only be stricter than yours in a project; "{own}" stays')
        return wish

    return choose


def _less(own: float, wish: float) -> float:
    if own and (not wish or wish > own):
        raise BadValue(f"can only be lower than yours in a project; {own} stays")
    return wish


def _added(own: tuple[str, ...], wish: tuple[str, ...]) -> tuple[str, ...]:
    if any(word.startswith("!") for word in wish):
        raise BadValue("can make no exceptions in a project; it is left out")
    return tuple(dict.fromkeys((*own, *wish)))


def _subset(own: tuple[str, ...], wish: tuple[str, ...]) -> tuple[str, ...]:
    kept = tuple(name for name in wish if not own or name in own)
    if len(kept) < len(wish) or (own and not kept):
        raise BadValue("can only leave out toolsets of yours in a project; yours stay")
    return kept


RULES: Mapping[str, Rule] = {
    "model": _free,
    "fallback_providers": _free,
    "agent.max_turns": _free,
    "agent.reasoning_effort": _free,
    "agent.max_output_tokens": _free,
    "agent.cache_ttl": _free,
    "agent.toolsets": _subset,
    "approvals.mode": _stricter(_STRICTNESS),
    "approvals.edits": _stricter(_EDITS),
    "approvals.deny": _added,
    "approvals.deny_paths": _added,
    "auxiliary.title.*": _free,
    "auxiliary.compression.*": _free,
    "compression.*": _free,
    "delegation.*": _free,
    "budget.*": _less,
    "tools.terminal_timeout_s": _free,
    "web.deny_hosts": _added,
}
"""What a project may set, by dotted key (``*`` stands for the last name), and how it meets the user's value."""


def _value_at(settings: Any, path: tuple[str, ...]) -> Any:
    for at in range(len(path)):
        settings = _child(settings, path, at)
    return settings


def _with(settings: Any, path: tuple[str, ...], value: Any, at: int = 0) -> Any:
    """Return a copy of nested frozen settings with one value changed."""
    if at == len(path):
        return value
    inner = _with(_child(settings, path, at), path, value, at + 1)
    return {**settings, path[at]: inner} if isinstance(settings, Mapping) else replace(settings, **{path[at]: inner})


def _child(table: Any, path: tuple[str, ...], at: int) -> Any:
    if not isinstance(table, Mapping):
        return getattr(table, path[at], None)
    if path[at] in table:
        return table[path[at]]
    made: Any = find(path[: at + 1])[0]
    return made() if isinstance(made, type) else None
