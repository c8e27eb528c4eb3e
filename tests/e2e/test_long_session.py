"""A session far longer than what a resume shows at first: found, and opened at a hit, wherever the words are."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.model_server import ModelServer
from support.program import Installation, ready

from hermes_tui.engine.store.db import SessionDB

pytestmark = pytest.mark.e2e

CTRL_F, CTRL_O, CTRL_R, ESC = "\x06", "\x0f", "\x12", "\x1b"


@pytest.fixture
def user(tmp_path: Path, server: ModelServer) -> Installation:
    """A user with one session of 1,000 messages; a marmot is in the fifth, an ibex in the last but one."""
    user = Installation(tmp_path, server.base_url)
    texts = [f"number {number}" for number in range(1000)]
    texts[4], texts[998] = "a marmot whistles", "an ibex climbs"
    with SessionDB(user.home / "hermes" / "state.db") as db:
        session = db.create(session_id="long", title="A long talk", cwd=str(user.work), model="m", provider="local")
        db.append_many(
            session,
            [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)],  # type: ignore[misc]
        )
    return user


def test_find_looks_through_messages_that_were_never_shown(user: Installation) -> None:
    with user.start("-r", "long") as terminal:
        ready(terminal)
        terminal.wait_for("number 999")
        terminal.type(CTRL_F)
        terminal.wait_for("Find in this session")
        terminal.type("marmot")
        terminal.wait_for("1 hit")
        terminal.type("\r")
        terminal.wait_for("a marmot whistles")
        terminal.wait_for("number 3")
        terminal.type(ESC)
        terminal.type("/find ibex\r")
        terminal.wait_for("an ibex climbs")
        terminal.type(ESC)
        terminal.type("/find walrus\r")
        terminal.wait_for("Nothing found for walrus.")


def test_a_session_opens_at_a_hit_that_is_far_up(user: Installation) -> None:
    with user.start("-r") as terminal:
        terminal.wait_for("Search everything")
        terminal.type("marmot")
        terminal.wait(lambda text: "A long talk" in text and "a marmot whistles" in text, "the hit")
        terminal.type(CTRL_O)
        terminal.wait_gone("Search everything")
        terminal.wait_for("a marmot whistles")
        terminal.wait_for("number 5")
