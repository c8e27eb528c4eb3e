"""The one table of actions: nothing in it is dead, nothing double, and keys can be rebound."""

from __future__ import annotations

import pytest

from hermes_tui.commands import (
    BY_ID,
    BY_SLASH,
    COMMANDS,
    DOCUMENTED_KEYS,
    FIXED_KEYS,
    PALETTE_IDS,
    key_of,
    keymap_problems,
    slash_rows,
)
from hermes_tui.screens.chat_actions import ACTIONS, READER_ACTIONS
from hermes_tui.screens.chat_input import READER_KEYS, reader_keys


def test_every_row_has_an_action_and_every_action_a_row() -> None:
    assert ACTIONS.keys() - READER_ACTIONS == BY_ID.keys() - DOCUMENTED_KEYS


def test_ids_and_slash_names_are_unique() -> None:
    assert len(BY_ID) == len(COMMANDS)
    names = [name for c in COMMANDS if c.slash for name in (c.slash, *c.aliases)]
    assert sorted(names) == sorted(BY_SLASH)


def test_the_default_keys_do_not_clash() -> None:
    assert keymap_problems({}) == []


@pytest.mark.parametrize(
    ("keymap", "problem"),
    [
        ({"nonsense": "ctrl+y"}, "nonsense"),
        ({"sessions": "ctrl+k"}, "bound to both"),
        ({"sessions": "ctrl+y"}, ""),
    ],
)
def test_bad_keymaps_are_named(keymap: dict[str, str], problem: str) -> None:
    problems = keymap_problems(keymap)
    assert (problem in problems[0]) if problem else problems == []


def test_completion_knows_every_slash_command_with_its_help() -> None:
    assert {row[0] for row in slash_rows()} == {c.slash for c in COMMANDS if c.slash}
    assert all(row[2] and row[3] for row in slash_rows())


def test_a_rebound_key_is_shown_in_place_of_the_default() -> None:
    assert key_of(BY_ID["sessions"], {"sessions": "ctrl+y"}) == "ctrl+y"
    assert key_of(BY_ID["sessions"]) == "ctrl+r"


@pytest.mark.parametrize("name", sorted(FIXED_KEYS))
def test_a_key_that_cannot_move_is_said_and_still_shown(name: str) -> None:
    assert keymap_problems({name: "f5"}) == [f"[keys] {name}: this key cannot be changed."]
    assert key_of(BY_ID[name], {name: "f5"}) == key_of(BY_ID[name])


def test_the_readers_keys_can_be_rebound() -> None:
    keys = reader_keys({"copy": "c,ctrl+insert", "sessions": "ctrl+y"})
    assert (keys["c"], keys["ctrl+insert"], keys["o"]) == ("copy", "copy", "view")
    assert "y" not in keys and "ctrl+y" not in keys


def test_the_readers_keys_name_existing_actions() -> None:
    assert set(READER_KEYS.values()) <= ACTIONS.keys()


def test_the_palette_offers_only_what_makes_sense_from_a_list() -> None:
    assert {"sessions", "model", "help", "quit"} <= PALETTE_IDS
    assert not PALETTE_IDS & {"send", "newline", "palette"}
