"""Highlight code line by line. A finished line is coloured once; a lexer is imported in a thread, never on the way.

Each line is coloured by what came before it in the same chunk, a chunk only by the multi-line string or comment that it
starts in. So colours do not depend on how text arrived, and no line costs more than itself.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, cast

from .wrapping import Run

if TYPE_CHECKING:
    from pygments.lexer import RegexLexer

    from .palette import Palette

MAX_LINE: Final = 2_000
"""Longer lines are shown plain: minified files would cost more than they tell."""
MAX_LEXERS: Final = 40
"""Languages kept loaded."""

_ALIASES: Mapping[str, str] = {
    "": "", "text": "", "txt": "", "plain": "", "plaintext": "", "none": "", "py": "python", "python3": "python",
    "pycon": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "tsx": "typescript", "sh": "bash",
    "shell": "bash", "zsh": "bash", "yml": "yaml", "rs": "rust", "golang": "go", "c++": "cpp", "cc": "cpp", "h": "c",
    "hpp": "cpp", "rb": "ruby", "kt": "kotlin", "cs": "csharp", "md": "", "markdown": "", "conf": "ini", "cfg": "ini",
    "jsonc": "json", "json5": "json", "patch": "diff",
}  # fmt: skip
"""Names that people write, and the lexer to use; empty for plain text."""

_TRIPLE = frozenset({"python"})
_SLASH_STAR = frozenset({
    "javascript", "typescript", "c", "cpp", "java", "go", "rust", "kotlin", "swift", "csharp", "scala", "css", "scss",
    "php", "sql", "dart", "groovy",
})  # fmt: skip
_MARKUP = frozenset({"html", "xml", "vue", "svg"})
_OPENERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(_TRIPLE, (('"""', '"""'), ("'''", "'''"))),
    **dict.fromkeys(_SLASH_STAR, (("/*", "*/"),)),
    **dict.fromkeys(_MARKUP, (("<!--", "-->"),)),
}
"""What may run over line ends, by language."""
_QUIET = re.compile(r"""//.*|\#.*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
"""Where an opener does not count."""

_TOKEN_ROLES: tuple[tuple[str, str], ...] = (
    ("Comment.Preproc", "type"), ("Comment", "comment"), ("Keyword.Type", "type"), ("Keyword", "kw"),
    ("Name.Function", "fn"), ("Name.Class", "type"), ("Name.Decorator", "num"), ("Name.Tag", "kw"),
    ("Name.Attribute", "fn"), ("Name.Builtin", "type"), ("Name.Exception", "type"), ("Name.Constant", "num"),
    ("Literal.Number", "num"), ("Literal.String", "str"), ("Literal.Date", "num"), ("Operator.Word", "kw"),
    ("Generic.Deleted", "remove"), ("Generic.Inserted", "add"), ("Generic.Subheading", "fn"), ("Generic.Heading", "fn"),
)  # fmt: skip


def language_of(info: str) -> str:
    """Return the lexer name for a fence's info string, or for a file's extension; empty for plain text."""
    name = re.split(r"[\s,{:]", info.strip().lower(), maxsplit=1)[0].lstrip(".")
    return _ALIASES.get(name, name)


def carry_after(language: str, line: str, carry: str) -> str:
    """Return what ends the string or comment that is open after a line; empty when none is.

    Args:
        language: As from :func:`language_of`.
        line: The line.
        carry: What was open before it.
    """
    openers = _OPENERS.get(language)
    if openers is None or (not carry and not any(opener in line for opener, _ in openers)):
        return ""
    rest = line
    while True:
        if carry:
            _, found, rest = rest.partition(carry)
            if not found:
                return carry
            carry = ""
        start = min(((i, o, c) for o, c in openers if (i := _find_opener(rest, o)) >= 0), default=None)
        if start is None:
            return ""
        rest, carry = rest[start[0] + len(start[1]) :], start[2]


def _find_opener(text: str, opener: str) -> int:
    if opener in {'"""', "'''"}:
        comment = text.find("#")
        at = text.find(opener)
        return at if at >= 0 and (comment < 0 or comment > at) else -1
    return _QUIET.sub(lambda match: " " * len(match.group()), text).find(opener)


