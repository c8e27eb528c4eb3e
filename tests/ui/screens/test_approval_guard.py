import pytest

from hermes_tui.screens.approval_guard import ApprovalGuard, Pacing

PACING = Pacing(arm_s=0.4, burst_s=0.06)


def ready(at: float = 10.0) -> ApprovalGuard:
    guard = ApprovalGuard(PACING)
    guard.painted(at)
    return guard


def test_it_is_not_armed_before_it_was_painted():
    assert not ApprovalGuard(PACING).is_armed(1e9)


@pytest.mark.parametrize(("after_s", "armed"), [(0.0, False), (0.39, False), (0.401, True), (60.0, True)])
def test_it_arms_a_while_after_the_paint(after_s: float, armed: bool):
    assert ready(10.0).is_armed(10.0 + after_s) is armed


def test_each_early_key_starts_the_wait_again_and_goes_to_the_draft():
    guard = ready(10.0)
    for step in range(20):
        assert guard.press("1", "1", 10.0 + 0.3 * step, answers=True).early == "1"
    assert guard.take_answer(99.0) == ""
    assert not guard.is_armed(10.0 + 0.3 * 19 + 0.39)
    assert guard.is_armed(10.0 + 0.3 * 19 + 0.41)


def test_a_key_alone_answers_after_the_burst_time():
    guard = ready()
    assert guard.press("1", "1", 11.0, answers=True).waits
    assert guard.take_answer(11.05) == ""
    assert guard.take_answer(11.07) == "1"
    assert guard.take_answer(12.0) == ""


def test_a_key_that_was_pressed_before_arming_but_handled_late_is_early():
    guard = ready(10.0)
    assert guard.press("1", "1", 10.2, answers=True).early == "1"


def test_keys_that_come_together_are_a_paste_and_lose_nothing():
    guard = ready()
    typed = [
        guard.press(char, char, 11.0 + 0.001 * i, answers=char in "12345").early for i, char in enumerate("123 go")
    ]
    assert "".join(typed) == "123 go"
    assert guard.take_answer(12.0) == ""


def test_a_held_key_never_answers():
    guard = ready()
    now = 10.5
    for _ in range(200):
        now += 0.03
        guard.press("1", "1", now, answers=True)
        # the first one of a run may wait, but the next one always comes in time to cancel it
        assert guard.take_answer(now + 0.029) == ""
    assert not guard.is_armed(now + 0.1)


def test_a_key_held_since_the_dialog_before_does_not_answer_this_one():
    guard = ready(10.0)
    repeats = [10.35 + 0.03 * i for i in range(100)]  # the keyboard's repeat delay is shorter than arming takes
    assert not any(guard.press("1", "1", at, answers=True).waits for at in repeats)


def test_letters_that_are_no_answers_are_typing():
    guard = ready()
    assert guard.press("h", "h", 11.0, answers=False).early == "h"
    assert guard.press("1", "1", 11.2, answers=True).early == "1"


def test_an_answer_right_after_a_movement_is_a_burst():
    guard = ready()
    guard.touch(11.0)
    assert not guard.press("enter", "", 11.03, answers=True).waits
    guard.painted(11.0)
    guard.touch(12.0)
    assert guard.press("enter", "", 12.2, answers=True).waits


def test_it_says_when_to_look_again():
    guard = ready(10.0)
    assert guard.next_change_s(10.1) == pytest.approx(0.3)
    assert guard.next_change_s(10.5) is None
    guard.press("1", "1", 11.0, answers=True)
    assert guard.next_change_s(11.02) == pytest.approx(0.04)
