"""Where cache marks go, on the neutral request and on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from hermes_tui.engine.context.cache_plan import MAX_MARKS, plan_cache
from hermes_tui.engine.providers.anthropic_messages import build_body
from hermes_tui.engine.providers.base import Endpoint
from hermes_tui.engine.runtime.shape import shaped

HERE = Endpoint(provider="anthropic", model="claude-x", api_mode="anthropic_messages", base_url="http://127.0.0.1:9")


def rows(*roles: str) -> list[Any]:
    found: list[Any] = []
    for number, role in enumerate(roles):
        row: dict[str, Any] = {"role": role, "content": f"{role} {number}"}
        if role == "call":
            calls = [
                {"id": f"c{number}{x}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for x in "ab"
            ]
            row = {"role": "assistant", "content": None, "tool_calls": calls}
        found.append(row)
        if role == "call":
            found += [
                {"role": "tool", "tool_call_id": call["id"], "tool_name": "f", "content": "r"}
                for call in row["tool_calls"]
            ]
    return found


@pytest.mark.parametrize(
    ("messages", "marks"),
    [
        ([], ()),
        (rows("system", "user"), (0, 1)),
        (rows("system", "user", "assistant", "user"), (0, 1, 2, 3)),
        (rows("system", "user", "assistant", "user", "assistant", "user"), (0, 3, 4, 5)),
        (rows("user", "assistant", "user", "assistant", "user"), (1, 2, 3, 4)),
        (rows("system", "user", "call", "call"), (0, 4, 5, 7)),
    ],
)
def test_the_system_prompt_and_the_last_three_turns_of_speech_are_marked(messages: Any, marks: Any) -> None:
    assert plan_cache(messages) == marks


def marks_of(body: Any) -> list[str]:
    """Paths of everything marked."""
    found: list[str] = []

    def walk(node: Any, path: str) -> None:
        if isinstance(node, dict):
            found.extend([path] if "cache_control" in node else [])
            for key, value in node.items():
                walk(value, f"{path}.{key}")
        elif isinstance(node, list):
            for at, value in enumerate(node):
                walk(value, f"{path}.{at}")

    walk(body, "")
    return found


def test_on_the_wire_the_last_block_of_each_marked_message_carries_it() -> None:
    body = build_body(shaped(HERE, rows("system", "user", "call", "call"), cache_ttl="1h"))
    assert marks_of(body) == [".system.0", ".messages.2.content.1", ".messages.3.content.1", ".messages.4.content.1"]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}  # type: ignore[index]
    assert len(marks_of(body)) <= MAX_MARKS


@pytest.mark.parametrize(
    ("quirks", "ttl"), [(frozenset({"no_cache_control"}), "5m"), (frozenset(), "off"), (frozenset(), "")]
)
def test_marks_can_be_left_out(quirks: frozenset[str], ttl: str) -> None:
    from dataclasses import replace

    request = shaped(replace(HERE, quirks=quirks), rows("system", "user"), cache_ttl=ttl)
    assert marks_of(build_body(request)) == []
