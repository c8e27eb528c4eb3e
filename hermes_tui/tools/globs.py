"""Match relative paths against globs, as ripgrep does."""

from __future__ import annotations

import re


class GlobFilter:
    """Says whether a path passes: any of the globs matches it, and none of those with ``!``.

    A glob without a slash is for the last name; ``**`` spans folders; ``{a,b}`` are alternatives.
    """

    def __init__(self, globs: tuple[str, ...], *, ignore_case: bool = False) -> None:
        flags = re.IGNORECASE if ignore_case else 0
        self._wanted = [_Rule(glob, flags) for glob in globs if not glob.startswith("!")]
        self._unwanted = [_Rule(glob[1:], flags) for glob in globs if glob.startswith("!")]

    def __call__(self, path: str) -> bool:
        """Whether the path passes."""
        if any(rule.matches(path) for rule in self._unwanted):
            return False
        return not self._wanted or any(rule.matches(path) for rule in self._wanted)


class _Rule:
    def __init__(self, glob: str, flags: int) -> None:
        self._is_for_name = "/" not in glob
        self._match = re.compile(_regex(glob), flags).fullmatch

    def matches(self, path: str) -> bool:
        return self._match(path.rpartition("/")[2] if self._is_for_name else path) is not None


_TOKEN = re.compile(
    r"(?P<deep>\*\*/)|(?P<rest>\*\*)|(?P<star>\*)|(?P<one>\?)|(?P<set>\[!?\]?[^\]]*\])|(?P<char>.)", re.S
)
_REGEX = {"deep": r"(?:.*/)?", "rest": ".*", "star": "[^/]*", "one": "[^/]"}


def _regex(glob: str) -> str:
    is_for_folder_anywhere = glob.endswith("/") and "/" not in glob[:-1]
    pieces = ["(?:.*/)?"] if is_for_folder_anywhere else []
    depth = 0
    for token in _TOKEN.finditer(glob.lstrip("/")):
        kind, text = str(token.lastgroup), token.group()
        if kind in _REGEX:
            pieces.append(_REGEX[kind])
        elif kind == "set":
            body = text[1:-1].replace("\\", r"\\")
            pieces.append(f"[^{body[1:]}]" if body.startswith("!") else f"[{body}]")
        elif text == "{":
            depth += 1
            pieces.append("(?:")
        elif text == "}" and depth:
            depth -= 1
            pieces.append(")")
        elif text == "," and depth:
            pieces.append("|")
        else:
            pieces.append(re.escape(text))
    return "".join(pieces) + ")" * depth + ".*" * glob.endswith("/")
