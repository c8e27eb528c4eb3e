"""Pages of older messages."""

from __future__ import annotations

from typing import Any

import pytest

from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.types.sessions import StoredMessage
from hermes_tui.screens.chat_history import present_into_list, read_page
from hermes_tui.tools.registry import ToolRegistry
from hermes_tui.widgets.entries import ToolEntry

CALL = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
MESSAGES: list[Any] = [
    {"role": "user", "content": "list"},
    {"role": "assistant", "content": "", "tool_calls": [CALL, {**CALL, "id": "c2"}]},
    {"role": "tool", "tool_call_id": "c1", "content": "one"},
    {"role": "tool", "tool_call_id": "c2", "content": "two"},
    {"role": "assistant", "content": "done"},
]


class Session:
    def history(self, before_id: int | None = None, limit: int = 200) -> list[StoredMessage]:
        stored = [StoredMessage(id=at, message={**message, "created_at": 1.0}) for at, message in enumerate(MESSAGES)]
        return stored[:before_id][-limit:]


@pytest.mark.parametrize("limit", range(3, 7))
def test_no_page_tears_a_result_from_its_call(limit: int) -> None:
    entries, before, count = [], None, 0
    while page := read_page(Session(), before, limit):  # type: ignore[arg-type]
        entries[:0] = present_into_list(replay(page, ToolRegistry()))
        before = page[0].id
        count += 1
    tools = [entry.source() for entry in entries if isinstance(entry, ToolEntry)]
    assert count and [source.splitlines()[-1] for source in tools] == ["one", "two"]
