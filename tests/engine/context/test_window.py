"""The request copy: any history becomes one that every API accepts, and its prefix stays the same bytes."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import BROKEN_HISTORIES, check_invariants

from hermes_tui.engine.context.window import OUTCOME_UNKNOWN, Window, without_images


def user(text: Any) -> Any:
    return {"role": "user", "content": text}


def assistant(text: Any, *ids: str, **fields: Any) -> Any:
    row: dict[str, Any] = {"role": "assistant", "content": text, **fields}
    if ids:
        row["tool_calls"] = [{"id": i, "type": "function", "function": {"name": "ls", "arguments": "{}"}} for i in ids]
    return row


def tool(call_id: str, text: Any = "ok") -> Any:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def build(*rows: Any, system: str = "") -> list[Any]:
    return Window().build(rows, system)


def shape(messages: list[Any]) -> list[str]:
    return [f"{m['role']}:{m.get('tool_call_id') or m['content']}" for m in messages]


@given(BROKEN_HISTORIES)
@settings(max_examples=300, deadline=None)
def test_any_broken_history_is_repaired(history: list[Any]) -> None:
    before = copy.deepcopy(history)
    check_invariants(Window().build([*history, user("go on")], "You are."))
    assert history == before, "stored rows are not touched"


@given(BROKEN_HISTORIES, st.integers(0, 14))
@settings(max_examples=150, deadline=None)
def test_building_step_by_step_gives_the_same_as_building_at_once(history: list[Any], cut: int) -> None:
    window = Window()
    window.build(history[:cut], "s")
    assert window.build(history, "s") == Window().build(history, "s")
    assert window.tokens == _tokens(history)


def _tokens(history: list[Any]) -> int:
    window = Window()
    window.build(history)
    return window.tokens


def test_a_healthy_history_is_sent_as_it_is() -> None:
    rows = [user("ls"), assistant("Looking.", "c1", "c2"), tool("c1"), tool("c2"), assistant("Done.")]
    assert shape(build(*rows, system="S")) == [
        "system:S",
        "user:ls",
        "assistant:Looking.",
        "tool:c1",
        "tool:c2",
        "assistant:Done.",
    ]


def test_a_lost_result_is_stubbed_right_after_its_call_and_says_that_the_outcome_is_unknown() -> None:
    messages = build(user("ls"), assistant(None, "c1"), user("hello?"), assistant("hi"), user("go on"))
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "user", "assistant", "user"]
    assert (
        messages[2]["content"] == OUTCOME_UNKNOWN and "check before repeating" in json.loads(OUTCOME_UNKNOWN)["error"]
    )


def test_some_results_of_several_calls_keep_their_place() -> None:
    messages = build(user("x"), assistant(None, "c1", "c2", "c3"), tool("c2", "real"))
    assert [m["content"] for m in messages[2:]] == [OUTCOME_UNKNOWN, "real", OUTCOME_UNKNOWN]


def test_a_result_that_comes_late_moves_to_its_call() -> None:
    messages = build(user("x"), assistant(None, "c1"), user("y"), tool("c1", "late"))
    assert [m["content"] for m in messages] == ["x", None, "late", "y"]


def test_results_in_another_order_are_sent_in_call_order() -> None:
    messages = build(user("x"), assistant(None, "a", "b"), tool("b", "2"), tool("a", "1"))
    assert [m["content"] for m in messages[2:]] == ["1", "2"]


def test_orphans_and_second_results_are_dropped() -> None:
    messages = build(
        tool("zz"), user("x"), assistant(None, "c1"), tool("c1", "first"), tool("c1", "second"), tool("c9")
    )
    assert [m["content"] for m in messages] == ["x", None, "first"]


def test_ids_that_repeat_are_told_apart_and_their_results_follow_them() -> None:
    messages = build(
        user("x"),
        assistant(None, "dup"),
        tool("dup", "1"),
        assistant(None, "dup", "dup"),
        tool("dup", "2"),
        tool("dup", "3"),
    )
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["1", "2", "3"]
    check_invariants(messages)


def test_a_result_belongs_to_the_newest_call_of_its_id() -> None:
    messages = build(user("x"), assistant(None, "c1"), user("y"), assistant(None, "c1"), tool("c1", "real"))
    assert [m["content"] for m in messages if m["role"] == "tool"] == [OUTCOME_UNKNOWN, "real"]


def test_neighbours_of_one_role_are_merged() -> None:
    messages = build(user("a"), user("b"), assistant("c"), assistant("d", "c1"), tool("c1"))
    assert [m["content"] for m in messages] == ["a\n\nb", "c\n\nd", "ok"]


def test_merged_assistants_drop_reasoning_that_is_bound_to_one_row() -> None:
    detail = {"provider": "p", "api_mode": "m", "position": 0, "block": {}}
    messages = build(user("a"), assistant("b", reasoning_details=[detail]), assistant("c"))
    assert "reasoning_details" not in messages[1]
    alone = build(user("a"), assistant("b", "c1", reasoning="R", reasoning_details=[detail]), tool("c1"))
    assert alone[1]["reasoning_details"] == [detail] and alone[1]["reasoning"] == "R"


def test_one_system_message_leads() -> None:
    messages = build(user("a"), {"role": "system", "content": "late"}, assistant("b"), system="S")
    assert shape(messages) == ["system:S\n\nlate", "user:a", "assistant:b"]


def test_a_history_that_begins_with_the_assistant_gets_a_user_row_first() -> None:
    assert [m["role"] for m in build(assistant("hi"), user("x"))] == ["user", "assistant", "user"]


def test_blank_rows_are_left_out_and_blank_text_beside_calls_is_none() -> None:
    messages = build(user("a"), assistant("  \n"), user(" "), user("b"), assistant("   \n", "c1"), tool("c1", ""))
    assert [m["content"] for m in messages] == ["a\n\nb", None, "(no output)"]


def test_trailing_space_of_a_last_assistant_row_is_trimmed_on_the_wire_only() -> None:
    row = assistant("Here:\n\n")
    assert build(user("a"), row)[-1]["content"] == "Here:" and row["content"] == "Here:\n\n"
    assert build(user("a"), row, user("b"))[1]["content"] == "Here:\n\n"


def test_the_exact_bytes_sent_before_are_sent_again_and_partial_text_never() -> None:
    sent = {**tool("c1", "ok"), "api_content": "ok + words"}
    row = assistant("[interrupted]", partial="half")
    messages = build(user("a"), assistant(None, "c1"), sent, row)
    assert messages[2]["content"] == "ok + words" and "half" not in str(messages)


def test_images_survive_and_can_be_replaced_by_a_note() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:..."}}
    messages = build(user([{"type": "text", "text": "see"}, image]), user("and?"))
    assert messages[0]["content"] == [{"type": "text", "text": "see"}, image, {"type": "text", "text": "and?"}]
    noted = without_images(messages)
    assert "image_url" not in str(noted) and "image_url" in str(messages)


def test_a_grown_history_only_adds_to_the_messages_before() -> None:
    window, rows = Window(), [user("a"), assistant("b", "c1"), tool("c1")]
    first = window.build(rows, "S")
    rows += [assistant("c"), user("d")]
    assert window.build(rows, "S")[: len(first)] == first


def test_after_an_undo_everything_is_built_anew() -> None:
    window, rows = Window(), [user("a"), assistant("b"), user("c"), assistant("d")]
    window.build(rows)
    assert [m["content"] for m in window.build([*rows[:2], user("x")])] == ["a", "b", "x"]
