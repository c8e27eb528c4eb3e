"""Sessions of Codex CLI: ``~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl``.

Facts about the format: each line is ``{timestamp, type, payload}``. ``session_meta`` comes first (a fork repeats its
parent's after its own); ``response_item`` lines hold items of OpenAI's Responses API; ``turn_context`` names the
model; ``token_count`` events carry running totals; ``compacted`` holds the summary that replaced what came before.
Early versions wrote the bare payloads. Source: public descriptions of the format, versions 0.2 to 0.121.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ...types.messages import JsonObject, Message, ReasoningDetail
from ..entries import Entry
from ..session_rows import TOKEN_COLUMNS
from .lines import JsonLine, Skipped, items, joined, read_lines, seconds, text, tool_call

_ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_BARE = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})
_GIVEN = ("<environment_context", "<user_instructions", "# AGENTS.md instructions", "<permissions instructions")
"""How texts begin that the program, not the user, put into a user message."""
_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action"}
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})


def is_line(line: JsonLine) -> bool:
    """Whether a line of a file is of this format."""
    if isinstance(line.get("payload"), dict):
        return line.get("type") in _ENVELOPES
    is_head = {"id", "timestamp", "instructions"} <= line.keys()
    return is_head or (line.get("type") in _BARE and "message" not in line)


def read(path: Path) -> Iterator[Entry | Skipped]:
    """Yield the session of a file, after the parts of it that were compressed."""
    lines = read_lines(path)
    rollout = _Rollout(path.stem)
    for line in lines.objects:
        rollout.take(*_opened(line))
    parts = rollout.finish()
    if not parts:
        yield Skipped(str(path), "It holds no messages.")
        return
    parts[-1].notes = lines.notes()
    yield from parts


def _opened(line: JsonLine) -> tuple[str, JsonLine, float]:
    """Return a line's kind, what it carries, and its time."""
    when = seconds(line.get("timestamp"))
    payload = line.get("payload")
    if isinstance(payload, dict):
        return str(line.get("type")), payload, when
    return ("response_item" if line.get("type") in _BARE else "session_meta" if "id" in line else ""), line, when


