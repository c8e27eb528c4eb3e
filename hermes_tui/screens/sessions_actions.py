"""What the session browser does to sessions: rename, pin, archive, delete with undo, export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.sessions import SessionRow
from hermes_tui.widgets.field import Field
from hermes_tui.widgets.session_list_text import SessionItem, title_of

if TYPE_CHECKING:
    from .sessions import SessionsScreen

UNDO_S = 10.0
"""Time to undo a delete."""


class SessionActions:
    """Acts on the marked sessions, or on the one under the cursor. UI thread only.

    Args:
        screen: The browser.
        current_id: The session that is open here, which is not deleted.
    """

    def __init__(self, screen: SessionsScreen, current_id: str) -> None:
        self._screen = screen
        self._current_id = current_id
        self._deleted: list[tuple[SessionItem, ...]] = []
        """What can be brought back, the newest delete last."""
        self._deleting = 0
        self._undo_wanted = False
        self._renaming = ""

    def _targets(self) -> list[SessionItem]:
        rows = self._screen.rows
        if rows.marked:
            return [item for item in rows.items if item.row.id in rows.marked]
        return [rows.current] if rows.current else []

    def _change(self, items: Sequence[SessionItem], change: Callable[[SessionRow], SessionRow | None]) -> None:
        """Show changed rows at once; None takes a row away."""
        ids = {item.row.id for item in items}
        shown: list[SessionItem] = []
        for item in self._screen.rows.items:
            row = change(item.row) if item.row.id in ids else item.row
            if row is not None:
                shown.append(replace(item, row=row))
        self._screen.rows.marked.clear()
        self._screen.rows.replace(shown)
        self._screen.show_scope()

    # Rename

    def start_renaming(self) -> None:
        """Put a field over the title under the cursor."""
        screen = self._screen
        item = screen.rows.current
        if item is None:
            return
        self._renaming = item.row.id
        field = screen.query_one("#rename", Field)
        field.value = item.row.title
        field.cursor_position = len(item.row.title)
        page = screen.query_one("#sessions").content_region
        rows = screen.rows.region
        field.styles.offset = (rows.x - page.x + 2, rows.y - page.y + screen.rows.row_of_cursor())
        field.styles.width = max(10, rows.width - 4)
        field.add_class("-shown")
        field.focus()

    def stop_renaming(self) -> None:
        """Take the field away."""
        self._renaming = ""
        self._screen.query_one("#rename").remove_class("-shown")
        self._screen.rows.focus()

    def rename(self, title: str) -> None:
        """Store the title; the engine may number it."""
        session_id, title = self._renaming, " ".join(title.split())
        self.stop_renaming()
        if not session_id or not title:
            return
        engine = self._screen.engine

        def stored(final: str) -> None:
            items = [item for item in self._screen.rows.items if item.row.id == session_id]
            self._change(items, lambda row: replace(row, title=final))
            if final != title:
                self._screen.say(f"That title is taken: stored as {final!r}.")

        self._screen.ask(f"rename-{session_id}", lambda: engine.rename_session(session_id, title), stored)

    # Pin and archive

    def pin(self) -> None:
        """Pin the sessions, or unpin them when all are pinned."""
        items = self._targets()
        pinned = not all(item.row.pinned for item in items)
        engine, ids = self._screen.engine, [item.row.id for item in items]
        keep = ids[0] if ids else ""
        self._run(
            "pin", lambda: _each(ids, lambda id: engine.pin_session(id, pinned)), lambda: self._screen.reload(keep)
        )

    def archive(self) -> None:
        """Archive the sessions, or bring them back."""
        items = self._targets()
        archived = not self._screen.feed.archived
        engine, ids = self._screen.engine, [item.row.id for item in items]
        self._run(
            "archive",
            lambda: _each(ids, lambda id: engine.archive_session(id, archived)),
            lambda: self._screen.say(f"{_count(ids)} {'archived' if archived else 'brought back'}."),
        )
        self._change(items, lambda row: None)

    # Delete and undo

    def delete(self) -> None:
        """Hide the sessions at once; they can be brought back for a while."""
        items = [item for item in self._targets() if item.row.id != self._current_id and not item.row.open_elsewhere]
        if not items:
            self._screen.say("A session that is open is not deleted.")
            return
        engine, ids = self._screen.engine, [item.row.id for item in items]
        batch = tuple(items)
        self._deleted.append(batch)
        self._deleting += 1
        self._change(items, lambda row: None)
        what = f"Deleted {title_of(items[0].row)!r}" if len(items) == 1 else f"Deleted {_count(ids)}"
        self._screen.say(f"{what}. u brings {'it' if len(items) == 1 else 'them'} back ({UNDO_S:.0f} s).")
        self._screen.set_timer(UNDO_S, lambda: self._forget(batch))
        self._run(f"delete-{ids[0]}", lambda: _each(ids, engine.delete_session), self._delete_done)

    def _delete_done(self) -> None:
        self._deleting -= 1
        if self._undo_wanted and not self._deleting:
            self._undo_wanted = False
            self.undo()

    def _forget(self, batch: tuple[SessionItem, ...]) -> None:
        if batch in self._deleted:
            self._deleted.remove(batch)
            if not self._deleted:
                self._screen.say("")

    def undo(self) -> None:
        """Bring back what was deleted last; after the delete itself, should that still run."""
        if self._deleting:
            self._undo_wanted = True
            return
        if not self._deleted:
            self._screen.say("There is nothing to undo.")
            return
        engine, ids = self._screen.engine, [item.row.id for item in self._deleted.pop()]
        self._run("undelete", lambda: _each(ids, engine.undelete_session), lambda: self._screen.reload(ids[0]))

    # Export

    def export(self, fmt: str) -> None:
        """Write the sessions as ``md``, ``json`` or ``html`` files into the present folder, never over a file."""
        ids = [item.row.id for item in self._targets()]
        engine, folder = self._screen.engine, Path(self._screen.feed.cwd)

        def write() -> list[Path]:
            return [write_new(folder, f"session-{id}", fmt, engine.export_session(id, fmt)) for id in ids]

        def told(paths: list[Path]) -> None:
            self._screen.rows.marked.clear()
            self._screen.rows.refresh()
            self._screen.show_scope()
            if paths:
                self._screen.say(f"Wrote {paths[0]}" + (f" and {len(paths) - 1} more" if len(paths) > 1 else ""))

        self._screen.ask("export", write, told)

    def _run(self, slot: str, work: Callable[[], object], done: Callable[[], None]) -> None:
        """Run a change in a thread; when it fails, show what is really there."""

        def failed(error: HermesError) -> None:
            self._deleting, self._undo_wanted = 0, False
            self._deleted.clear()
            self._screen.show_error(error)
            self._screen.reload()

        self._screen.ask(slot, work, lambda _: done(), failed)


def write_new(folder: Path, stem: str, suffix: str, text: str) -> Path:
    """Write a private file under a name that is free and return its path.

    Raises:
        HermesError: The folder cannot be written.
    """
    for number in range(1, 1000):
        path = folder / (f"{stem}.{suffix}" if number == 1 else f"{stem}-{number}.{suffix}")
        try:
            with path.open("x", encoding="utf-8", errors="replace") as file:
                path.chmod(0o600)
                file.write(text)
        except FileExistsError:
            continue
        except OSError as error:
            raise HermesError(
                f"{path} was not written: {error.strerror or error}.", hint="Start in another folder."
            ) from error
        return path
    raise HermesError(f"There are too many files named {stem} in {folder}.", hint="Delete some of them.")


def _each(ids: Sequence[str], change: Callable[[str], None]) -> None:
    for session_id in ids:
        change(session_id)


def _count(ids: Sequence[str]) -> str:
    return f"{len(ids)} session{'s' * (len(ids) != 1)}"
