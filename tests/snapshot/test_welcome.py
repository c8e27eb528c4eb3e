"""The first run."""

import pytest
from support import scenes

from hermes_tui.engine.types.models import ConnectionCheck

REFUSED = ConnectionCheck(
    ok=False, text="Anthropic does not accept the key.", hint="Make a new one at console.anthropic.com."
)


@pytest.mark.parametrize("size", ["120x40", "40x12"])
def test_nothing_is_set_up(looks_as_kept, size):
    """No key, no server: providers to choose from, and the demo one key away."""
    assert looks_as_kept(scenes.welcome(says="No key"), size)


def test_a_key_and_a_local_server(looks_as_kept):
    """What was found comes first."""
    scene = scenes.welcome(ready=["anthropic", "ollama"], says="Found Anthropic and Ollama")
    assert looks_as_kept(scene, "80x24", "hermes-light")


def test_the_key_is_entered(looks_as_kept):
    """The key is not shown, and it is said where it stays."""
    assert looks_as_kept(scenes.welcome("down", "enter", *"sk-1234", says="\u2022\u2022\u2022\u2022"), "80x24")


def test_a_test_that_fails(looks_as_kept):
    """The error in words, above what can be chosen instead."""
    scene = scenes.welcome("enter", "enter", ready=["anthropic"], says="does not accept", check=REFUSED)
    assert looks_as_kept(scene, "80x24")
