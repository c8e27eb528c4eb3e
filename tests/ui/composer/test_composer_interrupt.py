import pytest

from hermes_tui.widgets.composer_interrupt import InterruptLadder


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("gap_s", "expected"), [(0.5, "quit"), (2.0, "quit"), (2.1, "arm"), (60, "arm")])
def test_a_second_press_quits_only_within_two_seconds(gap_s, expected):
    clock = Clock()
    ladder = InterruptLadder(clock)
    assert ladder.press(has_selection=False, has_text=False) == "arm"
    clock.now += gap_s
    assert ladder.press(has_selection=False, has_text=False) == expected


@pytest.mark.parametrize(
    ("selection", "text", "expected"), [(True, True, "copy"), (True, False, "copy"), (False, True, "clear")]
)
def test_a_selection_is_copied_before_a_text_is_cleared(selection, text, expected):
    assert InterruptLadder(Clock()).press(has_selection=selection, has_text=text) == expected


def test_clearing_between_two_presses_starts_the_count_anew():
    ladder = InterruptLadder(Clock())
    ladder.press(has_selection=False, has_text=False)
    ladder.press(has_selection=False, has_text=True)
    assert ladder.press(has_selection=False, has_text=False) == "arm"
