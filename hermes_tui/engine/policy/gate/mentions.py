"""Paths among words that the table does not explain: arguments of unknown programs, strings in code.

Such a path may be read and may be written. Only what matters either way counts: start-up files, agent settings, keys,
what the user denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from .facts import Args, Issue, Level, Row, SimpleCommand, Word
from .paths import PathGuard

_ATTACHED = re.compile(r"-[A-Za-z](?=[^-=])")
_STRING = re.compile(r"""(["'])((?:(?!\1)[^\\\n]){1,200})\1""")
_HOME = re.compile(r"home\b|expanduser|USERPROFILE", re.I)
_VARIABLE = re.compile(r"\A[$#{][^/]*/")
_MAX_STRINGS = 64


def judge_words(command: SimpleCommand, row: Row | None, args: Args, guard: PathGuard) -> list[Issue]:
    """Judge the paths among the words of a command that is not, or not wholly, understood.

    Args:
        command: The decoded command.
        row: Its row; None for a program that is not in the table.
        args: Its sorted words.
        guard: Path rules of the workspace.
    """
    understood = row is not None and not args.unknown and (args.row.level < Level.UNKNOWN or args.row.raw)
    return [] if understood else _judge(_candidates(command.words[1:]), command, guard)


def judge_code(code: str, command: SimpleCommand, guard: PathGuard) -> list[Issue]:
    """Judge the paths among the strings of inline code of another language."""
    texts = [match[2] for match, _ in zip(_STRING.finditer(code), range(_MAX_STRINGS), strict=False)]
    if _HOME.search(code):
        texts += [f"{guard.home}/{_VARIABLE.sub('', text).lstrip('/')}" for text in texts]
    return _judge(map(Word, texts), command, guard)


def _candidates(words: Iterable[Word]) -> Iterator[Word]:
    """Yield every word that may be a path, and what is attached to options: ``-o/x``, ``--out=/x``, ``name=@/x``."""
    for word in words:
        if "://" in word.text:
            continue
        yield word.tail(1) if word.text[0:1] == "@" else word
        if attached := _ATTACHED.match(word.text):
            yield word.tail(attached.end())
        name, equals, value = word.text.partition("=")
        if equals and value:
            yield word.tail(len(name) + 1 + (value[0] == "@"))


def _judge(words: Iterable[Word], command: SimpleCommand, guard: PathGuard) -> list[Issue]:
    homes = (replace(word, text=guard.home + word.text[1:]) if word.text[:2] == "~/" else word for word in words)
    found = [issue for word in homes if word.text for issue in guard.judge_mention(word, command.cwds)]
    return list(dict.fromkeys(found))
