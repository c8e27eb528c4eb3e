"""Sessions of Claude Code: ``~/.claude/projects/FOLDER/SESSION.jsonl``, subagents in ``agent-ID.jsonl``.

Facts about the format: one object a line; ``user`` and ``assistant`` lines hold a ``message`` in the form of
Anthropic's API and link back by ``parentUuid``; an answer is written as one line per content block, with the same
``message.id``; ``isSidechain`` marks subagents; ``compact_boundary`` marks where older lines left the context;
rewinding leaves the abandoned lines in place. Source: public descriptions of the format, versions 1.0 to 2.1.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ...types.messages import JsonObject, Message
from ..entries import Entry
from ..session_rows import TOKEN_COLUMNS
from .lines import JsonLine, Lines, Skipped, items, joined, read_lines, seconds, text, tool_call

_SPOKEN = ("user", "assistant")
_KNOWN = frozenset({*_SPOKEN, "system", "summary", "file-history-snapshot", "custom-title", "queue-operation"})
_TITLES = {"custom-title": ("customTitle", "user"), "ai-title": ("aiTitle", "auto")}
"""Lines that name the session -> the field, and by whom the name is."""
_USAGE = dict(
    zip(
        TOKEN_COLUMNS,
        ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", ""),
        strict=True,
    )
)


def is_line(line: JsonLine) -> bool:
    """Whether a line of a file is of this format."""
    if line.get("type") in _SPOKEN:
        return isinstance(line.get("message"), dict)
    return line.get("type") in _KNOWN and ("sessionId" in line or "leafUuid" in line or "messageId" in line)


def read(path: Path) -> Iterator[Entry | Skipped]:
    """Yield the session of a file, what it compressed before it, and its subagents after it."""
    lines = read_lines(path)
    spoken = [line for line in lines.objects if line.get("type") in _SPOKEN and isinstance(line.get("message"), dict)]
    if not spoken:
        yield Skipped(str(path), "It holds no messages.")
        return
    parent = str(spoken[0].get("sessionId") or "")
    if path.stem.startswith("agent-"):
        entry = _entry(path.stem, spoken)
        entry.session["source"] = "subagent"
        entry.parent, entry.reason, entry.notes = parent, "delegation" if parent else "", lines.notes()
        yield entry
        return
    yield from _conversation(path.stem, lines, [line for line in spoken if not line.get("isSidechain")])
    for number, sidechain in enumerate(_sidechains(spoken), 1):
        entry = _entry(f"{path.stem}.agent-{number}", sidechain)
        entry.session["source"] = "subagent"
        entry.parent, entry.reason = path.stem, "delegation"
        yield entry


def _conversation(session_id: str, lines: Lines, spoken: list[JsonLine]) -> Iterator[Entry]:
    """Yield the parts between compactions; the last one has the session's own id."""
    boundaries = [
        at
        for at, line in enumerate(lines.objects)
        if line.get("type") == "system" and line.get("subtype") == "compact_boundary"
    ]
    position = {id(line): at for at, line in enumerate(lines.objects)}
    parts: list[list[JsonLine]] = [[] for _ in range(len(boundaries) + 1)]
    for line in spoken:
        parts[sum(boundary < position[id(line)] for boundary in boundaries)].append(line)
    parts = [part for part in parts if part]
    parent = ""
    for number, part in enumerate(parts, 1):
        is_last = number == len(parts)
        entry = _entry(session_id if is_last else f"{session_id}.{number}", part)
        entry.parent, entry.reason = parent, "compression" if parent else ""
        if is_last:
            entry.session |= _title(lines.objects)
            entry.notes = lines.notes()
        else:
            entry.session["end_reason"] = "compression"
        parent = entry.id
        yield entry


def _title(objects: list[JsonLine]) -> dict[str, str]:
    """Return the newest name; summaries often belong to other sessions, so their message must be in this file."""
    title = {"title": "", "title_by": ""}
    uuids = {line.get("uuid") for line in objects}
    for line in objects:
        field, by = _TITLES.get(str(line.get("type")), ("", ""))
        if field and line.get(field) and (by == "user" or title["title_by"] != "user"):
            title = {"title": text(line[field]), "title_by": by}
        elif line.get("type") == "summary" and line.get("leafUuid") in uuids and not title["title"]:
            title = {"title": text(line.get("summary")), "title_by": "auto"}
    return title


def _sidechains(spoken: list[JsonLine]) -> list[list[JsonLine]]:
    """Return the subagents that older versions wrote into the same file: each begins at a line without a parent."""
    chains: list[list[JsonLine]] = []
    chain_of: dict[object, list[JsonLine]] = {}
    for line in spoken:
        if not line.get("isSidechain"):
            continue
        chain = chain_of.get(line.get("parentUuid"))
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(line)
        chain_of[line.get("uuid")] = chain
    return chains


def _entry(session_id: str, spoken: list[JsonLine]) -> Entry:
    times = [when for line in spoken if (when := seconds(line.get("timestamp")))] or [0.0]
    models = [str(line["message"].get("model") or "") for line in spoken if line["type"] == "assistant"]
    entry = Entry(
        session={
            "id": session_id,
            "source": "tui",
            "cwd": next((text(line["cwd"]) for line in spoken if line.get("cwd")), ""),
            "branch": next((text(line["gitBranch"]) for line in reversed(spoken) if line.get("gitBranch")), ""),
            "model": next((model for model in reversed(models) if model and model != "<synthetic>"), ""),
            "provider": "anthropic",
            "created_at": min(times),
            "updated_at": max(times),
        }
    )
    abandoned = _abandoned(spoken)
    names: dict[str, str] = {}
    answer: tuple[str, Message] = ("", {"role": "assistant", "content": None})
    for line in spoken:
        first = len(entry.messages)
        if line["type"] == "assistant":
            answer_id = text(line["message"].get("id"))
            if not answer_id or answer_id != answer[0]:
                answer = (answer_id, {"role": "assistant", "content": None, "created_at": seconds(line["timestamp"])})
                entry.messages.append(answer[1])
            _add_blocks(answer[1], line["message"], names)
        else:
            entry.messages += _user_rows(line, names)
        if line.get("uuid") in abandoned:
            entry.undone_at |= {at: seconds(line.get("timestamp")) for at in range(first, len(entry.messages))}
    entry.usage = _usage(spoken, entry.session["cwd"])
    return entry


