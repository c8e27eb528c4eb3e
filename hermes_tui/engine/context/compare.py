"""Tells how a request's messages differ from the stored ones, and why. Pure; for people who look, not for the loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..types.inspection import Change, ContextPart, MessagePair, PartKind
from ..types.messages import ApiMessage, JsonObject, Message
from .prompt import layers_of
from .tokens import message_tokens, text_tokens, tool_tokens
from .window import Window, words_of

_ROLE_PARTS = {"user": "Your messages", "assistant": "Answers", "tool": "Tool results", "summary": "Summaries"}
ONLY_HERE = "Only in this request"


def compare(
    stored: Sequence[Message], sent: Sequence[ApiMessage], marks: Sequence[int] = (), issuer: tuple[str, str] = ("", "")
) -> list[MessagePair]:
    """Return stored rows beside what was sent for them, in the order of the request.

    Args:
        stored: The rows that the request was built from.
        sent: The request's messages.
        marks: Positions in ``sent`` up to which the prompt may be cached.
        issuer: Provider and API mode of the request; only their own reasoning blocks go back.
    """
    window = Window()
    places = [window.take(row) for row in stored]
    sources: dict[int, list[Message]] = {}
    for row, place in zip(stored, places, strict=True):
        sources.setdefault(place, []).append(row)
    dropped = [(number, row) for number, (row, place) in enumerate(zip(stored, places, strict=True)) if place < 0]
    first_of = {place: number for number, place in reversed(list(enumerate(places)))}
    head = 1 if sent and sent[0]["role"] == "system" else 0
    pairs = [_system(sent[0], 0 in marks)] if head else []
    for place, message in enumerate(sent[head:]):
        while dropped and dropped[0][0] < first_of.get(place, -1):
            pairs.append(_dropped(dropped.pop(0)[1]))
        expected = window.rows[place] if place < len(window.rows) else None
        pairs.append(_pair(sources.get(place, []), expected, message, place + head in marks, issuer))
    return [*pairs, *(_dropped(row) for _, row in dropped)]


def _system(message: ApiMessage, is_marked: bool) -> MessagePair:
    text = _words(message)
    notes = ("the same for the whole session; system messages of the history follow it", *_mark_note(is_marked))
    return MessagePair(change="same", role="system", stored=text, sent=text, notes=notes, tokens=text_tokens(text))


def _dropped(row: Message) -> MessagePair:
    role = row["role"]
    reasons = {
        "tool": "left out: no call of the conversation waits for this result",
        "system": "joined to the system prompt",
    }
    return MessagePair(
        change="dropped", role=role, stored=shown_text(row), notes=(reasons.get(role, "left out: it has no words"),)
    )


def _pair(
    rows: Sequence[Message], expected: ApiMessage | None, message: ApiMessage, is_marked: bool, issuer: tuple[str, str]
) -> MessagePair:
    stored, sent = "\n\n".join(shown_text(row) for row in rows), shown_text(message)
    notes = [*_what_was_done(rows, expected, message), *_what_stays(rows, message, issuer), *_mark_note(is_marked)]
    change: Change = "added" if not rows else "same" if stored == sent else "changed"
    tokens = message_tokens(message)
    before = message_tokens(expected) if expected is not None else 0
    summaries = [row for row in rows if "compressed" in row]
    return MessagePair(
        change=change,
        role="summary" if summaries and len(summaries) == len(rows) else message["role"],
        stored=stored,
        sent=sent,
        notes=tuple(notes),
        tokens=tokens,
        added_tokens=max(0, tokens - before),
        summary_tokens=min(before, sum(map(message_tokens, summaries))),
    )


def _what_was_done(rows: Sequence[Message], expected: ApiMessage | None, message: ApiMessage) -> Iterator[str]:
    """Say why the sent text is not the stored one."""
    role = message["role"]
    if not rows:
        yield {
            "tool": "stands in for a result that was never stored",
            "assistant": "what was shown of the answer so far, to be continued",
        }.get(role, "added for this request only" if expected is None else "stands in for the missing beginning")
        return
    if len(rows) > 1:
        yield f"{len(rows)} rows sent as one"
    if any("compressed" in row for row in rows):
        yield "stands for the messages that were compressed"
    if any(row.get("api_content") for row in rows):
        sent_more = len(_words(message)) >= sum(len(_words(row)) for row in rows)
        yield "sent with what came in meanwhile" if sent_more else "cut to make room"
    if expected is not None and (extra := _extra(expected, message)):
        yield extra
    calls = [call for row in rows for call in row.get("tool_calls", ())]
    if calls and calls != message.get("tool_calls", []):
        yield "calls mended: ids, names or arguments"
    if expected is not None and _is_cleaned(rows, expected, message):
        is_blank = not _words(rows[0]).strip()
        yield "blank, so words stand for it" if is_blank else "characters that cannot be sent were replaced"


def _is_cleaned(rows: Sequence[Message], expected: ApiMessage, message: ApiMessage) -> bool:
    """Whether repairing alone changed a row's words."""
    sent = _words(message)
    return len(rows) == 1 and not rows[0].get("api_content") and _words(rows[0]) != sent == _words(expected)


