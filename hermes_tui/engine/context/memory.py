"""MEMORY.md and USER.md: short notes that every new session starts with. Plain files that people may edit, too."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..types.errors import ToolError
from .project_files import reveal_hidden

DELIMITER = "§"
"""A line of its own between entries."""
MEMORY_CHARS = 2_200
USER_CHARS = 1_375
REMOVED = "[An entry was left out because it looks like an instruction to you.]"

# Source: public collections of prompt injections. An entry is read as the agent's own knowledge in every later session,
# so whatever speaks like an order, hides, or carries secrets away is refused.
_SUSPICIOUS = {
    "an order": r"(?:ignore|disregard|forget|override).{0,40}(?:instruction|rule|prompt|guideline|above|previous)",
    "a role": r"you are (?:now|no longer)\b|(?:act|behave|pretend) as (?:if|though)\b|new (?:prompt|persona)",
    "secrecy": r"(?:without|never|don'?t|do not) (?:ask|tell|inform|mention|show).{0,30}(?:user|person|human|approval)",
    "a leak": r"(?:reveal|print|leak|send).{0,30}(?:system prompt|api.?key|password|token|secret|credential)",
    "a command that sends data": r"(?:curl|wget|nc|fetch)\b.{0,80}(?:\$|`|\||>|@|--data|-d\b)",
    "markup": r"<!--|<\s*(?:script|iframe|system|/?instructions?)\b|\[(?:system|inst)\]",
    "a path to keys": r"authorized_keys|id_rsa|\.ssh/|/etc/(?:passwd|shadow|sudoers)",
    "a secret": r"\b(?:sk|ghp|glpat|xox[bp])[-_][A-Za-z0-9_-]{16,}|-----BEGIN",
}
"""What an entry must not look like, and the pattern that finds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What a new session's prompt gets; empty texts are left out."""

    memory: str = ""
    user: str = ""


def problem_in(text: str) -> str:
    """Say why an entry must not be kept, or return an empty text."""
    if reveal_hidden(text)[1]:
        return "It holds invisible characters."
    plain = unicodedata.normalize("NFKC", text)
    kind = next((name for name, pattern in _SUSPICIOUS.items() if re.search(pattern, plain, re.I)), "")
    return f"It reads like {kind}; notes hold facts only." if kind else ""


