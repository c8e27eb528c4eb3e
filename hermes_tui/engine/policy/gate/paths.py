"""Paths: inside or outside the workspace, behind links, denied, protected, secret, the root of something.

Every path is looked at twice, as written and after links were followed, and the worse answer counts. Names compare
without regard to case and Unicode form, because the disk may do so too.
"""

from __future__ import annotations

import copy
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from .facts import NUMBER, SOME, UNKNOWN, Issue, Level, Word, is_dynamic, shown
from .globs import TooManyError, expand_glob
from .hard_links import has_other_name_outside
from .places import DEVICE_READ, DEVICES_SAFE, RAW_DISK, ROOTS, SECRET, SOCKET, STARTUP
from .places import SYSTEM as SYSTEM_PLACES
from .verdict import PROTECTS, SECRETS, SYSTEM

PathKind: TypeAlias = Literal["list", "read", "write", "truncate", "delete"]
MAX_GLOB = 256
MAX_FOLDERS = 200


def fold(path: str) -> str:
    """Return a path in the form in which names compare."""
    return unicodedata.normalize("NFC", path).casefold() if not path.isascii() else path.lower()


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    """Translate a gitignore-like pattern for absolute, folded paths."""
    body = pattern.rstrip("/")
    anchored = body.startswith("/")
    body = body.lstrip("/")
    if not anchored and "/" not in body:
        body = "**/" + body
    out = ""
    at = 0
    while at < len(body):
        if body.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif body.startswith("/**", at) and at + 3 == len(body):
            out, at = out + "(?:/.*)?", at + 3
        elif body[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif body[at] == "?":
            out, at = out + "[^/]", at + 1
        else:
            out, at = out + re.escape(body[at]), at + 1
    return re.compile(out + r"(?:/.*)?\Z", re.S)


class PathPatterns:
    """Gitignore-like patterns: ``!`` excepts, the last match wins."""

    def __init__(self, patterns: Iterable[str], home: str) -> None:
        self._rules: list[tuple[str, bool, bool, re.Pattern[str]]] = []
        for pattern in patterns:
            excepts = pattern.startswith("!")
            body = pattern[1:] if excepts else pattern
            if body == "~" or body.startswith("~/"):
                body = home + body[1:]
            rooted = body.startswith(("/", "**/"))
            self._rules.append((pattern, excepts, rooted, _compile(fold(body))))

    def __bool__(self) -> bool:
        return bool(self._rules)

    def find(self, path: str, base: str = "") -> str:
        """Return the pattern that decides for an absolute path, or an empty string.

        Args:
            path: Absolute path.
            base: Folder to which patterns with a slash inside belong.
        """
        folded = fold(path).lstrip("/")
        based = ""
        if base and (fold(path) + "/").startswith(fold(base).rstrip("/") + "/"):
            based = fold(path)[len(fold(base).rstrip("/")) :].lstrip("/")
        for pattern, excepts, rooted, compiled in reversed(self._rules):
            if compiled.match(folded) or (not rooted and based and compiled.match(based)):
                return "" if excepts else pattern
        return ""


@dataclass(frozen=True, slots=True)
class PathFact:
    """One resolved path of a command."""

    written: str
    """As it was written, for people."""
    spelled: str
    """Absolute, dots removed."""
    real: str
    """After links."""


class PathGuard:
    """Judges paths for one workspace.

    Args:
        workspace: Folder the agent works in.
        home: The user's home.
        deny: The user's ``deny_paths``.
        protected: More patterns that may not be written: own config and data folders.
    """

    def __init__(self, *, workspace: str, home: str, deny: Sequence[str] = (), protected: Sequence[str] = ()) -> None:
        self.home = home
        self.workspace = os.path.realpath(workspace)
        self._deny = PathPatterns(deny, home)
        self._protected = PathPatterns([*STARTUP, *protected], home)
        self._system = PathPatterns(SYSTEM_PLACES, home)
        self._secret = PathPatterns(SECRET, home)
        temp = os.path.realpath(tempfile.gettempdir())
        temps = [] if is_inside(self.workspace, temp) else [temp, os.path.realpath("/tmp")]
        self._temps = tuple(temps)
        self.tick: Callable[[], None] = _never_stop
        self.visited: tuple[str, ...] = ()

    def limited(self, tick: Callable[[], None], visited: Iterable[str] = ()) -> PathGuard:
        """Return the same rules for one verdict.

        Args:
            tick: Called at each path; raises when time is over.
            visited: Folders that the text enters somewhere: a relative path may start there.
        """
        limited = copy.copy(self)
        limited.tick, limited.visited = tick, tuple(visited)
        return limited

    def facts(self, word: Word, cwds: Sequence[str]) -> list[PathFact] | None:
        """Resolve a word to the paths that it may name; None when that is known only at run time."""
        text = word.text
        self.tick()
        if is_dynamic(text) or (not cwds and not os.path.isabs(text)):  # noqa: PTH117
            return None
        found: list[PathFact] = []
        for cwd in cwds or ("/",):
            found.append(self._fact(text, cwd, text))
            if word.pattern:
                try:
                    matches = expand_glob(word.pattern, cwd, self.tick)
                except TooManyError:
                    return None
                if len(matches) > MAX_GLOB:
                    return None
                found.extend(self._fact(match, cwd, text) for match in matches)
        return found

    def _fact(self, text: str, cwd: str, written: str) -> PathFact:
        spelled = os.path.normpath(os.path.join(cwd, text))  # noqa: PTH118
        try:
            real = os.path.realpath(os.path.join(cwd, text))  # noqa: PTH118
        except (OSError, ValueError):
            real = spelled
        return PathFact(written, spelled.replace("//", "/", 1) if spelled.startswith("//") else spelled, real)

    def judge(self, word: Word, kind: PathKind, cwds: Sequence[str]) -> list[Issue]:
        """Judge what a command does with the path in ``word``."""
        if SOCKET.match(word.text):
            return [Issue(Level.DANGER, f"opens a network connection: {shown(word.text)}", "path")]
        facts = self.facts(word, cwds)
        if facts is None:
            return self._judge_dynamic(word, kind)
        issues = [issue for fact in facts for issue in self.judge_fact(fact, kind)]
        return list(dict.fromkeys(issues))

    def _judge_dynamic(self, word: Word, kind: PathKind) -> list[Issue]:
        reads = kind in ("list", "read")
        issues = [Issue(Level.UNKNOWN, f"the path is known only at run time: {shown(word.text)}", "path", reads=reads)]
        text = re.sub(f"[{UNKNOWN}{SOME}{NUMBER}]", "?", word.text)
        spelled = os.path.normpath(os.path.join("/?", text))  # noqa: PTH118
        fact = PathFact(shown(word.text), spelled, spelled)
        known = self._judge_names(fact, kind)
        for folder in self.visited if not is_dynamic(word.text) else ():
            known += self._judge_names(self._fact(word.text, folder, fact.written), kind)
        if word.text.startswith(SOME + "/"):  # ~somebody/.bashrc
            known += self._judge_names(
                PathFact(fact.written, self.home + word.text[1:], self.home + word.text[1:]), kind
            )
        return issues + [issue for issue in known if issue.level >= Level.DANGER]

    def judge_fact(self, fact: PathFact, kind: PathKind) -> list[Issue]:
        """Judge one resolved path."""
        changes = kind in ("write", "truncate", "delete")
        issues = self._judge_names(fact, kind)
        if fact.real in DEVICES_SAFE or fact.spelled in DEVICES_SAFE:
            return [issue for issue in issues if issue.deny]
        protected = any(issue.reason.startswith((PROTECTS, SYSTEM)) for issue in issues)
        outside = not is_inside(fact.real, self.workspace) and (changes or not DEVICE_READ.match(fact.spelled))
        if outside and not protected:
            issues.append(self._judge_outside(fact, changes=changes))
        elif kind in ("write", "truncate") and has_other_name_outside(fact.real, self.workspace, self.tick):
            issues.append(
                Issue(Level.DANGER, f"{fact.written} is also a file outside the workspace (a hard link)", "path")
            )
        if changes:
            issues.append(Issue(Level.WRITES, f"changes {fact.written}", "program"))
        if kind == "truncate" and _has_data(fact.real):
            issues.append(Issue(Level.DANGER, f"overwrites a file with data: {fact.written}", "path"))
        return issues

    def _judge_names(self, fact: PathFact, kind: PathKind) -> list[Issue]:
        """Judge a path by the tables of names alone."""
        paths = (fact.spelled, fact.real) if fact.spelled != fact.real else (fact.real,)
        issues: list[Issue] = []
        changes = kind in ("write", "truncate", "delete")
        if kind != "list":
            for path in paths:
                pattern = self._deny.find(path, self.workspace)
                if pattern:
                    issues.append(
                        Issue(Level.DANGER, f"{fact.written} is denied", "path", deny=pattern, reads=not changes)
                    )
        if kind == "read" and any(RAW_DISK.match(path) for path in paths):
            issues.append(Issue(Level.DANGER, f"reads a disk itself: {fact.written}", "path", reads=True))
        if changes and any(RAW_DISK.match(path) for path in paths):
            issues.append(Issue(Level.NEVER, f"writes to a disk itself: {fact.written}", "path"))
        if kind != "list" and any(self._secret.find(path, self.workspace) for path in paths):
            issues.append(Issue(Level.DANGER, f"{SECRETS}: {fact.written}", "path", reads=not changes))
        if changes and any(self._protected.find(path, self.workspace) for path in paths):
            issues.append(Issue(Level.DANGER, f"{PROTECTS}: {fact.written}", "path"))
        elif changes and any(self._system.find(path, self.workspace) for path in paths):
            issues.append(Issue(Level.DANGER, f"{SYSTEM}: {fact.written}", "path"))
        return issues

    def judge_mention(self, word: Word, cwds: Sequence[str]) -> list[Issue]:
        """Judge a path given to a program whose words are not understood: it may be read, and it may be written."""
        issues: list[Issue] = []
        for fact in self.facts(word, cwds) or ():
            for issue in self._judge_names(fact, "write"):
                if issue.reason.startswith(PROTECTS):
                    issues.append(Issue(Level.DANGER, f"{PROTECTS}, perhaps: {fact.written}", "path"))
                elif issue.level < Level.NEVER and not issue.reason.startswith(SYSTEM):
                    issues.append(issue)
        return issues

    def _judge_outside(self, fact: PathFact, *, changes: bool) -> Issue:
        if not changes:
            return Issue(Level.UNKNOWN, f"reads outside the workspace: {fact.written}", "path", reads=True)
        if any(is_inside(fact.real, temp) and fact.real != temp for temp in self._temps):
            return Issue(Level.WRITES, f"writes a temporary file: {fact.written}", "path")
        return Issue(Level.DANGER, f"changes a file outside the workspace: {fact.written}", "path")

    def find_denied_below(self, word: Word, cwds: Sequence[str]) -> str:
        """Return a path below a folder that the user's ``deny_paths`` refuse, or an empty string. Bounded."""
        if not self._deny:
            return ""
        for fact in self.facts(word, cwds) or ():
            for count, (folder, folders, files) in enumerate(os.walk(fact.real)):
                folders[:] = [name for name in folders if name not in (".git", "node_modules", ".venv")]
                for name in (*files, *folders):
                    path = os.path.join(folder, name)  # noqa: PTH118
                    if self._deny.find(path, self.workspace):
                        return os.path.relpath(path, fact.real)
                self.tick()
                if count > MAX_FOLDERS:
                    break
        return ""

    def is_root(self, word: Word, cwds: Sequence[str]) -> bool:
        """Tell whether a word names a root, a home or a system folder, or everything in it."""
        text = word.text
        if word.pattern:
            head, _, last = word.pattern.rpartition("/")
            if not re.fullmatch(r"[*?.\[\]!^]*\*[*?.\[\]!^]*", last):
                return False
            text = head or ("/" if word.pattern.startswith("/") else ".")
        if is_dynamic(text):
            return re.fullmatch(r"\x00+/+\.?", text) is not None or (
                bool(word.pattern) and re.fullmatch(r"\x00+/*", text) is not None
            )
        for cwd in cwds or ("/?",):
            fact = self._fact(text, cwd, text)
            for path in {fact.spelled, fact.real}:
                if path in ROOTS or path == self.home or is_inside(self.home, path):
                    return True
        return False


def _never_stop() -> None:
    """Set no limit."""


def is_inside(path: str, folder: str) -> bool:
    """Tell whether an absolute path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _has_data(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0  # noqa: PTH116
    except OSError:
        return False
