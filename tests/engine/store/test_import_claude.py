"""Claude Code's JSONL files become sessions: answers whole, tools paired, branches and compactions in their place."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.store import found, texts

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.usage import Usage

SESSION = "11111111-2222-3333-4444-555555555555"
DAY = time.strftime("%Y-%m-%d", time.localtime(1767225600))


class Log:
    """Writes lines that follow one another."""

    def __init__(self, folder: Path, name: str = SESSION) -> None:
        self.path = folder / f"{name}.jsonl"
        self.count = 0
        self.last: str | None = None

    def line(self, type: str, **fields: Any) -> str:
        """Append a line and return its uuid."""
        self.count += 1
        uuid = fields.pop("uuid", f"u{self.count}")
        stamp = f"2026-01-01T00:00:{self.count:02d}.000Z"
        head = {"uuid": uuid, "parentUuid": self.last, "timestamp": stamp, "sessionId": SESSION, "cwd": "/w",
                "gitBranch": "main", "isSidechain": False}  # fmt: skip
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"type": type, **head, **fields}, ensure_ascii=False) + "\n")
        self.last = uuid
        return uuid

    def user(self, content: object, **fields: Any) -> str:
        return self.line("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: object, id: str = "m1", **fields: Any) -> str:
        usage = {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1}
        message = {"role": "assistant", "id": id, "model": "opus", "content": list(blocks), "usage": usage}
        return self.line("assistant", message={**message, **fields.pop("message", {})}, **fields)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    folder = tmp_path / "projects" / "-w"
    folder.mkdir(parents=True)
    return Log(folder)


def say(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def messages(db: SessionDB, session: str = SESSION) -> Sequence[dict[str, Any]]:
    return [{k: v for k, v in stored.message.items() if k != "created_at"} for stored in db.history(session)]


def test_an_answer_in_several_lines_is_one_message_with_its_tools(db: SessionDB, log: Log, tmp_path: Path) -> None:
    log.user("list 数据库")
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    log.assistant(thinking)
    log.assistant(say("Looking."))
    log.assistant({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}})
    log.assistant({"type": "tool_use", "id": "t2", "name": "Read", "input": {}}, message={"stop_reason": "tool_use"})
    log.user([{"type": "tool_result", "tool_use_id": "t2", "content": [say("a"), {"type": "image"}]}])
    log.user([{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}])
    log.assistant(say("Done."), id="m2", message={"stop_reason": "end_turn"})
    report = db.import_(tmp_path / "projects")
    assert (report["imported"], report["skipped"]) == ([SESSION], {})
    calls = [
        {"id": "t1", "type": "function", "function": {"name": "Bash", "arguments": '{"command": "ls"}'}},
        {"id": "t2", "type": "function", "function": {"name": "Read", "arguments": "{}"}},
    ]
    detail = {"provider": "anthropic", "api_mode": "anthropic_messages", "position": 0, "block": thinking}
    assert messages(db) == [
        {"role": "user", "content": "list 数据库"},
        {"role": "assistant", "content": "Looking.", "reasoning": "hm", "reasoning_details": [detail],
         "tool_calls": calls, "finish_reason": "tool_calls"},
        {"role": "tool", "content": "a\n[image]", "tool_call_id": "t2", "tool_name": "Read"},
        {"role": "tool", "content": '{"error": "no"}', "tool_call_id": "t1", "tool_name": "Bash"},
        {"role": "assistant", "content": "Done.", "finish_reason": "stop"},
    ]  # fmt: skip
    row = db.row(SESSION)
    assert (row.cwd, row.branch, row.model, row.provider, row.turn_count) == ("/w", "main", "opus", "anthropic", 1)
    assert row.created_at == 1767225601.0 and row.updated_at == 1767225608.0
    assert db.usage(SESSION) == (
        Usage(input_tokens=10, output_tokens=6, cache_read_tokens=4, cache_write_tokens=2),
        None,
    )
    assert [(day["day"], day["request_count"]) for day in db.stats()["by_day"]] == [(DAY, 2)]
    assert found(db.search("has:error")) == [SESSION]


def test_a_branch_left_by_rewinding_counts_as_taken_back(db: SessionDB, log: Log) -> None:
    log.user("start")
    fork = log.assistant(say("yes"))
    log.user("wrong way")
    log.assistant(say("lost"), id="m2")
    log.last = fork
    log.user("right way")
    log.assistant(say("won"), id="m3")
    db.import_(log.path)
    assert texts(db.history(SESSION)) == ["start", "yes", "right way", "won"]
    assert not db.search("wrong").hits


def test_what_was_compacted_is_the_past_of_the_session(db: SessionDB, log: Log) -> None:
    log.user("old")
    log.line("system", subtype="compact_boundary", parentUuid=None, content="Conversation compacted")
    log.user("This is a summary.", isCompactSummary=True)
    log.user("new")
    log.line("custom-title", customTitle="Mine")
    report = db.import_(log.path)
    assert report["imported"] == [f"{SESSION}.1", SESSION]
    assert texts(db.messages(SESSION)) == ["old", "This is a summary.", "new"]
    assert texts(db.history(SESSION)) == ["This is a summary.", "new"]
    assert [(row.id, row.title, row.turn_count) for row in db.list_sessions()] == [(SESSION, "Mine", 2)]


def test_subagents_belong_to_their_session(db: SessionDB, log: Log) -> None:
    agent = Log(log.path.parent, "agent-abc")
    agent.user("explore deeply", isSidechain=True, agentId="abc")
    log.user("go")
    log.line("user", message={"role": "user", "content": "inline task"}, isSidechain=True, parentUuid=None)
    report = db.import_(log.path.parent)
    assert report["imported"] == [SESSION, f"{SESSION}.agent-1", "agent-abc"]
    assert [row.id for row in db.list_sessions()] == [SESSION]
    assert found(db.search("deeply")) == found(db.search("inline")) == [SESSION]


def test_images_notes_of_the_program_and_foreign_summaries(db: SessionDB, log: Log) -> None:
    log.line("summary", summary="another session", leafUuid="elsewhere", uuid=None)
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    log.user("<local-command-caveat>", isMeta=True)
    leaf = log.user([say("look"), {"type": "image", "source": source}])
    log.line("summary", summary="About a picture", leafUuid=leaf)
    db.import_(log.path)
    assert messages(db)[0] == {"role": "user", "content": "<local-command-caveat>", "synthetic": True}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert messages(db)[1]["content"] == [{"type": "text", "text": "look"}, image]
    assert db.row(SESSION).title == "About a picture" and db.row(SESSION).turn_count == 1


def test_broken_lines_and_files_without_sessions_are_named(db: SessionDB, log: Log) -> None:
    log.user("kept")
    with log.path.open("ab") as file:
        file.write(b'{"type": "user", "mess\n\xff\xfe\n')
    other = log.path.with_name("history.jsonl")
    other.write_text('{"display": "x"}\n')
    empty = log.path.with_name("empty.jsonl")
    empty.write_text('{"type": "summary", "summary": "s", "leafUuid": "x"}\n')
    report = db.import_(log.path.parent)
    assert report["notes"] == {SESSION: ["2 lines could not be read."]}
    assert report["skipped"] == {str(empty): "It holds no messages.", str(other): "It holds no session."}
    assert texts(db.history(SESSION)) == ["kept"]
    assert db.import_(log.path)["skipped"] == {SESSION: "It is here already."}