def _abandoned(spoken: list[JsonLine]) -> set[object]:
    """Return the lines of branches that were left by rewinding: another prompt was typed at the same place later."""
    latest = {line.get("parentUuid"): line.get("uuid") for line in spoken if _is_prompt(line)}
    left: set[object] = set()
    for line in spoken:
        parent = line.get("parentUuid")
        was_left = _is_prompt(line) and parent is not None and latest.get(parent) != line.get("uuid")
        if was_left or parent in left:
            left.add(line.get("uuid"))
    return left - {None}


def _is_prompt(line: JsonLine) -> bool:
    if line["type"] != "user" or line.get("isMeta"):
        return False
    return not any(block.get("type") == "tool_result" for block in items(line["message"].get("content")))


def _add_blocks(message: Message, answer: JsonLine, names: dict[str, str]) -> None:
    """Add a line's blocks to the answer that it is part of."""
    content = answer.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            message["content"] = joined([text(message["content"]), text(block.get("text"))])
        elif kind == "tool_use":
            call = tool_call(block.get("id"), block.get("name"), block.get("input"))
            names[call["id"]] = call["function"]["name"]
            message.setdefault("tool_calls", []).append(call)
        elif kind in ("thinking", "redacted_thinking"):
            _add_thinking(message, block)
    stop = answer.get("stop_reason")
    if stop:
        message["finish_reason"] = {"tool_use": "tool_calls", "max_tokens": "length"}.get(stop, "stop")


def _add_thinking(message: Message, block: JsonLine) -> None:
    if block.get("thinking"):
        message["reasoning"] = joined([message.get("reasoning", ""), text(block["thinking"])])
    if block.get("signature") or block.get("data"):
        details = message.setdefault("reasoning_details", [])
        position = len(details) + bool(message.get("content")) + len(message.get("tool_calls", ()))
        details.append(
            {
                "provider": "anthropic",
                "api_mode": "anthropic_messages",
                "position": position,
                "block": cast(JsonObject, block),
            }
        )


def _user_rows(line: JsonLine, names: dict[str, str]) -> list[Message]:
    """Return the tool results of a line, then what the user wrote in it."""
    when = seconds(line.get("timestamp"))
    content = line["message"].get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    found: list[Message] = []
    for block in blocks:
        if block.get("type") == "tool_result":
            call_id = text(block.get("tool_use_id"))
            result = _result(block)
            found.append(
                {"role": "tool", "content": result, "tool_call_id": call_id, "tool_name": names.get(call_id, "tool"),
                 "created_at": when}
            )  # fmt: skip
    parts = [part for block in blocks if (part := _part(block))]
    if parts:
        said: Message = {"role": "user", "content": parts, "created_at": when}
        if all(part["type"] == "text" for part in parts):
            said["content"] = joined(text(part["text"]) for part in parts)
        if line.get("isMeta") or line.get("isCompactSummary"):
            said["synthetic"] = True
        found.append(said)
    return found


def _part(block: JsonLine) -> JsonObject | None:
    if block.get("type") == "text":
        return {"type": "text", "text": text(block.get("text"))}
    source = block.get("source")
    if block.get("type") == "image" and isinstance(source, dict) and source.get("type") == "base64":
        return {
            "type": "image_url",
            "image_url": {"url": f"data:{source.get('media_type')};base64,{source.get('data')}"},
        }
    return None


def _result(block: JsonLine) -> str:
    """Return a tool's result as text; a failure in the form that our own tools use."""
    content = block.get("content")
    parts = items(content)
    result = joined(text(part.get("text")) or f"[{part.get('type')}]" for part in parts) if parts else text(content)
    return json.dumps({"error": result}, ensure_ascii=False) if block.get("is_error") else result


def _usage(spoken: list[JsonLine], cwd: str) -> list[dict[str, Any]]:
    """Return spending by day and model. An answer's lines repeat its usage: the last one counts."""
    last: dict[object, JsonLine] = {}
    for line in spoken:
        if line["type"] == "assistant" and isinstance(line["message"].get("usage"), dict):
            last[line["message"].get("id") or line.get("uuid")] = line
    days: dict[tuple[str, str], dict[str, Any]] = {}
    for line in last.values():
        model = str(line["message"].get("model") or "")
        if model == "<synthetic>":
            continue
        day = time.strftime("%Y-%m-%d", time.localtime(seconds(line.get("timestamp"))))
        row = days.setdefault((day, model), _empty_day(day, model, cwd))
        row["request_count"] += 1
        row["unpriced_count"] += 1
        for name, field in _USAGE.items():
            row[name] += int(line["message"]["usage"].get(field) or 0)
    return list(days.values())


def _empty_day(day: str, model: str, cwd: str) -> dict[str, Any]:
    counts = dict.fromkeys(("request_count", "unpriced_count", *TOKEN_COLUMNS), 0)
    return {"day": day, "provider": "anthropic", "model": model, "cwd": cwd, **counts, "cost_usd": 0.0}
