"""Taking back the last exchange, what its turn did to files, or both; and bringing it back."""

from __future__ import annotations

import base64
import binascii
import hashlib
import mimetypes
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path

from ..api import UndoScope
from ..checkpoints.history import FileHistory
from ..types.changes import FileChange, Undone, UndoPlan
from ..types.errors import StoreError
from ..types.events import Event, FilesChanged
from ..types.messages import Message, typed_text
from .conversation import Conversation
from .ports import MessageStore

SHOWN_FILES = 200
"""Files that an event names; it counts all."""


class Undoing:
    """Undo and redo of one conversation. Blocks on the disk; between turns only, but for :meth:`tell_files`.

    Args:
        conversation: Whose exchanges they are.
        store: Holds the rows.
        files: What was done to files; None where nothing is kept.
        image_dir: Private folder for images of messages that are taken back.
        emit: Takes the events.
        between_turns: Keeps turns from beginning; raises ``HermesError`` while one runs.
        problem: Returns why not every change to a file is known; empty when all are.
    """

    def __init__(
        self,
        conversation: Conversation,
        store: MessageStore,
        files: FileHistory | None,
        image_dir: Path,
        *,
        emit: Callable[[Event], None],
        between_turns: Callable[[], AbstractContextManager[None]],
        problem: Callable[[], str] = str,
    ) -> None:
        self._conversation = conversation
        self._store = store
        self._files = files
        self._image_dir = image_dir
        self._emit = emit
        self._between_turns = between_turns
        self._problem = problem

    def changes(self, message_id: int = 0) -> tuple[FileChange, ...]:
        """Return what the agent did to files and nobody took back: in one turn, in the whole session when 0."""
        if self._files is None or not self._conversation.is_stored:
            return ()
        return self._files.changes(self._session_id, message_id)

    def last_message_id(self) -> int:
        """Return the message that an undo would take back; 0 when there is none."""
        last = self._last()
        return last[0] if last is not None else 0

    def plan(self, since_id: int = 0) -> UndoPlan:
        """Say what an undo would do; with ``since_id``, what going back to before that message would."""
        last = self._last()
        message_id, text = (
            (since_id, "") if since_id else (last[0], typed_text(last[1])) if last is not None else (0, "")
        )
        plan = UndoPlan()
        if message_id and self._files is not None:
            plan = self._files.plan(self._session_id, message_id, onwards=bool(since_id))
        return replace(plan, message_id=message_id, text=text, note=self._problem())

    def undo(self, scope: UndoScope = "message") -> Undone:
        """Take back the last exchange, what its turn did to files, or both.

        Raises:
            HermesError: A turn is running.
        """
        with self._between_turns():
            return self._undo(scope)

    def _undo(self, scope: UndoScope) -> Undone:
        last = self._last()
        if last is None:
            return Undone()
        message_id, message = last
        done = self._undo_files(message_id, scope)
        if scope == "files":
            return done
        self._conversation.undo()
        return replace(done, has_message=True, text=typed_text(message), images=image_files(message, self._image_dir))

    def _undo_files(self, message_id: int, scope: UndoScope) -> Undone:
        if self._files is None:
            return Undone()
        try:
            done = self._files.undo(self._session_id, message_id, scope)
        except StoreError:
            if scope != "message":
                raise
            return Undone()  # it can be taken back, only not brought back again
        if done.files:
            self.tell_files()
        return done

    def redo(self) -> Undone:
        """Bring back what the last undo took, unless something was said since.

        Raises:
            HermesError: A turn is running.
        """
        with self._between_turns():
            return self._redo()

    def _redo(self) -> Undone:
        if self._files is None:
            rows = self._conversation.redo()
            return Undone(has_message=bool(rows), messages=tuple(rows))
        operation = self._files.last_operation(self._session_id)
        if operation is None:
            return Undone()
        rows = self._conversation.redo() if operation.scope != "files" else []
        if operation.scope != "files" and not rows:
            return Undone()
        done = self._files.redo(operation)
        if done.files:
            self.tell_files()
        return replace(done, has_message=bool(rows), messages=tuple(rows))

    def close_redo(self) -> None:
        """Something was said: what was undone before stays undone."""
        if self._files is not None:
            with suppress(StoreError):  # the first change that cannot be kept says so
                self._files.close_redo(self._session_id)

    def take_news(self) -> str:
        """Return, once, the block that tells the model which files were taken back; usually empty."""
        news = ""
        if self._files is not None:
            with suppress(StoreError):
                news = self._files.take_news(self._session_id)
        return f"\n\n{news}" if news else ""

    def tell_files(self) -> None:
        """Say which files of the session are changed now. Any thread."""
        found = self.changes()
        shown: tuple[Mapping[str, str | int], ...] = tuple(
            {"path": one.path, "kind": one.kind, "added": one.added, "removed": one.removed}
            for one in found[:SHOWN_FILES]
        )
        self._emit(FilesChanged(files=shown, count=len(found)))

    @property
    def _session_id(self) -> str:
        return self._conversation.session_id

    def _last(self) -> tuple[int, Message] | None:
        stored = self._store.last_exchange(self._session_id) if self._conversation.is_stored else None
        return (stored.id, stored.message) if stored is not None else None


def image_files(message: Message, folder: Path) -> tuple[str, ...]:
    """Write the images of a message into private files and return their paths. What cannot be written is left out."""
    parts = message["content"]
    found: list[str] = []
    for part in parts if isinstance(parts, list) else ():
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else None
        if not isinstance(url, str) or not url.startswith("data:"):
            continue
        head, _, encoded = url.removeprefix("data:").partition(",")
        suffix = mimetypes.guess_extension(head.partition(";")[0]) or ".png"
        with suppress(OSError, binascii.Error):
            found.append(_write_image(folder, base64.b64decode(encoded), f"image-{len(found) + 1}{suffix}"))
    return tuple(found)


def _write_image(folder: Path, content: bytes, name: str) -> str:
    place = folder / hashlib.blake2b(content, digest_size=8).hexdigest()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = place / name
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)
    return str(path)
