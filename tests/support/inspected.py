"""Requests for tests and pictures of the inspector."""

from __future__ import annotations

from dataclasses import replace

from hermes_tui.engine.types.inspection import ContextPart, ContextReport, MessagePair, RequestDetail, RequestRow
from hermes_tui.engine.types.messages import JsonValue
from hermes_tui.engine.types.usage import Usage

NOW = 1_773_481_290.0
"""Unix time of the last request: 14 March 2026, 09:41:30 UTC."""

_FIRST = RequestRow(
    number=1,
    turn=1,
    step=1,
    model="claude-opus-4-6",
    provider="anthropic",
    api_mode="anthropic_messages",
    started_at=NOW - 74,
    first_token_s=1.92,
    total_s=6.4,
    outcome="ok",
    usage=Usage(input_tokens=812, output_tokens=214, cache_write_tokens=11_400, reasoning_tokens=96),
    cost_usd=0.0832,
    estimated_tokens=12_100,
    context_window=200_000,
)
ROWS: tuple[RequestRow, ...] = (
    _FIRST,
    replace(
        _FIRST,
        number=2,
        step=2,
        started_at=NOW - 62,
        first_token_s=None,
        total_s=0.31,
        outcome="error",
        problem="anthropic is overloaded (529).",
        usage=None,
        cost_usd=None,
        estimated_tokens=14_900,
    ),
    replace(
        _FIRST,
        number=3,
        step=2,
        attempt=2,
        started_at=NOW - 57,
        first_token_s=0.84,
        total_s=9.7,
        usage=Usage(input_tokens=120, output_tokens=402, cache_read_tokens=12_212, cache_write_tokens=2_604),
        cost_usd=0.0419,
    ),
    replace(
        _FIRST,
        number=4,
        step=3,
        agent="1 count the writers",
        model="claude-haiku-4-5",
        started_at=NOW - 41,
        first_token_s=0.31,
        total_s=2.05,
        usage=Usage(input_tokens=2_204, output_tokens=88),
        cost_usd=0.0026,
    ),
    replace(
        _FIRST,
        number=5,
        step=3,
        started_at=NOW - 3,
        first_token_s=0.77,
        total_s=3.2,
        outcome="running",
        usage=None,
        cost_usd=None,
        estimated_tokens=16_020,
    ),
)
"""Oldest first."""

PAIRS: tuple[MessagePair, ...] = (
    MessagePair(
        change="same",
        role="system",
        stored="You are Hermes, an AI agent that works in a person's terminal.",
        sent="You are Hermes, an AI agent that works in a person's terminal.",
        notes=("the provider may cache the prompt up to here",),
        tokens=2_310,
    ),
    MessagePair(
        change="same",
        role="user",
        stored="Why does test_sync fail about once in fifty runs?",
        sent="Why does test_sync fail about once in fifty runs?",
        tokens=16,
    ),
    MessagePair(
        change="same",
        role="assistant",
        stored='I look at the test first.\n-> terminal({"command": "pytest -q tests/test_sync.py"})',
        sent='I look at the test first.\n-> terminal({"command": "pytest -q tests/test_sync.py"})',
        notes=("1 reasoning block sent back to the model that wrote them",),
        tokens=64,
    ),
    MessagePair(
        change="changed",
        role="tool",
        stored='{"ok": true, "exit_code": 1, "output": "1 failed, 19 passed"}',
        sent='{"ok": true, "exit_code": 1, "output": "1 failed, 19 passed"}\n\n[The user added this while you were '
        "working]\nDo not touch vendor/.\n[End of the user's addition]",
        notes=("sent with what came in meanwhile",),
        tokens=52,
    ),
    MessagePair(
        change="dropped",
        role="tool",
        stored='{"ok": true}',
        notes=("left out: no call of the conversation waits for this result",),
    ),
    MessagePair(
        change="changed",
        role="user",
        stored="Fix it.",
        sent="Fix it.\n\nPlan mode is on: read only, and end with a plan.",
        notes=("its end was added for this request only", "the provider may cache the prompt up to here"),
        tokens=24,
    ),
)
PARTS: tuple[ContextPart, ...] = (
    ContextPart(name="Identity", kind="prompt", tokens=140),
    ContextPart(name="Tool guidance", kind="prompt", tokens=610),
    ContextPart(name="Memory", kind="prompt", tokens=320),
    ContextPart(name="Project file", kind="prompt", tokens=1_180),
    ContextPart(name="Environment", kind="prompt", tokens=60),
    ContextPart(name="Tool definitions", kind="tools", tokens=6_120),
    ContextPart(name="Your messages", kind="messages", tokens=410),
    ContextPart(name="Answers", kind="messages", tokens=2_050),
    ContextPart(name="Tool results", kind="messages", tokens=4_040),
)
REPORT = ContextReport(
    parts=(*PARTS[:-1], ContextPart(name="Tool results", kind="messages", tokens=61_300)), window=200_000, limit=100_000
)
BODY: JsonValue = {
    "model": "claude-opus-4-6",
    "max_tokens": 32_000,
    "system": [{"type": "text", "text": "You are Hermes, an AI agent that works in a person's terminal. " * 3}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Why does test_sync fail about once in fifty runs?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look at the test first."},
                {"type": "tool_use", "id": "c1", "name": "terminal", "input": {"command": "pytest -q"}},
            ],
        },
    ],
    "tools": [{"name": "terminal", "description": "Run a command."}],
    "stream": True,
}


def detail(number: int) -> RequestDetail:
    """Everything about one of the rows."""
    row = next(row for row in ROWS if row.number == number)
    answer: JsonValue = None
    if row.usage is not None:
        answer = {"role": "assistant", "content": "The race is in `flush`.", "finish_reason": "stop"}
    return RequestDetail(
        row=row,
        pairs=PAIRS,
        parts=PARTS,
        url="https://api.anthropic.com/v1/messages",
        body=BODY,
        answer=answer,
        raw="" if answer is None else 'event: message_start\ndata: {"type":"message_start"}\n',
        raw_bytes=0 if answer is None else 4_210,
    )