def _extra(expected: ApiMessage, message: ApiMessage) -> str:
    """Say what this request has beyond the repaired history."""
    before, after = expected["content"], message["content"]
    if before == after:
        return ""
    if isinstance(before, list) and isinstance(after, list):
        return "images are left out: the model reads text only"
    text, sent = _words(expected), _words(message)
    if sent.startswith(text):
        return "its end was added for this request only"
    return "blanks at the end are not sent" if text.rstrip() == sent else "changed for this request only"


def _what_stays(rows: Sequence[Message], message: ApiMessage, issuer: tuple[str, str]) -> Iterator[str]:
    """Say what is stored and not sent."""
    for row in rows:
        if partial := row.get("partial"):
            yield f"{len(partial):,} characters that came before the interruption are kept and not sent"
        blocks = row.get("reasoning_details", [])
        own = [block for block in blocks if (block["provider"], block["api_mode"]) == issuer]
        if own and message.get("reasoning_details"):
            yield f"{_count(len(own), 'reasoning block')} sent back to the model that wrote them"
        if blocks and not (own and message.get("reasoning_details")):
            yield f"{_count(len(blocks), 'reasoning block')} left out: only the model that wrote them may get them"
        if row.get("synthetic") and "compressed" not in row:
            yield "written by the program to close what was cut off"


def _mark_note(is_marked: bool) -> tuple[str, ...]:
    return ("the provider may cache the prompt up to here",) if is_marked else ()


def _count(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _words(message: Message | ApiMessage) -> str:
    content: object = message.get("content")
    if isinstance(content, list):
        content = [part for part in content if not isinstance(part, dict) or part.get("type") == "text"]
    return words_of(content)


def shown_text(message: Message | ApiMessage) -> str:
    """Return a message as a person reads it: its words, a line for each image, a line for each call."""
    content: Any = message.get("content")
    lines = [text] if (text := _words(message)) else []
    if isinstance(content, list):
        lines += ["[image]" for part in content if isinstance(part, dict) and part.get("type") == "image_url"]
    calls: Any = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            lines.append(f"-> {function.get('name')}({function.get('arguments')})")
    return "\n".join(lines)


def parts_of_request(
    messages: Sequence[ApiMessage], tools: Sequence[JsonObject], pairs: Sequence[MessagePair], factor: float
) -> tuple[ContextPart, ...]:
    """Return what one request was made of.

    Args:
        messages: As sent.
        tools: As sent.
        pairs: Of :func:`compare`.
        factor: Tokens that the provider counts for each estimated one.
    """
    sums = dict.fromkeys(_ROLE_PARTS, 0)
    for pair in pairs:
        if pair.role in sums:
            sums[pair.role] += pair.tokens - pair.added_tokens - pair.summary_tokens
            sums["summary"] += pair.summary_tokens
    system = _words(messages[0]) if messages and messages[0]["role"] == "system" else ""
    extra = sum(pair.added_tokens for pair in pairs)
    return context_parts(system, tool_tokens(tools), sums, factor, extra=extra)


def context_parts(
    system: str, tools: int, by_role: dict[str, int], factor: float, *, extra: int = 0
) -> tuple[ContextPart, ...]:
    """Return the categories of a request, in its order.

    Args:
        system: The system prompt.
        tools: Estimate of the tool definitions.
        by_role: Estimate of the messages: ``user``, ``assistant``, ``tool``, ``summary``.
        factor: Tokens that the provider counts for each estimated one.
        extra: Estimate of what only this request has.
    """
    rows: list[tuple[str, PartKind, int]] = [(name, "prompt", text_tokens(text)) for name, text in layers_of(system)]
    rows.append(("Tool definitions", "tools", tools))
    rows += [(name, "messages", by_role.get(role, 0)) for role, name in _ROLE_PARTS.items()]
    rows.append((ONLY_HERE, "messages", extra))
    return tuple(
        ContextPart(name=name, kind=kind, tokens=round(tokens * factor)) for name, kind, tokens in rows if tokens
    )
