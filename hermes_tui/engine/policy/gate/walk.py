"""Walk a tree as bash would run it and collect every simple command with its surroundings.

Follows folders (``cd``), variables whose values the text itself determines, pipes and redirects. A construct without
a row in the table of handlers is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from .expansions import SpanTable, find_expansions, judge_arithmetic, judge_expansion
from .facts import Issue, Level, SimpleCommand, Word
from .parse import Budget, parse
from .scope import Scope, Value
from .simple import (
    Context,
    Pieces,
    assigned_names,
    build_commands,
    follow,
    moves,
    sort_pieces,
    spread_heredocs,
    starts_itself,
)
from .words import UnreadableError, expand, split_words

if TYPE_CHECKING:
    from tree_sitter import Node

_OPENS = re.compile(r"\{(?:[ \t\n]|\\\n)")
_TEST_META = "()<>&|\n"


@dataclass(slots=True)
class Script:
    """All that a text would run."""

    commands: list[SimpleCommand] = field(default_factory=list)
    findings: list[tuple[Issue, int, int]] = field(default_factory=list)
    """Issues that belong to no simple command, with their range."""
    defined: list[tuple[str, bool, int, int]] = field(default_factory=list)
    """Functions: name, whether it starts itself in a pipe or in the background, range."""


def read_script(text: str, scope: Scope, budget: Budget, context: Context | None = None) -> Script:
    """Parse a text and list its simple commands.

    Args:
        text: A command text, or a nested one (``sh -c``).
        scope: State of the shell before; changed to the state after.
        budget: Shared by all texts of one verdict.
        context: Where input comes from.

    Returns:
        Commands and findings.

    Raises:
        UnreadableError: The text cannot be read safely.
    """
    walker = _Walker(text, budget)
    walker.walk(walker.source.root, scope, context or Context())
    return walker.script


class _Walker:
    def __init__(self, text: str, budget: Budget) -> None:
        self.source = parse(text, budget)
        self.script = Script()
        self._budget = budget
        self._moves = moves(text)

    def walk(self, node: Node, scope: Scope, context: Context) -> None:
        """Walk one statement."""
        handler = _HANDLERS.get(node.type)
        if handler is None:
            raise UnreadableError(f"syntax that is not understood ({node.type})")
        handler(self, node, scope, context)

    # -- compound statements -----------------------------------------------------------------------------------------

    def sequence(self, node: Node, scope: Scope, context: Context) -> None:
        """Statements one after the other; those behind ``&`` start on their own."""
        for child, is_background in _statements(node):
            self._one(child, is_background, scope, context)

    def _one(self, node: Node, is_background: bool, scope: Scope, context: Context) -> None:
        if is_background:
            self.walk(node, scope.copy(), replace(context, background=True))
        else:
            self.walk(node, scope, context)

    def nothing(self, node: Node, scope: Scope, context: Context) -> None:
        """A comment runs nothing."""

    def chain(self, node: Node, scope: Scope, context: Context) -> None:
        """``a && b``, ``a || b``: the right side may run."""
        left, *rest = node.named_children
        self.walk(left, scope, context)
        for part in rest:
            branch = scope.copy()
            self.walk(part, branch, context)
            scope.merge(branch)

    def pipeline(self, node: Node, scope: Scope, context: Context) -> None:
        """Every part of a pipe runs in a shell of its own."""
        for i, part in enumerate(node.named_children):
            self.walk(part, scope.copy(), context if i == 0 else replace(context, stdin="pipe", stdin_text=None))

    def subshell(self, node: Node, scope: Scope, context: Context) -> None:
        """``( ... )`` and substitutions leave nothing behind."""
        self.sequence(node, scope.copy(), context)

    def group(self, node: Node, scope: Scope, context: Context) -> None:
        """``{ ...; }``, or ``(( ... ))``, which the grammar calls the same."""
        if node.children[0].type == "((":
            self.arithmetic(node, scope, context)
            return
        if not _OPENS.match(self.source.text, self.source.start(node)):
            raise UnreadableError("a brace that is no group")
        self.sequence(node, scope, context)

    def branches(self, node: Node, scope: Scope, context: Context) -> None:
        """``if``: its first condition always runs, everything else may."""
        (first, is_background), *rest = _statements(node)
        self._one(first, is_background, scope, context)
        before = scope.copy()
        branch = before.copy()
        for child, is_background in rest:
            if child.type in ("elif_clause", "else_clause"):
                scope.merge(branch)
                branch = before.copy()
            self._one(child, is_background, branch, context)
        scope.merge(branch)

    def loop(self, node: Node, scope: Scope, context: Context) -> None:
        """``while``, ``until``: what the body sets is unknown in the next round."""
        self._forget_assigned(node, scope)
        self.sequence(node, scope, context)
        self._forget_assigned(node, scope)

    def for_each(self, node: Node, scope: Scope, context: Context) -> None:
        """``for x in words``: the variable holds one of the words."""
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if variable is None or body is None:
            raise UnreadableError("a loop that is not understood")
        words = self._loop_words(node, scope, context)
        self._forget_assigned(body, scope)
        known = words and node.children[0].type == "for" and not any(word.dynamic for word in words)
        values = tuple(Value(word.text, bool(word.pattern)) for word in words)
        name = self.source.slice(variable)
        self._name_finding(name, node)
        scope.assign(name, values if known else None)
        self.walk(body, scope, context)
        self._forget_assigned(body, scope)
        scope.assign(name, None)

    def for_arithmetic(self, node: Node, scope: Scope, context: Context) -> None:
        """``for ((a; b; c))``."""
        body = node.child_by_field_name("body")
        if body is None:
            raise UnreadableError("a loop that is not understood")
        self._forget_assigned(node, scope)
        self.walk(body, scope, context)
        self._forget_assigned(node, scope)
        for child in node.named_children:
            if child != body:
                self._expansions([child], scope, context)
                for issue in judge_arithmetic(child, self.source, scope):
                    self._find(issue, child)

    def case(self, node: Node, scope: Scope, context: Context) -> None:
        """``case``: any branch may run."""
        before = scope.copy()
        for child in node.named_children:
            if child.type != "case_item":
                self._expansions([child], scope, context)
                continue
            branch = before.copy()
            patterns = child.children_by_field_name("value")
            for part, is_background in _statements(child):
                if part in patterns:
                    self._expansions([part], branch, context)
                else:
                    self._one(part, is_background, branch, context)
            scope.merge(branch)

    def function(self, node: Node, scope: Scope, context: Context) -> None:
        """A definition: its body may run later, anywhere, and set anything."""
        name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name_node is None or body is None:
            raise UnreadableError("a function that is not understood")
        name = self.source.slice(name_node)
        assigned = assigned_names(body, self.source)
        scope.tainted |= assigned
        for variable in assigned:
            scope.assign(variable, None)
        scope.functions |= {name}
        scope.functions_move |= moves(self.source.slice(body))
        span = (self.source.start(node), self.source.end(node))
        self.script.defined.append((name, starts_itself(name, self.source.slice(body)), *span))
        inner = scope.copy()
        inner.forget_all()
        if self._moves:
            inner.cwds = ()
        self.walk(body, inner, context)
        self._redirects_only(node, [part for part in node.children if part.type.endswith("_redirect")], inner, context)

    def redirected(self, node: Node, scope: Scope, context: Context) -> None:
        """A statement with redirects around it."""
        body = node.child_by_field_name("body")
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        if body is None:
            self._simple(self._redirect_pieces(node, redirects), scope, context)
        else:
            self._with_redirects(body, redirects, node, scope, context)
        for redirect in redirects:
            if redirect.type == "heredoc_redirect":
                self._line_behind(redirect, scope, context)

    def _with_redirects(self, body: Node, redirects: list[Node], whole: Node, scope: Scope, context: Context) -> None:
        """Give redirects to the statement that bash gives them to: of a pipe or a list, the last one."""
        if body.type in _SIMPLE:
            self._simple(self._sort(body, scope, context, redirects, whole), scope, context)
        elif body.type == "redirected_statement":
            inner = body.child_by_field_name("body")
            own = [child for child in body.children if child.type.endswith("_redirect")]
            if inner is None:
                raise UnreadableError("redirects that are not understood")
            self._with_redirects(inner, own + redirects, whole, scope, context)
        elif body.type in ("pipeline", "list", "negated_command"):
            *before, last = body.named_children
            piped = body.type == "pipeline"
            behind = replace(context, stdin="pipe", stdin_text=None) if piped else context
            for i, part in enumerate(before):
                branch = scope.copy() if piped or i else scope
                self.walk(part, branch, behind if i else context)
                if not piped:
                    scope.merge(branch)
            context = behind if before else context
            branch = scope.copy()
            self._with_redirects(last, redirects, last, branch, context)
            scope.merge(branch)
        else:
            inner_context = context
            for redirect in redirects:
                if self.source.slice(redirect).lstrip("0123456789").startswith("<"):
                    inner_context = replace(context, stdin="file", stdin_text=None)
            self._redirects_only(whole, redirects, scope, context)
            self.walk(body, scope, inner_context)

    def _line_behind(self, node: Node, scope: Scope, context: Context) -> None:
        """``cat <<E | sh``: the grammar hangs the rest of the line below the heredoc."""
        for child in node.named_children:
            if child.type == "pipeline":
                for part in child.named_children:
                    self.walk(part, scope.copy(), replace(context, stdin="pipe", stdin_text=None))
            elif child.type in _HANDLERS and child not in node.children_by_field_name("argument"):
                self.walk(child, scope, context)

    def arithmetic(self, node: Node, scope: Scope, context: Context) -> None:
        """``(( ... ))``."""
        self._expansions([node], scope, context)
        for issue in judge_arithmetic(node, self.source, scope):
            self._find(issue, node)
        self.script.commands.append(
            SimpleCommand((Word("(("),), self.source.start(node), self.source.end(node), cwds=scope.cwds)
        )

    # -- simple statements -------------------------------------------------------------------------------------------

    def command(self, node: Node, scope: Scope, context: Context) -> None:
        """A simple command without redirects around it."""
        self._simple(self._sort(node, scope, context, [], node), scope, context)

    def assignment(self, node: Node, scope: Scope, context: Context) -> None:
        """``a=1 b=2``."""
        nodes = [node] if node.type == "variable_assignment" else node.named_children
        self._simple(Pieces(node, assigns=list(nodes), sources=[node]), scope, context)

    def test(self, node: Node, scope: Scope, context: Context) -> None:
        """``[ ... ]`` and ``[[ ... ]]`` are read as words."""
        if node.children[0].type == "((":
            self.arithmetic(node, scope, context)
            return
        span = (self.source.start(node), self.source.end(node))
        meta = _TEST_META if node.children[0].type == "[[" else ""
        self._simple(Pieces(node, [span], sources=[node], meta=meta), scope, context)

    def file_only(self, node: Node, scope: Scope, context: Context) -> None:
        """``$(< file)``."""
        self._simple(Pieces(node, redirects=[node], sources=[node]), scope, context)

    def _sort(self, node: Node, scope: Scope, context: Context, redirects: list[Node], whole: Node) -> Pieces:
        for child in node.children:
            if child.type in ("subshell", "compound_statement", "test_command"):
                self.walk(child, scope, context)
        return sort_pieces(node, self.source, redirects, whole)

    def _simple(self, pieces: Pieces, scope: Scope, context: Context, *, plain: bool = False) -> None:
        spans = self._expansions(pieces.sources, scope, context)
        commands = build_commands(pieces, self.source, scope, context, spans)
        for _ in commands:
            self._budget.add_command()
        self.script.commands.extend(commands)
        if commands and not plain:
            follow(commands[-1], scope, pieces.keyword)

    def _redirects_only(self, node: Node, redirects: list[Node], scope: Scope, context: Context) -> None:
        if redirects:
            self._simple(self._redirect_pieces(node, redirects), scope, context, plain=True)

    def _redirect_pieces(self, node: Node, redirects: list[Node]) -> Pieces:
        """Return the pieces of a statement that has redirects only: ``> file``."""
        pieces = Pieces(node, redirects=list(redirects), sources=list(redirects))
        spread_heredocs(pieces, self.source)
        return pieces

    def _loop_words(self, node: Node, scope: Scope, context: Context) -> list[Word]:
        nodes = node.children_by_field_name("value")
        if not nodes:
            return []
        spans = self._expansions(nodes, scope, context)
        start, end = self.source.start(nodes[0]), self.source.end(nodes[-1])
        raws = split_words(self.source.text, start, end, spans.by_start)
        words: list[Word] = []
        for binding in scope.bindings(spans.names):
            spans.binding = binding
            words.extend(word for raw in raws for word in expand(raw, scope.home))
        return words

    def _expansions(self, nodes: Sequence[Node], scope: Scope, context: Context) -> SpanTable:
        """Register the expansions below ``nodes`` and walk the commands inside them."""
        spans = SpanTable(self.source, scope)
        for node in nodes:
            own = [node] if node.type in _EXPANDING else find_expansions(node)
            for expansion in own:
                spans.add(expansion)
                self._inside(expansion, scope, context)
        return spans

    def _inside(self, node: Node, scope: Scope, context: Context) -> None:
        for issue in judge_expansion(node, self.source, scope):
            self._find(issue, node)
        if node.type in ("command_substitution", "process_substitution"):
            if node.children[0].type == "`" and "\\" in self.source.slice(node):
                raise UnreadableError("backslashes inside backticks")
            self.subshell(node, scope, Context())
            return
        for inner in find_expansions(node):
            self._inside(inner, scope, context)

    # -- findings and names ------------------------------------------------------------------------------------------

    def _find(self, issue: Issue, node: Node) -> None:
        self.script.findings.append((issue, self.source.start(node), self.source.end(node)))

    def _name_finding(self, name: str, node: Node) -> None:
        from .environment import judge_assignment

        for issue in judge_assignment(name, Word(name), lasting=True):
            if issue.level >= Level.DANGER:
                self._find(issue, node)

    def _forget_assigned(self, node: Node, scope: Scope) -> None:
        for name in assigned_names(node, self.source):
            scope.assign(name, None)
        if self._moves and self._moves_in(node):
            scope.cwds = ()

    def _moves_in(self, node: Node) -> bool:
        if node.type in ("subshell", "command_substitution", "pipeline"):
            return False
        if node.type == "command":
            return re.match(r"(?:cd|pushd|popd|builtin|command)\b", self.source.slice(node)) is not None
        return any(self._moves_in(child) for child in node.named_children)


def _statements(node: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the named children, and whether each stands before ``&``."""
    children = node.children
    for i, child in enumerate(children):
        if child.is_named:
            yield child, i + 1 < len(children) and children[i + 1].type == "&"


_SIMPLE = frozenset({"command", "declaration_command", "unset_command"})
_EXPANDING = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
_Handler: TypeAlias = Callable[[_Walker, "Node", Scope, Context], None]
_HANDLERS: Mapping[str, _Handler] = {
    "program": _Walker.sequence,
    "list": _Walker.chain,
    "pipeline": _Walker.pipeline,
    "subshell": _Walker.subshell,
    "compound_statement": _Walker.group,
    "do_group": _Walker.sequence,
    "if_statement": _Walker.branches,
    "elif_clause": _Walker.sequence,
    "else_clause": _Walker.sequence,
    "while_statement": _Walker.loop,
    "for_statement": _Walker.for_each,
    "c_style_for_statement": _Walker.for_arithmetic,
    "case_statement": _Walker.case,
    "function_definition": _Walker.function,
    "negated_command": _Walker.sequence,
    "redirected_statement": _Walker.redirected,
    "command": _Walker.command,
    "declaration_command": _Walker.command,
    "unset_command": _Walker.command,
    "variable_assignment": _Walker.assignment,
    "variable_assignments": _Walker.assignment,
    "test_command": _Walker.test,
    "file_redirect": _Walker.file_only,
    "comment": _Walker.nothing,
}