class _Rollout:
    """Collects lines into messages, and messages into parts between compactions."""

    def __init__(self, name: str) -> None:
        self._meta: JsonLine = {"id": name}
        self._has_meta = False
        self._model = ""
        self._parts: list[list[Message]] = [[]]
        self._names: dict[str, str] = {}
        self._spent: dict[str, int] = {}
        self._days: dict[tuple[str, str], dict[str, Any]] = {}
        self._time = 0.0

    def take(self, kind: str, payload: JsonLine, when: float) -> None:
        """Take one line."""
        self._time = when or self._time
        match kind:
            case "session_meta" if not self._has_meta:
                self._meta, self._has_meta = {**self._meta, **payload}, True
            case "turn_context":
                self._model = text(payload.get("model")) or self._model
            case "response_item":
                self._take_item(payload)
            case "event_msg" if payload.get("type") == "token_count":
                self._count(payload)
            case "compacted":
                self._parts.append([])
                if payload.get("message"):
                    self._add({"role": "user", "content": text(payload["message"]), "synthetic": True})
            case _:
                pass

    def finish(self) -> list[Entry]:
        """Return the parts; the last one has the session's own id."""
        parts = [part for part in self._parts if part]
        meta = self._meta
        session_id, start = text(meta["id"]), seconds(meta.get("timestamp"))
        parent, reason = _parent(meta)
        git = meta.get("git")
        found: list[Entry] = []
        for number, part in enumerate(parts, 1):
            is_last = number == len(parts)
            times = [message["created_at"] for message in part]
            entry = Entry(
                session={
                    "id": session_id if is_last else f"{session_id}.{number}",
                    "source": "subagent"
                    if reason == "delegation"
                    else "run"
                    if meta.get("source") == "exec"
                    else "tui",
                    "cwd": text(meta.get("cwd")),
                    "branch": text(git.get("branch")) if isinstance(git, dict) else "",
                    "model": self._model,
                    "provider": text(meta.get("model_provider")) or "openai",
                    "created_at": start or min(times),
                    "updated_at": max(times),
                    "end_reason": "" if is_last else "compression",
                },
                messages=part,
                parent=found[-1].id if found else parent,
                reason="compression" if found else reason,
            )
            found.append(entry)
        if found:
            found[-1].usage = list(self._days.values())
        return found

    def _add(self, message: Message) -> Message:
        message["created_at"] = self._time
        self._parts[-1].append(message)
        return message

    def _take_item(self, item: JsonLine) -> None:
        kind = str(item.get("type"))
        if kind == "message":
            self._take_message(item)
        elif kind == "reasoning":
            self._take_reasoning(item)
        elif kind in _CALLS:
            call_id = item.get("call_id") or item.get("id")
            name = item.get("name") or "local_shell"
            self._names[text(call_id)] = text(name)
            arguments = item.get(_CALLS[kind])
            if kind == "custom_tool_call":
                arguments = {"input": arguments}
            self._answer().setdefault("tool_calls", []).append(tool_call(call_id, name, arguments))
        elif kind in _OUTPUTS:
            call_id = text(item.get("call_id"))
            self._add(
                {"role": "tool", "content": _output(item.get("output")), "tool_call_id": call_id,
                 "tool_name": self._names.get(call_id, "tool")}
            )  # fmt: skip

    def _take_message(self, item: JsonLine) -> None:
        parts = items(item.get("content"))
        said = joined(text(part.get("text")) for part in parts if part.get("type") != "input_image")
        images: list[JsonObject] = [
            {"type": "image_url", "image_url": {"url": text(part.get("image_url"))}}
            for part in parts
            if part.get("type") == "input_image"
        ]
        if item.get("role") == "assistant":
            answer = self._answer(is_new=True)
            answer["content"] = said
        elif item.get("role") == "user" and (said or images):
            text_part: JsonObject = {"type": "text", "text": said}
            message = self._add({"role": "user", "content": [text_part, *images] if images else said})
            if said.lstrip().startswith(_GIVEN):
                message["synthetic"] = True

    def _take_reasoning(self, item: JsonLine) -> None:
        answer = self._answer(is_new=True)
        shown = [*items(item.get("summary")), *items(item.get("content"))]
        if said := joined(text(part.get("text")) for part in shown):
            answer["reasoning"] = joined([answer.get("reasoning", ""), said])
        if item.get("encrypted_content"):
            details = answer.setdefault("reasoning_details", [])
            detail: ReasoningDetail = {
                "provider": text(self._meta.get("model_provider")) or "openai",
                "api_mode": "responses",
                "position": len(details),
                "block": cast(JsonObject, item),
            }
            details.append(detail)

    def _answer(self, *, is_new: bool = False) -> Message:
        """Return the answer that an item belongs to: the last row, unless it is over or, for text, has some."""
        part = self._parts[-1]
        last = part[-1] if part else None
        is_open = last is not None and last["role"] == "assistant"
        if last is not None and is_open and not (is_new and (last["content"] or last.get("tool_calls"))):
            return last
        return self._add({"role": "assistant", "content": None})

    def _count(self, payload: JsonLine) -> None:
        """Add what was spent since the last report; reports repeat, so only a changed total counts."""
        usage_report = payload.get("info")
        total = usage_report.get("total_token_usage") if isinstance(usage_report, dict) else None
        if not isinstance(total, dict):
            return
        cached, prompt = int(total.get("cached_input_tokens") or 0), int(total.get("input_tokens") or 0)
        now = {
            "input_tokens": prompt - cached,
            "output_tokens": int(total.get("output_tokens") or 0),
            "cache_read_tokens": cached,
            "cache_write_tokens": 0,
            "reasoning_tokens": int(total.get("reasoning_output_tokens") or 0),
        }
        spent = {name: max(0, count - self._spent.get(name, 0)) for name, count in now.items()}
        self._spent = now
        if not any(spent.values()):
            return
        key = (time.strftime("%Y-%m-%d", time.localtime(self._time)), self._model)
        row = self._days.setdefault(key, self._empty_day(*key))
        for name, count in {"request_count": 1, "unpriced_count": 1, **spent}.items():
            row[name] += count

    def _empty_day(self, day: str, model: str) -> dict[str, Any]:
        counts = dict.fromkeys(("request_count", "unpriced_count", *TOKEN_COLUMNS), 0)
        provider = text(self._meta.get("model_provider")) or "openai"
        place = {"provider": provider, "model": model, "cwd": text(self._meta.get("cwd"))}
        return {"day": day, **place, **counts, "cost_usd": 0.0}


def _parent(meta: JsonLine) -> tuple[str, str]:
    source = meta.get("source")
    agent = source.get("subagent") if isinstance(source, dict) else None
    if isinstance(agent, dict) and isinstance(spawn := agent.get("thread_spawn"), dict):
        return text(spawn.get("parent_thread_id")), "delegation"
    forked_from = text(meta.get("forked_from_id"))
    return forked_from, "fork" if forked_from else ""


def _output(output: object) -> str:
    """Return a tool's result as text, whichever of its forms it has."""
    if isinstance(output, dict) and "content" in output:
        output = output["content"]
    parts = items(output)
    return joined(text(part.get("text")) or f"[{part.get('type')}]" for part in parts) if parts else text(output)
