"""What a compression keeps, cuts and summarises."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import check_invariants

from hermes_tui.engine.context.compression import (
    CLOSING,
    OPENING,
    Room,
    Shorter,
    SummaryEngine,
    kept_rows,
)
from hermes_tui.engine.context.serialise import chunks, clip, files_in_work
from hermes_tui.engine.context.tokens import message_tokens
from hermes_tui.engine.context.window import Window
from hermes_tui.engine.types.errors import CompressionFailed
from hermes_tui.engine.types.messages import Message


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str) -> Message:
    return {"role": "assistant", "content": text, "finish_reason": "stop"}


def used(number: int, result: str, path: str = "a.py", count: int = 1) -> list[Message]:
    """An assistant row with calls, and their results."""
    calls: Any = [
        {
            "id": f"c{number}_{at}",
            "type": "function",
            "function": {"name": "read_file", "arguments": json.dumps({"path": path})},
        }
        for at in range(count)
    ]
    rows: list[Message] = [{"role": "assistant", "content": None, "tool_calls": calls}]
    rows += [
        {"role": "tool", "tool_call_id": call["id"], "tool_name": "read_file", "content": result} for call in calls
    ]
    return rows


def talk(turns: int, words: int = 60) -> list[Message]:
    rows: list[Message] = []
    for number in range(turns):
        rows += [user(f"question {number} " + "lorem " * words), said(f"answer {number} " + "ipsum " * words)]
    return rows


ROOM = Room(window=8_000, fixed=500, threshold=0.5)


class Model:
    """Writes summaries and keeps what it was asked."""

    def __init__(self, answer: str = "A summary.") -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, int, int, int]] = []

    def __call__(self, instruction: str, text: str, max_tokens: int, step: int, steps: int) -> str:
        self.asked.append((instruction, text, max_tokens, step, steps))
        return self.answer


def shorten(
    history: Sequence[Message], room: Room = ROOM, model: Model | None = None, *, pinned: str = "", focus: str = ""
) -> Shorter:
    return SummaryEngine(20).shorten(history, room, pinned=pinned, focus=focus, ask=model or Model())


def after(history: Sequence[Message], shorter: Shorter) -> list[Message]:
    """The history as it is sent from then on."""
    row: Any = {"role": "user", "content": shorter.text, "synthetic": True}
    row["compressed"] = {"first": shorter.first, "last": shorter.last, "tool_chars": shorter.tool_chars, "files": []}
    return kept_rows(history, row)


@pytest.mark.parametrize(
    ("room", "limit"),
    [
        (Room(window=100_000, fixed=5_000, threshold=0.5), 50_000),
        (Room(window=8_000, fixed=5_000, threshold=0.5), 6_800),
        (Room(window=8_000, fixed=3_000, threshold=0.5), 5_000),
    ],
)
def test_messages_get_room_however_large_the_fixed_part_is(room: Room, limit: int) -> None:
    assert room.limit == limit
    assert not SummaryEngine().is_due(limit, room) and SummaryEngine().is_due(limit + 1, room)


def test_the_first_exchange_and_the_newest_messages_stay_and_the_middle_is_summarised() -> None:
    history = talk(30)
    model = Model()
    shorter = shorten(history, model=model)
    assert shorter.first == 2 and 4 <= shorter.last <= 20
    rows = after(history, shorter)
    assert rows[:2] == history[:2] and rows[3:] == history[len(history) - shorter.last :]
    text = "\n".join(asked[1] for asked in model.asked)
    for number in range(1, (len(history) - shorter.last) // 2):
        assert f"question {number} " in text and f"answer {number} " in text
    assert "question 0 " not in text and "question 29 " not in text
    assert sum(map(message_tokens, rows)) + ROOM.fixed < ROOM.limit


def test_a_long_middle_is_summarised_in_bounded_pieces_each_building_on_the_last() -> None:
    model = Model("S.")
    shorten(talk(200), model=model)
    assert len(model.asked) > 2
    for position, (_, text, max_tokens, step, steps) in enumerate(model.asked, start=1):
        assert (step, steps) == (position, len(model.asked))
        assert len(text) < 8_000 * 4 and max_tokens <= 4_000
        assert text.startswith("Summary so far:\nS." if position > 1 else "Messages:")


def test_what_is_pinned_is_carried_word_for_word_with_the_request_in_work_and_the_files() -> None:
    history = [*talk(10), user("fix the parser"), *used(1, "x" * 40_000, "src/parse.py")]
    shorter = shorten(history, pinned="# Todo list\n- [pending] write tests (id 1)")
    assert shorter.text.startswith(OPENING) and shorter.text.endswith(CLOSING)
    assert "- [pending] write tests (id 1)" in shorter.text
    assert "# The person's present request\nfix the parser" in shorter.text or shorter.last >= 3
    assert shorter.files == ("src/parse.py",) and "- src/parse.py" in shorter.text


def test_the_focus_reaches_the_model() -> None:
    model = Model()
    shorten(talk(30), model=model, focus="the database schema")
    assert "the database schema" in model.asked[0][0]


def test_a_result_too_large_to_keep_is_cut_and_nothing_else_changes() -> None:
    history = [*talk(10), user("read it"), *used(1, "begin " + "y" * 60_000 + " end"), said("I read it.")]
    shorter = shorten(history)
    assert shorter.tool_chars
    rows = after(history, shorter)
    cut = next(row for row in rows if row["role"] == "tool")
    assert len(cut["api_content"]) < 9_000
    assert cut["api_content"].startswith("begin") and cut["api_content"].endswith("end")
    assert cut["content"] == history[-2]["content"], "the row itself stays whole"
    assert json.loads(rows[-3]["tool_calls"][0]["function"]["arguments"]) == {"path": "a.py"}


def test_what_was_just_asked_is_never_summarised() -> None:
    asked = user("one huge question " + "z" * 40_000)
    rows = after([*talk(30), asked], shorten([*talk(30), asked]))
    assert rows[-1] is asked


def test_an_earlier_summary_is_taken_over_whole_with_its_files() -> None:
    row = user("OLD SUMMARY " + "w" * 7_000)
    row["compressed"] = {"files": ["kept.py"], "request": ""}  # type: ignore[typeddict-item]
    model = Model()
    shorter = shorten([*talk(1), row, *talk(30)], model=model)
    assert "Earlier summary:\nOLD SUMMARY " + "w" * 7_000 in model.asked[0][1]
    assert shorter.files == ("kept.py",)


@pytest.mark.parametrize(
    "history",
    [[], talk(1), [user("only " + "x" * 90_000)], [user("q"), *used(1, "r" * 90_000)]],
    ids=["empty", "one exchange", "one message", "one call"],
)
def test_what_cannot_be_made_smaller_is_said_and_no_model_is_asked(history: list[Message]) -> None:
    model = Model()
    with pytest.raises(CompressionFailed, match=r"nothing to compress|almost nothing"):
        shorten(history, model=model)
    assert not model.asked or len(model.asked) == 1


def test_a_summary_as_long_as_what_it_stands_for_is_refused() -> None:
    history = talk(8, words=20)
    with pytest.raises(CompressionFailed, match="almost nothing"):
        shorten(history, Room(window=700, fixed=0, threshold=0.5), Model("blah " * 5_000))


def test_an_empty_summary_is_refused() -> None:
    with pytest.raises(CompressionFailed, match="no summary"):
        shorten(talk(30), model=Model("  "))


def test_a_chatty_model_cannot_fill_the_window_again() -> None:
    history = talk(60)
    rows = after(history, shorten(history, model=Model("blah " * 50_000)))
    assert sum(map(message_tokens, rows)) + ROOM.fixed < ROOM.limit


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("talk"), st.integers(0, 3_000)),
        st.tuples(st.just("calls"), st.integers(0, 9_000)),
        st.tuples(st.just("ask"), st.integers(1, 3_000)),
    ),
    min_size=1,
    max_size=25,
)


@given(STEPS, st.integers(1_500, 40_000), st.integers(0, 6_000))
@settings(max_examples=150, deadline=None)
def test_any_history_keeps_its_pairs_its_order_and_its_newest_request(steps: Any, window: int, fixed: int) -> None:
    history: list[Message] = [user("begin")]
    for number, (kind, size) in enumerate(steps):
        if kind == "calls":
            history += used(number, "r" * size, count=1 + size % 3)
        else:
            history.append((said if kind == "talk" else user)(f"{number} " + "w" * size))
    room = Room(window=window, fixed=fixed, threshold=0.5)
    try:
        shorter = shorten(history, room)
    except CompressionFailed:
        return
    rows = after(history, shorter)
    check_invariants(Window().build(rows))
    originals = [row for row in rows if "compressed" not in row]
    assert [row.get("content") for row in originals] == [
        row.get("content") for row in [*history[: shorter.first], *history[len(history) - shorter.last :]]
    ]
    if history[-1]["role"] == "user":
        assert rows[-1] == history[-1]
    newest = next(row for row in reversed(history) if row["role"] == "user")
    assert newest in rows or str(newest["content"])[:1_000] in shorter.text
    assert sum(map(message_tokens, rows)) < sum(map(message_tokens, history))


def test_clipping_keeps_both_ends() -> None:
    assert clip("abc", 3) == "abc"
    cut = clip("a" * 50 + "z" * 50, 10)
    assert cut.startswith("aaaaaaa [") and cut.endswith("] zzz") and "90 characters left out" in cut


def test_pieces_hold_whole_messages_and_nothing_is_left_out() -> None:
    history = talk(20)
    pieces = chunks(history, 2_000)
    assert "\n\n".join(pieces) == "\n\n".join(chunks(history, 10**9))
    assert all(piece.startswith(("Person:", "Agent:")) for piece in pieces)


def test_the_files_in_work_are_the_newest_paths_each_once() -> None:
    history = [row for number in range(30) for row in used(number, "r", f"f{number % 25}.py")]
    assert files_in_work(history)[:2] == ["f4.py", "f3.py"] and len(files_in_work(history)) == 20


def test_a_request_that_was_summarised_in_the_same_turn_is_carried_on() -> None:
    history = [*talk(10), user("fix the parser"), *used(1, "x" * 900, count=9), *used(2, "y" * 900, count=9)]
    first = shorten(history)
    assert first.request == "fix the parser"
    row: Any = {"role": "user", "content": first.text, "synthetic": True}
    row["compressed"] = {"first": 0, "last": 0, "tool_chars": 0, "files": [], "request": first.request}
    again = shorten([*talk(1), row, *used(3, "z" * 900, count=20), *used(4, "z" * 900, count=20)])
    assert "# The person's present request\nfix the parser" in again.text and again.request == "fix the parser"
