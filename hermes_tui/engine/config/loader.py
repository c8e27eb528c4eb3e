"""Settings from defaults, two files, the environment and flags; each value remembers where it came from.

Later wins: defaults < ``settings.toml`` (the app's own choices) < ``config.toml`` (the user's) < ``HERMES_TUI_*`` <
flags. One bad entry never costs the others: it is named and left out. Runs before the first paint, so it imports
little. A project's own file needs the user's trust first: ``project.py`` lays it over what is made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, Literal

from ..types.errors import ConfigError
from .paths import Paths, find_paths
from .schema import BadValue, check, fields_of, find, from_text, hints_of, is_table, item_type, leaves
from .settings import Settings
from .toml_file import line_of, parse, read_text

ENV_PREFIX = "HERMES_TUI_"
COMMAND_LINE = "command line"
"""Origin of values that were given as flags."""
_NOT_SETTINGS = {"HERMES_TUI_HOME", "HERMES_TUI_API_KEY"}
_MOVED = {("keys",): ("ui", "keys")}
"""Tables that people write at the top although the field is elsewhere."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One line for the user about what was left out."""

    level: Literal["info", "warning", "error"]
    text: str
    origin: str = ""
    """The layer it is in: a file's name, a variable's, or ``command line``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSettings:
    """Settings, where each came from, and what could not be used."""

    settings: Settings
    paths: Paths
    origins: Mapping[str, str] = field(default_factory=dict)
    """Dotted key -> ``settings.toml``, ``config.toml``, a project's file, a variable's name or ``command line``."""
    problems: tuple[Problem, ...] = ()
    flags: Mapping[str, object] = field(default_factory=dict)
    """What the command line gave, for reading the layers again."""

    def origin_of(self, key: str) -> str:
        """Return where a value came from, ``default`` when nothing set it."""
        return self.origins.get(key, "default")

    def place_of(self, key: str) -> str:
        """Return where a value came from, with the line when that is a file: ``config.toml:12``. Reads the file."""
        origin = self.origin_of(key)
        files = {file.name: file for file in (self.paths.settings_file, self.paths.config_file)}
        file = files.get(origin) or Path(origin)
        if origin not in files and not file.is_absolute():
            return origin
        try:
            line = line_of(read_text(file), tuple(key.split(".")))
        except ConfigError:
            line = 0
        return f"{origin}:{line}" if line else origin


def load_settings(
    env: Mapping[str, str], flags: Mapping[str, object] | None = None, paths: Paths | None = None
) -> LoadedSettings:
    """Read all layers. Never raises for bad content; ``problems`` says what was skipped.

    Args:
        env: Usually ``os.environ``; an empty value counts as unset.
        flags: Dotted key -> value; None values count as not given.
        paths: Where the files are; found from ``env`` when omitted.
    """
    places = paths or find_paths(env)
    merge = _Merge()
    if places.problem:
        merge.problems.append(Problem("warning", places.problem))
    for file in (places.settings_file, places.config_file):
        merge.add_file(file)
    merge.add_environment(env)
    merge.add_flags(flags or {})
    return LoadedSettings(
        settings=_build(Settings, merge.tree),
        paths=places,
        origins=merge.origins,
        problems=tuple(merge.problems),
        flags=dict(flags or {}),
    )


class _Merge:
    """Collects checked values, layer over layer."""

    def __init__(self) -> None:
        self.tree: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[Problem] = []

    def add_file(self, file: Path) -> None:
        try:
            text = read_text(file)
            table = parse(text, file)
        except ConfigError as error:
            self.problems.append(Problem("error", str(error)))
            return
        for path, value in entries(table):
            self._add(_moved(path), value, file.name, _FilePlace(file, text, path))

    def add_environment(self, env: Mapping[str, str]) -> None:
        given = {
            name: text
            for name, text in env.items()
            if name.startswith(ENV_PREFIX) and name not in _NOT_SETTINGS and text.strip()
        }
        if not given:
            return
        names = {ENV_PREFIX + "_".join(path).upper(): (path, hint) for path, hint, _ in leaves() if "NAME" not in path}
        for name, text in given.items():
            if name not in names:
                if guess := nearest(name, names):
                    self._warn(f"{name} is not a setting; did you mean {guess}?")
                continue
            path, hint = names[name]
            try:
                self._add(path, from_text(text, hint), name, name)
            except BadValue as error:
                self._warn(f"{name} {error}; it is ignored.")

    def add_flags(self, flags: Mapping[str, object]) -> None:
        for key, value in flags.items():
            if value is not None:
                self._add(tuple(key.split(".")), value, COMMAND_LINE, f"{COMMAND_LINE}: {key}")

    def _add(self, path: tuple[str, ...], value: Any, origin: str, place: _FilePlace | str) -> None:
        try:
            hint, item = find(path)
            if "" in path:
                raise BadValue("has an empty name")
            checked = {} if is_table(hint) and value == {} else check(value, hint, item)
        except KeyError as error:
            self._warn(f"{place}: {_unknown(path, error.args[0])}", origin)
        except BadValue as error:
            self._warn(f"{place}: {'.'.join(path)} {error}; it is ignored.", origin)
        except TypeError:
            self._warn(f"{place}: {'.'.join(path)} must be a table; it is ignored.", origin)
        else:
            self._put(path, checked)
            if not is_table(hint):
                self.origins[".".join(path)] = origin

    def _put(self, path: tuple[str, ...], value: Any) -> None:
        table = self.tree
        for name in path[:-1]:
            table = table.setdefault(name, {})
        if value == {}:
            table.setdefault(path[-1], {})
        else:
            table[path[-1]] = value

    def _warn(self, text: str, origin: str = "") -> None:
        self.problems.append(Problem("warning", text, origin))


class _FilePlace:
    """``FILE, line N``; the line is looked for only when someone reads it."""

    def __init__(self, file: Path, text: str, path: tuple[str, ...]) -> None:
        self._file, self._text, self._path = file, text, path

    def __str__(self) -> str:
        line = line_of(self._text, self._path)
        return f"{self._file}, line {line}" if line else str(self._file)


def _moved(path: tuple[str, ...]) -> tuple[str, ...]:
    for old, new in _MOVED.items():
        if path[: len(old)] == old:
            return new + path[len(old) :]
    return path


def entries(table: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values of nested tables with their paths; an empty table counts as a value."""
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from entries(value, (*prefix, name))
        else:
            yield (*prefix, name), value