class MemoryFile:
    """One of the two files. Usable from any thread and by several processes; every write replaces the file whole.

    Args:
        path: The file; need not exist.
        max_chars: Limit of all entries together.
    """

    def __init__(self, path: Path, max_chars: int) -> None:
        self.path = path
        self.max_chars = max_chars
        self._seen: str | None = None
        """Digest of the file as this session knows it; None before it was looked at."""

    def snapshot(self) -> str:
        """Return the entries for a prompt, suspicious ones replaced by a word on them."""
        entries = self._look()
        if not entries:
            return ""
        shown = [REMOVED if problem_in(entry) else entry for entry in entries]
        used = sum(map(len, entries)) * 100 // self.max_chars
        return "\n".join([f"({used} % of {self.max_chars:,} characters used)", *(f"- {entry}" for entry in shown)])

    def entries(self) -> list[str]:
        """Return the entries as they are now; raises ``ToolError`` when the file cannot be read."""
        return _split(self._read())

    def change(self, actions: Sequence[Mapping[str, Any]], *, whatever_it_holds: bool = False) -> dict[str, Any]:
        """Apply all actions or none; returns the entries afterwards.

        Args:
            actions: ``{"action": "add" | "replace" | "remove", "content", "old_text"}``; ``old_text`` is a part that
                only one entry has, or one of them whole.
            whatever_it_holds: Also when somebody else changed the file meanwhile.

        Raises:
            ToolError: Nothing was changed; says why.
        """
        with self._locked():
            text = self._read()
            digest = _digest(text)
            if self._seen is not None and digest != self._seen and not whatever_it_holds:
                self._seen = digest
                raise ToolError(
                    f"{self.path.name} was changed by somebody else meanwhile; nothing was written. It now holds: "
                    f"{_split(text)}",
                    hint="Look at it and send the change again if it still makes sense.",
                )
            entries = _split(text)
            for action in actions:
                entries = _applied(entries, action)
            size = sum(map(len, entries))
            if size > self.max_chars:
                raise ToolError(
                    f"That would be {size:,} of {self.max_chars:,} characters; nothing was written. Present entries: "
                    f"{_split(text)}",
                    hint="Join or remove some in the same call.",
                )
            self._write(entries)
        return {"entries": entries, "used_chars": size, "max_chars": self.max_chars}

    def _look(self) -> list[str]:
        text = self._read()
        self._seen = _digest(text)
        return _split(text)

    def _read(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise ToolError(f"{self.path.name} cannot be read: {error.strerror}.") from error

    def _write(self, entries: Sequence[str]) -> None:
        text = f"\n{DELIMITER}\n".join(entries) + ("\n" if entries else "")
        spare = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            with os.fdopen(os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            spare.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                spare.unlink()
            raise ToolError(f"{self.path.name} cannot be written: {error.strerror}.") from error
        self._seen = _digest(text)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes out; the lock ends with the process that holds it."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.path.with_name(f".{self.path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ToolError(f"{self.path.name} cannot be written: {error.strerror}.") from error
        try:
            _lock(handle)
            yield
        finally:
            os.close(handle)


class MemoryBook:
    """Both files, as the ``memory`` tool and the prompt use them.

    Args:
        memory_path: What the agent learnt.
        user_path: What it knows about the person.
    """

    def __init__(self, memory_path: Path, user_path: Path) -> None:
        self._files = {"memory": MemoryFile(memory_path, MEMORY_CHARS), "user": MemoryFile(user_path, USER_CHARS)}

    def snapshot(self) -> Snapshot:
        """Return what a new session's prompt gets; a file that cannot be read counts as empty."""
        texts = {}
        for name, file in self._files.items():
            try:
                texts[name] = file.snapshot()
            except ToolError:
                texts[name] = ""
        return Snapshot(**texts)

    def file(self, target: str) -> MemoryFile:
        """Return ``memory`` or ``user``."""
        return self._files[target]

    def change(self, target: str, actions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Apply all actions to one file, or none.

        Raises:
            ToolError: Nothing was changed; says why.
        """
        return self._files[target].change(actions)


def _split(text: str) -> list[str]:
    parts = re.split(rf"^\s*{DELIMITER}\s*$", text.removeprefix("\ufeff").replace("\r\n", "\n"), flags=re.M)
    return [part.strip() for part in parts if part.strip()]


def _applied(entries: list[str], action: Mapping[str, Any]) -> list[str]:
    kind = str(action.get("action", ""))
    content = str(action.get("content") or "").strip()
    if kind in ("add", "replace"):
        if not content:
            raise ToolError(f"{kind} needs content.")
        if re.search(rf"^\s*{DELIMITER}\s*$", content, re.M):
            raise ToolError(f"A line with only {DELIMITER} separates entries; leave it out.")
        if problem := problem_in(content):
            raise ToolError(f"This entry was not kept. {problem}")
    if kind == "add":
        return entries if content in entries else [*entries, content]
    place = _place(entries, str(action.get("old_text") or ""))
    changed = [content] if kind == "replace" else []
    return [*entries[:place], *changed, *entries[place + 1 :]]


def _place(entries: Sequence[str], part: str) -> int:
    """Return the position of the only entry with this part."""
    if not part.strip():
        raise ToolError("replace and remove need old_text: a part of the entry that no other has.")
    if part in entries:
        return entries.index(part)
    found = [place for place, entry in enumerate(entries) if part in entry]
    if len(found) != 1:
        how_many = "No entry has" if not found else f"{len(found)} entries have"
        raise ToolError(f"{how_many} {part!r}. Entries: {list(entries)}")
    return found[0]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _lock(handle: int) -> None:
    """Wait for the exclusive lock on an open file."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(handle, fcntl.LOCK_EX)
