"""Naming a session after its first exchange, in the background."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.scripted import ENDPOINT, GUARD_S, Bench, Hang, bench, say

from hermes_tui.engine.config.settings import AuxiliarySettings, Settings
from hermes_tui.engine.runtime.title import first_line
from hermes_tui.engine.types.deltas import Finish, TextPiece
from hermes_tui.engine.types.errors import Overloaded
from hermes_tui.engine.types.events import SessionTitled, TextDelta

ON = Settings(auxiliary={"title": AuxiliarySettings()})


def titled(replies: list[Any], tmp_path: Path, **kwargs: Any) -> Bench:
    made = bench(replies, tmp_path, settings=kwargs.pop("settings", ON), **kwargs)
    made.agent.chat("How do I sort a list?\nPlease.")
    made.agent.wait_for_title(GUARD_S)
    return made


def test_the_model_names_it_without_tools_and_without_showing_the_call(tmp_path: Path) -> None:
    made = titled([say("Use sorted."), say('"Sorting a list."')], tmp_path)
    assert made.store.titles[made.agent.session_id] == "Sorting a list"
    assert made.of(SessionTitled)[0].title == "Sorting a list"
    request = made.client.requests[1]
    assert request.tools == () and "Use sorted." in str(request.messages)
    assert [event.text for event in made.of(TextDelta)] == ["Use", " sorted."]


@pytest.mark.parametrize(
    "reply", [[Overloaded("busy")], [Finish("stop")], [TextPiece("too long"), Finish("length")], [ValueError("x")]]
)
def test_the_first_line_stands_in_when_the_model_gives_none(reply: list[Any], tmp_path: Path) -> None:
    made = titled([say("ok"), reply], tmp_path)
    assert made.store.titles[made.agent.session_id] == "How do I sort a list?"


def test_switched_off_the_first_line_is_taken_without_a_request(tmp_path: Path) -> None:
    off = Settings(auxiliary={"title": AuxiliarySettings(enabled=False)})
    made = titled([say("ok")], tmp_path, settings=off)
    assert made.store.titles[made.agent.session_id] == "How do I sort a list?" and len(made.client.requests) == 1


def test_a_model_of_its_own_is_used(tmp_path: Path) -> None:
    settings = Settings(auxiliary={"title": AuxiliarySettings(model="small/m")})
    endpoints = {"small/m": replace(ENDPOINT, provider="small", model="m")}
    made = titled([say("ok"), say("Name")], tmp_path, settings=settings, endpoints=endpoints)
    assert made.client.requests[1].endpoint.provider == "small"


def test_only_the_first_exchange_is_named_and_resumed_sessions_are_not(tmp_path: Path) -> None:
    made = titled([say("ok"), say("Name"), say("more")], tmp_path)
    made.agent.chat("more")
    made.agent.wait_for_title(GUARD_S)
    assert len(made.client.requests) == 3
    resumed = bench([say("x")], tmp_path, settings=ON, store=made.store, session_id=made.agent.session_id)
    resumed.agent.chat("again")
    resumed.agent.wait_for_title(GUARD_S)
    assert len(resumed.client.requests) == 1


def test_a_new_turn_does_not_wait_for_the_title_call(tmp_path: Path) -> None:
    hang = Hang()
    made = bench([say("ok"), [hang], say("second"), say("Later name")], tmp_path, settings=ON)
    made.agent.chat("first line")
    assert hang.reached.wait(GUARD_S)
    assert made.agent.chat("next") == "second"
    assert hang.closed.wait(GUARD_S)
    made.agent.wait_for_title(GUARD_S)
    assert made.store.titles[made.agent.session_id] == "Later name"


@pytest.mark.parametrize(
    ("text", "line"),
    [("\n  a b \nc", "a b"), ("", ""), ("x" * 80, "x" * 59 + "…"), ("你" * 61, "你" * 59 + "…")],
)
def test_a_first_line_fits(text: str, line: str) -> None:
    assert first_line(text) == line
