"""What ``.gitignore`` files say about paths: one truth for every walk through a folder. Knows nothing else here.

As in git, a folder's file counts more than those above it, and in one file the last rule that matches decides. What
lies in an ignored folder cannot be brought back: a walk does not go into it, so each path is looked at by itself only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

Rule = tuple[re.Pattern[str], bool, bool]
"""What a path must look like, whether the rule is for folders only, and whether it ignores (or brings back)."""

_TOKEN = re.compile(
    r"(?P<escaped>\\.)|(?P<deep>(?:^|(?<=/))\*\*/)|(?P<rest>(?:^|(?<=/))\*\*$)|(?P<star>\*+)|(?P<one>\?)"
    r"|(?P<set>\[[!^]?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*\])|(?P<char>.)",
    re.S,
)
_PLAIN = re.compile(r"[^*?\[\\]*")
_REGEX = {"deep": "(?:.*/)?", "rest": ".*", "star": "[^/]*", "one": "[^/]"}
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": r"\x21-\x7e", "lower": "a-z", "print": r"\x20-\x7e", "punct": r"!-/:-@\[-`{-~", "space": r" \t-\r",
    "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip
"""Source: POSIX bracket expressions in the C locale, as git's wildmatch reads them."""
_CLASS = re.compile(r"\[:([a-z]+):\]|\\(.)|([\[&~|])", re.S)


class IgnoreRules:
    """The rules that hold in one folder. Immutable.

    Args:
        root: The folder that the paths of a walk are relative to.
        names: Names of the files with rules, weaker ones first.
        everywhere: A file whose rules are the weakest of all; git has one for each user.
    """

    def __init__(self, root: Path, names: Sequence[str] = (".gitignore",), everywhere: Path | None = None) -> None:
        self._root = root
        self._names = names
        self._files: tuple[tuple[str, int, Sequence[Rule]], ...] = ()
        """Text to put before a path, characters to take off it, rules; the weakest first."""
        checkout = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
        if everywhere is not None:
            self._add(everywhere, _inside(root, checkout or root), 0)
        if checkout is not None:
            self._add(checkout / ".git" / "info" / "exclude", _inside(root, checkout), 0)
            above = [folder for folder in root.parents if folder.is_relative_to(checkout)]
            for folder in reversed(above):
                for name in names:
                    self._add(folder / name, _inside(root, folder), 0)

    def below(self, folder: str) -> IgnoreRules:
        """Return the rules that hold in a folder further down, its own included.

        Args:
            folder: Relative to the root, with a slash at its end; empty for the root itself.
        """
        rules = IgnoreRules.__new__(IgnoreRules)
        rules._root, rules._names, rules._files = self._root, self._names, self._files
        for name in self._names:
            rules._add(self._root / folder / name, "", len(os.fsencode(folder)))
        return rules

    def ignores(self, path: str) -> bool:
        """Whether a path is ignored.

        Args:
            path: Relative to the root, with ``/``; a folder has one at its end.
        """
        path = path if path.isascii() else os.fsencode(path).decode("latin-1")
        is_folder = path.endswith("/")
        for before, cut, rules in reversed(self._files):
            name = before + path[cut:].removesuffix("/")
            for pattern, for_folders, ignores in reversed(rules):
                if (is_folder or not for_folders) and pattern.fullmatch(name):
                    return ignores
        return False

    def _add(self, file: Path, before: str, cut: int) -> None:
        if rules := [rule for line in _lines(file) if (rule := _parse(line)) is not None]:
            self._files = (*self._files, (before, cut, rules))


def _inside(folder: Path, above: Path) -> str:
    parts = "".join(f"{part}/" for part in folder.relative_to(above).parts)
    return os.fsencode(parts).decode("latin-1")


def _lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file with rules, a character a byte; a link to one counts for nothing, as in git."""
    try:
        if file.is_symlink():
            return
        text = file.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    except OSError:
        return
    for line in text.split("\n"):
        yield line.removesuffix("\r")


def _parse(line: str) -> Rule | None:
    """Return the rule of a line; None for blanks, comments, and what git cannot read either."""
    if line.startswith("#"):
        return None
    line = re.sub(r"(?<!\\) +$", "", line)
    ignores = not line.startswith("!")
    glob = line.removeprefix("!")
    for_folders = glob.endswith("/")
    glob = glob.removesuffix("/")
    is_anchored = "/" in glob
    glob = glob.removeprefix("/")
    # git compares the plain beginning of such a rule as text and begins anew behind it: ``a**/b`` spans folders.
    plain = _PLAIN.match(glob)[0] if is_anchored else ""  # type: ignore[index]
    regex = _regex(glob[len(plain) :])
    if not glob or regex is None:
        return None
    regex = re.escape(plain) + regex
    try:
        return re.compile(regex if is_anchored else f"(?:.*/)?{regex}", re.S), for_folders, ignores
    except re.error:
        return None


def _regex(glob: str) -> str | None:
    """Translate a glob; None when a bracket or an escape has no end."""
    pieces = []
    for token in _TOKEN.finditer(glob):
        kind, text = str(token.lastgroup), token.group()
        if kind in _REGEX:
            pieces.append(_REGEX[kind])
        elif kind == "set":
            pieces.append(_bracket(text[1:-1]))
        elif text in ("[", "\\"):
            return None
        else:
            pieces.append(re.escape(text[-1]))
    return "".join(pieces)


def _bracket(body: str) -> str:
    """Translate the inside of a bracket; a slash is never matched by one."""
    negated = body[:1] in ("!", "^")
    body = body[negated:]
    first = r"\]" if body.startswith("]") else ""
    inner = first + _CLASS.sub(
        lambda found: _CLASSES.get(found[1], "") if found[1] else "\\" + (found[2] or found[3]), body[len(first) // 2 :]
    )
    return f"(?!/)[{'^' * negated}{inner}]"