class LineLexer:
    """Colours the lines of one chunk, in order.

    Args:
        styler: Where lexers come from.
        language: As from :func:`language_of`.
        carry: What is open where the chunk starts.
    """

    __slots__ = ("_carry", "_language", "_stack", "_styler")

    def __init__(self, styler: CodeStyler, language: str, carry: str = "") -> None:
        self._styler = styler
        self._language = language
        self._carry = carry
        self._stack: list[str] = ["root"]

    def line(self, text: str, palette: Palette, ground: str) -> list[Run]:
        """Return the next line in colours."""
        return [(value, palette.style(ground, *roles)) for value, roles in self.roles(text)]

    def roles(self, text: str) -> list[tuple[str, tuple[str, ...]]]:
        """Return the next line in pieces with their palette roles."""
        lexer = self._styler.lexer(self._language) if self._language and len(text) <= MAX_LINE else None
        if lexer is None or not text:
            return [(text, ())]
        runs: list[tuple[str, tuple[str, ...]]] = []
        if self._carry:
            role = "comment" if self._carry in {"*/", "-->"} else "str"
            head, found, rest = text.partition(self._carry)
            runs.append((head + found, (role,)))
            if not found:
                return runs
            text = rest
        opened = carry_after(self._language, text, "")
        self._carry = opened
        opener = next((o for o, c in _OPENERS.get(self._language, ()) if c == opened), "") if opened else ""
        tail = ""
        if opener and (at := text.rfind(opener)) >= 0:
            text, tail = text[:at], text[at:]
        runs.extend((value, roles) for roles, value in self._tokens(lexer, text))
        if tail:
            runs.append((tail, ("comment" if opened in {"*/", "-->"} else "str",)))
        return runs or [(text, ())]

    def _tokens(self, lexer: RegexLexer, text: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """Lex one line from the state that the line before left."""
        from pygments.lexer import ExtendedRegexLexer, LexerContext

        if not text:
            return
        context = LexerContext(text + "\n", 0, list(self._stack))
        found: list[tuple[tuple[str, ...], str]] = []
        try:
            # A context is the one way to see the state in which a lexer stops.
            for _, token, value in ExtendedRegexLexer.get_tokens_unprocessed(
                cast("ExtendedRegexLexer", lexer), context=context
            ):
                if value := value.rstrip("\n"):
                    found.append((self._styler.roles(token), value))
        except (
            TypeError,
            ValueError,
            KeyError,
            IndexError,
            AttributeError,
            AssertionError,
            StopIteration,
            RuntimeError,
        ):
            found = [((), text)]  # a lexer that cannot work by lines
            context.stack = ["root"]
        if "".join(value for _, value in found) != text:
            found = [((), text)]
        self._stack = list(context.stack)[:20] or ["root"]
        yield from found


class CodeStyler:
    """Lexers by language, loaded in the background.

    Args:
        on_ready: Called from the loading thread when a language became available; None loads at once, blocking.
    """

    def __init__(self, on_ready: Callable[[], None] | None = None) -> None:
        self._on_ready = on_ready
        self._lexers: dict[str, RegexLexer | None] = {}
        self._roles: dict[object, tuple[str, ...]] = {}
        self._wanted: list[str] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.version = 0
        """Rises when a language became available: what was coloured before is drawn again."""

    def lexer(self, language: str) -> RegexLexer | None:
        """Return a lexer, or None while it loads or when there is none."""
        if language in self._lexers:
            return self._lexers[language]
        if len(self._lexers) >= MAX_LEXERS:
            return None
        if self._on_ready is None:
            self._lexers[language] = _load(language)
            return self._lexers[language]
        with self._lock:
            if language not in self._wanted:
                self._wanted.append(language)
            if self._thread is None:
                self._thread = threading.Thread(target=self._load_wanted, name="lexers", daemon=True)
                self._thread.start()
        return None

    def roles(self, token: object) -> tuple[str, ...]:
        """Return the palette roles of a token type."""
        roles = self._roles.get(token)
        if roles is None:
            name = str(token).removeprefix("Token.")
            role = next((role for prefix, role in _TOKEN_ROLES if name.startswith(prefix)), "")
            roles = self._roles[token] = (role,) if role else ()
        return roles

    def _load_wanted(self) -> None:
        assert self._on_ready is not None
        while True:
            with self._lock:
                if not self._wanted:
                    self._thread = None
                    return
                language = self._wanted[0]
            lexer = _load(language)
            with self._lock:
                self._lexers[language] = lexer
                self._wanted.remove(language)
            if lexer is not None:
                self.version += 1
                self._on_ready()


def _load(language: str) -> RegexLexer | None:
    from pygments.lexer import RegexLexer
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    options = {"startinline": True} if language == "php" else {}
    try:
        lexer = get_lexer_by_name(language, **options)
    except ClassNotFound:
        return None
    return lexer if isinstance(lexer, RegexLexer) else None
