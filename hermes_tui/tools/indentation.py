"""Move lines from the indentation a model wrote to the one the file has."""

from __future__ import annotations

import re
from dataclasses import dataclass

_INDENT = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class Reindent:
    """How the indents of one text correspond to those of another."""

    known: dict[str, str]
    """Indent as written -> indent in the file."""

    @classmethod
    def between(cls, written: list[str], in_file: list[str]) -> Reindent | None:
        """Learn from lines that differ in indentation only; None when no one rule fits them all."""
        known: dict[str, str] = {}
        for line, original in zip(written, in_file, strict=True):
            if not line.strip():
                continue
            indent, target = _indent(line), _indent(original)
            if known.setdefault(indent, target) != target:
                return None
        return cls(known)

    def apply(self, line: str) -> str | None:
        """Return the line with the file's indentation; None when it cannot be told."""
        if not line.strip():
            return ""
        indent = _indent(line)
        target = self._target(indent)
        return None if target is None else target + line[len(indent) :]

    def _target(self, indent: str) -> str | None:
        if indent in self.known:
            return self.known[indent]
        inner = [known for known in self.known if indent.startswith(known)]
        if inner:
            nearest = max(inner, key=len)
            extra = self._converted(indent[len(nearest) :])
            return None if extra is None else self.known[nearest] + extra
        outer = [known for known in self.known if known.startswith(indent)]
        if not outer:
            return None
        nearest = min(outer, key=len)
        less = self._converted(nearest[len(indent) :])
        target = self.known[nearest]
        return target[: len(target) - len(less)] if less is not None and target.endswith(less) else None

    def _converted(self, blanks: str) -> str | None:
        """Write blanks the way the file does: as they are, or tabs for spaces and the other way round."""
        kinds = {char for target in self.known.values() for char in target}
        if set(blanks) <= kinds or not kinds:
            return blanks
        for written, target in self.known.items():
            if set(written) == {" "} and set(target) == {"\t"} and len(written) % len(target) == 0:
                width = len(written) // len(target)
                return "\t" * (len(blanks) // width) if len(blanks) % width == 0 else None
            if set(written) == {"\t"} and set(target) == {" "} and len(target) % len(written) == 0:
                return " " * (len(target) // len(written) * len(blanks))
        return None


def _indent(line: str) -> str:
    found = _INDENT.match(line)
    return found.group() if found else ""
