"""Notes that the person keeps in the memory files. Part of :class:`~.local_engine.LocalEngine`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..context.memory import MemoryBook, MemoryFile
from ..types.choices import KeptNote, NoteTarget
from ..types.errors import HermesError, ToolError


class MemoryDirectory:
    """Adds and removes single notes; a person's own are taken whatever the files hold by now.

    Args:
        memory: The files; None when there are none.
    """

    def __init__(self, memory: MemoryBook | None) -> None:
        self._memory = memory

    def keep_note(self, text: str, target: NoteTarget = "memory") -> KeptNote:
        """Add a note; sessions that begin later start with it.

        Raises:
            HermesError: Nothing was written; says why and what helps.
        """
        text = text.strip()
        file = self._book().file(target)
        entries = file.entries()
        used = sum(map(len, entries))
        if text not in entries and used + len(text) > file.max_chars:
            raise HermesError(
                f"{file.path.name} holds {used:,} of {file.max_chars:,} characters; {len(text):,} more do not fit.",
                hint=f"/forget WORDS removes the note with these words; or edit {file.path}.",
            )
        after = file.change([{"action": "add", "content": text}], whatever_it_holds=True)
        return _note(file, target, text, after)

    def forget_note(self, part: str, target: NoteTarget | None = None) -> KeptNote:
        """Remove the only note that has these words in it, and return it.

        Raises:
            HermesError: No note has them, or several have; nothing was written.
        """
        targets: tuple[NoteTarget, ...] = (target,) if target else ("memory", "user")
        files = [(name, self._book().file(name)) for name in targets]
        found = [(name, file, entry) for name, file in files for entry in file.entries() if part in entry]
        exact = [hit for hit in found if hit[2] == part]
        if len(exact or found) != 1:
            how_many = f"{len(found)} notes have" if found else "No note has"
            raise HermesError(
                f"{how_many} “{part}”.", hint=f"The notes are in {' and '.join(str(file.path) for _, file in files)}."
            )
        name, file, entry = (exact or found)[0]
        after = file.change([{"action": "remove", "old_text": entry}], whatever_it_holds=True)
        return _note(file, name, entry, after)

    def _book(self) -> MemoryBook:
        if self._memory is None:
            raise ToolError("This program keeps no memory files.")
        return self._memory


def _note(file: MemoryFile, target: NoteTarget, text: str, after: Mapping[str, Any]) -> KeptNote:
    return KeptNote(
        text=text, target=target, path=str(file.path), used_chars=after["used_chars"], max_chars=after["max_chars"]
    )
