"""The todo list and questions to the person."""

from __future__ import annotations

import pytest
from support.tool_context import PlainContext, call_tool

from hermes_tui.tools.registry import load_builtin_tools
from hermes_tui.tools.todo import MAX_ITEMS, restore


def item(number: int, status: str = "pending", content: str = "") -> dict[str, str]:
    return {"id": str(number), "content": content or f"step {number}", "status": status}


def test_a_list_is_kept_published_and_returned(context: PlainContext) -> None:
    items = [item(1, "in_progress"), item(2)]
    result = call_tool(context, "todo", todos=items)
    assert result == {"ok": True, "todos": items, "counts": {"pending": 1, "in_progress": 1, "done": 0}}
    assert context.published == [items]
    assert call_tool(context, "todo")["todos"] == items
    assert len(context.published) == 1


def test_merge_changes_by_id_adds_and_keeps_order(context: PlainContext) -> None:
    call_tool(context, "todo", todos=[item(1), item(2), item(3)])
    result = call_tool(context, "todo", todos=[item(2, "done", "two"), item(4)], merge=True)
    assert result["todos"] == [item(1), item(2, "done", "two"), item(3), item(4)]


def test_without_merge_the_list_is_replaced(context: PlainContext) -> None:
    call_tool(context, "todo", todos=[item(1), item(2)])
    assert call_tool(context, "todo", todos=[item(3)])["todos"] == [item(3)]
    assert call_tool(context, "todo", todos=[])["todos"] == []


def test_a_resumed_session_gets_its_list_back(context: PlainContext) -> None:
    restore(context.state, {"ok": True, "todos": [item(1, "done"), item(2)]})
    assert call_tool(context, "todo", todos=[item(2, "done")], merge=True)["counts"]["done"] == 2


BAD = {
    "status": ([item(1, "completed")], "pending, in_progress, done"),
    "no id": ([{"id": " ", "content": "x", "status": "done"}], "needs an id"),
    "no content": ([{"id": "1", "status": "done"}], "needs an id and a content"),
    "same id": ([item(1), item(1)], "same id"),
    "too long": ([item(1, content="x" * 3000)], "longer than"),
    "too many": ([item(n) for n in range(MAX_ITEMS + 1)], "More than"),
}


@pytest.mark.parametrize(("items", "words"), BAD.values(), ids=BAD)
def test_a_bad_list_is_refused_whole(context: PlainContext, items: list[dict[str, str]], words: str) -> None:
    call_tool(context, "todo", todos=[item(9)])
    assert words in call_tool(context, "todo", todos=items)["error"]
    assert call_tool(context, "todo")["todos"] == [item(9)]


def test_the_todo_card_shows_items_and_progress(context: PlainContext) -> None:
    tool = load_builtin_tools().get("todo")
    assert tool is not None
    args = {"todos": [item(1, "done"), item(2)]}
    card = tool.display(args, call_tool(context, "todo", **args))
    assert (card["kind"], card["summary"], card["items"]) == ("todo", "1 of 2 done", args["todos"])
    assert tool.display(args, None)["items"] == args["todos"]


def test_the_answer_of_the_person_comes_back(context: PlainContext) -> None:
    context.answer = "blue"
    result = call_tool(context, "clarify", question=" Which? ", choices=["red", "blue", "red"])
    assert result == {"ok": True, "question": "Which?", "answer": "blue"}
    assert context.asked == [("Which?", ("red", "blue"))]


def test_no_answer_tells_the_model_to_decide(context: PlainContext) -> None:
    result = call_tool(context, "clarify", question="Which?")
    assert (result["ok"], result["answer"]) == (True, "")
    assert "Decide yourself" in result["note"]


@pytest.mark.parametrize(
    ("question", "choices", "words"),
    [(" ", [], "empty"), ("q", ["1", "2", "3", "4", "5"], "at most 4"), ("q", ["a", " "], "none of them empty")],
)
def test_a_bad_question_is_refused(context: PlainContext, question: str, choices: list[str], words: str) -> None:
    assert words in call_tool(context, "clarify", question=question, choices=choices)["error"]
    assert context.asked == []


def test_an_interrupted_question_is_not_an_answer(context: PlainContext) -> None:
    context.cancel.cancel()
    assert call_tool(context, "clarify", question="q")["interrupted"] is True


def test_the_clarify_card_shows_question_and_answer(context: PlainContext) -> None:
    context.answer = "b"
    tool = load_builtin_tools().get("clarify")
    assert tool is not None
    args = {"question": "q?", "choices": ["a", "b"]}
    card = tool.display(args, call_tool(context, "clarify", **args))
    assert (card["kind"], card["question"], card["answer"], card["choices"]) == ("clarify", "q?", "b", ["a", "b"])
    assert tool.display(args, {"ok": True, "answer": ""})["summary"] == "no answer"
