"""A message as a row and back, exactly: what is absent stays absent, whatever the text holds."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from typing import Any, cast

from ..types.messages import Message
from ..types.sessions import StoredMessage
from .text import decode, encode

log = logging.getLogger(__name__)

_PLAIN = ("tool_name", "tool_call_id", "finish_reason", "partial", "reasoning", "api_content")
_JSON = ("tool_calls", "reasoning_details")
_COLUMNS = (
    "session_no",
    "role",
    "is_error",
    "created_at",
    "tokens",
    "content_json",
    "content",
    *_PLAIN,
    *_JSON,
    "extra",
)
CREATED_AT = _COLUMNS.index("created_at")
"""Position of the time among the values of :func:`to_values`."""
INSERT = f"INSERT INTO messages ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
"""Takes the values of :func:`to_values`."""
SELECT = (
    f"m.id, s.id AS session_id, m.role, m.created_at, m.content_json, m.content, {', '.join((*_PLAIN, *_JSON))}, extra"
)
"""The columns that :func:`from_row` needs, from ``messages m JOIN sessions s``."""


def _dump(value: object) -> str | bytes:
    return encode(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def is_error(message: Message) -> bool:
    """Whether a message reports a failure: an answer that broke, or a tool result with ``error``."""
    if message["role"] != "tool":
        return message.get("finish_reason") == "error"
    content = message.get("content")
    if not isinstance(content, str) or '"error"' not in content[:4000]:
        return False
    try:
        result = json.loads(content)
    except ValueError:
        return False
    return isinstance(result, dict) and bool(result.get("error"))


def to_values(session_no: int, message: Message, tokens: int) -> tuple[Any, ...]:
    """Return the values for :data:`INSERT`. A message without ``created_at`` gets the present time."""
    rest: dict[str, Any] = dict(message)
    role = rest.pop("role")
    content = rest.pop("content", None)
    created_at = rest.pop("created_at", None)
    is_text = content is None or isinstance(content, str)
    plain = [encode(rest.pop(key)) if isinstance(rest.get(key), str) else None for key in _PLAIN]
    as_json = [_dump(rest.pop(key)) if key in rest else None for key in _JSON]
    return (
        session_no,
        role,
        is_error(message),
        float(created_at) if created_at is not None else time.time(),
        tokens,
        not is_text,
        (encode(content) if isinstance(content, str) else None) if is_text else _dump(content),
        *plain,
        *as_json,
        _dump(rest) if rest else None,
    )


_UNREADABLE = object()


def _parsed(text: str, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return otherwise


def from_row(row: sqlite3.Row) -> StoredMessage:
    """Return the message of a row read with :data:`SELECT`. What is no JSON where it should be is kept as text."""
    message_id, session_id, role, created_at, is_json, content, *fields, extra = row
    text = None if content is None else decode(content)
    message: dict[str, Any] = {"role": role, "content": _parsed(text, text) if is_json and text is not None else text}
    damaged = [text] if is_json and text is not None and message["content"] is text else []
    for key, value in zip(_PLAIN, fields, strict=False):
        if value is not None:
            message[key] = decode(value)
    for key, value in zip((*_JSON, ""), (*fields[len(_PLAIN) :], extra), strict=True):
        if value is None:
            continue
        found = _parsed(decode(value), _UNREADABLE)
        if key and found is not _UNREADABLE:
            message[key] = found
        elif isinstance(found, dict):
            message.update(found)
        else:
            damaged.append(decode(value))
    if damaged:
        log.warning("message %s of session %s could be read in part only", message_id, session_id)
        message["damaged"] = True
        if not message["content"]:
            message["content"] = "\n".join(damaged)
    message["created_at"] = created_at
    return StoredMessage(id=message_id, message=cast(Message, message), session_id=session_id)
