"""The small language in which rows name their options, and the reader that sorts a command's words with it.

``-r|-R|--recursive`` is one option in three spellings, the first is canonical. ``-o=`` takes a value, ``--color?``
takes one only when attached. ``:e`` after that names the effect, one letter of :data:`~.facts.Effect`:
``-o|--output=:w`` writes its value. ``-#`` is any number (``head -5``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

from .facts import SOME, UNKNOWN, Args, Effect, Option, Row, Used, Word

_TOKEN = re.compile(r"(?P<names>[^=:?]+)(?P<value>[=?]?)(?::(?P<effect>[rwtxuWdn]))?\Z")
_NUMBER = re.compile(r"-\d+\Z")


@lru_cache(maxsize=512)
def compile_options(text: str) -> Mapping[str, Option]:
    """Compile the options of a row: every spelling to its option.

    Raises:
        ValueError: A token is not in the language; only a broken row does that.
    """
    table: dict[str, Option] = {}
    for token in text.split():
        match = _TOKEN.match(token)
        if match is None:
            raise ValueError(f"not an option of the program table: {token!r}")
        names = tuple(match["names"].split("|"))
        option = Option(names, cast("object", match["value"]) or "", cast(Effect, match["effect"] or ""))  # type: ignore[arg-type]
        for name in names:
            table[name] = option
    return table


def read_args(row: Row, words: Sequence[Word]) -> Args:
    """Sort the words behind a program name into subcommands, options and operands.

    Args:
        row: The program's row.
        words: Decoded words, without the name.

    Returns:
        The sorted words; ``row`` of the result is the row of the innermost subcommand.
    """
    reader = _Reader(row)
    reader.read(list(words))
    return Args(
        reader.row,
        tuple(reader.lead),
        tuple(reader.used),
        tuple(reader.unknown),
        tuple(reader.operands),
        reader.after_dashes,
        reader.loose,
    )


class _Reader:
    def __init__(self, row: Row) -> None:
        self.row = row
        self.table = compile_options(row.options)
        self.lead: list[str] = []
        self.used: list[Used] = []
        self.unknown: list[str] = []
        self.operands: list[Word] = []
        self.after_dashes = 0
        self.loose = False
        self._globals: Mapping[str, Option] = {}

    def read(self, words: list[Word]) -> None:
        """Consume all words."""
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            text = word.text
            if self.row.raw:
                self.operands.append(word)
            elif text == "--" and not self.row.subs:
                self.after_dashes = len(words) - at
                self.operands += words[at:]
                return
            elif text[:1] in (UNKNOWN, SOME) or word.split:
                self.loose = True
                self.operands.append(word)
                if self.row.stops:
                    self.operands += words[at:]
                    return
            elif text.startswith("-") and len(text) > 1:
                at = self._option(word, words, at)
            elif self.row.subs:
                self._enter(word)
            else:
                self.operands.append(word)
                if self.row.stops:
                    self.operands += words[at:]
                    return

    def _enter(self, word: Word) -> None:
        sub = self.row.subs.get(word.text)
        if sub is None:
            fallback = self.row.subs.get("*")
            self.row = fallback or Row(self.row.name, reason=self.row.reason, remember=self.row.remember)
            if fallback is None or fallback.name == "*":
                self.lead.append(word.text)
            else:
                self.operands.append(word)
        else:
            self.lead.append(word.text)
            self.row = sub
        self._globals = {**self._globals, **self.table}
        self.table = compile_options(self.row.options)

    def _option(self, word: Word, words: list[Word], at: int) -> int:
        """Read one option word; returns the index behind it and its value."""
        text = word.text
        if self.row.single:
            return self._long(word, words, at)
        if text.startswith("--"):
            return self._long(word, words, at)
        if text in self.table:
            return self._take(self.table[text], None, words, at)
        if _NUMBER.match(text) and "-#" in self.table:
            self.used.append(Used(self.table["-#"]))
            return at
        return self._cluster(word, words, at)

    def _long(self, word: Word, words: list[Word], at: int) -> int:
        name, equals, _ = word.text.partition("=")
        value = word.tail(len(name) + 1) if equals else None
        options = self._find_long(name)
        if not options:
            self.unknown.append(word.text if self.row.single else name)
            return at
        if len(options) > 1:  # an ambiguous abbreviation: all that it may mean
            self.used.extend(Used(option, value) for option in options)
            return at
        return self._take(options[0], value, words, at)

    def _find_long(self, name: str) -> list[Option]:
        for table in (self.table, self._globals):
            if name in table:
                return [table[name]]
        if self.row.single or not name.startswith("--") or len(name) < 3:
            return []
        found = {id(option): option for key, option in self.table.items() if key.startswith(name)}
        return list(found.values())

    def _take(self, option: Option, value: Word | None, words: list[Word], at: int) -> int:
        if option.value == "=" and value is None and at < len(words):
            value = words[at]
            at += 1
        self.used.append(Used(option, value))
        return at

    def _cluster(self, word: Word, words: list[Word], at: int) -> int:
        """``-xzf name``: one dash, several letters."""
        text = word.text
        for i in range(1, len(text)):
            option = self.table.get("-" + text[i]) or self._globals.get("-" + text[i])
            if option is None:
                self.unknown.append(text if i == 1 else "-" + text[i])
                if not text[i].isalpha():
                    return at
                continue
            if option.value:
                attached = word.tail(i + 1) if i + 1 < len(text) else None
                if option.value == "?" and attached is None:
                    self.used.append(Used(option))
                    return at
                return self._take(option, attached, words, at)
            self.used.append(Used(option))
        return at
