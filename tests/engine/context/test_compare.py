"""What a request has beyond the stored rows, and what it lacks, is told row by row and with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from support.histories import BROKEN_HISTORIES

from hermes_tui.engine.context.compare import ONLY_HERE, compare, parts_of_request, shown_text
from hermes_tui.engine.context.prompt import PromptParts, build_system_prompt, layers_of
from hermes_tui.engine.context.tokens import message_tokens, text_tokens, tool_tokens
from hermes_tui.engine.context.window import Window, without_images
from hermes_tui.engine.runtime.complete import with_nudge


def user(text: Any, **more: Any) -> Any:
    return {"role": "user", "content": text, **more}


def assistant(text: Any, *ids: str, **more: Any) -> Any:
    calls = [{"id": name, "type": "function", "function": {"name": "ls", "arguments": "{}"}} for name in ids]
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if ids else {}), **more}


def tool(call_id: str, text: str = "ok", **more: Any) -> Any:
    return {"role": "tool", "tool_call_id": call_id, "content": text, **more}


def pairs_of(*rows: Any, system: str = "") -> list[Any]:
    return compare(rows, Window().build(list(rows), system))


def told(pairs: list[Any]) -> list[tuple[str, str]]:
    return [(pair.role, pair.change) for pair in pairs]


def test_a_healthy_history_is_the_same_on_both_sides() -> None:
    pairs = pairs_of(user("ls"), assistant("Looking.", "c1"), tool("c1"), assistant("Done."), system="You are.")
    assert told(pairs) == [(role, "same") for role in ("system", "user", "assistant", "tool", "assistant")]
    assert pairs[2].stored == pairs[2].sent == "Looking.\n-> ls({})"
    assert not any(pair.notes for pair in pairs[1:])


IMAGE = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]
DETAIL = {"provider": "p", "api_mode": "m", "position": 0, "block": {"signature": "s"}}
CASES: dict[str, tuple[list[Any], list[tuple[str, str]], str]] = {
    "a result that was never stored": (
        [user("a"), assistant(None, "c1"), user("b")],
        [("user", "same"), ("assistant", "same"), ("tool", "added"), ("user", "same")],
        "never stored",
    ),
    "a result that nobody waits for": (
        [tool("zz", "lost"), user("a")],
        [("tool", "dropped"), ("user", "same")],
        "no call of the conversation",
    ),
    "rows that become one": ([user("a"), user("b")], [("user", "same")], "2 rows sent as one"),
    "a row without words": (
        [user("a"), assistant("  "), user("b")],
        [("user", "same"), ("assistant", "dropped")],
        "no words",
    ),
    "a system row": (
        [user("a"), {"role": "system", "content": "late"}],
        [("system", "same"), ("user", "same"), ("system", "dropped")],
        "joined",
    ),
    "what was said meanwhile": (
        [user("a"), assistant(None, "c1"), tool("c1", "ok", api_content="ok\n\n[words]")],
        [("user", "same"), ("assistant", "same"), ("tool", "changed")],
        "came in meanwhile",
    ),
    "a result that was cut": (
        [user("a"), assistant(None, "c1"), tool("c1", "long " * 50, api_content="long")],
        [("user", "same"), ("assistant", "same"), ("tool", "changed")],
        "cut to make room",
    ),
    "a call that was mended": (
        [user("a"), {**assistant(None), "tool_calls": [{"id": "c!", "function": {"name": "a.ls", "arguments": "{"}}]}],
        [("user", "same"), ("assistant", "changed"), ("tool", "added")],
        "calls mended",
    ),
    "text that cannot be sent": ([user("a\0b")], [("user", "changed")], "cannot be sent"),
    "a silent tool": (
        [user("a"), assistant(None, "c1"), tool("c1", "")],
        [("user", "same"), ("assistant", "same"), ("tool", "changed")],
        "words stand for it",
    ),
    "text before an interruption": (
        [user("a"), assistant("[interrupted]", partial="half", synthetic=True)],
        [("user", "same"), ("assistant", "same")],
        "4 characters that came before",
    ),
    "another model's reasoning": (
        [user("a"), assistant("b", reasoning_details=[DETAIL])],
        [("user", "same"), ("assistant", "same")],
        "1 reasoning block left out",
    ),
    "a missing beginning": ([assistant("hi")], [("user", "added"), ("assistant", "same")], "missing beginning"),
    "blanks at the end": ([user("a"), assistant("Here:\n\n")], [("user", "same"), ("assistant", "changed")], "blanks"),
}


@pytest.mark.parametrize(("rows", "changes", "words"), CASES.values(), ids=CASES.keys())
def test_every_difference_is_told_with_its_reason(rows: list[Any], changes: list[tuple[str, str]], words: str) -> None:
    pairs = pairs_of(*rows)
    assert told(pairs) == changes
    assert words in " ".join(note for pair in pairs for note in pair.notes)


def test_what_belongs_to_one_request_only_is_told() -> None:
    rows = [user("a"), assistant("b"), user("c")]
    messages = with_nudge(Window().build(rows, "S"), "Plan only.")
    last = compare(rows, messages)[-1]
    assert (last.change, last.stored, last.sent) == ("changed", "c", "c\n\nPlan only.")
    assert "added for this request only" in last.notes[0]
    nudged = compare(rows[:2], with_nudge(Window().build(rows[:2], "S"), "Go on."))[-1]
    assert (nudged.change, nudged.sent) == ("added", "Go on.")


def test_images_that_a_model_cannot_read_and_marks_of_the_cache_are_told() -> None:
    rows = [user(IMAGE)]
    (pair,) = compare(rows, without_images(Window().build(rows)), marks=(0,))
    assert pair.change == "changed" and "[image]" in pair.stored and "images are left out" in pair.notes[0]
    assert "may cache" in pair.notes[-1]
    own = compare(
        [user("a"), assistant("b", reasoning_details=[DETAIL])],
        Window().build([user("a"), assistant("b", reasoning_details=[DETAIL])]),
        (),
        ("p", "m"),
    )[-1]
    assert "sent back" in own.notes[0]


@given(BROKEN_HISTORIES)
@settings(max_examples=100, deadline=None)
def test_of_any_history_everything_sent_is_shown_in_order_and_nothing_stored_is_hidden(history: list[Any]) -> None:
    sent = Window().build([*history, user("go on")], "You are.")
    pairs = compare([*history, user("go on")], sent)
    assert [pair.sent for pair in pairs if pair.change != "dropped"] == [shown_text(message) for message in sent]
    shown = "\n\n".join(pair.stored for pair in pairs)
    assert all(shown_text(row) in shown for row in history)


TOOLS: Any = [{"type": "function", "function": {"name": "ls", "description": "Lists."}}]


def test_the_parts_of_a_request_add_up_to_its_estimate() -> None:
    system = build_system_prompt(
        PromptParts(tool_names=["read_file", "todo"], workspace="/w", system_message="Be brief.", memory="- tea")  # type: ignore[arg-type]
    )
    rows = [
        user("sum", compressed={}),
        assistant("b"),
        user("a"),
        assistant(None, "c1"),
        tool("c1", "x" * 400),
        user("c"),
    ]
    messages = with_nudge(Window().build(rows, system), "Plan only.")
    parts = {part.name: part.tokens for part in parts_of_request(messages, TOOLS, compare(rows, messages), factor=1.0)}
    assert list(parts) == [
        "Identity", "Tool guidance", "Caller's instructions", "Memory", "Environment", "Tool definitions",
        "Your messages", "Answers", "Tool results", "Summaries", ONLY_HERE,
    ]  # fmt: skip
    estimate = text_tokens(system) + tool_tokens(TOOLS) + sum(map(message_tokens, messages[1:]))
    assert abs(sum(parts.values()) - estimate) <= 8
    doubled = parts_of_request(messages, TOOLS, compare(rows, messages), factor=2.0)
    assert sum(part.tokens for part in doubled) == pytest.approx(2 * sum(parts.values()), abs=8)


def test_the_layers_of_a_prompt_are_all_of_it() -> None:
    full = PromptParts(
        tool_names=["terminal"], workspace="/w", soul="I am.\n\n# Mine\nx", system_message="Say # Tools.",  # type: ignore[arg-type]
        memory="m", user="u", platform="tui",
    )  # fmt: skip
    prompt = build_system_prompt(full)
    layers = layers_of(prompt)
    assert [name for name, _ in layers] == [
        "Identity", "Tool guidance", "Caller's instructions", "Memory", "About you", "Environment",
    ]  # fmt: skip
    assert "\n\n".join(text for _, text in layers) == prompt
    assert layers_of("Only this.") == [("Identity", "Only this.")] and layers_of("") == []
