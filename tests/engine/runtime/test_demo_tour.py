"""The demo with the real engine, tools, gate and database: every call of the script works, and nothing is left."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.scripted import start

from hermes_tui.bootstrap import DEMO_MODEL, Workshop
from hermes_tui.engine.config.loader import load_settings
from hermes_tui.engine.providers.demo import DemoClient
from hermes_tui.engine.runtime.agent import Agent, AgentOptions
from hermes_tui.engine.types.events import (
    ApprovalRequested,
    ClarifyRequested,
    Event,
    Notice,
    ToolFinished,
)
from hermes_tui.engine.types.requests import ApprovalDecision, ClarifyAnswer


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    env = {"HERMES_TUI_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    made = Workshop(load_settings(env), env)
    yield made
    made.close()


def test_every_step_of_the_tour_works_and_leaves_nothing(
    shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the demo went to the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)  # nothing else shows that no name is ever asked for
    workspace = tmp_path / "work"
    workspace.mkdir()
    parts = replace(shop.agent_parts(), client_for=lambda mode: DemoClient(lambda closed, s: closed.is_set()))
    agent = Agent(AgentOptions(model=DEMO_MODEL, workspace=workspace, platform="tui"), parts)
    finished: list[ToolFinished] = []
    asked: list[str] = []
    warned: list[str] = []

    def watch(event: Event) -> None:
        if isinstance(event, ToolFinished) and not event.agent_id:
            finished.append(event)
        elif isinstance(event, ApprovalRequested):
            asked.append(event.request.text)
            decision = ApprovalDecision(choice="once")
            start(lambda: agent.approvals.resolve(event.request.request_id, decision))
        elif isinstance(event, ClarifyRequested):
            start(lambda: agent.approvals.answer(event.request.request_id, ClarifyAnswer(text="Delete the folder")))
        elif isinstance(event, Notice) and event.level != "info":
            warned.append(event.text)

    agent.hub.subscribe(watch)
    agent.approvals.attach_surface()
    answers = [agent.chat(text) for text in ("hello", "go on", "clean up")]
    agent.close()

    assert [event.name for event in finished if event.outcome != "ok"] == []
    assert warned == []
    assert set(shop.registry.names()) == {event.name for event in finished if not event.within}
    results: dict[str, Any] = {event.name: json.loads(event.result) for event in finished}
    assert results["execute_code"]["output"] == "3 ideas kept\n"
    page, refused = results["web_extract"]["pages"]
    assert "Three habits" in page["content"]
    assert "link-local" in refused["error"]
    assert results["process"]["state"] != "running"
    assert results["delegate_task"]["reports"][0]["summary"].startswith("One could")
    assert asked == ["rm -r hermes-tui-demo"]
    assert "That is the tour" in answers[-1] or "/setup" in answers[-1]
    assert list(workspace.iterdir()) == []
    assert not shop.loaded.paths.memory_file.exists() or "tour" not in shop.loaded.paths.memory_file.read_text()
