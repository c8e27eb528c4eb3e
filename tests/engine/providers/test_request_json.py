"""One conversation, the exact JSON that each API mode sends for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hermes_tui.engine.providers import anthropic_messages, chat_completions, responses
from hermes_tui.engine.providers.base import ApiMode, Endpoint, ModelRequest
from hermes_tui.engine.types.messages import ApiMessage, ReasoningDetail

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "ls",
        "description": "List.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}


def endpoint(mode: ApiMode, model: str = "m", *quirks: str, provider: str = "p") -> Endpoint:
    return Endpoint(
        provider=provider, model=model, api_mode=mode, base_url="http://127.0.0.1:1/v1", quirks=frozenset(quirks)
    )


CHAT, RESPONSES, ANTHROPIC = (endpoint(mode) for mode in ("chat_completions", "codex_responses", "anthropic_messages"))


def call(call_id: str, name: str = "ls", arguments: str = "{}") -> Any:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def opaque(position: int, block: dict[str, Any], mode: str, provider: str = "p") -> ReasoningDetail:
    return {"provider": provider, "api_mode": mode, "position": position, "block": block}


CONVERSATION: list[ApiMessage] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "look"},
    {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [call("c1", arguments='{"path":"a"}'), call("c2")],
        "reasoning": "I should look.",
    },
    {"role": "tool", "tool_call_id": "c1", "tool_name": "ls", "content": '{"ok":true}'},
    {"role": "tool", "tool_call_id": "c2", "tool_name": "ls", "content": '{"ok":false}'},
    {"role": "user", "content": "and?"},
]


def request(where: Endpoint, messages: list[ApiMessage] | None = None, **more: Any) -> ModelRequest:
    return ModelRequest(endpoint=where, messages=CONVERSATION if messages is None else messages, **more)


def test_chat_completions() -> None:
    body = chat_completions.build_body(request(CHAT, tools=[TOOL], max_tokens=99, reasoning_effort="low"))
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "look"},
            {
                "role": "assistant",
                "content": "Looking.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path":"a"}'}},
                    {"id": "c2", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": '{"ok":true}'},
            {"role": "tool", "tool_call_id": "c2", "content": '{"ok":false}'},
            {"role": "user", "content": "and?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [TOOL],
        "max_tokens": 99,
        "reasoning_effort": "low",
    }


def test_responses() -> None:
    body = responses.build_body(
        request(RESPONSES, tools=[TOOL], max_tokens=99, reasoning_effort="low", session_id="s1")
    )
    assert body == {
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "look"}]},
            {"role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]},
            {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": '{"path":"a"}'},
            {"type": "function_call", "call_id": "c2", "name": "ls", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": '{"ok":true}'},
            {"type": "function_call_output", "call_id": "c2", "output": '{"ok":false}'},
            {"role": "user", "content": [{"type": "input_text", "text": "and?"}]},
        ],
        "tools": [
            {
                "type": "function",
                "name": "ls",
                "description": "List.",
                "parameters": TOOL["function"]["parameters"],
                "strict": False,
            }
        ],
        "max_output_tokens": 99,
        "reasoning": {"effort": "low", "summary": "auto"},
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "s1",
        "stream": True,
    }


def test_anthropic_messages() -> None:
    body = anthropic_messages.build_body(request(ANTHROPIC, tools=[TOOL], max_tokens=99))
    assert body == {
        "model": "m",
        "max_tokens": 99,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "look"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Looking."},
                    {"type": "tool_use", "id": "c1", "name": "ls", "input": {"path": "a"}},
                    {"type": "tool_use", "id": "c2", "name": "ls", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": '{"ok":true}'},
                    {"type": "tool_result", "tool_use_id": "c2", "content": '{"ok":false}'},
                    {"type": "text", "text": "and?"},
                ],
            },
        ],
        "tools": [{"name": "ls", "description": "List.", "input_schema": TOOL["function"]["parameters"]}],
        "stream": True,
    }


def test_a_request_that_does_not_stream_says_nothing_about_streams() -> None:
    for module, where in ((chat_completions, CHAT), (responses, RESPONSES), (anthropic_messages, ANTHROPIC)):
        body = module.build_body(request(where, stream=False))
        assert not {"stream", "stream_options", "tools", "reasoning", "reasoning_effort", "thinking"} & set(body)


@pytest.mark.parametrize(
    ("quirk", "present", "absent"),
    [
        ("max_completion_tokens", {"max_completion_tokens": 9}, "max_tokens"),
        ("no_stream_options", {"stream": True}, "stream_options"),
        ("reasoning_object", {"reasoning": {"effort": "high"}}, "reasoning_effort"),
    ],
)
def test_quirks_change_names(quirk: str, present: dict[str, Any], absent: str) -> None:
    where = endpoint("chat_completions", "m", quirk)
    body = chat_completions.build_body(request(where, max_tokens=9, reasoning_effort="high"))
    assert present.items() <= body.items()
    assert absent not in body


def test_short_ids_are_the_same_for_call_and_result_and_legal_ones_stay() -> None:
    messages: list[ApiMessage] = [
        {"role": "assistant", "content": "", "tool_calls": [call("call_Ab12Cd34Ef56Gh78Ij90"), call("abcDEF123")]},
        {"role": "tool", "tool_call_id": "call_Ab12Cd34Ef56Gh78Ij90", "content": "1"},
        {"role": "tool", "tool_call_id": "abcDEF123", "content": "2"},
    ]
    rows: Any = chat_completions.build_body(request(endpoint("chat_completions", "m", "short_ids"), messages))[
        "messages"
    ]
    ids = [row["id"] for row in rows[0]["tool_calls"]]
    assert ids == [rows[1]["tool_call_id"], rows[2]["tool_call_id"]]
    assert ids[1] == "abcDEF123"
    assert len(ids[0]) == 9 and ids[0].isalnum()
    assert messages[1]["tool_call_id"] == "call_Ab12Cd34Ef56Gh78Ij90"


def test_reasoning_goes_back_as_text_only_where_it_is_wanted() -> None:
    where = endpoint("chat_completions", "m", "echo_reasoning")
    wanted: Any = chat_completions.build_body(request(where))["messages"]
    assert wanted[2]["reasoning_content"] == "I should look."
    assert "I should look." not in str(chat_completions.build_body(request(CHAT)))


def test_opaque_reasoning_goes_back_to_its_issuer_only() -> None:
    block: dict[str, Any] = {"type": "reasoning.text", "data": "opaque words"}
    messages: list[ApiMessage] = [
        {
            "role": "assistant",
            "content": "a",
            "reasoning_details": [opaque(0, block, "chat_completions"), opaque(0, block, "chat_completions", "other")],
        }
    ]
    where = endpoint("chat_completions", "m", "reasoning_details")
    rows: Any = chat_completions.build_body(request(where, messages))["messages"]
    assert rows[0]["reasoning_details"] == [block]
    for module, mode in ((responses, RESPONSES), (anthropic_messages, ANTHROPIC)):
        assert "opaque words" not in str(module.build_body(request(mode, messages)))


def test_a_null_answer_with_calls_is_sent_as_empty_text() -> None:
    messages: list[ApiMessage] = [{"role": "assistant", "content": None, "tool_calls": [call("c")]}]
    rows: Any = chat_completions.build_body(request(CHAT, messages))["messages"]
    assert rows[0]["content"] == ""


IMAGE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def test_images_take_each_modes_form() -> None:
    messages: list[ApiMessage] = [{"role": "user", "content": [{"type": "text", "text": "see"}, IMAGE]}]
    chat: Any = chat_completions.build_body(request(CHAT, messages))["messages"]
    assert chat[0]["content"][1] == IMAGE
    items: Any = responses.build_body(request(RESPONSES, messages))["input"]
    assert items[0]["content"][1] == {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    rows: Any = anthropic_messages.build_body(request(ANTHROPIC, messages))["messages"]
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert rows[0]["content"][1] == {"type": "image", "source": source}


# ------------------------------------------------------------------------------------------------------- anthropic


def thinking(name: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": name, "signature": f"sig {name}"}


def test_signed_thinking_goes_back_unchanged_at_its_place() -> None:
    messages: list[ApiMessage] = [
        {
            "role": "assistant",
            "content": "I'll look",
            "tool_calls": [call("t1")],
            "reasoning_details": [
                opaque(2, thinking("b"), "anthropic_messages"),
                opaque(0, thinking("a"), "anthropic_messages"),
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "x"},
    ]
    rows: Any = anthropic_messages.build_body(request(ANTHROPIC, messages))["messages"]
    assert [block["type"] for block in rows[0]["content"]] == ["thinking", "text", "thinking", "tool_use"]
    assert rows[0]["content"][0] == thinking("a")
    assert rows[0]["content"][2] == thinking("b")
    elsewhere = replace(ANTHROPIC, provider="other")
    assert "sig" not in str(anthropic_messages.build_body(request(elsewhere, messages)))


@pytest.mark.parametrize("content", ["", "   \n", None])
def test_empty_text_is_never_sent(content: str | None) -> None:
    messages: list[ApiMessage] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": content, "tool_calls": [call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
    ]
    rows: Any = anthropic_messages.build_body(request(ANTHROPIC, messages))["messages"]
    assert [block["type"] for block in rows[1]["content"]] == ["tool_use"]


def test_a_last_answer_loses_trailing_blanks_on_the_wire_only() -> None:
    messages: list[ApiMessage] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "Here is the list:\n\n"},
    ]
    rows: Any = anthropic_messages.build_body(request(ANTHROPIC, messages))["messages"]
    assert rows[-1]["content"] == [{"type": "text", "text": "Here is the list:"}]
    assert messages[1]["content"] == "Here is the list:\n\n"


@pytest.mark.parametrize(
    ("model", "cap"),
    [("claude-sonnet-4-6", 32_000), ("claude-3-5-haiku-latest", 8_192), ("claude-3-opus-20240229", 4_096)],
)
def test_the_output_cap_suits_the_model(model: str, cap: int) -> None:
    assert anthropic_messages.build_body(request(endpoint("anthropic_messages", model)))["max_tokens"] == cap


def test_effort_becomes_a_budget_or_stays_an_effort() -> None:
    old = anthropic_messages.build_body(
        request(endpoint("anthropic_messages", "claude-sonnet-4-5"), reasoning_effort="high", max_tokens=100)
    )
    assert old["thinking"] == {"type": "enabled", "budget_tokens": 16_000}
    assert old["max_tokens"] == 20_096
    new = anthropic_messages.build_body(
        request(endpoint("anthropic_messages", "claude-opus-4-6"), reasoning_effort="minimal")
    )
    assert new["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert new["output_config"] == {"effort": "low"}


def test_cache_marks_pass_through() -> None:
    mark: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
    messages: list[ApiMessage] = [
        {"role": "system", "content": [{"type": "text", "text": "s", **mark}]},
        {"role": "user", "content": [{"type": "text", "text": "u", **mark}]},
    ]
    body: Any = anthropic_messages.build_body(request(ANTHROPIC, messages))
    assert body["system"][0]["cache_control"] == mark["cache_control"]
    assert body["messages"][0]["content"][0]["cache_control"] == mark["cache_control"]


# ------------------------------------------------------------------------------------------------------- responses


def sealed(name: str) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [], "encrypted_content": name}


def test_encrypted_items_stay_before_what_they_led_to_and_a_lone_one_is_left_out() -> None:
    messages: list[ApiMessage] = [
        {
            "role": "assistant",
            "content": "one",
            "tool_calls": [call("fc1")],
            "reasoning_details": [
                opaque(0, sealed("r1"), "codex_responses"),
                opaque(2, sealed("r2"), "codex_responses"),
            ],
        },
        {"role": "tool", "tool_call_id": "fc1", "content": "x"},
        {"role": "assistant", "content": "", "reasoning_details": [opaque(0, sealed("r3"), "codex_responses")]},
    ]
    items: Any = responses.build_body(request(RESPONSES, messages))["input"]
    kinds = [item.get("encrypted_content") or item.get("type") or item["role"] for item in items]
    assert kinds == ["r1", "assistant", "r2", "function_call", "function_call_output"]
    elsewhere = replace(RESPONSES, provider="other")
    assert "encrypted_content" not in [*responses.build_body(request(elsewhere, messages))["input"][0]]  # type: ignore[index,misc]


def test_the_same_conversation_gives_the_same_bytes() -> None:
    for module, where in ((chat_completions, CHAT), (responses, RESPONSES), (anthropic_messages, ANTHROPIC)):
        longer = [*CONVERSATION, {"role": "assistant", "content": "done"}, {"role": "user", "content": "more"}]
        key = "input" if where is RESPONSES else "messages"
        first: Any = module.build_body(request(where))[key]
        second: Any = module.build_body(request(where, longer))[key]  # type: ignore[arg-type]
        assert second[: len(first)] == first
