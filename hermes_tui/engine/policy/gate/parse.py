"""Text -> tree -> simple commands. One parser for the whole gate, and it fails closed.

tree-sitter-bash says where commands, expansions and redirects are; ``audit.py`` checks that nothing of the text was
left out, and ``words.py`` decodes every word again. The parser is built on first use.
"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING

from .audit import audit
from .screen import MAX_COMMANDS, MAX_SECONDS, find_unreadable
from .words import UnreadableError

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

SHORT = 4096
"""Bytes that are read in a few milliseconds, whatever they are."""


@cache
def load_language() -> Language:
    """Return the grammar; loaded on first use, some 10 ms."""
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def _parse_bytes(text: bytes, budget: Budget) -> Tree:
    """Parse, giving up when the time is over. A parser of its own for each text: threads share nothing."""
    from tree_sitter import Parser

    parser = Parser(load_language())
    if len(text) < SHORT:
        return parser.parse(text)
    try:
        return parser.parse(lambda at, _: text[at : at + SHORT], progress_callback=lambda *_: budget.is_over())
    except ValueError as error:  # how the binding says that the callback stopped it
        raise UnreadableError("too much to read in 50 ms") from error


class Budget:
    """Time and number of commands that one verdict may use, nested texts included.

    The time is the thread's own, so that a busy machine turns no harmless command into a question.
    """

    def __init__(self) -> None:
        self._deadline = time.thread_time() + MAX_SECONDS * 0.7
        self._commands = 0
        self.ran_out = False
        """The time was over when somebody looked."""

    def is_over(self) -> bool:
        """Tell whether the time is over."""
        self.ran_out = self.ran_out or time.thread_time() > self._deadline
        return self.ran_out

    def check_time(self) -> None:
        """Raise when the time is over."""
        if self.is_over():
            raise UnreadableError("too much to read in 50 ms")

    def add_command(self) -> None:
        """Count a command; raise over the limit."""
        self._commands += 1
        if self._commands > MAX_COMMANDS:
            raise UnreadableError("more than 1,000 commands")
        if self._commands % 16 == 0:
            self.check_time()


class Source:
    """A parsed text: the tree, and the way from byte to character offsets."""

    def __init__(self, text: str, root: Node) -> None:
        self.text = text
        self.root = root
        self._offsets: list[int] | None = None
        if not text.isascii():
            self._offsets = [i for i, char in enumerate(text) for _ in range(len(char.encode()))]
            self._offsets.append(len(text))

    def start(self, node: Node) -> int:
        """Return the first character of ``node``."""
        return node.start_byte if self._offsets is None else self._offsets[node.start_byte]

    def end(self, node: Node) -> int:
        """Return one past the last character of ``node``."""
        return node.end_byte if self._offsets is None else self._offsets[node.end_byte]

    def slice(self, node: Node) -> str:
        """Return the text of ``node``."""
        return self.text[self.start(node) : self.end(node)]


def parse(text: str, budget: Budget) -> Source:
    """Parse and audit a command text.

    Args:
        text: What the shell would get.
        budget: Shared by all texts of one verdict.

    Returns:
        The parsed text.

    Raises:
        UnreadableError: It cannot be read safely; the message says why.
    """
    unreadable = find_unreadable(text)
    if unreadable:
        raise UnreadableError(unreadable)
    if _looks_deep(text):
        raise UnreadableError("very deep nesting")
    tree = _parse_bytes(text.encode(), budget)
    budget.check_time()
    source = Source(text, tree.root_node)
    if tree.root_node.has_error:
        raise UnreadableError("a syntax error, or syntax that is not understood")
    audit(source, budget)
    return source


def _looks_deep(text: str) -> bool:
    """Refuse before parsing what makes the parser slow: hundreds of open brackets, thousands of separators."""
    if len(text) < 256:
        return False
    opened = sum(text.count(bracket) for bracket in "({[`")
    return opened > 500 or sum(text.count(separator) for separator in ";&|") > 4 * MAX_COMMANDS
