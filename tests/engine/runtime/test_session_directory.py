"""The session half of the engine's face."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.store import assistant, found, talk, user

from hermes_tui.engine.runtime.session_directory import SessionDirectory
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import ConfigError
from hermes_tui.engine.types.sessions import SearchPage
from hermes_tui.engine.types.usage import Usage


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    with SessionDB(tmp_path / "state.db") as opened:
        yield opened


@pytest.fixture
def directory(db: SessionDB) -> SessionDirectory:
    return SessionDirectory(db, lambda: ("my-own-key-value",))


@pytest.mark.parametrize("fmt", ["md", "json", "html"])
def test_exports_hold_no_key(directory: SessionDirectory, db: SessionDB, fmt: str) -> None:
    session = db.create()
    talk(db, session, "my-own-key-value and sk-ant-abcdefghijklmnop1234")
    text = directory.export_session(session, fmt)
    assert "my-own" not in text and "sk-ant" not in text


def test_an_unknown_format_is_named(directory: SessionDirectory, db: SessionDB) -> None:
    with pytest.raises(ConfigError, match="pdf"):
        directory.export_session(db.create(), "pdf")


def test_spending_is_reported_from_a_day_on(directory: SessionDirectory, db: SessionDB) -> None:
    session = db.create(model="m", provider="p", cwd="/w")
    talk(db, session, "x")
    db.add_usage(session, Usage(input_tokens=3, output_tokens=4, reasoning_tokens=1), None)
    report = directory.usage()
    (model,) = report.by_model
    assert (model.label, model.total_tokens, model.unpriced_count) == ("p/m", 7, 1)
    assert [row.label for row in report.by_folder] == ["/w"] and len(report.by_day) == 1
    assert directory.usage("2999-01-01").by_day == ()


def test_what_the_user_wrote_is_listed_through_compressions(directory: SessionDirectory, db: SessionDB) -> None:
    first = db.create()
    talk(db, first, "one", "a1")
    summary = {**user("In short."), "compressed": {"first": 0, "last": 0}}
    second, _ = db.continue_compressed(first, summary)  # type: ignore[arg-type]
    db.append_many(second, [user("two"), assistant("a2"), {**user("go on"), "synthetic": True}])
    assert [stored.message["content"] for stored in directory.user_messages(second)] == ["one", "two"]
    assert [stored.message["content"] for stored in directory.user_messages(second, 1)] != ["one"]


def test_typing_stops_older_searches_of_the_browser_only(
    directory: SessionDirectory, db: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(db, db.create(session_id="s"), "needle")
    searched: list[str] = []
    stopped: list[str | None] = []
    search, interrupt = db._searcher.search, db._searcher.interrupt

    def noted_search(*args: Any) -> SearchPage:
        searched.append(args[-1])
        return search(*args)

    def noted_interrupt(group: str | None) -> None:
        stopped.append(group)
        interrupt(group)

    # whether a search is stopped in time depends on the machine; to which group it belongs does not
    monkeypatch.setattr(db._searcher, "search", noted_search)
    monkeypatch.setattr(db._searcher, "interrupt", noted_interrupt)
    assert found(directory.search("needle")) == found(db.search("needle")) == ["s"]
    assert (searched, stopped) == (["browser", ""], ["browser"])
