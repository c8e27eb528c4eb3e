"""The chat in its states, sizes and colours."""

import pytest
from support import scenes

from hermes_tui.theming import theme_names


@pytest.mark.parametrize("theme", theme_names())
def test_a_whole_turn(looks_as_kept, theme):
    """Every colour of the chat, in each shipped theme."""
    assert looks_as_kept(scenes.whole_turn, theme=theme)


@pytest.mark.parametrize("size", ["80x24", "40x12"])
def test_a_whole_turn_on_small_screens(looks_as_kept, size):
    """Header, table, code and status bar give way to the width."""
    assert looks_as_kept(scenes.whole_turn, size)


@pytest.mark.parametrize(
    ("size", "theme"), [("120x40", "hermes-dark"), ("80x24", "hermes-light"), ("40x12", "hermes-dark")]
)
def test_a_running_turn(looks_as_kept, size, theme):
    """A live card, the queue, and what can be pressed meanwhile."""
    assert looks_as_kept(scenes.running, size, theme)


def test_thinking(looks_as_kept):
    """Reasoning while it streams: its last rows and a clock."""
    assert looks_as_kept(scenes.thinking, "80x24")


def test_troubles(looks_as_kept):
    """Retry, fallback, error, denial and interruption are status lines, told apart from the answer."""
    assert looks_as_kept(scenes.troubles, "80x30")


def test_details(looks_as_kept):
    """Detail "full" opens reasoning and cards."""
    assert looks_as_kept(scenes.details, "100x66")


@pytest.mark.parametrize("size", ["80x24", "40x12"])
def test_pages_and_a_script(looks_as_kept, size):
    """What was searched and read, and what a script called."""
    assert looks_as_kept(scenes.web_and_script, size)


def test_pages_and_a_script_in_full(looks_as_kept):
    """The script in colours, its calls, what it printed."""
    assert looks_as_kept(scenes.web_and_script_in_full, "100x44")


@pytest.mark.parametrize("size", ["120x40", "40x12"])
def test_the_side_panel(looks_as_kept, size):
    """Todos, context and changed files, beside the chat or instead of it."""
    assert looks_as_kept(scenes.panel, size)


@pytest.mark.parametrize("size", ["80x24", "40x12"])
def test_an_empty_session(looks_as_kept, size):
    """A greeting with the first keys to know."""
    assert looks_as_kept(scenes.empty, size)


@pytest.mark.parametrize("size", ["120x40", "80x24", "40x12"])
def test_a_command_of_ones_own(looks_as_kept, size):
    """Its card is open, and the prompt says that a command is being typed."""
    assert looks_as_kept(scenes.own_command, size)


def test_the_queue_with_the_focus(looks_as_kept):
    """A chosen message and the keys that act on it."""
    assert looks_as_kept(scenes.queue_focused, "60x16")


def test_a_screen_that_is_too_small(looks_as_kept):
    """One line instead of a heap of pieces."""
    assert looks_as_kept(scenes.empty, "19x5")


@pytest.mark.parametrize(("size", "theme"), [("120x40", "hermes-dark"), ("80x24", "hermes-light")])
def test_jobs_and_a_live_screen(looks_as_kept, size, theme):
    """Cards of a background job, of what was sent to one, and of a program on a terminal."""
    assert looks_as_kept(scenes.jobs_in_chat, size, theme)
