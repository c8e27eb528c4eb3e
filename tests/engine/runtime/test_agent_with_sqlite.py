"""The agent over the real database."""

from __future__ import annotations

from pathlib import Path

from support.scripted import GUARD_S, bench, call, say, think

from hermes_tui.engine.config.settings import AuxiliarySettings, Settings
from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.events import Notice, TextDelta


def test_a_conversation_survives_closing_and_reopening_the_database(tmp_path: Path) -> None:
    script = [[*think("hm"), *call(("echo", '{"text":"a"}'), text="Looking.")], say("done"), say("A title")]
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/trunk\n")
    with SessionDB(tmp_path / "state.db") as store:
        settings = Settings(auxiliary={"title": AuxiliarySettings()})
        made = bench(script, tmp_path, store=store, settings=settings, platform="tui")
        result = made.agent.run_conversation("hello")
        made.agent.wait_for_title(GUARD_S)
    with SessionDB(tmp_path / "state.db") as store:
        resumed = bench([say("again")], tmp_path, store=store, session_id=result["session_id"])
        second = resumed.agent.run_conversation("more")
        sent = resumed.client.requests[0].messages
        assert list(sent[: len(made.client.requests[1].messages)]) == list(made.client.requests[1].messages)
        assert second["messages"][: len(result["messages"])] == result["messages"]
        row = store.get_session(result["session_id"])
        assert (row["title"], row["source"], row["model"], row["provider"]) == ("A title", "tui", "m1", "test")
        assert row["branch"] == "trunk"
        assert resumed.agent.conversation.bill.usage.output_tokens > second["usage"]["output_tokens"]
        shown = replay(store.messages(result["session_id"]), resumed.registry)
        assert [event.text for event in shown if isinstance(event, TextDelta)] == ["Looking.", "done", "again"]


def test_an_empty_session_leaves_no_row(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "state.db") as store:
        bench([], tmp_path, store=store).agent.close()
        assert store.list_sessions() == []


def test_undo_and_rename_work_on_stored_rows(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "state.db") as store:
        made = bench([say("a"), say("b"), say("c")], tmp_path, store=store)
        made.agent.chat("one")
        made.agent.chat("two")
        assert made.agent.conversation.undo() == "two"
        made.agent.chat("three")
        contents = [message["content"] for message in made.client.requests[-1].messages[1:]]
        assert contents == ["one", "a", "three"]


def test_a_read_only_database_ends_the_turn_with_a_clear_notice(tmp_path: Path) -> None:
    SessionDB(tmp_path / "state.db").close()
    with SessionDB(tmp_path / "state.db", read_only=True) as store:
        made = bench([say("x")], tmp_path, store=store)
        result = made.agent.run_conversation("hi")
    assert result["exit_reason"] == "error" and made.of(Notice)[0].kind == "store"
    assert made.client.requests == []


def test_the_projects_instructions_are_sent_and_hidden_characters_told(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.\u200b", encoding="utf-8")
    made = bench([say("x")], tmp_path, parts={"is_trusted": lambda path, digest: True})
    made.agent.chat("hi")
    assert "Use tabs.<U+200B>" in str(made.client.requests[0].messages[0]["content"])
    assert made.of(Notice)[0].kind == "project_file"
    without = bench([say("x")], tmp_path, skip_context_files=True)
    without.agent.chat("hi")
    assert "Use tabs" not in str(without.client.requests[0].messages[0]["content"])


def test_a_full_disk_loses_nothing_that_was_stored_and_the_session_goes_on_once_there_is_room(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "state.db") as store:
        made = bench(
            [say("one"), call(("echo", '{"text":"' + "x" * 900_000 + '"}')), say("two")], tmp_path, store=store
        )
        made.agent.chat("hello")
        pages = store._db.write(lambda conn: conn.execute("PRAGMA page_count").fetchone()[0])
        store._db.write(lambda conn: conn.execute(f"PRAGMA max_page_count={pages + 20}").fetchone())
        result = made.agent.run_conversation("grow")
        assert result["exit_reason"] == "error" and "disk is full" in result["errors"][0]
        assert any(event.kind == "store" and event.hint for event in made.of(Notice))
        store._db.write(lambda conn: conn.execute("PRAGMA max_page_count=1000000").fetchone())
        assert made.agent.run_conversation("again")["final_response"] == "two"
        rows = [row.message for row in store.history(made.agent.session_id)]
        assert [row["content"] for row in rows if row["role"] == "user"] == ["hello", "grow", "again"]
