"""Codex CLI's rollout files become sessions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.store import found, texts

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import StoreError
from hermes_tui.engine.types.usage import Usage

SESSION = "019add38-07f3-7e93-ae71-3e0095eb0315"
META = {"id": SESSION, "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w", "source": "cli", "model_provider": "openai",
        "git": {"branch": "main"}}  # fmt: skip


def rollout(folder: Path, *lines: tuple[str, dict[str, Any]], name: str = "2026-01-01T00-00-00-x") -> Path:
    """Write a file whose lines come a second apart."""
    day = folder / "sessions" / "2026" / "01" / "01"
    day.mkdir(parents=True, exist_ok=True)
    path = day / f"rollout-{name}.jsonl"
    rows = [
        {"timestamp": f"2026-01-01T00:00:{at:02d}Z", "type": kind, "payload": payload}
        for at, (kind, payload) in enumerate(lines)
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def item(type: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return "response_item", {"type": type, **fields}


def said(role: str, text: str) -> tuple[str, dict[str, Any]]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def tokens(prompt: int, cached: int, output: int, reasoning: int) -> tuple[str, dict[str, Any]]:
    total = {"input_tokens": prompt, "cached_input_tokens": cached, "output_tokens": output,
             "reasoning_output_tokens": reasoning}  # fmt: skip
    return "event_msg", {"type": "token_count", "info": {"total_token_usage": total}}


def messages(db: SessionDB, session: str = SESSION) -> Sequence[dict[str, Any]]:
    return [{k: v for k, v in stored.message.items() if k != "created_at"} for stored in db.history(session)]


def test_items_become_messages_with_their_tools_and_reasoning(db: SessionDB, tmp_path: Path) -> None:
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gA"}
    rollout(
        tmp_path,
        ("session_meta", META),
        said("developer", "rules"),
        said("user", "<environment_context>\n<cwd>/w</cwd>"),
        ("turn_context", {"model": "gpt-5.2", "cwd": "/w"}),
        said("user", "list 数据库"),
        ("event_msg", {"type": "user_message", "message": "list 数据库"}),
        ("response_item", reasoning),
        said("assistant", "Looking."),
        item("function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
        item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c2"),
        tokens(100, 40, 10, 4),
        tokens(100, 40, 10, 4),
        item("function_call_output", call_id="c1", output='{"output":"a","metadata":{"exit_code":0}}'),
        item("custom_tool_call_output", call_id="c2", output=[{"type": "input_text", "text": "ok"}]),
        said("assistant", "Done."),
        tokens(300, 140, 15, 4),
    )
    assert db.import_(tmp_path / "sessions") == {
        "imported": [SESSION],
        "skipped": {},
        "notes": {},
        "messages": 6,
        "dry_run": False,
    }
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"command":["ls"]}'}},
        {"id": "c2", "type": "function",
         "function": {"name": "apply_patch", "arguments": '{"input": "*** Begin Patch"}'}},
    ]  # fmt: skip
    detail = {"provider": "openai", "api_mode": "responses", "position": 0, "block": reasoning}
    assert messages(db) == [
        {"role": "user", "content": "<environment_context>\n<cwd>/w</cwd>", "synthetic": True},
        {"role": "user", "content": "list 数据库"},
        {"role": "assistant", "content": "Looking.", "reasoning": "hm", "reasoning_details": [detail],
         "tool_calls": calls},
        {"role": "tool", "content": '{"output":"a","metadata":{"exit_code":0}}', "tool_call_id": "c1",
         "tool_name": "shell"},
        {"role": "tool", "content": "ok", "tool_call_id": "c2", "tool_name": "apply_patch"},
        {"role": "assistant", "content": "Done."},
    ]  # fmt: skip
    row = db.row(SESSION)
    assert (row.cwd, row.branch, row.model, row.provider, row.turn_count) == ("/w", "main", "gpt-5.2", "openai", 1)
    assert (row.title, row.created_at, row.updated_at) == ("list 数据库", 1767225600.0, 1767225614.0)
    assert db.usage(SESSION)[0] == Usage(input_tokens=160, output_tokens=15, cache_read_tokens=140, reasoning_tokens=4)
    assert [day["request_count"] for day in db.stats()["by_day"]] == [2]


def test_what_was_compacted_is_the_past_of_the_session(db: SessionDB, tmp_path: Path) -> None:
    rollout(
        tmp_path,
        ("session_meta", META),
        said("user", "old"),
        ("compacted", {"message": "In short: old."}),
        said("user", "new"),
    )
    assert db.import_(tmp_path / "sessions")["imported"] == [f"{SESSION}.1", SESSION]
    assert texts(db.messages(SESSION)) == ["old", "In short: old.", "new"]
    assert texts(db.history(SESSION)) == ["In short: old.", "new"]


def test_forks_and_subagents_keep_their_parent(db: SessionDB, tmp_path: Path) -> None:
    rollout(tmp_path, ("session_meta", META), said("user", "one"))
    fork = {**META, "id": "fork", "forked_from_id": SESSION}
    rollout(
        tmp_path, ("session_meta", fork), ("session_meta", META), said("user", "one"), said("user", "two"), name="f"
    )
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION, "depth": 1}}}
    rollout(tmp_path, ("session_meta", {**META, "id": "agent", "source": spawn}), said("user", "subtask"), name="g")
    db.import_(tmp_path / "sessions")
    rows = {row.id: (row.parent_id, row.parent_reason) for row in db.list_sessions(include_subagents=True)}
    assert rows == {SESSION: ("", ""), "fork": (SESSION, "fork"), "agent": (SESSION, "delegation")}
    assert texts(db.history("fork")) == ["one", "two"]
    assert found(db.search("subtask")) == [SESSION]


def test_the_first_format_without_envelopes_is_read(db: SessionDB, tmp_path: Path) -> None:
    path = tmp_path / "rollout-old.jsonl"
    lines: list[dict[str, Any]] = [
        {"id": SESSION, "timestamp": "2025-05-07T17:24:21Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "function_call_output", "call_id": "c", "output": {"content": "a", "success": True}},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    db.import_(path)
    assert texts(db.history(SESSION)) == ["hello", None, "a"]
    assert [message.get("tool_name") for message in messages(db)] == [None, None, "local_shell"]


def test_images_stay_with_their_message(db: SessionDB, tmp_path: Path) -> None:
    parts = [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "data:image/png;base64,AA=="}]
    rollout(tmp_path, ("session_meta", META), item("message", role="user", content=parts))
    db.import_(tmp_path / "sessions")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    assert messages(db)[0]["content"] == [{"type": "text", "text": "see"}, image]


def test_a_kind_that_was_named_is_not_guessed(db: SessionDB, tmp_path: Path) -> None:
    path = rollout(tmp_path, ("session_meta", META), said("user", "x"))
    assert db.import_(path, "claude")["skipped"] == {str(path): "It holds no messages."}
    assert db.import_(path, "codex")["imported"] == [SESSION]


@pytest.mark.parametrize("make", ["missing", "empty folder"])
def test_a_source_without_sessions_is_named(db: SessionDB, tmp_path: Path, make: str) -> None:
    path = tmp_path / "x"
    if make == "empty folder":
        path.mkdir()
    with pytest.raises(StoreError, match="x"):
        db.import_(path)
