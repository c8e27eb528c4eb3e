"""What a person typed into the search field, taken apart. Every text is a query; none is an error.

Words must all occur; ``"a phrase"``, ``-not``, ``OR`` between neighbours, ``deplo*``, and the filters of
:mod:`.filters`. What fits none of these is searched as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from . import filters
from .filters import Filter
from .terms import Term, from_typed
from .text import UNSPACED

MAX_TERMS = 48
"""Terms used; what follows is ignored, with a note."""
_MAX_CHARS = 20_000
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\0": " "})
_SURROGATE = re.compile("[\ud800-\udfff]")
_LEXEME = re.compile(r'(?P<minus>-)?(?:(?P<key>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)(?:"|$)|(?P<bare>[^\s"]+))')
_SEARCHED = re.compile(rf"[\w{UNSPACED}]")
"""How something begins that can be taken away; a minus before other signs is one of them."""
_OPERATORS = frozenset({"AND", "OR", "NOT"})


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query."""

    clauses: tuple[tuple[Term, ...], ...] = ()
    """Every clause must match; a clause matches when one of its terms does."""
    excluded: tuple[Term, ...] = ()
    """No term of these may match."""
    filters: tuple[Filter, ...] = ()
    note: str = ""
    """A word on what was read otherwise than typed."""
    is_blank: bool = False
    """Nothing was typed."""
    is_open: bool = False
    """The last thing typed is a word, and perhaps not yet all of it."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms to find, in order."""
        return tuple(term for clause in self.clauses for term in clause)

    def completed(self) -> Query | None:
        """Return the query with its last word taken as the beginning of one; None when it cannot be."""
        if not self.is_open:
            return None
        *before, last = self.clauses
        term = replace(last[-1], is_prefix=True)
        note = f"No message has the whole word {term.text!r}; these have words that begin with it."
        return replace(self, clauses=(*before, (*last[:-1], term)), note=f"{self.note} {note}".strip(), is_open=False)


@dataclass(slots=True)
class _Builder:
    clauses: list[list[Term]] = field(default_factory=list)
    excluded: list[tuple[str, Term]] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    pending: str = ""
    """An operator that waits for its right side."""
    newest: Term | None = None
    """The term of the newest lexeme, if it is one to find."""
    count: int = 0

    def add(self, term: Term | None, typed: str, *, is_negated: bool = False) -> None:
        if term is None:
            return
        self.count += 1
        self.newest = None if is_negated or self.pending == "NOT" else term
        if is_negated or self.pending == "NOT":
            self.excluded.append((typed, term))
        elif self.pending == "OR" and self.clauses:
            self.clauses[-1].append(term)
        else:
            self.clauses.append([term])
        self.pending = ""

    def add_operator(self, word: str) -> None:
        self.operators.append(word)
        self.pending = "NOT" if word == "NOT" else word if self.clauses and not self.pending else self.pending


def parse(text: str) -> Query:
    """Take a query apart. Never raises."""
    text = _SURROGATE.sub(" ", text[:_MAX_CHARS].translate(_QUOTES))
    built = _Builder()
    notes = []
    for lexeme in _LEXEME.finditer(text):
        if built.count >= MAX_TERMS:
            notes.append(f"Only the first {MAX_TERMS} words were used.")
            break
        _read(built, lexeme)
    if not built.clauses and not built.filters:
        # Nothing to take away from: the minus signs and operators were meant as text.
        for typed, _ in built.excluded:
            built.clauses.append([Term(typed)])
        built.excluded.clear()
        if not built.clauses:
            built.clauses = [[Term(word)] for word in built.operators]
    elif built.pending:
        notes.append(f"Nothing follows {built.pending}.")
    if not built.clauses and not built.filters and text.strip():
        notes.append("There is nothing to search for.")
    return Query(
        clauses=tuple(tuple(clause) for clause in built.clauses),
        excluded=tuple(term for _, term in built.excluded),
        filters=tuple(built.filters),
        note=" ".join(notes),
        is_blank=not text.strip(),
        is_open=built.newest is not None and built.newest.may_go_on and not text[-1].isspace(),
    )


def _read(built: _Builder, lexeme: re.Match[str]) -> None:
    key, phrase, bare = (lexeme["key"] or "").lower(), lexeme["phrase"], lexeme["bare"]
    is_negated = bool(lexeme["minus"])
    built.newest = None
    value = phrase if phrase is not None else bare.rstrip(",;")
    if key and filters.accepts(key, value):
        built.filters.append(Filter(key, value, is_negated or built.pending == "NOT"))
        built.count += 1
        built.pending = ""
        return
    typed = lexeme[0].replace('"', "")
    if phrase is not None and not key:
        if phrase.strip():
            term = Term(phrase.strip(), is_quoted=True)
            built.add(term, typed, is_negated=is_negated)
    elif typed in _OPERATORS:
        built.add_operator(typed)
    elif is_negated and _SEARCHED.match(typed, 1):
        built.add(from_typed(typed[1:]), typed, is_negated=True)
    elif phrase is not None:
        built.add(Term(typed.strip(), is_quoted=True), typed)
    else:
        built.add(from_typed(typed), typed)
