"""Token estimates: cheap, fair to CJK, calibrated by what was counted."""

from __future__ import annotations

import pytest

from hermes_tui.engine.context.tokens import (
    Calibration,
    RoleTokens,
    content_tokens,
    message_tokens,
    text_tokens,
    tool_tokens,
)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abcd" * 100, 100), ("你好" * 50, 100), ("ab你好", 3), ("é" * 8, 5)]
)
def test_ascii_counts_a_quarter_and_cjk_one_each(text: str, tokens: int) -> None:
    assert text_tokens(text) == tokens


def test_a_lone_surrogate_can_be_counted() -> None:
    assert text_tokens("\ud800") > 0


def test_a_message_counts_what_is_sent() -> None:
    plain = message_tokens({"role": "user", "content": "abcd" * 10})
    assert plain == 14
    assert message_tokens({"role": "tool", "content": "a", "api_content": "abcd" * 10}) == plain
    call = {"function": {"name": "abcd", "arguments": "abcd" * 9}}
    assert message_tokens({"role": "assistant", "content": None, "tool_calls": [call]}) == 18
    assert message_tokens({"role": "assistant", "content": "x", "partial": "abcd" * 99}) == 5


def test_images_and_odd_parts_count_too() -> None:
    assert content_tokens([{"type": "text", "text": "abcd"}, {"type": "image_url"}, "abcd"]) == 1_002
    assert content_tokens(None) == 0 and tool_tokens([]) == 0 and tool_tokens([{"a": "b"}]) > 0


def test_estimates_follow_the_last_real_count_within_bounds() -> None:
    calibration = Calibration()
    assert calibration.apply(100) == 100
    calibration.learn(100, 150)
    assert calibration.apply(200) == 300
    calibration.learn(100, 10_000)
    assert calibration.apply(100) == 400
    calibration.learn(0, 0)
    assert calibration.apply(100) == 400


def test_a_history_is_counted_by_role_and_each_row_once() -> None:
    looked: list[str] = []

    class Row(dict[str, str]):
        def get(self, key: str, default: object = None) -> object:  # type: ignore[override]
            looked.append(key)
            return super().get(key, default)

    history: list[Row] = [Row(role="user", content="a" * 40), Row(role="tool", content="b" * 80)]
    tokens = RoleTokens()
    assert tokens.of(history) == {"user": 14, "tool": 24}
    history += [Row(role="user", content="c" * 40), Row(role="user", content="d" * 4, compressed="")]
    before = len(looked)
    assert tokens.of(history) == {"user": 28, "tool": 24, "summary": 5}
    assert len(looked) - before <= before, "only the new rows"
    assert tokens.of([history[0]]) == {"user": 14}
