"""The message invariants as one check, and a strategy for arbitrarily broken histories."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
ODD_TEXT = st.text(
    alphabet=st.sampled_from(["a", " ", "\n", "\0", "\ud83d", "\ude00", "é", "你", "😀", '"', "\\"]), max_size=8
)
ARGUMENTS = st.one_of(
    st.sampled_from(["{}", "", "None", '{"a":1,}', '{"p":"x"', '{"a": NaN}', "[1]", '"x"', '{"s":"\\ud83d"}', "{"]),
    ODD_TEXT,
    st.just({"a": 1}),
    st.none(),
)
CALL_IDS = st.sampled_from(["c1", "c2", "c3", "c1!", "", "toolu_01", None])
CALLS = st.fixed_dictionaries(
    {
        "id": CALL_IDS,
        "type": st.just("function"),
        "function": st.one_of(
            st.fixed_dictionaries({"name": st.sampled_from(["run", "", "a.b<|c|>", " x\n"]), "arguments": ARGUMENTS}),
            st.none(),
        ),
    }
)
CONTENTS = st.one_of(
    ODD_TEXT,
    st.none(),
    st.just({"odd": 1}),
    st.lists(
        st.one_of(
            st.fixed_dictionaries({"type": st.just("text"), "text": ODD_TEXT}),
            st.just({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}),
            st.just("bare"),
            st.just({"type": "video"}),
        ),
        max_size=3,
    ),
)
ROWS = st.one_of(
    st.fixed_dictionaries({"role": st.just("user"), "content": CONTENTS}),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": CONTENTS}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": CONTENTS, "tool_calls": st.lists(CALLS, max_size=3)},
    ),
    st.fixed_dictionaries({"role": st.just("tool"), "content": CONTENTS, "tool_call_id": CALL_IDS}),
    st.fixed_dictionaries({"role": st.sampled_from(["system", "developer", ""]), "content": CONTENTS}),
)
BROKEN_HISTORIES = st.lists(ROWS, max_size=14)


def check_invariants(messages: Sequence[Any]) -> None:
    """Fail unless every API would accept these messages."""
    rows = list(messages)
    if rows and rows[0]["role"] == "system":
        _check_text(rows.pop(0)["content"])
    assert not rows or rows[0]["role"] == "user"
    waiting: list[str] = []
    ids: list[str] = []
    previous = ""
    for row in rows:
        role = row["role"]
        if role == "tool":
            assert waiting and row["tool_call_id"] == waiting.pop(0), "results in call order, directly after the call"
            _check_text(row["content"])
        else:
            assert not waiting, "a call without a result"
            assert role in ("user", "assistant") and role != previous
            waiting = [call["id"] for call in row.get("tool_calls", ())]
            ids += waiting
            _check_row(row)
        previous = role
    assert not waiting and len(ids) == len(set(ids))
    json.dumps(rows).encode()


def _check_row(row: Any) -> None:
    content = row["content"]
    if content is None:
        assert row["role"] == "assistant" and row.get("tool_calls")
    elif isinstance(content, str):
        _check_text(content)
    else:
        assert content and row["role"] == "user"
        for part in content:
            assert part["type"] in ("text", "image_url")
            if part["type"] == "text":
                _check_text(part["text"])
    for call in row.get("tool_calls", ()):
        assert ID.match(call["id"]) and ID.match(call["function"]["name"])
        arguments = call["function"]["arguments"]
        assert isinstance(json.loads(arguments, parse_constant=_refuse), dict)
        _check_text(arguments)
        _check_text(json.dumps(json.loads(arguments), ensure_ascii=False))


def _check_text(text: str) -> None:
    assert isinstance(text, str) and text.strip() and "\0" not in text and "\\u0000" not in text
    text.encode()


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")
