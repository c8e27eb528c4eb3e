"""What goes out as JSON comes in as the same sessions; Markdown is for people."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.store import assistant, talk, texts, user

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import SessionNotFound, StoreError
from hermes_tui.engine.types.usage import Usage

CALL = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"ls"}'}}


def filled(db: SessionDB) -> str:
    session = db.create(title="导出 \ud800 me", cwd="/w", model="m", provider="p", source="tui", branch="main")
    db.append_many(
        session,
        [
            {"role": "user", "content": "list \ud800 files", "api_content": "list files!"},
            {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning": "hm"},  # type: ignore[list-item]
            {"role": "tool", "content": "a\n```\nb\n```", "tool_call_id": "c1", "tool_name": "terminal"},
            {"role": "assistant", "content": "Two.", "partial": "and a ha", "finish_reason": "interrupted"},
        ],
        tokens=[1, 2, 3, 4],
    )
    db.add_usage(session, Usage(input_tokens=3, output_tokens=4), 0.5)
    db.set_state(session, "todos", [{"text": "x"}])
    db.set_system_prompt(session, "You are")
    db.pin(session)
    return session


def test_an_import_gives_the_same_session(db: SessionDB, tmp_path: Path) -> None:
    session = filled(db)
    file = tmp_path / "out.json"
    file.write_text(db.export(session, "json"), encoding="utf-8")
    with SessionDB(tmp_path / "other.db") as other:
        assert other.import_(file)["imported"] == [session]
        assert [m.message for m in other.history(session)] == [m.message for m in db.history(session)]
        assert other.row(session) == db.row(session)
        assert other.usage(session) == db.usage(session)
        assert other.get_state(session, "todos") == [{"text": "x"}]
        assert other.system_prompt(session) == "You are"
        assert other.stats()["by_day"] == db.stats()["by_day"]
        assert other.search("files").hits
        assert other.import_(file)["skipped"] == {session: "It is here already."}
        assert json.loads(other.export(session, "json"))["sessions"] == json.loads(file.read_text())["sessions"]


def stored_rows(db: SessionDB) -> list[tuple[object, ...]]:
    """Every message with its size and whether it was taken back."""
    sql = "SELECT content, role, tokens, active, undone_at, created_at FROM messages ORDER BY id"
    with db._db.read() as conn:
        return [tuple(row) for row in conn.execute(sql)]


def test_what_was_taken_back_and_token_estimates_survive_the_round_trip(db: SessionDB, tmp_path: Path) -> None:
    session = db.create()
    db.append_many(session, [user("one"), assistant("a1"), user("two"), assistant("a2")], tokens=[1, 2, 3, 4])
    db.undo_last(session)
    db.append_many(session, [user("instead")], tokens=[9])
    with SessionDB(tmp_path / "other.db") as other:
        other.import_(json.loads(db.export(session, "json")))
        assert stored_rows(other) == stored_rows(db)
        assert texts(other.history(session)) == ["one", "a1", "instead"]
        assert other.row(session) == db.row(session)
        assert not other.search("two").hits


def test_a_fork_is_exported_with_its_past(db: SessionDB, tmp_path: Path) -> None:
    parent = db.create()
    talk(db, parent, "one", "a1")
    fork = db.fork(parent)
    talk(db, fork, "two")
    document = json.loads(db.export(fork, "json"))
    with SessionDB(tmp_path / "other.db") as other:
        other.import_(document)
        assert texts(other.history(fork)) == ["one", "a1", "two"]
        assert other.row(fork) == db.row(fork)


def test_a_compressed_conversation_is_exported_whole(db: SessionDB, tmp_path: Path) -> None:
    first = db.create(title="Long")
    talk(db, first, "old", "a1")
    second = db.create(parent=first, parent_reason="compression")
    talk(db, second, "new")
    with SessionDB(tmp_path / "other.db") as other:
        assert other.import_(json.loads(db.export(second, "json")))["imported"] == [first, second]
        assert texts(other.messages(second)) == ["old", "a1", "new"]
        assert texts(other.history(second)) == ["new"]
        assert [row.id for row in other.list_sessions()] == [second]
        assert other.row(second) == db.row(second)


def test_a_fork_of_a_compressed_conversation_keeps_what_its_summary_stands_for(db: SessionDB, tmp_path: Path) -> None:
    first = db.create(title="Long")
    talk(db, first, "begin", "a1", "middle", "a2")
    summary = {**user("In short."), "compressed": {"first": 1, "last": 1}}
    second, _ = db.continue_compressed(first, summary)  # type: ignore[arg-type]
    talk(db, second, "later")
    fork = db.fork(second)
    talk(db, fork, "aside")
    wanted = ["begin", "In short.", "a2", "later", "aside"]
    assert texts(db.history(fork)) == wanted
    with SessionDB(tmp_path / "other.db") as other:
        assert other.import_(json.loads(db.export(fork, "json")))["imported"] == [first, fork]
        assert texts(other.history(fork)) == wanted
        assert other.import_(json.loads(db.export(second, "json")))["imported"] == [second]
        assert {row.id for row in other.list_sessions()} == {fork, second}
        assert texts(other.history(second)) == wanted[:-1]


def test_markdown_reads_like_the_chat_and_keeps_fences_closed(db: SessionDB) -> None:
    text = db.export(filled(db), "md")
    assert text.startswith("# 导出 me\n")
    assert "## User\n\nlist \ufffd files" in text
    assert '**Call of terminal**\n\n```\n{"command":"ls"}\n```' in text
    assert "**Result of terminal**\n\n````\na\n```\nb\n```\n````" in text
    assert "and a ha\n\n*(interrupted)*" in text


def test_secrets_are_taken_out_by_the_given_function(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "key sk-123")
    for fmt in ("md", "json", "html"):
        assert "sk-123" not in db.export(session, fmt, redact=lambda text: text.replace("sk-123", "[redacted]"))  # type: ignore[arg-type]


HOSTILE = "<script>alert(1)</script> \"&amp;\" 'x' \x1b[31m \ud800"


def test_html_is_one_file_in_which_every_text_is_escaped(db: SessionDB) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": HOSTILE, "arguments": HOSTILE}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    forged = {"type": "image_url", "image_url": {"url": 'data:image/png;base64,A" onload="x'}}
    session = db.create(title=HOSTILE, cwd="/<b>", model="<m>")
    db.append_many(
        session,
        [
            {"role": "user", "content": [{"type": "text", "text": HOSTILE}, image, forged]},  # type: ignore[list-item]
            {"role": "assistant", "content": None, "tool_calls": [call], "reasoning": HOSTILE, "partial": HOSTILE},  # type: ignore[list-item]
            {"role": "tool", "content": HOSTILE, "tool_call_id": "c1", "tool_name": HOSTILE},
        ],
    )
    page = db.export(session, "html")
    assert "<script" not in page and "onload" not in page and "\x1b" not in page
    assert page.count("&lt;script&gt;") == 9
    assert re.findall(r'(?:src|href)="([^"]*)"', page) == ["data:image/png;base64,AAAA"]
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
    page.encode("utf-8")


def test_html_sets_fenced_code_apart(db: SessionDB) -> None:
    session = db.create()
    talk(db, session, "x", "Before\n```py\na < b\n```\nafter")
    page = db.export(session, "html")
    assert '<div class="text">Before</div>\n<pre>a &lt; b\n</pre>\n<div class="text">after</div>' in page


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"format": "other"},
        {"format": "hermes-tui-session", "version": 99, "sessions": []},
        {"format": "hermes-tui-session", "version": 1, "sessions": [{"session": {"id": "x"}}]},
        {"format": "hermes-tui-session", "version": 1, "sessions": [{"session": {"id": {"a": 1}}, "messages": []}]},
        {"format": "hermes-tui-session", "version": 1, "sessions": ["x"]},
    ],
)
def test_a_foreign_or_broken_document_stores_nothing(db: SessionDB, document: dict[str, object]) -> None:
    with pytest.raises(StoreError):
        db.import_(document)
    assert db.list_sessions() == []


def test_a_missing_file_or_session_or_format_is_named(db: SessionDB, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"none\.json"):
        db.import_(tmp_path / "none.json")
    with pytest.raises(SessionNotFound, match="nope"):
        db.export("nope")
    with pytest.raises(StoreError, match="pdf"):
        db.export(db.create(), "pdf")  # type: ignore[arg-type]
