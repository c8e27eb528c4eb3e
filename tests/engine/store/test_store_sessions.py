"""Sessions: names, lists, marks, spending, small states."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.store import talk, user

from hermes_tui.engine.store.db import SessionDB, default_path
from hermes_tui.engine.types.errors import SessionNotFound
from hermes_tui.engine.types.messages import Message
from hermes_tui.engine.types.usage import Usage


def test_the_database_lies_in_the_home_that_the_environment_names(isolated_home: Path) -> None:
    assert default_path() == isolated_home / "hermes" / "state.db"


def test_an_id_tells_when_the_session_began(db: SessionDB) -> None:
    assert re.fullmatch(r"\d{8}_\d{6}_[0-9a-f]{6}", db.create())


def test_creating_an_id_twice_changes_nothing(db: SessionDB) -> None:
    db.create(title="first", session_id="s")
    assert db.create(title="second", session_id="s") == "s"
    assert db.row("s").title == "first"


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("  two\nlines\tand   spaces ", "two lines and spaces"),
        ("[red]bold[/]", "[red]bold[/]"),
        ("bidi \u202eevil\u202c zero\u200bwidth \x1b[31m", "bidi evil zerowidth [31m"),
        ("x" * 500, "x" * 200),
        ("\ud800 half", "half"),
    ],
)
def test_a_title_fits_one_line(db: SessionDB, typed: str, stored: str) -> None:
    assert db.rename(db.create(), typed) == stored


def test_a_taken_title_is_numbered(db: SessionDB) -> None:
    first, second, third = db.create(title="Fix"), db.create(title="Fix"), db.create()
    assert db.rename(third, "Fix") == "Fix #3"
    assert [db.row(s).title for s in (first, second)] == ["Fix", "Fix #2"]
    assert db.rename(first, "Fix") == "Fix"


def test_a_title_is_free_again_after_its_session_is_deleted(db: SessionDB) -> None:
    db.delete(db.create(title="Fix"))
    assert db.row(db.create(title="Fix")).title == "Fix"


def test_a_model_never_overrides_the_name_that_the_user_chose(db: SessionDB) -> None:
    session = db.create()
    assert db.set_auto_title(session, "By model") == "By model"
    assert db.set_auto_title(session, "Better") == "Better"
    db.rename(session, "Mine")
    assert db.set_auto_title(session, "Again") == "Mine"
    db.rename(session, "")
    assert db.set_auto_title(session, "Again") == "Again"


def test_resolve_takes_ids_titles_and_their_beginnings(db: SessionDB) -> None:
    a = db.create(title="Deploy script", session_id="20260101_aaaaaa")
    db.create(title="Database 100%", session_id="20260102_bbbbbb")
    for text in (a, "deploy script", "20260101", "Depl"):
        assert db.resolve(text) == a
    assert db.resolve("Database 100%") == "20260102_bbbbbb"


@pytest.mark.parametrize("text", ["", "2026", "D", "nothing like it", "%", "_", "\0", "\ud800", "' OR 1=1 --"])
def test_resolve_refuses_what_is_not_one_session(db: SessionDB, text: str) -> None:
    db.create(title="Deploy script", session_id="20260101_aaaaaa")
    db.create(title="Database", session_id="20260102_bbbbbb")
    with pytest.raises(SessionNotFound):
        db.resolve(text)


def test_resolve_names_the_nearest(db: SessionDB) -> None:
    db.create(title="Deploy script")
    with pytest.raises(SessionNotFound) as caught:
        db.resolve("deploy skript")
    assert "deploy script" in caught.value.hint


def test_lists_are_ordered_pinned_first(db: SessionDB) -> None:
    old, new, pinned = (db.create(title=name) for name in ("old", "new", "pinned"))
    for session in (pinned, old, new):
        db.touch(session)
    db.pin(pinned)
    assert [row.id for row in db.list_sessions()] == [pinned, new, old]
    assert [row.title for row in db.list_sessions(sort="title")] == ["pinned", "new", "old"]
    assert [row.id for row in db.list_sessions(limit=1, offset=1)] == [new]


def test_lists_filter_by_folder_source_and_archive(db: SessionDB, tmp_path: Path) -> None:
    here = db.create(cwd=tmp_path, source="tui")
    there = db.create(cwd=tmp_path / "sub", source="run")
    assert [row.id for row in db.list_sessions(cwd=tmp_path)] == [here]
    assert [row.id for row in db.list_sessions(source="run")] == [there]
    db.archive(here)
    assert [row.id for row in db.list_sessions()] == [there]
    assert [row.id for row in db.list_sessions(archived=True)] == [here]


def test_subagents_are_listed_only_when_asked_for(db: SessionDB) -> None:
    parent = db.create()
    child = db.create(parent=parent, source="subagent")
    assert [row.id for row in db.list_sessions()] == [parent]
    assert {row.id for row in db.list_sessions(include_subagents=True)} == {parent, child}


def test_latest_passes_over_empty_and_hidden_sessions(db: SessionDB) -> None:
    used, archived, deleted = db.create(cwd="/a"), db.create(), db.create()
    for session in (used, archived, deleted):
        talk(db, session, "x")
    db.create()
    db.archive(archived)
    db.delete(deleted)
    assert db.latest() == db.latest(cwd="/a") == used
    assert db.latest(cwd="/b") is None


def test_odd_rows_are_listed(db: SessionDB) -> None:
    for number, title in enumerate(("", "[b]x[/b]\nnext", "🎉" * 300, "x")):
        db.append(db.create(title=title), {"role": "user", "content": "", "created_at": 4e9 + number})
    assert [row.title for row in db.list_sessions()] == ["x", "🎉" * 200, "[b]x[/b] next", ""]


def test_an_empty_unnamed_session_leaves_nothing_behind(db: SessionDB) -> None:
    empty, named, used = db.create(), db.create(title="kept"), db.create()
    talk(db, used, "x")
    for session in (empty, named, used):
        db.end(session, "closed")
    assert {row.id for row in db.list_sessions()} == {named, used}


def test_the_first_end_reason_stays_until_the_session_goes_on(db: SessionDB) -> None:
    session = db.create(title="x")
    db.end(session, "closed")
    db.end(session, "crash")
    assert db.row(session).end_reason == "closed"
    talk(db, session, "on")
    assert db.row(session).end_reason == ""


def test_a_row_says_that_its_last_turn_failed_until_the_session_goes_on(db: SessionDB) -> None:
    session = db.create()
    failed: Message = {"role": "assistant", "content": "[No answer.]", "synthetic": True, "finish_reason": "error"}
    db.append_many(session, [user("x"), failed])
    assert db.row(session).end_reason == "error"
    db.end(session, "closed")
    assert db.row(session).end_reason == "error"
    talk(db, session, "again", "answer")
    db.end(session, "closed")
    assert db.row(session).end_reason == "closed"


def test_tokens_and_cost_add_up(db: SessionDB) -> None:
    session = db.create(model="m", provider="p", cwd="/w")
    assert db.usage(session) == (Usage(), 0.0)
    talk(db, session, "x")
    db.add_usage(session, Usage(input_tokens=10, output_tokens=5, reasoning_tokens=2), 0.25)
    db.add_usage(session, Usage(input_tokens=1, cache_read_tokens=100), 0.5)
    usage, cost = db.usage(session)
    assert usage == Usage(input_tokens=11, output_tokens=5, cache_read_tokens=100, reasoning_tokens=2)
    assert cost == 0.75
    assert db.row(session).total_tokens == 116
    (day,) = db.stats()["by_day"]
    assert (day["cost_usd"], day["request_count"], day["input_tokens"]) == (0.75, 2, 11)
    assert db.stats()["by_model"][0]["model"] == "p/m"


def test_one_request_without_a_price_makes_the_cost_unknown(db: SessionDB) -> None:
    session = db.create()
    db.add_usage(session, Usage(input_tokens=1), 0.25)
    db.add_usage(session, Usage(input_tokens=1), None)
    assert db.usage(session)[1] is None
    assert db.row(session).cost_usd is None


def test_spending_is_counted_for_the_model_that_was_used(db: SessionDB) -> None:
    session = db.create(model="one", provider="p")
    db.add_usage(session, Usage(input_tokens=1), 1.0)
    db.set_model(session, "two", "p")
    db.add_usage(session, Usage(input_tokens=2), 2.0)
    assert {row["model"]: row["cost_usd"] for row in db.stats()["by_model"]} == {"p/one": 1.0, "p/two": 2.0}


def test_system_prompt_state_and_drafts_are_kept(db: SessionDB) -> None:
    session = db.create()
    assert (db.system_prompt(session), db.get_state(session, "todos"), db.load_draft("k")) == ("", None, "")
    db.set_system_prompt(session, "You\r\nare \ud800")
    db.set_state(session, "todos", [{"text": "写", "done": False}])
    db.save_draft("k", "unsent \ud800")
    assert db.system_prompt(session) == "You\r\nare \ud800"
    assert db.get_state(session, "todos") == [{"text": "写", "done": False}]
    assert db.load_draft("k") == "unsent \ud800"
    db.set_state(session, "todos", None)
    db.save_draft("k", "")
    assert (db.get_state(session, "todos"), db.load_draft("k")) == (None, "")


def test_prompt_history_belongs_to_a_folder_and_repeats_move_to_the_end(db: SessionDB) -> None:
    for text in ("a", "b", "a", " ", "\ud800"):
        db.add_prompt("/x", text)
    db.add_prompt("/y", "other")
    assert db.prompt_history("/x") == ["b", "a", "\ud800"]
    assert db.prompt_history("/x", limit=1) == ["\ud800"]
    assert db.prompt_history("/y") == ["other"]
