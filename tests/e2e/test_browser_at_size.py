"""The session browser in the real program over a large store: every key, small windows, Chinese words.

``HERMES_TUI_BROWSER_SESSIONS=20000`` makes it the full size (the suite keeps it small), ``HERMES_TUI_BROWSER_STORE``
names a store that is there already (made by ``bench/sessions.py``).
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import ModelServer
from support.program import Installation, ready

from bench.corpus import build
from hermes_tui.engine.store.db import SessionDB

pytestmark = pytest.mark.e2e
SESSIONS = int(os.environ.get("HERMES_TUI_BROWSER_SESSIONS", "400"))
SIZES = [(120, 40), (80, 24), (40, 12)]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer([]) as server:
        yield server


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if kept := os.environ.get("HERMES_TUI_BROWSER_STORE"):
        return Path(kept)
    path = tmp_path_factory.mktemp("corpus") / "state.db"
    build(path, SESSIONS * 50)
    return path


@pytest.fixture
def user(tmp_path: Path, server: ModelServer, corpus: Path) -> Installation:
    """A user with the corpus and two sessions that can be told apart."""
    user = Installation(tmp_path, server.base_url)
    database = user.home / "hermes" / "state.db"
    with sqlite3.connect(corpus) as source, sqlite3.connect(database) as target:
        source.backup(target)
    database.chmod(0o600)
    with SessionDB(database) as db:
        for name, text in (("zebra", "斑马在河边喝水"), ("heron", "白鹭飞过稻田")):
            session = db.create(session_id=name, title=f"The {name}", model="m", provider="local")
            db.append_many(
                session, [{"role": "user", "content": text}, {"role": "assistant", "content": f"{name} it is"}]
            )
            db._set(session, {"updated_at": time.time() + 5})
    return user


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_key_of_the_browser_works(user: Installation, size: tuple[int, int]) -> None:
    with user.start(size=size) as terminal:
        ready(terminal)
        terminal.type("\x12")  # ctrl+r
        terminal.wait_for("The heron")
        for query, title, other in (("斑马", "The zebra", "heron"), ("鹭", "The heron", "zebra")):
            terminal.type(query)
            terminal.wait(lambda text, other=other: other not in text, f"only {title}")  # type: ignore[misc]
            terminal.wait_for(title)
            terminal.type("\x1b")
            terminal.wait_for("Search everything")
            terminal.wait_for("The heron")
        terminal.type("zebra")
        terminal.wait(lambda text: "The zebra" in text and "heron" not in text, "one hit")
        terminal.type("\x1b[B")  # to the list
        terminal.wait_for("/ search")
        terminal.type("r")
        terminal.wait_for("to the list")  # the name is being edited
        terminal.type(" two\r")
        terminal.wait_for("The zebra two")
        terminal.wait_for("/ search")
        terminal.type("p")
        terminal.type("?")
        terminal.wait_for("Session keys")
        terminal.type("\x1b")
        terminal.wait_gone("Session keys")
        terminal.type("\x10")  # ctrl+p
        terminal.wait_for("Session actions")
        terminal.type("html\r")
        terminal.wait(lambda text: list(user.work.glob("*.html")), "the file that the palette exported")
        terminal.type("M")
        terminal.wait_for("1 marked")
        terminal.type("M")
        terminal.wait_gone("1 marked")
        terminal.type("d")
        terminal.wait_for("u brings")
        terminal.type("u")
        terminal.wait_for("★ The zebra two")
        terminal.type("e")
        terminal.wait(lambda text: list(user.work.glob("*.md")), "the exported file")
        terminal.type("a")
        terminal.wait_for("1 session archived")
        terminal.type("A")
        terminal.wait_for("★ The zebra two")
        terminal.type("a")
        terminal.wait_for("1 session brought back")
        terminal.type("A")
        terminal.wait_for("★ The zebra two")
        terminal.type("v")
        terminal.type("v")
        terminal.type("nN ")
        terminal.wait_for("✓")
        terminal.type("/")
        terminal.wait_for("to the list")
        terminal.type("\x1b")
        terminal.wait_for("Search everything")
        terminal.wait_for("The heron")
        terminal.type("\x1b[B")
        terminal.wait_for("/ search")
        terminal.type("\x1b[F")  # end: the list is paged to the last row
        terminal.type("\x1b[H")
        terminal.wait_for("zebra")
        terminal.type("s")
        terminal.wait_for("by created")
        terminal.type("f")
        terminal.wait(lambda text: "Sessions" not in text, "the fork in the chat")
    with SessionDB(user.home / "hermes" / "state.db") as db:
        row = db.row("zebra")
        assert (row.title, row.pinned, row.archived) == ("The zebra two", True, False)
        assert db.list_sessions(limit=1, sort="created")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_fast_typing_ends_with_what_was_typed_last(user: Installation, size: tuple[int, int]) -> None:
    with user.start("-r", size=size) as terminal:
        terminal.wait_for("The heron")
        for character in "zebra" + "\x7f" * 5 + "斑马" + "\x7f" * 2 + "heron":
            terminal.type(character)
        terminal.wait(lambda text: "The heron" in text and "zebra" not in text, "the last words' hits")
        terminal.type("\r")
        terminal.wait_for("白鹭飞过稻田")
