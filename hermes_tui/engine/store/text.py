"""The words of a message as the index sees them: what is searchable, how it is folded, where it is cut.

One index answers words and scripts without spaces. A run of such characters (Chinese, Japanese, Korean, Thai, emoji)
is written out twice, as single characters and as overlapping pairs: ``数据库`` becomes ``数 据 库 数据 据库``. One
character is then a word, two are a word, and more are a phrase of pairs, so none needs a scan. Measured on 200,000
messages this costs a third of a trigram index and, unlike it, answers one and two characters.

These functions are called by triggers, so a change of what they return must raise :data:`INDEX_VERSION`; stores made
with another version rebuild their index in the background.
"""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

INDEX_VERSION = 1
"""Identifies what :func:`segment`, :func:`plain_text` and :func:`facets` return."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"  # ideographs, Hangul syllables
    "\U00020000-\U0003ffff"  # ideographs beyond the basic plane
    "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"  # pictographs
)
"""Characters that are words of their own, as the inside of a regex class."""

WORD_CHAR = rf"(?:(?![{UNSPACED}])[^\W_])"
"""A character of a word in a script with spaces."""

_RUN = re.compile(f"[{UNSPACED}]+")
_VANISHING = re.compile("[\u0300-\u036f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def decode(value: object) -> str:
    """Return a stored text column as text; blobs hold what UTF-8 cannot (lone surrogates)."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogatepass")
    return value if isinstance(value, str) else ""


def encode(text: str) -> str | bytes:
    """Return what SQLite can hold without loss: the text, or a blob when it has lone surrogates."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-8", "surrogatepass")


def _values(node: Any) -> list[str]:
    """All texts and numbers inside a JSON value, depth first."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        return [text for value in node.values() for text in _values(value)]
    if isinstance(node, list):
        return [text for value in node for text in _values(value)]
    return [] if node is None or isinstance(node, bool) else [str(node)]


def _loads(text: str) -> Any:
    """Parse JSON; None when it is none, for a trigger must not fail on a foreign row."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _unwrapped(text: str) -> str:
    """Return the values of a JSON text, so that escapes such as a backslash-n do not stick to words."""
    node = _loads(text)
    return text if node is None else "\n".join(_values(node))


def _calls(tool_calls: object) -> list[dict[str, Any]]:
    """Return the ``function`` parts of a stored ``tool_calls`` column."""
    calls = _loads(decode(tool_calls)) if tool_calls else None
    if not isinstance(calls, list):
        return []
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    return [function for function in functions if isinstance(function, dict)]


def _content_text(role: str, content: str, is_json: object) -> str:
    if is_json:
        parts = _loads(content)
        texts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        return "\n".join(str(part.get("text", "")) for part in texts if part.get("type") == "text")
    return _unwrapped(content) if role == "tool" and content[:1] in ("{", "[") else content


def plain_text(role: object, content: object, is_json: object, tool_calls: object, partial: object) -> str:
    """Return all that can be found in a message: text, the calls it makes, text kept from an interrupt.

    The arguments are raw columns of a ``messages`` row.
    """
    parts = [_content_text(decode(role), decode(content), is_json)]
    parts += [f"{call.get('name', '')} {_unwrapped(str(call.get('arguments', '')))}" for call in _calls(tool_calls)]
    if partial:
        parts.append(decode(partial))
    return "\n".join(part for part in parts if part)


def _units(run: str) -> list[str]:
    # Characters newer than SQLite's own Unicode tables, pictographs among them, would be separators: spell them.
    return [c if c < "\U00010000" and c.isalnum() else f"u{ord(c):x}" for c in run]


def _pairs(units: list[str]) -> list[str]:
    return [first + second for first, second in itertools.pairwise(units)]


def _spread(run: re.Match[str]) -> str:
    units = _units(run[0])
    return f" {' '.join(units)} {' '.join(_pairs(units))} "


def segment(text: str) -> str:
    """Return ``text`` with unspaced runs written out as characters and pairs; the form given to the tokenizer."""
    text = text.replace("\0", " ")
    if text.isascii():
        return text
    text = _SURROGATE.sub(" ", unicodedata.normalize("NFKC", text))
    return _RUN.sub(_spread, text)


def run_words(run: str) -> str:
    """Return the index words of which a run of unspaced characters in a query consists, as a phrase."""
    units = _units(run)
    return units[0] if len(units) == 1 else " ".join(_pairs(units))


def facet(kind: str, value: object) -> str:
    """Return the index word for a property, e.g. the role; hex keeps any value one word."""
    return f"{kind}{str(value).lower().encode('utf-8', 'replace').hex()}"


def facets(session_no: object, role: object, tool_name: object, tool_calls: object, is_error: object) -> str:
    """Return the properties of a message that a query may filter by, as words of the index's second column."""
    words = [f"s{session_no}", facet("r", decode(role))]
    names = {decode(tool_name)} if tool_name else set()
    names |= {str(call.get("name", "")) for call in _calls(tool_calls)}
    words += sorted(facet("t", name) for name in names if name)
    if is_error:
        words.append("error")
    return " ".join(words)


class _FoldTable(dict[int, str]):
    """Maps a character to its folded form; filled on demand by ``str.translate``."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = unicodedata.normalize("NFKC", char).lower()
        if 0xC0 <= code < 0x2000:
            folded = "".join(c for c in unicodedata.normalize("NFD", folded) if not 0x300 <= ord(c) < 0x370)
        self[code] = folded
        return folded


_FOLD = _FoldTable({0x2019: "'", 0x2018: "'", **dict.fromkeys(range(0x300, 0x370), "")})


def fold(text: str) -> str:
    """Return ``text`` without case, width and accents, as the index compares it."""
    return text.lower() if text.isascii() else text.translate(_FOLD)


def fold_with_offsets(text: str) -> tuple[str, Sequence[int]]:
    """Fold ``text``; also return, for each folded character and the end, its offset in ``text``."""
    folded = fold(text)
    if len(folded) == len(text) and not _VANISHING.search(text):
        return folded, range(len(text) + 1)
    pieces = [fold(char) for char in text]
    offsets = [at for at, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), [*offsets, len(text)]
