"""Build simple commands from their nodes: words, assignments, redirects, and what they do to the shell's state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .facts import UNKNOWN, Redirect, SimpleCommand, StdinKind, Word
from .scope import Scope, Value
from .words import RawWord, Span, UnreadableError, expand, split_words

if TYPE_CHECKING:
    from tree_sitter import Node

    from .expansions import SpanTable
    from .parse import Source

_REDIRECT = re.compile(r"\d*(<<<|<&-|>&-|<&|<>|<|&>>|&>|>>|>\||>&|>)")
_FORGETTING = frozenset(
    {
        "read",
        "mapfile",
        "readarray",
        "printf",
        "getopts",
        "eval",
        "source",
        ".",
        "let",
        "unset",
        "wait",
        "enable",
        "trap",
    }
)
_MOVES = re.compile(r"\b(?:cd|pushd|popd)\b")
_QUOTING = re.compile(r"[\\'\"]")
_OPEN_NAME = re.compile(r"(?:^|[;&|(){}\n])\s*(?:\w+=\S*\s+)*[^\s;&|()]*(?:[$`{*?]|\[(?!\s))")
"""A command whose name is known only at run time."""
_LATER = frozenset({"eval", "trap", "mapfile", "readarray"})
"""Builtins that run a text in this very shell."""
_MOVERS = frozenset({"cd", "pushd", "popd"})
_ESCAPED = re.compile(r"\\(?:([$`\\])|\n)")
_CD_OPTION = re.compile(r"-[LPe@]+\Z|--\Z")


@dataclass(frozen=True, slots=True)
class Context:
    """What surrounds the commands of one part of the tree."""

    stdin: StdinKind = ""
    stdin_text: str | None = None
    background: bool = False


@dataclass(slots=True)
class Pieces:
    """The nodes of one simple command, sorted."""

    node: Node
    """The whole statement."""
    ranges: list[tuple[int, int]] = field(default_factory=list)
    """Character ranges that hold its words."""
    assigns: list[Node] = field(default_factory=list)
    redirects: list[Node] = field(default_factory=list)
    keyword: str = ""
    """Type of the command node."""
    sources: list[Node] = field(default_factory=list)
    """Nodes whose expansions belong to it."""
    meta: str = ""
    """Operators that are words here (inside ``[[ ]]``)."""


@dataclass(frozen=True, slots=True)
class RawRedirect:
    """A redirect before expansion."""

    operator: str
    target: RawWord | None
    extra: tuple[RawWord, ...] = ()
    """Words of the command that the grammar counts to the redirect."""
    body: str | None = None


def sort_pieces(node: Node, source: Source, redirects: list[Node], whole: Node) -> Pieces:
    """Sort the children of a ``command`` node.

    Args:
        node: The command.
        source: Its text.
        redirects: Redirects that stand around it.
        whole: The statement with its redirects.
    """
    pieces = Pieces(whole, keyword=node.type, redirects=list(redirects), sources=[node, *redirects])
    at = source.start(node)
    for child in node.children:
        prefix = child.type == "variable_assignment" and (node.type == "command" or _is_array(child))
        redirect = child.type.endswith("_redirect")
        if prefix:
            pieces.assigns.append(child)
        elif redirect:
            pieces.redirects.append(child)
        if prefix or redirect or child.type in ("subshell", "compound_statement", "test_command"):
            pieces.ranges.append((at, source.start(child)))
            at = source.end(child)
    pieces.ranges.append((at, source.end(node)))
    if redirects and redirects[0].type == "heredoc_redirect" and source.start(redirects[0]) > source.end(node):
        pieces.ranges.append((source.end(node), source.start(redirects[0])))  # the grammar drops the dash of `- <<E`
    spread_heredocs(pieces, source)
    return pieces


def spread_heredocs(pieces: Pieces, source: Source) -> None:
    """Give back to the command what the grammar hangs below its heredocs: arguments and further redirects."""
    for redirect in list(pieces.redirects):
        if redirect.type != "heredoc_redirect":
            continue
        for child in redirect.children_by_field_name("argument"):
            pieces.ranges.append((source.start(child), source.end(child)))
        pieces.redirects.extend(child for child in redirect.children if child.type.endswith("_redirect"))


def _is_array(assign: Node) -> bool:
    value = assign.child_by_field_name("value")
    return value is not None and value.type == "array"


def build_commands(
    pieces: Pieces, source: Source, scope: Scope, context: Context, spans: SpanTable
) -> list[SimpleCommand]:
    """Decode one simple command, once per combination of the known values of its variables."""
    text, table = source.text, spans.by_start
    raws = [raw for start, end in pieces.ranges for raw in split_words(text, start, end, table, pieces.meta)]
    redirects = [_raw_redirect(node, source, table) for node in pieces.redirects]
    raws += [raw for redirect in redirects for raw in redirect.extra]
    assigns = [_raw_assign(node, source, table) for node in pieces.assigns]
    if not raws and not redirects and not assigns:
        return []
    commands = []
    for binding in scope.bindings(spans.names):
        spans.binding = binding
        targets = tuple(
            Redirect(redirect.operator, _single(redirect.target, scope), redirect.body) for redirect in redirects
        )
        words = tuple(word for raw in raws for word in expand(raw, scope.home))
        given = tuple((name, _single(raw, scope) if raw else Word(UNKNOWN)) for name, raw in assigns)
        inner = stdin_of(targets, context)
        commands.append(
            SimpleCommand(
                words,
                source.start(pieces.node),
                source.end(pieces.node),
                given,
                targets,
                scope.cwds,
                inner.stdin,
                inner.stdin_text,
                context.background,
                scope.functions,
                declares=not words,
            )
        )
    return commands


def _single(raw: RawWord | None, scope: Scope) -> Word:
    if raw is None:
        return Word("")
    words = expand(raw, scope.home)
    return words[0] if len(words) == 1 else Word(UNKNOWN, raw.start, raw.end, split=True)


def _raw_assign(node: Node, source: Source, table: Mapping[int, Span]) -> tuple[str, RawWord | None]:
    name, _, _ = source.slice(node).partition("=")
    if _is_array(node):
        return name, None
    start = source.start(node) + len(name) + 1
    raws = split_words(source.text, start, source.end(node), table)
    if len(raws) > 1:
        raise UnreadableError("an assignment that is not understood")
    return name, raws[0] if raws else RawWord(start, start, ())


def _raw_redirect(node: Node, source: Source, table: Mapping[int, Span]) -> RawRedirect:
    if node.type == "heredoc_redirect":
        return RawRedirect("<<", None, body=_heredoc_text(node, source))
    start, end = source.start(node), source.end(node)
    match = _REDIRECT.match(source.text, start, end)
    if match is None:
        raise UnreadableError("a redirect that is not understood")
    raws = split_words(source.text, match.end(), end, table)
    if match[1].endswith("-"):
        return RawRedirect(">&", None, tuple(raws))
    if not raws:
        raise UnreadableError("a redirect without a target")
    body = None
    if match[1] == "<<<" and not any(isinstance(piece, Span) for piece, _ in raws[0].pieces):
        body = "".join(str(piece) for piece, _ in raws[0].pieces) + "\n"
    return RawRedirect(match[1], raws[0], tuple(raws[1:]), body)


def _heredoc_text(node: Node, source: Source) -> str | None:
    """Return the body of a heredoc as its reader gets it, None when something in it is expanded."""
    quoted = False
    for child in node.children:
        if child.type == "heredoc_start":
            quoted = any(mark in source.slice(child) for mark in "'\"\\")
        elif child.type == "heredoc_body":
            if child.named_child_count:
                return None
            text = source.slice(child)
            return text if quoted else _ESCAPED.sub(r"\1", text)
    return ""


def stdin_of(redirects: tuple[Redirect, ...], context: Context) -> Context:
    """Return where input comes from, after the redirects."""
    stdin, text = context.stdin, context.stdin_text
    for redirect in redirects:
        if redirect.operator in ("<<", "<<<"):
            stdin, text = "text", redirect.body
        elif redirect.operator in ("<", "<>"):
            stdin, text = "file", None
    return Context(stdin, text, context.background)


def moves(text: str) -> bool:
    """Tell whether a text may change the folder."""
    return _MOVES.search(_QUOTING.sub("", text)) is not None


def follow(command: SimpleCommand, scope: Scope, keyword: str) -> None:
    """Update the state of the shell with what a command does to folder and variables."""
    if not command.words:
        for name, word in command.assigns:
            usable = not name.endswith("+") and not word.split and "[" not in name
            scope.assign(re.split(r"[\[+]", name)[0], (Value(word.text),) if usable else None)
        return
    name = command.words[0].text
    if name in _MOVERS:
        _follow_cd(command, scope)
    elif name in ("builtin", "command") and any(word.text in _FORGETTING | _MOVERS for word in command.words):
        scope.forget_all()
        scope.cwds = ()
    elif keyword == "declaration_command":
        for word in command.words[1:]:
            variable, _, value = word.text.partition("=")
            scope.assign(variable.rstrip("+"), (Value(value),) if "=" in word.text and "+" not in variable else None)
    elif name in _FORGETTING or name in scope.functions or command.words[0].dynamic:
        scope.forget_all()
        if _may_move(command, scope):
            scope.cwds = ()


def _may_move(command: SimpleCommand, scope: Scope) -> bool:
    name, *words = command.words
    if name.text in scope.functions or name.dynamic:
        return scope.functions_move
    if name.text not in _LATER:
        return False
    return scope.functions_move or any(
        word.dynamic or moves(word.text) or _OPEN_NAME.search(word.text) is not None for word in words
    )


def _follow_cd(command: SimpleCommand, scope: Scope) -> None:
    targets = [word for word in command.words[1:] if not _CD_OPTION.match(word.text)]
    name = command.words[0].text
    unclear = name == "popd" or len(targets) > 1 or (name == "pushd" and (not targets or targets[0].text[:1] in "+-"))
    if unclear or any(word.split or word.pattern or word.text == "-" for word in targets):
        scope.cwds = ()
    else:
        stayed = scope.copy()
        scope.change_folder(targets[0].text if targets else scope.home)
        if name == "pushd" or command.redirects:  # a plain sh has no pushd; a redirect that fails keeps it from running
            scope.merge(stayed)


def assigned_names(node: Node, source: Source) -> frozenset[str]:
    """Return the variables that are assigned anywhere below ``node``."""
    names: set[str] = set()
    todo = [node]
    while todo:
        current = todo.pop()
        if current.type == "variable_assignment":
            names.add(re.split(r"[\[+=]", source.slice(current))[0])
        todo.extend(current.named_children)
    return frozenset(names)


def starts_itself(name: str, body: str) -> bool:
    """Tell whether the body of a function starts that function in a pipe or in the background."""
    text = re.sub(r"\s+", " ", body)
    own = rf"(?<![\w:.-]){re.escape(name)}(?![\w:.-])"
    return re.search(rf"{own} ?(?:\|[^|]|&(?!&))|(?<!\|)\| ?{own}", text) is not None
