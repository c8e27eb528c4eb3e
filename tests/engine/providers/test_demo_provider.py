"""The demo drives a real conversation: it decides from the messages alone and ends with how to connect a model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from support.streams import Control, fold

from hermes_tui.engine.providers.base import Endpoint, ModelRequest
from hermes_tui.engine.providers.demo import DemoClient
from hermes_tui.engine.providers.demo_chapters import ERRAND
from hermes_tui.engine.types.errors import StreamBroken
from hermes_tui.engine.types.messages import ApiMessage
from hermes_tui.tools.registry import load_builtin_tools

ENDPOINT = Endpoint(provider="demo", model="tour", api_mode="demo", base_url="")
FIRST = {"todo", "search_files", "write_file", "read_file", "patch"}
MORE = {"execute_code", "web_search", "web_extract", "terminal", "process", "delegate_task", "memory", "session_search"}
NAMES = tuple(sorted(FIRST | MORE | {"clarify"}))


def at_once(closed: threading.Event, seconds: float) -> bool:
    return closed.is_set()


class Tour:
    """A loop of a few lines: it answers each call with what ``run`` says."""

    def __init__(self, run: Callable[[str, dict[str, Any]], dict[str, Any]], names: tuple[str, ...] = NAMES) -> None:
        self.run = run
        self.tools = [{"type": "function", "function": {"name": name}} for name in names]
        self.messages: list[ApiMessage] = [{"role": "system", "content": "s"}]
        self.called: list[tuple[str, dict[str, Any]]] = []

    def turn(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        for _ in range(20):
            request = ModelRequest(endpoint=ENDPOINT, messages=self.messages, tools=self.tools)  # type: ignore[arg-type]
            answer = fold(DemoClient(at_once).stream(request, Control()))
            calls: Any = [
                {"id": call_id, "type": "function", "function": {"name": name, "arguments": args}}
                for call_id, name, args in answer.calls
            ]
            self.messages.append({"role": "assistant", "content": answer.text, "tool_calls": calls})
            if not calls:
                assert answer.finish == "stop"
                return answer.text
            assert answer.finish == "tool_calls"
            for call_id, name, args in answer.calls:
                self.called.append((name, json.loads(args)))
                result = self.run(name, json.loads(args))
                self.messages.append({"role": "tool", "tool_call_id": call_id, "content": json.dumps(result)})
        raise AssertionError("the turn does not end")

    def names(self) -> list[str]:
        return [name for name, _ in self.called]


def agree(name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"ok": True, "answer": "Delete the folder"} if name == "clarify" else {"ok": True}


def deny(name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"ok": name not in ("terminal", "clarify"), "error": "denied"}


def test_the_tour_uses_every_tool_over_several_turns_and_ends_with_how_to_connect() -> None:
    tour = Tour(agree)
    opening = tour.turn("hello")
    assert set(tour.names()) == FIRST
    assert "clean up" in opening
    assert "clean up" in tour.turn("go on")
    assert set(tour.names()) == FIRST | MORE
    closing = tour.turn("clean up")
    assert set(tour.names()) == set(NAMES)
    assert "/setup" in closing and "/model" in closing
    before = len(tour.called)
    assert "/setup" in tour.turn("and now?")
    assert len(tour.called) == before


def test_the_tour_knows_every_tool_that_there_is() -> None:
    assert set(load_builtin_tools().names()) == set(NAMES), "let the demo use the new tool"


def test_who_wants_to_clean_up_at_once_may() -> None:
    tour = Tour(agree)
    tour.turn("hello")
    assert "/setup" in tour.turn("Clean up, please")
    assert set(tour.names()) == FIRST | {"clarify", "terminal"}


def test_a_helper_does_its_errand_only() -> None:
    helper = Tour(agree)
    assert "One could" in helper.turn(ERRAND)
    assert helper.names() == ["read_file"]


def test_it_works_on_the_job_that_it_started() -> None:
    tour = Tour(lambda name, args: {"ok": True, "job": 7} if name == "terminal" else agree(name, args))
    tour.turn("hello")
    tour.turn("go on")
    assert [args["job"] for name, args in tour.called if name == "process"] == [7, 7]


def test_it_says_that_it_is_a_demo_and_deletes_only_its_own_folder() -> None:
    tour = Tour(agree)
    for text in ("hello", "go on", "clean up"):
        tour.turn(text)
    assert "This is a demo" in str(tour.messages)
    written = next(args["path"] for name, args in tour.called if name == "write_file")
    command = [args["command"] for name, args in tour.called if name == "terminal"][-1]
    assert command == f"rm -r {written.split('/')[0]}"


def test_what_it_patches_is_what_it_wrote() -> None:
    tour = Tour(agree)
    tour.turn("hello")
    arguments = dict(tour.called)
    assert arguments["patch"]["old_string"] in arguments["write_file"]["content"]
    assert arguments["patch"]["path"] == arguments["write_file"]["path"]


def test_a_denial_is_answered_by_going_on() -> None:
    tour = Tour(deny)
    tour.turn("hello")
    tour.turn("no, clean up")
    assert "You did not allow it" in str(tour.messages)
    assert "The folder is gone" not in str(tour.messages)


def test_an_answer_to_its_question_is_repeated() -> None:
    tour = Tour(agree)
    tour.turn("hello")
    tour.turn("clean up")
    assert "You said: *Delete the folder*" in str(tour.messages)


@pytest.mark.parametrize("missing", NAMES)
def test_a_tool_that_is_not_offered_is_not_called(missing: str) -> None:
    tour = Tour(agree, tuple(name for name in NAMES if name != missing))
    for text in ("hello", "go on", "clean up", "more"):
        assert tour.turn(text)
    assert missing not in tour.names()


def test_a_request_without_tools_gets_a_title() -> None:
    request = ModelRequest(endpoint=ENDPOINT, messages=[{"role": "user", "content": "Title?"}])
    assert fold(DemoClient(at_once).stream(request, Control())).text == "Tour of hermes-tui"


def test_it_streams_at_a_readable_pace_and_stops_at_once() -> None:
    waits: list[float] = []
    control = Control()

    def wait(closed: threading.Event, seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) == 5:
            control.close()
        return closed.is_set()

    tools: Any = [{"type": "function", "function": {"name": "todo"}}]
    request = ModelRequest(endpoint=ENDPOINT, messages=[{"role": "user", "content": "hi"}], tools=tools)
    with pytest.raises(StreamBroken) as caught:
        list(DemoClient(wait).stream(request, control))
    assert caught.value.code == "closed"
    assert waits == [1 / 150] * 5
