"""Dialogs that wait for a person."""

import pytest
from support import scenes


@pytest.mark.parametrize(
    ("size", "theme"), [("120x40", "hermes-dark"), ("80x24", "hermes-light"), ("40x12", "hermes-dark")]
)
def test_a_command(looks_as_kept, size, theme):
    """The command first, its dangerous parts marked, why, and what it deletes."""
    assert looks_as_kept(scenes.approval("command"), size, theme)


def test_an_edit(looks_as_kept):
    """An edit shows its diff."""
    assert looks_as_kept(scenes.approval("edit"), "100x34")


def test_hidden_characters(looks_as_kept):
    """Nothing in a command is invisible."""
    assert looks_as_kept(scenes.approval("hidden"), "80x24")


def test_a_long_command(looks_as_kept):
    """Reasons stand above a long text, and what is out of sight is counted."""
    assert looks_as_kept(scenes.approval("long"), "80x24")


def test_always(looks_as_kept):
    """What "always" would store, and where; a choice under the arrows."""
    assert looks_as_kept(scenes.approval("rule", "tab", "down", "down", "down"), "80x24")


def test_a_subagent(looks_as_kept):
    """Who asks, how often, and the time left."""
    assert looks_as_kept(scenes.approval("subagent"), "80x24")


@pytest.mark.parametrize(
    ("size", "theme"), [("120x40", "hermes-dark"), ("80x24", "hermes-light"), ("40x12", "hermes-dark")]
)
def test_a_script(looks_as_kept, size, theme):
    """Python in colours, what it reaches marked in it and named."""
    assert looks_as_kept(scenes.approval("code"), size, theme)


def test_a_call_of_a_script(looks_as_kept):
    """The dialog says that a script makes the call."""
    assert looks_as_kept(scenes.approval("within"), "80x24")


def test_reaching_the_web(looks_as_kept):
    """Every URL, whole."""
    assert looks_as_kept(scenes.approval("send"), "80x24")


def test_denying_with_words(looks_as_kept):
    """A field for words to the model in place of the choices."""
    assert looks_as_kept(scenes.approval("command", "5", *"Keep dist."), "60x22")


def test_editing_the_command(looks_as_kept):
    """The command in an editor."""
    assert looks_as_kept(scenes.approval("rule", "e"), "80x24")


@pytest.mark.parametrize("size", ["80x24", "40x12"])
def test_a_question(looks_as_kept, size):
    """Choices with one under the arrows."""
    assert looks_as_kept(scenes.clarify, size)


def test_a_question_in_words(looks_as_kept):
    """A question without choices is a field."""
    assert looks_as_kept(scenes.clarify_in_words, "60x16")


def test_a_folder_to_trust(looks_as_kept):
    """What would be used, word for word."""
    assert looks_as_kept(scenes.trust, "80x24")


def test_leaving_while_a_turn_runs(looks_as_kept):
    """Only y leaves."""
    assert looks_as_kept(scenes.leaving, "80x24")
