"""What is known at one point of a script: the folder and the values of variables."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from itertools import islice, product

from .facts import NUMBER, SOME, UNKNOWN, is_dynamic

MAX_CWDS = 4
MAX_VARIANTS = 32
MAX_VISITED = 16
_NUMBERS = re.compile(rf"[-+]?[\d{NUMBER}]+\Z")
_NUMERIC = frozenset("?#$!")


def is_number(text: str) -> bool:
    """Tell whether a value is digits, known or not."""
    return _NUMBERS.match(text) is not None


@dataclass(frozen=True, slots=True)
class Value:
    """One possible value of a variable."""

    text: str
    globbed: bool = False


@dataclass(slots=True)
class Scope:
    """The state of the shell, as far as the text itself determines it."""

    home: str
    cwds: tuple[str, ...]
    """Possible folders; empty when unknown."""
    variables: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    functions_move: bool = False
    """Whether calling one of them may change the folder."""
    visited: set[str] = field(default_factory=set)
    """Every folder that the text enters somewhere, as far as it says; shared by all copies."""
    tainted: frozenset[str] = frozenset()
    """Variables that a function may change at any time."""

    def copy(self) -> Scope:
        """Return an independent copy, for a subshell or a branch."""
        return replace(self, variables=dict(self.variables))

    def merge(self, other: Scope) -> None:
        """Keep what holds in both branches; both possibilities where they differ."""
        if self.cwds and other.cwds:
            self._set_cwds(self.cwds + other.cwds)
        else:
            self.cwds = ()
        self.functions |= other.functions
        self.functions_move |= other.functions_move
        self.tainted |= other.tainted
        self.variables = {
            name: tuple(dict.fromkeys(values + other.variables[name]))
            for name, values in self.variables.items()
            if name in other.variables
        }

    def _set_cwds(self, cwds: tuple[str, ...]) -> None:
        unique = tuple(dict.fromkeys(cwds))
        self.cwds = unique if len(unique) <= MAX_CWDS else ()

    def change_folder(self, target: str) -> None:
        """Follow ``cd target``; a folder that is not there may leave the shell where it was."""
        if is_dynamic(target):
            self.cwds = ()
            return
        raw = tuple(os.path.join(cwd, target) for cwd in self.cwds or ("/",) * os.path.isabs(target))  # noqa: PTH117, PTH118
        moved = tuple(os.path.normpath(path) for path in raw)
        if ".." in target:  # behind a link, `cd -P` goes to another parent
            moved += tuple(os.path.realpath(path) for path in raw)
        missing = tuple(cwd for cwd, path in zip(self.cwds, raw, strict=False) if not os.path.isdir(path))  # noqa: PTH112
        self._set_cwds(moved + missing)
        bases = () if os.path.isabs(target) else tuple(self.visited)  # noqa: PTH117
        entered = (*moved, *(os.path.normpath(os.path.join(base, target)) for base in bases))  # noqa: PTH118
        self.visited.update(entered[: MAX_VISITED - len(self.visited)])

    def assign(self, name: str, values: tuple[Value, ...] | None) -> None:
        """Set a variable; None forgets it."""
        known = values is not None and all(not is_dynamic(v.text) or is_number(v.text) for v in values)
        if values is None or not known or name in self.tainted:
            self.variables.pop(name, None)
        else:
            self.variables[name] = values

    def forget_all(self) -> None:
        """Forget every variable: something ran that may set any of them."""
        self.variables.clear()

    def lookup(self, name: str, binding: dict[str, Value]) -> Value:
        """Return the value of ``$name``, :data:`UNKNOWN` when it is not determined by the text."""
        if name in _NUMERIC:
            return Value(NUMBER)
        if name in binding:
            return binding[name]
        if name in self.variables:
            return self.variables[name][0]
        if name == "HOME":
            return Value(self.home)
        if name == "PWD":
            return Value(self.cwds[0] if len(self.cwds) == 1 else SOME)
        return Value(UNKNOWN)

    def bindings(self, names: set[str]) -> list[dict[str, Value]]:
        """Return one binding per combination of the possible values of ``names``; unknown when there are too many."""
        several = sorted(name for name in names if len(self.variables.get(name, ())) > 1)
        if not several:
            return [{}]
        combinations = list(islice(product(*(self.variables[name] for name in several)), MAX_VARIANTS + 1))
        if len(combinations) > MAX_VARIANTS:
            return [dict.fromkeys(several, Value(UNKNOWN))]
        return [dict(zip(several, values, strict=True)) for values in combinations]
