"""Expansions inside words: what each one yields, and what it runs or evaluates on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .facts import NUMBER, SOME, UNKNOWN, Issue, Level
from .scope import Scope, Value, is_number
from .words import Span

if TYPE_CHECKING:
    from tree_sitter import Node

    from .parse import Source

EXPANSIONS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
STATEMENTS_IN_WORDS = frozenset({"subshell", "compound_statement", "test_command"})
"""Statements that the grammar hangs below a command (``time ( .. )``); walked on their own."""
_HEREDOC_PARTS = frozenset({"heredoc_body", "file_redirect", "herestring_redirect"})
PIPE_FILE = "/dev/fd/63"
"""What a process substitution expands to."""

_PLAIN = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*|[?#$!]))\Z")
_LENGTH = re.compile(r"\$\{#\w+(?:\[[@*]\])?\}\Z")
_NEVER_EMPTY = re.compile(r"\$\{[A-Za-z_]\w*(?::?\?|:?-[^}$`])", re.S)
_INDIRECT = re.compile(r"\$\{!(?!\w+(?:\[[@*]\]|[@*])\})")
_PROMPT = re.compile(r"\$\{.*@[PEA]\}\Z", re.S)
_OFFSET = re.compile(r"\$\{[\w@*]+(?:\[[^\]]*\])?:(?![-=?+])([^}]*)\}\Z")
_SUBSCRIPT = re.compile(r"\$\{[#!]?\w+\[(?![@*]\]|-?\d+\])([^\]]*)\]")
_SETS = re.compile(r"\$\{(\w+):?=")
_EVALUATES = "arithmetic evaluates the value of a variable"


def find_expansions(node: Node) -> Iterator[Node]:
    """Yield the outermost expansions below ``node``, in order."""
    own = node.children_by_field_name("argument") if node.type == "heredoc_redirect" else ()
    for child in node.children:
        if child.type in EXPANSIONS:
            yield child
        elif node.type == "heredoc_redirect" and child.type not in _HEREDOC_PARTS and child not in own:
            continue
        elif child.child_count and child.type not in STATEMENTS_IN_WORDS:
            yield from find_expansions(child)


class SpanTable:
    """The expansions of one command, ready for the word scanner."""

    def __init__(self, source: Source, scope: Scope) -> None:
        self.by_start: dict[int, Span] = {}
        self.names: set[str] = set()
        self.binding: dict[str, Value] = {}
        self._source = source
        self._scope = scope

    def add(self, node: Node) -> None:
        """Register one expansion."""
        text = self._source.slice(node)
        match = _PLAIN.match(text)
        if match:
            name = match[1] or match[2]
            self.names.add(name)
            span = Span(self._source.end(node), self._value(name), self._globbed(name))
        else:
            fixed = _fixed_value(node, text)
            span = Span(self._source.end(node), lambda: fixed)
        self.by_start[self._source.start(node)] = span

    def _value(self, name: str) -> Callable[[], str]:
        return lambda: self._scope.lookup(name, self.binding).text

    def _globbed(self, name: str) -> Callable[[], bool]:
        return lambda: self._scope.lookup(name, self.binding).globbed


def _fixed_value(node: Node, text: str) -> str:
    if node.type == "arithmetic_expansion" or _LENGTH.match(text):
        return NUMBER
    if node.type == "process_substitution":
        return PIPE_FILE
    return SOME if _NEVER_EMPTY.match(text) else UNKNOWN


def judge_expansion(node: Node, source: Source, scope: Scope) -> list[Issue]:
    """Return what an expansion evaluates besides giving a value; forget what it sets.

    Args:
        node: The expansion.
        source: Its text.
        scope: State of the shell.
    """
    if node.type == "arithmetic_expansion":
        return judge_arithmetic(node, source, scope)
    if node.type != "expansion":
        return []
    text = source.slice(node)
    issues: list[Issue] = []
    if _INDIRECT.match(text):
        issues.append(Issue(Level.DANGER, "an indirect expansion evaluates the value of a variable", "text"))
    if _PROMPT.match(text):
        issues.append(Issue(Level.DANGER, "a prompt expansion runs the value of a variable", "text"))
    for match in (_OFFSET.match(text), _SUBSCRIPT.match(text)):
        if match:
            level = max((_name_level(name, scope) for name in re.findall(r"[A-Za-z_]\w*", match[1])), default=0)
            if level:
                issues.append(Issue(Level(level), _EVALUATES, "text"))
    match = _SETS.match(text)
    if match:
        scope.assign(match[1], None)
    return issues


def judge_arithmetic(node: Node, source: Source, scope: Scope) -> list[Issue]:
    """Return an issue when arithmetic evaluates something that is no plain number: values may hold commands."""
    worst = Level.SAFE
    for leaf in _arithmetic_leaves(node):
        text = source.slice(leaf)
        if leaf.type in ("variable_name", "word") or (leaf.is_named and re.fullmatch(r"[A-Za-z_]\w*", text)):
            worst = max(worst, _name_level(text, scope))
        elif leaf.is_named and leaf.type not in ("number", "special_variable_name", "comment"):
            worst = max(worst, Level.SAFE if is_number(text) else Level.UNKNOWN)
    if any(operator in source.slice(node) for operator in ("++", "--", "=")):
        for leaf in _arithmetic_leaves(node):
            if leaf.type in ("variable_name", "word"):
                scope.assign(source.slice(leaf), None)
    return [Issue(worst, _EVALUATES, "text")] if worst else []


def _arithmetic_leaves(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type in ("command_substitution", "process_substitution"):
            continue
        if child.child_count:
            yield from _arithmetic_leaves(child)
        else:
            yield child


def _name_level(name: str, scope: Scope) -> Level:
    values = scope.variables.get(name)
    if values is None:
        return Level.UNKNOWN
    numeric = all(is_number(value.text) for value in values)
    return Level.SAFE if numeric else Level.DANGER