def _unknown(path: tuple[str, ...], depth: int) -> str:
    """Say which key is unknown, in which table, and what was probably meant."""
    name = path[depth]
    hint = find(path[:depth])[0]
    names = fields_of(hint) if isinstance(hint, type) and is_dataclass(hint) else ()
    guess = nearest(name, names)
    if depth < len(path) - 1:
        table = ".".join(path[:-1])
        return f"unknown key {path[-1]} in [{table}]; " + (
            f"did you mean [{'.'.join((*path[:depth], guess))}]?" if guess else "it is ignored."
        )
    where = f" in [{'.'.join(path[:-1])}]" if depth else ""
    return f"unknown key {name}{where}; " + (f"did you mean {guess}?" if guess else "it is ignored.")


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the known name that a misspelt one most probably means, or an empty text."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(names), 1, 0.7)), "")


def _build(cls: type, tree: Mapping[str, Any]) -> Any:
    """Make a dataclass of checked values; what is absent keeps its default."""
    hints = hints_of(cls)
    return cls(**{name: _value(hints[name], value) for name, value in tree.items()})


def _value(hint: Any, value: Any) -> Any:
    if is_dataclass(hint):
        return _build(hint, value)  # type: ignore[arg-type]
    inner = item_type(hint)
    if is_dataclass(inner):
        return {name: _build(inner, item) for name, item in value.items()}  # type: ignore[arg-type]
    return value
