"""Joins composer, popup, commands, files and history: which list is open, and what choosing from it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from textual.geometry import Region

from .completion import MAX_ROWS, CompletionPopup
from .completion_source import (
    Candidate,
    Token,
    command_candidates,
    file_candidates,
    find_token,
    history_candidates,
    line_suffix,
)
from .composer_commands import CommandRow
from .file_index import FileIndex, FileResult
from .prompt_history import PromptHistory


class Prompt(Protocol):
    """What the completion needs of the composer."""

    @property
    def caret(self) -> tuple[int, int, str]:
        """Row, column and line."""
        ...

    @property
    def text(self) -> str:
        """The whole document, chips as labels."""
        ...

    @property
    def region(self) -> Region:
        """Where the composer is on the screen."""
        ...

    has_own_mark: bool
    """A shell command or a note is being typed, for which nothing is completed."""

    def open_popup(self) -> CompletionPopup:
        """Return the popup, mounted."""
        ...

    def files_found(self, result: FileResult) -> None:
        """Hand a result to the UI thread. Called on any thread."""
        ...

    def replace_token(self, start: int, text: str) -> None:
        """Replace from a column of the caret's line up to the caret."""
        ...

    def replace_all(self, text: str) -> None:
        """Replace the whole text."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """What choosing a row did."""

    sends: bool
    """Enter shall send now."""


class CompletionControl:
    """One per composer.

    Args:
        prompt: The composer.
        history: The composer's history.
        root: The folder whose files ``@`` offers.
    """

    def __init__(self, prompt: Prompt, history: PromptHistory, root: Path) -> None:
        self._prompt = prompt
        self._history = history
        self._root = root
        self._index: FileIndex | None = None
        self._popup: CompletionPopup | None = None
        self._token: Token | None = None
        self._dismissed: Token | None = None
        self._searches_history = False
        self._draft = ""
        self.commands: Sequence[CommandRow] = ()

    @property
    def is_open(self) -> bool:
        """Whether the popup is shown."""
        return self._popup is not None and self._popup.is_open

    @property
    def current(self) -> Candidate | None:
        """The row under the cursor, if the popup is shown."""
        return self._popup.current if self._popup is not None and self._popup.is_open else None

    def set_root(self, root: Path) -> None:
        """Offer the files of another folder."""
        if root != self._root:
            self.stop()
            self._root = root

    def stop(self) -> None:
        """End the file index's thread."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def update(self) -> None:
        """Look at the caret again; call after every edit and move."""
        if self._searches_history:
            self._token = Token("history", 0, self._prompt.text)
        else:
            row, column, line = self._prompt.caret
            self._token = None if self._prompt.has_own_mark else find_token(row, line, column)
        if self._token != self._dismissed:
            self._dismissed = None
        if self._token is None or self._dismissed is not None:
            self._hide()
            return
        fill: Callable[[Token], None] = {
            "command": self._fill_commands,
            "file": self._ask_files,
            "history": self._fill_history,
        }[self._token.kind]
        fill(self._token)

    def search_history(self) -> None:
        """Open the list of earlier prompts, filtered by what is typed."""
        self._searches_history = True
        self._draft = self._prompt.text
        self.update()

    def show_files(self, result: FileResult) -> None:
        """Take an answer of the index. UI thread only."""
        token = self._token
        if token is None or token.kind != "file" or token.query != result.query or self._dismissed is not None:
            return
        _, column, line = self._prompt.caret
        rows = file_candidates(result.matches, line_suffix(line, token, column))
        note = ""
        if not result.complete:
            note = f"{result.total:,} so far, still reading this folder"
        elif not rows:
            note = "no file here matches"
        elif result.total > min(len(rows), MAX_ROWS):
            note = f"{result.total:,} files match"
        self._show(rows, note)

    def choose(self, candidate: Candidate | None = None, *, by_enter: bool = False) -> Choice:
        """Put a row into the text.

        Args:
            candidate: The row; the one under the cursor if None.
            by_enter: Enter was pressed, so a complete command may be sent at once.
        """
        candidate, token = candidate or self.current, self._token
        if candidate is None or token is None:
            return Choice(sends=False)
        searched, self._searches_history = self._searches_history, False
        sends = by_enter and token.kind == "command" and candidate.is_final
        if searched:
            self._prompt.replace_all(candidate.insert)
        else:
            self._prompt.replace_token(token.start, candidate.insert.rstrip() if sends else candidate.insert)
        self._hide()
        return Choice(sends=sends)

    def follow(self, region: Region) -> None:
        """The composer moved or grew."""
        if self._popup is not None:
            self._popup.place(region)

    def move(self, delta: int) -> None:
        """Move the cursor in the list."""
        if self._popup is not None:
            self._popup.move(delta)

    def dismiss(self) -> bool:
        """Close the list and keep it closed until the token changes.

        Returns:
            Whether there was a list to close.
        """
        was_open = self.is_open or self._searches_history
        if self._searches_history:
            self._searches_history = False
            if self._prompt.text != self._draft:
                self._prompt.replace_all(self._draft)
        self._dismissed = self._token
        self._hide()
        return was_open

    def reset(self) -> None:
        """Close without a trace, as after sending."""
        self._searches_history = False
        self._token = self._dismissed = None
        self._hide()

    def _fill_commands(self, token: Token) -> None:
        rows = command_candidates(token.query, self.commands)
        self._show(rows, f"{len(rows)} commands" if len(rows) > MAX_ROWS else "")

    def _fill_history(self, token: Token) -> None:
        rows = history_candidates(self._history.search(token.query))
        self._show(rows, f"{len(rows)} earlier prompts" if rows else "no earlier prompt has these words")

    def _ask_files(self, token: Token) -> None:
        if self._index is None:
            self._index = FileIndex(self._root)
        self._index.request(token.query, self._prompt.files_found)

    def _show(self, rows: Sequence[Candidate], note: str) -> None:
        if rows or note:
            self._popup = self._popup or self._prompt.open_popup()
        if self._popup is not None:
            self._popup.show(rows, self._prompt.region, note)

    def _hide(self) -> None:
        if self._index is not None:
            self._index.cancel()
        if self._popup is not None:
            self._popup.close()
