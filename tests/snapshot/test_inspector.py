"""The inspector: what was sent, and what fills the window."""

import pytest
from support import inspected, scenes
from support.snapshots import Stage

from hermes_tui.screens.inspector import InspectorScreen

SIZES = ["120x40", "80x24", "40x12"]


def scene_of(view, *keys, says, number=3, command="/inspect"):
    """Return the scene of a view, the third request chosen."""

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        stage.chat.composer.set_value(command)
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, InspectorScreen), "the inspector")
        await stage.idle()
        await stage.press(*["right_square_bracket"] * 9, *["left_square_bracket"] * (len(inspected.ROWS) - number))
        await stage.idle()
        await stage.press(str(view + 1), *keys)
        await stage.shows(says)
        await stage.idle()

    return scene


@pytest.mark.parametrize("size", SIZES)
def test_requests(looks_as_kept, size):
    """Times, tokens, cache hits and retries of each request."""
    assert looks_as_kept(scene_of(0, says="1.2"), size)


@pytest.mark.parametrize("size", SIZES)
def test_messages_side_by_side(looks_as_kept, size):
    """What is stored beside what was sent; what differs is marked."""
    keys = ["down", "down", "down", "enter"]
    assert looks_as_kept(scene_of(1, *keys, says="stored"), size)


def test_a_failed_request(looks_as_kept):
    """Why it failed, in the light theme."""
    assert looks_as_kept(scene_of(0, says="overloaded", number=2), "80x24", "hermes-light")


@pytest.mark.parametrize("size", SIZES)
def test_the_context(looks_as_kept, size):
    """Tokens by category, of a request and of the next one."""
    assert looks_as_kept(scene_of(2, says="Identity", command="/context"), size)


@pytest.mark.parametrize("size", ["120x40", "40x12"])
def test_the_json(looks_as_kept, size):
    """The exact JSON, opened as far as wanted."""
    assert looks_as_kept(scene_of(3, "down", "down", "down", "enter", "down", "enter", says="assistant"), size)
